// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracee.c - traced processes and threads
 */
#include <linux/kcmp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profil/backend.h"
#include "profil/proc.h"
#include "profil/ptrace/tracee.h"
#include "util/array.h"

struct tracee *tracee_find(struct tracees *tracees, pid_t tid)
{
	size_t i;

	for (i = 0; i < tracees->nr; i++)
		if (tracees->list[i].tid == tid)
			return &tracees->list[i];
	return NULL;
}

/*
 * True for threads and after vfork(); if kcmp(2) is unavailable, for threads
 * only.
 */
static bool share_memory(pid_t tid, pid_t parent)
{
	struct process process;

	if (!process_read(tid, &process) && process.tgid != tid)
		return true;
	return !syscall(SYS_kcmp, tid, parent, KCMP_VM, 0, 0);
}

/**
 * tracee_add() - add a thread; nothing else is known about it yet
 * @tracees: the list
 * @tid: the thread
 *
 * Return: the tracee, or NULL if out of memory. The pointer is valid until the
 * list changes.
 */
struct tracee *tracee_add(struct tracees *tracees, pid_t tid)
{
	struct tracee *list, *tracee = tracee_find(tracees, tid);

	if (tracee)
		return tracee;
	list = array_grow(tracees->list, tracees->nr, sizeof(*list));
	if (!list)
		return NULL;
	tracees->list = list;
	tracee = &list[tracees->nr++];
	*tracee = (struct tracee) { .tid = tid };
	return tracee;
}

/**
 * tracee_born() - add a new thread, or announce one already in the list
 * @tracees: the list
 * @tid: the thread
 * @parent: the thread that created it, in a ptrace stop
 *
 * Return: the tracee, or NULL if out of memory. The pointer is valid until the
 * list changes.
 */
struct tracee *tracee_born(struct tracees *tracees, pid_t tid, pid_t parent)
{
	struct tracee *tracee = tracee_add(tracees, tid), *from;

	if (!tracee || tracee->announced)
		return tracee;
	from = tracee_find(tracees, parent);
	if (from && from->space) {
		tracee->forked = !share_memory(tid, from->tid);
		tracee->space = tracee->forked ? addrspace_copy(from->space) :
						 addrspace_get(from->space);
		if (!tracee->space)
			return NULL;
	}
	tracee->announced = true;
	return tracee;
}

/*
 * Is the tracee the parent of @child, or a sibling that created it with
 * CLONE_PARENT?
 */
static bool may_have_made(const struct tracee *tracee,
			  const struct process *child, uint64_t code)
{
	struct process process;

	if (!tracee->announced || process_read(tracee->tid, &process))
		return false;
	/* Unreadable for some processes: then @code is 0 */
	if (code && tracee->space && tracee->space->code != code)
		return false;
	return process.tgid == child->ppid || process.ppid == child->ppid;
}

/**
 * tracee_is_orphan() - can no tracee announce this thread any more?
 * @tracees: the list, without those that have ended
 * @tid: a thread that has not been announced
 *
 * A process killed during fork reports no event for its child.
 */
bool tracee_is_orphan(const struct tracees *tracees, pid_t tid)
{
	struct process child;
	struct start start;
	size_t i;

	/* Not for threads: they end with their process */
	if (process_read(tid, &child) || child.tgid != tid)
		return false;
	process_start(tid, &start);
	for (i = 0; i < tracees->nr; i++)
		if (may_have_made(&tracees->list[i], &child, start.entry))
			return false;
	return true;
}

/**
 * tracee_settle() - add CPU time and ticks so far to the tracee's exec
 * @tracees: the list
 * @tracee: the tracee
 */
void tracee_settle(struct tracees *tracees, struct tracee *tracee)
{
	uint64_t cpu_ns = process_cpu_ns(tracee->tid);

	if (tracee->space && cpu_ns > tracee->cpu_ns)
		tracee->space->exec->cpu_ns += cpu_ns - tracee->cpu_ns;
	tracee->cpu_ns = cpu_ns;
	sampler_free(tracees->session, tracee->sampler, tracee->space);
	tracee->sampler = NULL;
}

/** tracee_forget() - remove a thread that has ended */
void tracee_forget(struct tracees *tracees, pid_t tid)
{
	struct tracee *tracee = tracee_find(tracees, tid);

	if (!tracee)
		return;
	tracee_settle(tracees, tracee);
	addrspace_put(tracee->space);
	*tracee = tracees->list[--tracees->nr];
}

/** tracees_drain() - count the ticks of all threads in an address space */
void tracees_drain(struct tracees *tracees, const struct addrspace *space)
{
	size_t i;

	for (i = 0; i < tracees->nr; i++)
		if (tracees->list[i].space == space)
			sampler_drain(tracees->session,
				      tracees->list[i].sampler, space);
}

void tracees_free(struct tracees *tracees)
{
	while (tracees->nr)
		tracee_forget(tracees, tracees->list[0].tid);
	free(tracees->list);
}
