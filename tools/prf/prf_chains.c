// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf_chains.c - unpack the contents of a CHAINS record
 *
 * The contents are untrusted: time and memory are proportional to their size,
 * which is bounded, and so is the length of what anybody prints of them.
 */
#include <stdlib.h>
#include <string.h>

#include "prf/prf.h"
#include "prf/prf_packed.h"

/* A bucket of the DSOs of a group, by its number in each of them */
struct place {
	uint64_t bucket;
	uint32_t group;
};

/*
 * Contents being parsed.
 * @places: all places, counted from 1: 0 is the kernel
 * @groups: for each DSO of the run, its group, counted from 1, or 0
 * @dso_of: for each group, its DSO in the exec at hand, counted from 1, or 0
 * @outermost: for each exec, the nodes in chains with an outermost frame
 * @nodes: nodes of all execs
 * @frames: frames of all chains
 */
struct chains {
	struct packed packed;
	struct prf *prf;
	size_t nr_places;
	struct place *places;
	size_t nr_groups;
	uint32_t *groups;
	uint32_t *dso_of;
	size_t *outermost;
	size_t nodes;
	size_t frames;
};

static void bad(struct chains *chains, const char *problem)
{
	packed_bad(&chains->packed, problem);
}

static uint64_t take_below(struct chains *chains, uint64_t limit)
{
	return packed_below(&chains->packed, limit);
}

/* Take the places of a group, in ascending order, after the first @nr. */
static size_t take_group(struct chains *chains, uint32_t group, size_t nr)
{
	size_t left = take_below(chains, chains->nr_places - nr + 1);
	uint64_t bucket = 0;

	for (; left && !chains->packed.problem; left--) {
		bucket += take_below(chains, UINT64_MAX - bucket);
		chains->places[nr++] = (struct place){ bucket++, group };
	}
	return nr;
}

static void take_places(struct chains *chains)
{
	struct packed *packed = &chains->packed;
	size_t nr = 0, i;

	chains->places = packed_array(packed, &chains->nr_places, 1,
				      sizeof(*chains->places));
	chains->dso_of = packed_array(packed, &chains->nr_groups, 1,
				      sizeof(*chains->dso_of));
	for (i = 0; i < chains->nr_groups && !packed->problem; i++)
		nr = take_group(chains, i, nr);
	if (nr != chains->nr_places)
		bad(chains, "a place in no group");
}

static void take_numbers(struct chains *chains, struct prf_exec *exec,
			 size_t *outermost)
{
	size_t left = PRF_NODES_MOST - chains->nodes;

	*outermost = take_below(chains, left + 1);
	exec->nr_nodes = *outermost + take_below(chains, left - *outermost + 1);
	/* Each takes four numbers */
	left = chains->packed.end - chains->packed.at;
	if (chains->nodes + exec->nr_nodes > left / 4)
		bad(chains, "contents that are cut short");
	if (chains->packed.problem)
		exec->nr_nodes = 0;
	chains->nodes += exec->nr_nodes;
	exec->nodes = calloc(exec->nr_nodes + 1, sizeof(*exec->nodes));
	if (!exec->nodes) {
		exec->nr_nodes = 0;
		bad(chains, "no memory");
	}
}

/* Take the number of nodes of each exec, and the groups of its DSOs. */
static void take_execs(struct chains *chains)
{
	uint32_t *group = chains->groups;
	size_t i, j;

	for (i = 0; i < chains->prf->nr; i++) {
		struct prf_exec *exec = &chains->prf->execs[i];

		take_numbers(chains, exec, &chains->outermost[i]);
		for (j = 0; j < exec->nr; j++, group++)
			if (exec->nr_nodes)
				*group = take_below(chains,
						    chains->nr_groups + 1);
	}
}

/*
 * Find the callers of nodes, which come in depth-first order: each is called by
 * the one before it, or by the caller so many levels above that as its number
 * says. The first @outermost belong to chains with an outermost frame, the others
 * to chains that were cut.
 */
static void take_callers(struct chains *chains, struct prf_exec *exec,
			 size_t outermost)
{
	uint32_t callers[PRF_CHAIN_DEPTH + 1] = { 0 };
	size_t depth = 0, i;

	for (i = 0; i < exec->nr_nodes && !chains->packed.problem; i++) {
		if (i == outermost) {
			depth = 0;
			callers[0] = PRF_CUT;
		}
		depth -= take_below(chains, depth + 1);
		exec->nodes[i].caller = callers[depth];
		if (depth == PRF_CHAIN_DEPTH) {
			bad(chains, "a chain with too many frames");
			return;
		}
		callers[++depth] = i + 1;
		chains->frames += depth;
	}
	if (chains->frames > PRF_FRAMES_MOST)
		bad(chains, "more frames than there can be");
}

static void take_place(struct chains *chains, const struct prf_exec *exec,
		       struct prf_node *node)
{
	size_t number = take_below(chains, chains->nr_places + 1);
	const struct prf_dso *dso;
	const struct place *place;

	node->dso = PRF_NODE_KERNEL;
	if (!number)
		return;
	place = &chains->places[number - 1];
	node->dso = chains->dso_of[place->group] - 1;
	if (node->dso == UINT32_MAX) {
		bad(chains, "a frame in no DSO");
		return;
	}
	dso = &exec->dsos[node->dso];
	if (place->bucket > (dso->end - dso->start - 1) / dso->bucket_bytes)
		bad(chains, "a frame outside its DSO");
	else
		node->offset = place->bucket * dso->bucket_bytes;
}

static bool is_wait(const struct prf_exec *exec, const struct prf_node *node)
{
	return node->dso != PRF_NODE_KERNEL &&
		prf_state_of(&exec->dsos[node->dso]) != PRF_ON_CPU;
}

