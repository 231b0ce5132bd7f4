// SPDX-License-Identifier: GPL-2.0-only
/*
 * select.c - choose the ticks to report
 *
 * What is not selected is removed from the runs before any format sees them:
 * execs as a whole, and the buckets of DSOs and functions, whose ticks stay in
 * the summary as unselected.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/select.h"
#include "prohist/suggest.h"
#include "util/term.h"
#include "util/xalloc.h"

/** names_add() - append a name, and take over its memory */
void names_add(struct names *names, char *name)
{
	names->list = one_more(names->list, names->nr, sizeof(name));
	names->list[names->nr++] = name;
}

static void names_free(struct names *names)
{
	while (names->nr)
		free(names->list[--names->nr]);
	free(names->list);
}

/** selection_free() - free the names of a selection */
void selection_free(struct selection *selection)
{
	names_free(&selection->comms);
	names_free(&selection->pids);
	names_free(&selection->cgroups);
	names_free(&selection->dsos);
	names_free(&selection->symbols);
}

/* Names that were asked for, and which of them there are */
struct search {
	const struct names *names;
	bool *found;
};

static struct search search_new(const struct names *names)
{
	struct search search = {
		.names = names,
		.found = calloc(names->nr + 1, sizeof(bool)),
	};

	if (!search.found)
		err(2, NULL);
	return search;
}

/* Returns whether @called accepts any of the names, or there are none. */
static bool matches(struct search *search,
		    bool (*called)(const void *thing, const char *name),
		    const void *thing)
{
	bool match = !search->names->nr;
	size_t i;

	for (i = 0; i < search->names->nr; i++)
		if (called(thing, search->names->list[i]))
			match = search->found[i] = true;
	return match;
}

/* Returns the first name that was not found, or NULL, and ends the search. */
static const char *search_end(struct search *search)
{
	size_t i;

	for (i = 0; i < search->names->nr && search->found[i]; i++)
		;
	free(search->found);
	return i < search->names->nr ? search->names->list[i] : NULL;
}

/* A program whose file was replaced later is the same program. */
static bool exec_has_comm(const void *exec, const char *name)
{
	const char *comm = base_name(((const struct prf_exec *)exec)->name);
	size_t length = strlen(name);

	return !strncmp(comm, name, length) &&
		(!comm[length] || !strcmp(comm + length, " (deleted)"));
}

/* A cgroup has all those below it. */
static bool exec_has_cgroup(const void *exec, const char *name)
{
	const char *path = ((const struct prf_exec *)exec)->cgroup;
	size_t length = strlen(name);

	while (length && name[length - 1] == '/')
		length--;
	return name[0] == '/' && path[0] == '/' &&
		!strncmp(path, name, length) &&
		(!path[length] || path[length] == '/');
}

static bool exec_has_pid(const void *exec, const char *name)
{
	return ((const struct prf_exec *)exec)->pid == strtoul(name, NULL, 10);
}

/* Keep the execs of a run that all searches find, in their order. */
static void select_in_run(struct prf *run, struct search *comms,
			  struct search *pids, struct search *cgroups)
{
	size_t kept = 0, i;

	for (i = 0; i < run->nr; i++) {
		const struct prf_exec exec = run->execs[i];
		bool wanted = matches(comms, exec_has_comm, &exec);

		if (!matches(pids, exec_has_pid, &exec))
			wanted = false;
		if (!matches(cgroups, exec_has_cgroup, &exec))
			wanted = false;
		if (!wanted) {
			run->kernel_unknown |= !strcmp(exec.name, PRF_UNKNOWN);
			continue;
		}
		run->execs[i] = run->execs[kept];
		run->execs[kept++] = exec;
	}
	while (run->nr > kept)
		prf_remove_exec(run, run->nr - 1);
}

/**
 * select_execs() - remove the execs that --comm, --pid and --cgroup do not
 * select
 *
 * Return: 0, or -1 after reporting a name that there is not.
 */
int select_execs(const struct selection *selection, struct prf *runs, size_t nr)
{
	struct search comms = search_new(&selection->comms);
	struct search pids = search_new(&selection->pids);
	struct search cgroups = search_new(&selection->cgroups);
	const char *comm, *pid, *cgroup;
	size_t before = 0, after = 0, i;
	bool unknown = false;

	for (i = 0; i < nr; i++) {
		before += runs[i].nr;
		select_in_run(&runs[i], &comms, &pids, &cgroups);
		after += runs[i].nr;
		unknown |= runs[i].kernel_unknown;
	}
	/* It is that of all execs: see theirs, in every run */
	for (i = 0; i < nr && after < before; i++)
		runs[i].cpu_ns = 0;
	comm = search_end(&comms);
	pid = search_end(&pids);
	cgroup = search_end(&cgroups);
	if (comm)
		term_warn("no program '%s' in the profile; --sort=comm lists them",
			  comm);
	else if (pid)
		term_warn("no process %s in the profile; --sort=pid lists them",
			  pid);
	else if (cgroup)
		term_warn("no program in cgroup '%s' in the profile; --sort=cgroup lists the cgroups",
			  cgroup);
	else if (unknown)
		term_warn("without the time in the kernel: which program used it is unknown (see PERF BACKEND in profil(1))");
	return comm || pid || cgroup ? -1 : 0;
}

