// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf_chains.c - unpack the contents of CHAINS records
 *
 * The contents are untrusted: time and memory are proportional to their size,
 * which is bounded, and so is the length of what anybody prints of them.
 */
#include <stdlib.h>

#include "prf/prf.h"
#include "prf/prf_packed.h"

/* A place in code, and the ticks of all nodes there */
struct place {
	uint32_t dso;
	uint64_t offset;
	uint64_t count;
};

/*
 * The places of an exec, counted from 1: 0 is the kernel. @below sums up that of
 * all nodes.
 */
struct places {
	size_t nr;
	struct place *list;
	uint64_t kernel;
	uint64_t below;
};

static void take_place(struct packed *packed, const struct prf_exec *exec,
		       struct place *place, uint64_t least)
{
	const struct prf_dso *dso = &exec->dsos[place->dso];
	uint64_t last = (dso->end - dso->start - 1) / dso->bucket_bytes;
	uint64_t bucket = 0;

	if (least > last)
		packed_bad(packed, "a frame outside its DSO");
	else
		bucket = least + packed_below(packed, last - least + 1);
	place->offset = bucket * dso->bucket_bytes;
}

/* They ascend, so that each is there once. */
static void take_places(struct packed *packed, const struct prf_exec *exec,
			struct places *places)
{
	uint32_t dso = 0, step;
	uint64_t least = 0;
	size_t i;

	places->list = packed_array(packed, &places->nr, 2,
				    sizeof(*places->list));
	for (i = 0; i < places->nr; i++) {
		step = packed_below(packed, exec->nr - dso);
		if (packed->problem)
			return;
		dso += step;
		if (step)
			least = 0;
		places->list[i].dso = dso;
		take_place(packed, exec, &places->list[i], least);
		least = places->list[i].offset / exec->dsos[dso].bucket_bytes +
			1;
	}
}

/*
 * Find the callers of nodes, which come in depth-first order: each is called by
 * the one before it, or by the caller so many levels above that as its number
 * says. The first @outermost belong to chains with an outermost frame, the others
 * to chains that were cut.
 */
static void take_callers(struct packed *packed, struct prf_exec *exec,
			 size_t outermost, struct prf_room *room)
{
	uint32_t callers[PRF_CHAIN_DEPTH + 1] = { 0 };
	size_t depth = 0, frames = 0, i;

	for (i = 0; i < exec->nr_nodes && !packed->problem; i++) {
		if (i == outermost) {
			depth = 0;
			callers[0] = PRF_CUT;
		}
		depth -= packed_below(packed, depth + 1);
		exec->nodes[i].caller = callers[depth];
		if (depth == PRF_CHAIN_DEPTH) {
			packed_bad(packed, "a chain with too many frames");
			return;
		}
		callers[++depth] = i + 1;
		frames += depth;
	}
	if (frames > room->frames)
		packed_bad(packed, "more frames than there can be");
	else
		room->frames -= frames;
}

static uint64_t take_ticks(struct packed *packed, uint64_t *sum)
{
	uint64_t ticks = packed_below(packed, PRF_MOST - *sum + 1);

	*sum += ticks;
	return ticks;
}

/* @of: receives the number of the place of each node */
static void take_nodes(struct packed *packed, struct prf_exec *exec,
		       struct places *places, uint32_t *of)
{
	size_t i;

	for (i = 0; i < exec->nr_nodes && !packed->problem; i++) {
		struct prf_node *node = &exec->nodes[i];

		of[i] = packed_below(packed, places->nr + 1);
		node->dso = of[i] ? places->list[of[i] - 1].dso :
				    PRF_NODE_KERNEL;
		node->offset = of[i] ? places->list[of[i] - 1].offset : 0;
	}
	for (i = 0; i < exec->nr_nodes && !packed->problem; i++)
		exec->nodes[i].count = take_ticks(packed, of[i] ?
			&places->list[of[i] - 1].count : &places->kernel);
	for (i = 0; i < exec->nr_nodes; i++)
		exec->nodes[i].below = take_ticks(packed, &places->below);
}

/*
 * Have the nodes in each bucket of a DSO its ticks? @at is the index of the first
 * place in it, and becomes that of the first one in the next DSO.
 */
static bool agrees(const struct prf_exec *exec, uint32_t number,
		   const struct places *places, size_t *at)
{
	const struct prf_dso *dso = &exec->dsos[number];
	size_t bucket = 0;

	for (; *at < places->nr && places->list[*at].dso == number; ++*at) {
		const struct place *place = &places->list[*at];

		if (!place->count)
			continue;
		if (bucket == dso->nr ||
		    dso->buckets[bucket].offset != place->offset ||
		    dso->buckets[bucket].count != place->count)
			return false;
		bucket++;
	}
	return bucket == dso->nr;
}

static void check(struct packed *packed, const struct prf_exec *exec,
		  const struct places *places)
{
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < exec->nr; i++)
		if (!agrees(exec, i, places, &at))
			packed_bad(packed, "chains with other ticks than the buckets");
	if (places->kernel != exec->kernel_count)
		packed_bad(packed, "chains with other ticks in the kernel");
	if (places->below > exec->coarse)
		packed_bad(packed, "chains with more ticks than had no room");
}

/* Returns how many nodes belong to chains with an outermost frame. */
static size_t take_numbers(struct packed *packed, struct prf_exec *exec,
			   struct prf_room *room)
{
	size_t outermost = packed_below(packed, room->nodes + 1), left;

	exec->nr_nodes = outermost +
		packed_below(packed, room->nodes - outermost + 1);
	/* Each takes four numbers */
	left = packed->end - packed->at;
	if (exec->nr_nodes > left / 4)
		packed_bad(packed, "contents that are cut short");
	if (packed->problem)
		exec->nr_nodes = 0;
	room->nodes -= exec->nr_nodes;
	return outermost;
}

static void take_tree(struct packed *packed, struct prf_exec *exec,
		      struct places *places, struct prf_room *room)
{
	size_t outermost = take_numbers(packed, exec, room);
	uint32_t *of = calloc(exec->nr_nodes + 1, sizeof(*of));

	exec->nodes = calloc(exec->nr_nodes + 1, sizeof(*exec->nodes));
	if (exec->nodes && of) {
		take_callers(packed, exec, outermost, room);
		take_nodes(packed, exec, places, of);
	} else {
		packed_bad(packed, "no memory");
	}
	free(of);
}

/**
 * prf_add_chains() - add the contents of a CHAINS record
 * @exec: the exec, which has no nodes yet, but all else
 * @data: the contents, uncompressed
 * @size: their size, in bytes
 * @room: what the file has room for; receives what is left
 *
 * Return: NULL, or what is wrong; then the exec has no nodes.
 */
const char *prf_add_chains(struct prf_exec *exec, const void *data, size_t size,
			   struct prf_room *room)
{
	struct packed packed = {
		.at = data,
		.end = (const uint8_t *)data + size,
	};
	struct places places = {};

	take_places(&packed, exec, &places);
	take_tree(&packed, exec, &places, room);
	if (packed.at != packed.end)
		packed_bad(&packed, "something after the last chain");
	if (!packed.problem)
		check(&packed, exec, &places);
	free(places.list);
	if (packed.problem) {
		free(exec->nodes);
		exec->nodes = NULL;
		exec->nr_nodes = 0;
	}
	return packed.problem;
}
