// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf.c - the profile of a run, in memory
 */
#include <stdlib.h>
#include <string.h>

#include "prf/prf.h"
#include "util/array.h"

#define OUTCOME(member, name, meaning, place, remarkable)		\
	{								\
		#member, name, meaning, place, remarkable,		\
		offsetof(struct prf_exec, member)			\
	}

const struct prf_outcome prf_outcomes[PRF_OUTCOMES] = {
	OUTCOME(counted, "counted", "in the buckets", PRF_IN_BUCKETS, false),
	OUTCOME(clipped, "clipped", "not counted: the counter was full",
		PRF_MISSING, true),
	OUTCOME(outside, "outside", "outside all regions", PRF_ELSEWHERE,
		false),
	OUTCOME(lost, "lost",
		"not counted: pending at the end, or counter not writable",
		PRF_MISSING, true),
	OUTCOME(left_out, "left out", "in the kernel, excluded",
		PRF_IN_KERNEL, false),
	OUTCOME(coarse, "coarse", "in no bucket: there was none left",
		PRF_ELSEWHERE, true),
	OUTCOME(unresolved, "unresolved", "in no bucket: the mapping was gone",
		PRF_ELSEWHERE, true),
	OUTCOME(unselected, "unselected", "in other DSOs or functions",
		PRF_UNSELECTED, false),
};

const struct prf_state_name prf_states[PRF_STATES] = {
	[PRF_ON_CPU] = { "cpu", NULL, "on a CPU" },
	[PRF_RUNNABLE] = { "runnable", "[runnable]", "waiting for a CPU" },
	[PRF_BLOCKED] = {
		"blocked", "[blocked]", "in waits shorter than a second",
	},
	[PRF_IDLE] = {
		"idle", "[idle]", "in waits of a second and longer",
	},
};

const struct prf_ending prf_endings[PRF_CHAIN_ENDS] = {
	[PRF_CHAIN_COMPLETE] = { "complete", "complete" },
	[PRF_CHAIN_NO_TABLE] = {
		"no_table", "cut: a file without a table of callers",
	},
	[PRF_CHAIN_NO_RULE] = {
		"no_rule", "cut: code that the table of its file lacks",
	},
	[PRF_CHAIN_ABSENT] = {
		"absent", "cut: a page of the stack was not in memory",
	},
	[PRF_CHAIN_ASTRAY] = {
		"astray", "cut: the next frame was not up the stack",
	},
	[PRF_CHAIN_DEEP] = { "deep", "cut: too many frames" },
	[PRF_CHAIN_UNMAPPED] = {
		"unmapped", "cut: a return address where no code is",
	},
	[PRF_CHAIN_NO_MEMORY] = {
		"no_memory", "none: the process was ending, or at an exec",
	},
	[PRF_CHAIN_BUSY] = {
		"busy", "none: the memory map was being changed",
	},
};

/**
 * prf_init() - make an empty run
 * @prf: receives the run; free with prf_free()
 * @command: the command line
 *
 * Return: 0, or -1 if out of memory.
 */
int prf_init(struct prf *prf, const char *command)
{
	memset(prf, 0, sizeof(*prf));
	prf->command = strdup(command);
	return prf->command ? 0 : -1;
}

/** prf_add_exec() - add an exec */
struct prf_exec *prf_add_exec(struct prf *prf, const char *name,
			      const char *reason)
{
	struct prf_exec *exec = array_grow(prf->execs, prf->nr,
					   sizeof(*exec));

	if (!exec)
		return NULL;
	prf->execs = exec;
	exec += prf->nr;
	memset(exec, 0, sizeof(*exec));
	exec->name = strdup(name);
	exec->reason = strdup(reason);
	exec->cgroup = strdup("");
	if (!exec->name || !exec->reason || !exec->cgroup) {
		free(exec->name);
		free(exec->reason);
		free(exec->cgroup);
		return NULL;
	}
	prf->nr++;
	return exec;
}

/** prf_set_cgroup() - set the path of an exec's cgroup */
int prf_set_cgroup(struct prf_exec *exec, const char *cgroup)
{
	char *new = strdup(cgroup);

	if (!new)
		return -1;
	free(exec->cgroup);
	exec->cgroup = new;
	return 0;
}

/** prf_add_dso() - add an executable mapping */
struct prf_dso *prf_add_dso(struct prf_exec *exec, const char *path)
{
	struct prf_dso *dso = array_grow(exec->dsos, exec->nr, sizeof(*dso));

	if (!dso)
		return NULL;
	exec->dsos = dso;
	dso += exec->nr;
	memset(dso, 0, sizeof(*dso));
	dso->bucket_bytes = 1;
	dso->path = strdup(path);
	if (!dso->path)
		return NULL;
	exec->nr++;
	return dso;
}

/**
 * prf_compare_files() - compare the files of two DSOs, for a sorted order
 *
 * While recording, a file without a build ID is another one when it has changed, and
 * one in another mount namespace may claim to have the build ID of any other.
 *
 * Return: a number less than, equal to, or greater than 0.
 */
int prf_compare_files(const struct prf_dso *a, const struct prf_dso *b)
{
	int order = strcmp(a->path, b->path);

	if (!order)
		order = (a->build_id_len > b->build_id_len) -
			(a->build_id_len < b->build_id_len);
	if (!order)
		order = memcmp(a->build_id, b->build_id, a->build_id_len);
	if (!order)
		order = (a->changed_ns > b->changed_ns) -
			(a->changed_ns < b->changed_ns);
	return order ?: (a->mount_ns > b->mount_ns) -
			(a->mount_ns < b->mount_ns);
}