/* A thread that waits calls nothing. */
static void check_caller(struct chains *chains, const struct prf_exec *exec,
			 const struct prf_node *node)
{
	if (node->caller && node->caller != PRF_CUT &&
	    is_wait(exec, &exec->nodes[node->caller - 1]))
		bad(chains, "a wait with a callee");
}

/* Take the places of the nodes of an exec whose DSOs are in @groups. */
static void take_nodes(struct chains *chains, struct prf_exec *exec,
		       const uint32_t *groups)
{
	size_t i;

	for (i = 0; i < exec->nr; i++) {
		if (!groups[i])
			continue;
		if (chains->dso_of[groups[i] - 1])
			bad(chains, "two DSOs with the same places");
		chains->dso_of[groups[i] - 1] = i + 1;
	}
	for (i = 0; i < exec->nr_nodes && !chains->packed.problem; i++) {
		take_place(chains, exec, &exec->nodes[i]);
		check_caller(chains, exec, &exec->nodes[i]);
	}
	for (i = 0; i < exec->nr; i++)
		if (groups[i])
			chains->dso_of[groups[i] - 1] = 0;
}

static uint64_t take_ticks(struct chains *chains, uint64_t *sum)
{
	uint64_t ticks = take_below(chains, PRF_MOST - *sum + 1);

	*sum += ticks;
	return ticks;
}

/* Take the columns with the numbers of all nodes. */
static void take_columns(struct chains *chains)
{
	struct prf *prf = chains->prf;
	const uint32_t *groups = chains->groups;
	uint64_t count = 0, below = 0;
	size_t i, j;

	for (i = 0; i < prf->nr; i++)
		take_callers(chains, &prf->execs[i], chains->outermost[i]);
	for (i = 0; i < prf->nr; groups += prf->execs[i++].nr)
		take_nodes(chains, &prf->execs[i], groups);
	for (i = 0; i < prf->nr; i++)
		for (j = 0; j < prf->execs[i].nr_nodes; j++)
			prf->execs[i].nodes[j].count =
				take_ticks(chains, &count);
	for (i = 0; i < prf->nr; i++)
		for (j = 0; j < prf->execs[i].nr_nodes; j++)
			prf->execs[i].nodes[j].below =
				take_ticks(chains, &below);
}

/* The nodes of an exec say what its buckets are. */
static void sum_up(struct chains *chains, struct prf_exec *exec)
{
	uint64_t kernel = exec->kernel_count, below = 0;
	size_t i;

	for (i = 0; i < exec->nr_nodes; i++) {
		below += exec->nodes[i].below;
		if (exec->nodes[i].below && is_wait(exec, &exec->nodes[i]))
			bad(chains, "a wait with a callee");
	}
	if (prf_sum_nodes(exec))
		bad(chains, "no memory");
	if (kernel != exec->kernel_count)
		bad(chains, "chains with other ticks in the kernel");
	if (below > exec->coarse)
		bad(chains, "chains with more ticks than had no room");
}

/* Buckets come from the nodes, if there are any. */
static void check_buckets(struct chains *chains)
{
	const struct prf *prf = chains->prf;
	size_t i, j;

	for (i = 0; i < prf->nr; i++)
		for (j = 0; j < prf->execs[i].nr; j++)
			if (prf->execs[i].nr_nodes && prf->execs[i].dsos[j].nr)
				bad(chains, "chains and buckets of one exec");
}

static void take_all(struct chains *chains)
{
	struct prf *prf = chains->prf;
	size_t i;

	take_places(chains);
	take_execs(chains);
	take_columns(chains);
	if (chains->packed.at != chains->packed.end)
		bad(chains, "something after the last chain");
	check_buckets(chains);
	for (i = 0; i < prf->nr && !chains->packed.problem; i++)
		if (prf->execs[i].nr_nodes)
			sum_up(chains, &prf->execs[i]);
}

static size_t count_dsos(const struct prf *prf)
{
	size_t nr = 0, i;

	for (i = 0; i < prf->nr; i++)
		nr += prf->execs[i].nr;
	return nr;
}

/** prf_drop_chains() - remove the chains of all execs, but not their ticks */
void prf_drop_chains(struct prf *prf)
{
	size_t i;

	for (i = 0; i < prf->nr; i++) {
		free(prf->execs[i].nodes);
		prf->execs[i].nodes = NULL;
		prf->execs[i].nr_nodes = 0;
	}
	prf->flags &= ~(PRF_FLAG_CHAINS | PRF_FLAG_CALL_SITES);
	memset(prf->chains, 0, sizeof(prf->chains));
}

/**
 * prf_add_chains() - add the contents of a CHAINS record, after all DSOs
 * @prf: the run, without chains
 * @data: the contents, uncompressed
 * @size: their size, in bytes
 *
 * Makes the buckets of execs with chains.
 *
 * Return: NULL, or what is wrong; then no exec has nodes.
 */
const char *prf_add_chains(struct prf *prf, const void *data, size_t size)
{
	struct chains chains = {
		.packed.at = data,
		.packed.end = (const uint8_t *)data + size,
		.prf = prf,
		.groups = calloc(count_dsos(prf) + 1, sizeof(uint32_t)),
		.outermost = calloc(prf->nr + 1, sizeof(size_t)),
	};

	if (chains.groups && chains.outermost)
		take_all(&chains);
	else
		bad(&chains, "no memory");
	free(chains.groups);
	free(chains.outermost);
	free(chains.places);
	free(chains.dso_of);
	if (chains.packed.problem)
		prf_drop_chains(prf);
	return chains.packed.problem;
}
