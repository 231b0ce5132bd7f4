// SPDX-License-Identifier: GPL-2.0-only
/*
 * waits.c - what threads waited in, by state and by name
 *
 * Each state of an exec is a DSO, in which an offset is a number of enum
 * profil_wait. Only the machine of the run knows the numbers of its system calls,
 * so their names are in the profile.
 */
#include <profil.h>
#include <stdio.h>
#include <string.h>

#include "profil/waits.h"

/* The last offset stands for all waits that no kernel of today has. */
#define STRANGE	(PRF_WAIT_SIZE - 1)

/** wait_state() - state of a thread in a wait, by its object and its number */
enum prf_state wait_state(uint32_t object, uint64_t wait)
{
	if (object == PROFIL_OBJECT_RUNNABLE)
		return PRF_RUNNABLE;
	return wait & PROFIL_WAIT_LONG ? PRF_IDLE : PRF_BLOCKED;
}

/** wait_offset() - where a wait is in the DSO of its state */
uint64_t wait_offset(uint64_t wait)
{
	wait &= ~(uint64_t)PROFIL_WAIT_LONG;
	return wait < PRF_WAIT_SIZE ? wait : STRANGE;
}

static const char *name_of_call(uint64_t number, char name[WAIT_NAME])
{
	bool compat = number >= PROFIL_WAIT_COMPAT;
	const char * const *names = compat ? syscalls_32 : syscalls_64;

	if (compat)
		number -= PROFIL_WAIT_COMPAT;
	if (number < NR_SYSCALLS && names[number])
		return names[number];
	snprintf(name, WAIT_NAME, "system call %llu",
		 (unsigned long long)number);
	return name;
}

/**
 * wait_name() - name of what a thread waited in
 * @offset: the wait, without its state
 * @name: room for the name
 */
const char *wait_name(uint64_t offset, char name[WAIT_NAME])
{
	switch (offset) {
	case PROFIL_WAIT_FAULT:
		return "page fault";
	case PROFIL_WAIT_STOPPED:
		return "stopped";
	case PROFIL_WAIT_TRACED:
		return "traced";
	default:
		return offset < PROFIL_WAIT_SYSCALL || offset == STRANGE ?
			"[unknown]" :
			name_of_call(offset - PROFIL_WAIT_SYSCALL, name);
	}
}

/** waits_find() - find the DSO of a state; NULL if the exec has none */
struct prf_dso *waits_find(struct prf_exec *exec, enum prf_state state)
{
	size_t i;

	for (i = 0; i < exec->nr; i++)
		if (prf_state_of(&exec->dsos[i]) == state)
			return &exec->dsos[i];
	return NULL;
}

/**
 * waits_add() - add the DSO of a state
 * @exec: the exec
 * @state: the state
 * @address: its first address
 *
 * Its first bucket is of waits of which is not known in what, and has no ticks.
 *
 * Return: the DSO, or NULL if out of memory.
 */
struct prf_dso *waits_add(struct prf_exec *exec, enum prf_state state,
			  uint64_t address)
{
	struct prf_dso *dso = prf_add_dso(exec, prf_states[state].path);

	if (!dso)
		return NULL;
	dso->kind = PRF_WAIT_RUNNABLE + (state - PRF_RUNNABLE);
	dso->start = address;
	dso->end = address + PRF_WAIT_SIZE;
	return prf_add_bucket(dso, PRF_WAIT_UNKNOWN, 0) ? NULL : dso;
}

/** waits_name() - name the waits of a DSO; 0, or -1 if out of memory */
int waits_name(struct prf_dso *dso)
{
	char room[WAIT_NAME];
	const char *name;
	size_t i;

	for (i = 0; i < dso->nr; i++) {
		uint64_t offset = dso->buckets[i].offset;

		name = dso->kind == PRF_WAIT_RUNNABLE ? dso->path :
							wait_name(offset, room);
		if (prf_add_symbol(dso, offset, offset + 1, name))
			return -1;
	}
	return 0;
}

/** waits_unplaced() - ticks of a state of an exec that are in no bucket */
uint64_t waits_unplaced(struct prf_exec *exec, enum prf_state state)
{
	const struct prf_dso *dso = waits_find(exec, state);
	uint64_t placed = dso ? prf_dso_ticks(dso) : 0;

	return exec->waits[state] > placed ? exec->waits[state] - placed : 0;
}
