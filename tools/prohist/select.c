// SPDX-License-Identifier: GPL-2.0-only
/*
 * select.c - choose the ticks to report
 *
 * What is not selected is removed from the runs before any format sees them:
 * execs as a whole, and the buckets of DSOs and functions, whose ticks stay in
 * the summary as unselected, or, if they are waits, as hidden. Nodes of chains stay without those ticks, as they may
 * have called what is selected.
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

/* Hide ticks that were in the buckets of a DSO. */
static void hide_buckets(struct prf_exec *exec, const struct prf_dso *dso,
			 uint64_t ticks)
{
	enum prf_state state = prf_state_of(dso);

	if (state == PRF_ON_CPU)
		hide(exec, &exec->counted, ticks);
	else
		exec->hidden[state] += ticks;
}

static void hide_dso(struct prf_exec *exec, struct prf_dso *dso)
{
	hide_buckets(exec, dso, prf_dso_ticks(dso));
	dso->nr = 0;
}

/* Hide the ticks of a node, which are in its bucket, too. */
static void hide_node(struct prf_exec *exec, struct prf_node *node)
{
	if (node->dso == PRF_NODE_KERNEL)
		hide(exec, &exec->counted, node->count);
	else
		hide_buckets(exec, &exec->dsos[node->dso], node->count);
	node->count = 0;
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

static void hide_kernel(struct prf_exec *exec)
{
	hide(exec, &exec->counted, exec->kernel_count);
	hide_place(exec, PRF_IN_KERNEL);
	exec->kernel_count = 0;
}

/* Hide the ticks that have no DSO, but a name in place of one. */
static void select_whole(struct search *search, struct prf_exec *exec,
			 bool (*called)(const void *thing, const char *name),
			 const void *kernel, const void *elsewhere)
{
	if (exec->kernel_count + prf_placed(exec, PRF_IN_KERNEL) &&
	    !matches(search, called, kernel))
		hide_kernel(exec);
	if (prf_placed(exec, PRF_ELSEWHERE) &&
	    !matches(search, called, elsewhere))
		hide_place(exec, PRF_ELSEWHERE);
}

static bool dso_called(const void *dso, const char *name)
{
	return prf_dso_called(dso, name);
}

/* Nodes have no ticks where their exec has none any more. */
static void clear_nodes(struct prf_exec *exec)
{
	size_t i;

	for (i = 0; i < exec->nr_nodes; i++) {
		struct prf_node *node = &exec->nodes[i];

		if (node->dso == PRF_NODE_KERNEL ? !exec->kernel_count :
						   !exec->dsos[node->dso].nr)
			node->count = 0;
		if (!exec->coarse)
			node->below = 0;
	}
}

static void select_states_in(struct prf_exec *exec, unsigned int states)
{
	size_t i;

	for (i = 0; i < exec->nr; i++)
		if (!(states & 1u << prf_state_of(&exec->dsos[i])))
			hide_dso(exec, &exec->dsos[i]);
	if (!(states & 1u << PRF_ON_CPU)) {
		hide_kernel(exec);
		hide_place(exec, PRF_ELSEWHERE);
	}
	clear_nodes(exec);
}

/** count_waiting() - number of runs whose ticks fell while threads waited, too */
size_t count_waiting(const struct prf *runs, size_t nr)
{
	size_t waiting = 0, i;

	for (i = 0; i < nr; i++)
		waiting += !!(runs[i].flags & PRF_FLAG_WALL);
	return waiting;
}

/**
 * select_states() - remove the ticks of other states
 * @states: bits of enum prf_state
 *
 * Return: 0, or -1 after reporting that there are no waits in the runs.
 */
int select_states(unsigned int states, struct prf *runs, size_t nr)
{
	size_t waiting = count_waiting(runs, nr), i, j;

	if (!(states & 1u << PRF_ON_CPU) && !waiting) {
		term_warn("the profile has no waits: profil --wall records them");
		return -1;
	}
	for (i = 0; i < nr && waiting; i++)
		for (j = 0; j < runs[i].nr; j++)
			select_states_in(&runs[i].execs[j], states);
	return 0;
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
		hide_dso(exec, dso);
	}
	select_whole(search, exec, dso_called, &kernel, &elsewhere);
	clear_nodes(exec);
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

/* Is a piece in a function that is searched, or in one that is inlined there? */
static bool matches_piece(struct search *search, const struct sum_piece *piece)
{
	bool match = matches(search, symbol_called, piece->name);
	size_t i;

	for (i = 0; i < piece->inlines.nr; i++)
		match |= matches(search, symbol_called,
				 piece->inlines.list[i].name);
	return match;
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

		if (matches_piece(search, &dso->pieces[piece]))
			mapping->buckets[kept++] = bucket;
		else
			hide_buckets(exec, mapping, bucket.count);
	}
	mapping->nr = kept;
}