/** prf_copy_file() - take from another DSO all by which its file is known, but the path */
void prf_copy_file(struct prf_dso *dso, const struct prf_dso *from)
{
	dso->kind = from->kind;
	dso->build_id_len = from->build_id_len;
	memcpy(dso->build_id, from->build_id, sizeof(dso->build_id));
	dso->mount_ns = from->mount_ns;
	dso->pid = from->pid;
	dso->changed_ns = from->changed_ns;
}

/** prf_count_dsos() - number of DSOs of all execs */
size_t prf_count_dsos(const struct prf *prf)
{
	size_t nr = 0, i;

	for (i = 0; i < prf->nr; i++)
		nr += prf->execs[i].nr;
	return nr;
}

/** prf_add_bucket() - add a bucket after the last one */
int prf_add_bucket(struct prf_dso *dso, uint64_t offset, uint64_t count)
{
	struct prf_bucket *buckets = array_grow(dso->buckets, dso->nr,
						sizeof(*buckets));

	if (!buckets)
		return -1;
	dso->buckets = buckets;
	buckets[dso->nr].offset = offset;
	buckets[dso->nr].count = count;
	dso->nr++;
	return 0;
}

/** prf_add_symbol() - add a function after the last one */
int prf_add_symbol(struct prf_dso *dso, uint64_t start, uint64_t end,
		   const char *name)
{
	struct prf_symbol *symbols = array_grow(dso->symbols, dso->nr_symbols,
						sizeof(*symbols));

	if (!symbols)
		return -1;
	dso->symbols = symbols;
	symbols += dso->nr_symbols;
	symbols->start = start;
	symbols->end = end;
	symbols->name = strdup(name);
	if (!symbols->name)
		return -1;
	dso->nr_symbols++;
	return 0;
}

/** prf_add_host() - set the names of the machine, once */
int prf_add_host(struct prf *prf, const char *name, const char *release,
		 const char *machine)
{
	prf->host.name = strdup(name);
	prf->host.release = strdup(release);
	prf->host.machine = strdup(machine);
	return prf->host.name && prf->host.release && prf->host.machine ?
		0 : -1;
}

/** prf_dso_ticks() - sum up the ticks of a DSO's buckets */
uint64_t prf_dso_ticks(const struct prf_dso *dso)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < dso->nr; i++)
		ticks += dso->buckets[i].count;
	return ticks;
}

/** prf_count() - where an exec counts the ticks of an outcome */
uint64_t *prf_count(struct prf_exec *exec, const struct prf_outcome *outcome)
{
	return (uint64_t *)((char *)exec + outcome->offset);
}

/** prf_have() - ticks of an outcome */
uint64_t prf_have(const struct prf_exec *exec,
		  const struct prf_outcome *outcome)
{
	return *(const uint64_t *)((const char *)exec + outcome->offset);
}

/** prf_placed() - ticks of all outcomes that are in one place */
uint64_t prf_placed(const struct prf_exec *exec, enum prf_place place)
{
	uint64_t ticks = 0;
	int i;

	for (i = 0; i < PRF_OUTCOMES; i++)
		if (prf_outcomes[i].place == place)
			ticks += prf_have(exec, &prf_outcomes[i]);
	return ticks;
}

/** prf_state_of() - what threads did at the ticks of a DSO */
enum prf_state prf_state_of(const struct prf_dso *dso)
{
	return dso->kind < PRF_WAIT_RUNNABLE ? PRF_ON_CPU :
		PRF_RUNNABLE + (dso->kind - PRF_WAIT_RUNNABLE);
}

/** prf_waits() - ticks of all waits of an exec */
uint64_t prf_waits(const struct prf_exec *exec)
{
	uint64_t ticks = 0;
	int state;

	for (state = PRF_RUNNABLE; state < PRF_STATES; state++)
		ticks += exec->waits[state];
	return ticks;
}

static void free_dso(struct prf_dso *dso)
{
	size_t i;

	for (i = 0; i < dso->nr_symbols; i++)
		free(dso->symbols[i].name);
	free(dso->symbols);
	free(dso->buckets);
	free(dso->path);
}

static void free_exec(struct prf_exec *exec)
{
	size_t i;

	for (i = 0; i < exec->nr; i++)
		free_dso(&exec->dsos[i]);
	free(exec->dsos);
	free(exec->nodes);
	free(exec->name);
	free(exec->reason);
	free(exec->cgroup);
}

/** prf_remove_exec() - remove an exec, and free its memory */
void prf_remove_exec(struct prf *prf, size_t index)
{
	struct prf_exec *exec = &prf->execs[index];

	free_exec(exec);
	prf->nr--;
	memmove(exec, exec + 1, (prf->nr - index) * sizeof(*exec));
}

/** prf_free() - free all memory of a run, and make it empty */
void prf_free(struct prf *prf)
{
	size_t i;

	prf_drop_names(prf);
	for (i = 0; i < prf->nr; i++)
		free_exec(&prf->execs[i]);
	free(prf->execs);
	free(prf->command);
	free(prf->host.name);
	free(prf->host.release);
	free(prf->host.machine);
	memset(prf, 0, sizeof(*prf));
}