static void hide(struct prf_exec *exec, uint64_t *from, uint64_t ticks)
{
	/* In a damaged file, the counts may be wrong */
	if (ticks > *from)
		ticks = *from;
	*from -= ticks;
	exec->unselected += ticks;
}

/* Hide the ticks of all outcomes that are in one place. */
static void hide_place(struct prf_exec *exec, enum prf_place place)
{
	const struct prf_outcome *outcome;

	for (outcome = prf_outcomes; outcome < prf_outcomes + PRF_OUTCOMES;
	     outcome++)
		if (outcome->place == place)
			hide(exec, prf_count(exec, outcome),
			     prf_have(exec, outcome));
}

/* Hide the ticks that have no DSO, but a name in place of one. */
static void select_whole(struct search *search, struct prf_exec *exec,
			 bool (*called)(const void *thing, const char *name),
			 const void *kernel, const void *elsewhere)
{
	if (exec->kernel_count + prf_placed(exec, PRF_IN_KERNEL) &&
	    !matches(search, called, kernel)) {
		hide(exec, &exec->counted, exec->kernel_count);
		hide_place(exec, PRF_IN_KERNEL);
		exec->kernel_count = 0;
	}
	if (prf_placed(exec, PRF_ELSEWHERE) &&
	    !matches(search, called, elsewhere))
		hide_place(exec, PRF_ELSEWHERE);
}

static bool dso_called(const void *dso, const char *name)
{
	return prf_dso_called(dso, name);
}

static void select_in_exec(struct search *search, struct prf_exec *exec)
{
	const struct prf_dso kernel = { .path = "[kernel]" };
	const struct prf_dso elsewhere = { .path = "[elsewhere]" };
	size_t i;

	for (i = 0; i < exec->nr; i++) {
		struct prf_dso *dso = &exec->dsos[i];

		if (!dso->nr || matches(search, dso_called, dso))
			continue;
		hide(exec, &exec->counted, prf_dso_ticks(dso));
		dso->nr = 0;
	}
	select_whole(search, exec, dso_called, &kernel, &elsewhere);
}

/**
 * select_dsos() - remove the ticks of DSOs that --dso does not select
 *
 * Return: 0, or -1 after reporting a name that there is not.
 */
int select_dsos(const struct selection *selection, struct prf *runs, size_t nr)
{
	struct search search = search_new(&selection->dsos);
	const char *missing;
	size_t i, j;

	for (i = 0; i < nr; i++)
		for (j = 0; j < runs[i].nr; j++)
			select_in_exec(&search, &runs[i].execs[j]);
	missing = search_end(&search);
	if (missing)
		term_warn("no DSO '%s' has ticks; --sort=dso lists those that do",
			  missing);
	return missing ? -1 : 0;
}

static bool symbol_called(const void *symbol, const char *name)
{
	return sum_called(symbol, name);
}

static void select_buckets(struct search *search, struct prf_exec *exec,
			   struct prf_dso *mapping, const struct sum *sum)
{
	const struct sum_dso *dso = sum_dso(sum, mapping);
	size_t i, kept = 0;

	for (i = 0; i < mapping->nr; i++) {
		const struct prf_bucket bucket = mapping->buckets[i];
		uint64_t address = symbols_address(&dso->symbols, mapping,
						   bucket.offset);
		size_t piece = sum_find(dso, address,
					mapping->bucket_bytes)->piece;

		if (matches(search, symbol_called,
			    sum_innermost(&dso->pieces[piece])))
			mapping->buckets[kept++] = bucket;
		else
			hide(exec, &exec->counted, bucket.count);
	}
	mapping->nr = kept;
}

/**
 * select_symbols() - remove the ticks of functions that --symbol does not
 * select
 * @sum: the finished sum of the runs
 *
 * Return: 0, or -1 after reporting a name that there is not.
 */
int select_symbols(const struct selection *selection, struct prf *runs,
		   size_t nr, const struct sum *sum)
{
	struct search search = search_new(&selection->symbols);
	const char *missing;
	size_t i, j, k;

	for (i = 0; i < nr; i++)
		for (j = 0; j < runs[i].nr; j++) {
			struct prf_exec *exec = &runs[i].execs[j];

			for (k = 0; k < exec->nr; k++)
				if (exec->dsos[k].nr)
					select_buckets(&search, exec,
						       &exec->dsos[k], sum);
			select_whole(&search, exec, symbol_called, "[kernel]",
				     "[elsewhere]");
		}
	missing = search_end(&search);
	if (missing)
		say_nearest(sum, missing);
	return missing ? -1 : 0;
}