static bool matches_node(struct search *search, const struct sum *sum,
			 const struct prf *run, const struct prf_exec *exec,
			 const struct prf_node *node, bool calls)
{
	const struct sum_dso *dso;
	size_t piece;

	if (node->dso == PRF_NODE_KERNEL)
		return matches(search, symbol_called, "[kernel]");
	piece = sum_node(sum, run, exec, node, calls, &dso)->piece;
	return matches_piece(search, &dso->pieces[piece]);
}

/*
 * Keep the ticks of nodes in functions that are searched, and with @through, in
 * what they called. Returns those kept that had no room below their node.
 */
static uint64_t select_nodes(struct search *search, const struct sum *sum,
			     const struct prf *run, struct prf_exec *exec,
			     bool through)
{
	bool *wanted = calloc(exec->nr_nodes, sizeof(*wanted));
	bool *calling = prf_calling(exec), match, calls;
	uint64_t below = 0;
	size_t i;

	if (!wanted || !calling)
		err(2, NULL);
	for (i = 0; i < exec->nr_nodes; i++) {
		struct prf_node *node = &exec->nodes[i];

		match = node->count &&
			matches_node(search, sum, run, exec, node, false);
		calls = through && calling[i] &&
			matches_node(search, sum, run, exec, node, true);
		if (node->caller && node->caller != PRF_CUT)
			wanted[i] = wanted[node->caller - 1];
		if (!match && !wanted[i])
			hide_node(exec, node);
		wanted[i] |= calls;
		if (!wanted[i] && node->below &&
		    !matches(search, symbol_called, "[elsewhere]"))
			node->below = 0;
		below += node->below;
	}
	free(wanted);
	free(calling);
	return below;
}

/* Hide what nodes do not have; @below: coarse ticks that they have */
static void select_rest(struct search *search, struct prf_exec *exec,
			uint64_t below)
{
	uint64_t coarse = exec->coarse;

	if (!matches(search, symbol_called, "[kernel]"))
		hide_place(exec, PRF_IN_KERNEL);
	if (matches(search, symbol_called, "[elsewhere]"))
		return;
	hide_place(exec, PRF_ELSEWHERE);
	/* hide_place() has hidden all of them */
	if (below > coarse)
		below = coarse;
	exec->coarse = below;
	exec->unselected -= below;
}

static void select_chains(struct search *search, const struct sum *sum,
			  const struct prf *run, struct prf_exec *exec,
			  bool through)
{
	select_rest(search, exec,
		    select_nodes(search, sum, run, exec, through));
	if (prf_sum_nodes(exec))
		err(2, NULL);
}

static void select_flat(struct search *search, const struct sum *sum,
			struct prf_exec *exec)
{
	size_t i;

	for (i = 0; i < exec->nr; i++)
		if (exec->dsos[i].nr)
			select_buckets(search, exec, &exec->dsos[i], sum);
	select_whole(search, exec, symbol_called, "[kernel]", "[elsewhere]");
}

/**
 * select_have_chains() - is a function selected with what it called?
 *
 * All must have chains: else, the same function would be more in some.
 */
bool select_have_chains(const struct prf *runs, size_t nr)
{
	while (nr && runs[nr - 1].flags & PRF_FLAG_CHAINS)
		nr--;
	return !nr;
}

/**
 * select_symbols() - remove the ticks of functions that --symbol does not
 * select
 * @sum: the finished sum of the runs, with callers if all have chains
 *
 * With inlined functions, what is inlined in a function is selected with it; if all
 * runs have chains of callers, what it called, too.
 *
 * Return: 0, or -1 after reporting a name that there is not.
 */
int select_symbols(const struct selection *selection, struct prf *runs,
		   size_t nr, const struct sum *sum)
{
	struct search search = search_new(&selection->symbols);
	bool through = select_have_chains(runs, nr);
	const char *missing;
	size_t i, j;

	for (i = 0; i < nr; i++)
		for (j = 0; j < runs[i].nr; j++) {
			struct prf_exec *exec = &runs[i].execs[j];

			if (exec->nr_nodes)
				select_chains(&search, sum, &runs[i], exec,
					      through);
			else
				select_flat(&search, sum, exec);
		}
	missing = search_end(&search);
	if (missing)
		suggest_nearest(sum, missing);
	return missing ? -1 : 0;
}
