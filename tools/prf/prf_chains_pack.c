// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf_chains_pack.c - pack chains of calls as the contents of a CHAINS record
 *
 * Nodes come in depth-first order, so that a small number says what calls each,
 * and by columns, as numbers of one meaning compress better. Programs that are
 * executed many times share the list of places in their DSOs.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "prf/prf.h"
#include "prf/prf_packed.h"

/*
 * A bucket of the DSOs of a group, by its number in each of them. @number: which
 * of the places it is, counted from 1, is wanted there
 */
struct place {
	uint64_t bucket;
	uint32_t group;
	uint32_t *number;
};

/* A DSO of an exec, and its group, counted from 1 */
struct member {
	const struct prf_dso *dso;
	size_t exec;
	uint32_t group;
};

/*
 * The nodes of an exec, in the order of the file.
 * @depths: frames of the chain of each node
 * @nodes: the nodes
 * @places: where they are, by the numbers of places; 0 in the kernel
 * @outermost: number of them in chains with an outermost frame
 * @members: the DSOs of the exec, if it has chains
 */
struct order {
	uint32_t *depths;
	const struct prf_node **nodes;
	uint32_t *places;
	size_t outermost;
	struct member *members;
};

/*
 * Contents in the making.
 * @orders: of each exec
 * @members: DSOs of all execs with chains
 * @groups: number of groups
 * @places: all places, sorted, each once
 * @frames: frames of all chains
 */
struct packing {
	const struct prf *prf;
	struct order *orders;
	struct member *members;
	uint32_t groups;
	size_t nr_places;
	struct place *places;
	size_t frames;
};

static int fail(int error)
{
	errno = error;
	return -1;
}

static bool has_caller(const struct prf_node *node)
{
	return node->caller && node->caller != PRF_CUT;
}

/* Count the nodes of the trees below all nodes of an exec. */
static int count_trees(const struct prf_exec *exec, struct order *order,
		       uint32_t *sizes)
{
	size_t i;

	for (i = exec->nr_nodes; i--; ) {
		const struct prf_node *node = &exec->nodes[i];

		sizes[i]++;
		if (!node->caller)
			order->outermost += sizes[i];
		if (!has_caller(node))
			continue;
		if (node->caller > i)
			return fail(EINVAL);
		sizes[node->caller - 1] += sizes[i];
	}
	return 0;
}

/*
 * Give each node the first position that its caller has left, which is after the
 * trees of what that called before. @sizes: of the trees; @at: receives the
 * positions; @next: receives the first position that each node has left
 */
static void find_positions(const struct prf_exec *exec,
			   const struct order *order, const uint32_t *sizes,
			   uint32_t *at, uint32_t *next)
{
	uint32_t outermost = 0, cut = order->outermost, *from;
	size_t i;

	for (i = 0; i < exec->nr_nodes; i++) {
		const struct prf_node *node = &exec->nodes[i];

		if (has_caller(node))
			from = &next[node->caller - 1];
		else
			from = node->caller ? &cut : &outermost;
		at[i] = *from;
		next[i] = *from + 1;
		*from += sizes[i];
	}
}

/* @at: position of each node */
static int order_nodes(struct packing *packing, const struct prf_exec *exec,
		       struct order *order, const uint32_t *at)
{
	size_t i;

	for (i = 0; i < exec->nr_nodes; i++) {
		const struct prf_node *node = &exec->nodes[i];
		uint32_t depth = has_caller(node) ?
			1 + order->depths[at[node->caller - 1]] : 1;

		order->nodes[at[i]] = node;
		order->depths[at[i]] = depth;
		packing->frames += depth;
		if (depth > PRF_CHAIN_DEPTH ||
		    packing->frames > PRF_FRAMES_MOST)
			return fail(EFBIG);
	}
	return 0;
}

static int order_exec(struct packing *packing, const struct prf_exec *exec,
		      struct order *order)
{
	size_t nr = exec->nr_nodes + 1;
	uint32_t *sizes = calloc(nr, 3 * sizeof(*sizes));
	int result = -1;

	order->depths = calloc(nr, sizeof(*order->depths));
	order->nodes = calloc(nr, sizeof(*order->nodes));
	order->places = calloc(nr, sizeof(*order->places));
	if (sizes && order->depths && order->nodes && order->places &&
	    !count_trees(exec, order, sizes)) {
		find_positions(exec, order, sizes, sizes + nr, sizes + 2 * nr);
		result = order_nodes(packing, exec, order, sizes + nr);
	}
	free(sizes);
	return result;
}

/* DSOs have the same places if these are equal. */
static int by_file(const struct member *a, const struct member *b)
{
	const struct prf_dso *d = a->dso, *e = b->dso;
	int order = strcmp(d->path, e->path);

	if (!order)
		order = memcmp(d->build_id, e->build_id, sizeof(d->build_id));
	if (!order)
		order = (d->pgoff > e->pgoff) - (d->pgoff < e->pgoff);
	return order ?: (d->bucket_bytes > e->bucket_bytes) -
			(d->bucket_bytes < e->bucket_bytes);
}

/* Those of a file in the order of their execs, which is that in memory */
static int by_file_and_exec(const void *a, const void *b)
{
	const struct member *m = *(struct member *const *)a;
	const struct member *n = *(struct member *const *)b;

	return by_file(m, n) ?: (m > n) - (m < n);
}

/* Number the groups: an exec that has a file twice has two of them. */
static void number_groups(struct packing *packing, struct member **list,
			  size_t nr)
{
	uint32_t first = 0, group = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!i || by_file(list[i - 1], list[i]))
			group = first = packing->groups;
		else if (list[i - 1]->exec == list[i]->exec)
			group++;
		else
			group = first;
		list[i]->group = group + 1;
		if (packing->groups <= group)
			packing->groups = group + 1;
	}
}

/* List the DSOs of all execs that have chains. */
static size_t list_members(struct packing *packing)
{
	struct member *member = packing->members;
	const struct prf *prf = packing->prf;
	size_t i, j;

	for (i = 0; i < prf->nr; i++) {
		packing->orders[i].members = member;
		for (j = 0; prf->execs[i].nr_nodes && j < prf->execs[i].nr;
		     j++, member++) {
			member->dso = &prf->execs[i].dsos[j];
			member->exec = i;
		}
	}
	return member - packing->members;
}

static int find_groups(struct packing *packing)
{
	size_t nr = 0, i;
	struct member **list;

	for (i = 0; i < packing->prf->nr; i++)
		nr += packing->prf->execs[i].nr;
	packing->members = calloc(nr + 1, sizeof(*packing->members));
	list = calloc(nr + 1, sizeof(*list));
	if (!packing->members || !list) {
		free(list);
		return -1;
	}
	nr = list_members(packing);
	for (i = 0; i < nr; i++)
		list[i] = &packing->members[i];
	qsort(list, nr, sizeof(*list), by_file_and_exec);
	number_groups(packing, list, nr);
	free(list);
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct place *p = a, *q = b;

	if (p->group != q->group)
		return p->group < q->group ? -1 : 1;
	return (p->bucket > q->bucket) - (p->bucket < q->bucket);
}

/* Find the places of all nodes, sort them, each once, and number them. */
static int find_places(struct packing *packing, size_t nodes)
{
	const struct prf *prf = packing->prf;
	struct place *list = calloc(nodes + 1, sizeof(*list));
	size_t nr = 0, i, j;

	if (!list)
		return -1;
	for (i = 0; i < prf->nr; i++) {
		struct order *order = &packing->orders[i];

		for (j = 0; j < prf->execs[i].nr_nodes; j++) {
			const struct prf_node *node = order->nodes[j];
			const struct member *member;

			if (node->dso == PRF_NODE_KERNEL)
				continue;
			member = &order->members[node->dso];
			list[nr++] = (struct place){
				node->offset / member->dso->bucket_bytes,
				member->group, &order->places[j]
			};
		}
	}
	qsort(list, nr, sizeof(*list), by_place);
	for (i = 0; i < nr; i++) {
		if (!i || by_place(&list[i - 1], &list[i]))
			packing->nr_places++;
		*list[i].number = packing->nr_places;
		list[packing->nr_places - 1] = list[i];
	}
	packing->places = list;
	return 0;
}

static void put_places(FILE *stream, const struct packing *packing)
{
	const struct place *place = packing->places;
	const struct place *end = place + packing->nr_places, *next;
	uint32_t group;

	packed_put(stream, packing->nr_places);
	packed_put(stream, packing->groups);
	for (group = 1; group <= packing->groups; group++) {
		uint64_t least = 0;

		for (next = place; next < end && next->group == group; next++)
			;
		packed_put(stream, next - place);
		for (; place < next; place++) {
			packed_put(stream, place->bucket - least);
			least = place->bucket + 1;
		}
	}
}

static void put_execs(FILE *stream, const struct packing *packing)
{
	const struct prf *prf = packing->prf;
	size_t i, j;

	for (i = 0; i < prf->nr; i++) {
		const struct order *order = &packing->orders[i];

		packed_put(stream, order->outermost);
		packed_put(stream, prf->execs[i].nr_nodes - order->outermost);
		if (prf->execs[i].nr_nodes)
			for (j = 0; j < prf->execs[i].nr; j++)
				packed_put(stream, order->members[j].group);
	}
}

static void put_callers(FILE *stream, const struct order *order, size_t nr)
{
	uint32_t before = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (i == order->outermost)
			before = 0;
		packed_put(stream, before + 1 - order->depths[i]);
		before = order->depths[i];
	}
}

static void put_columns(FILE *stream, const struct packing *packing)
{
	const struct prf_exec *execs = packing->prf->execs;
	const struct order *orders = packing->orders;
	size_t nr = packing->prf->nr, i, j;

	for (i = 0; i < nr; i++)
		put_callers(stream, &orders[i], execs[i].nr_nodes);
	for (i = 0; i < nr; i++)
		for (j = 0; j < execs[i].nr_nodes; j++)
			packed_put(stream, orders[i].places[j]);
	for (i = 0; i < nr; i++)
		for (j = 0; j < execs[i].nr_nodes; j++)
			packed_put(stream, orders[i].nodes[j]->count);
	for (i = 0; i < nr; i++)
		for (j = 0; j < execs[i].nr_nodes; j++)
			packed_put(stream, orders[i].nodes[j]->below);
}

/* The file does not have the buckets of an exec with chains: have these all? */
static bool has_all_ticks(const struct prf_exec *exec)
{
	uint64_t nodes = 0, buckets = exec->kernel_count;
	size_t i;

	for (i = 0; i < exec->nr_nodes; i++)
		nodes += exec->nodes[i].count;
	for (i = 0; i < exec->nr; i++)
		buckets += prf_dso_ticks(&exec->dsos[i]);
	return nodes == buckets;
}

static int pack(struct packing *packing, FILE *stream)
{
	const struct prf *prf = packing->prf;
	size_t nodes = 0, i;

	for (i = 0; i < prf->nr; i++) {
		const struct prf_exec *exec = &prf->execs[i];

		nodes += exec->nr_nodes;
		if (nodes > PRF_NODES_MOST)
			return fail(EFBIG);
		if (exec->nr_nodes && !has_all_ticks(exec))
			return fail(EINVAL);
		if (order_exec(packing, exec, &packing->orders[i]))
			return -1;
	}
	if (find_groups(packing) || find_places(packing, nodes))
		return -1;
	put_places(stream, packing);
	put_execs(stream, packing);
	put_columns(stream, packing);
	return 0;
}

static void free_packing(struct packing *packing)
{
	size_t i;

	for (i = 0; packing->orders && i < packing->prf->nr; i++) {
		free(packing->orders[i].depths);
		free(packing->orders[i].nodes);
		free(packing->orders[i].places);
	}
	free(packing->orders);
	free(packing->members);
	free(packing->places);
}

/**
 * prf_chains_pack() - make the contents of a CHAINS record
 * @prf: the run
 * @size: receives the size of the contents, in bytes
 *
 * Return: the contents, uncompressed, for prf_add_chains(), or NULL with errno:
 * EFBIG if a file has no room for them, EINVAL if a node comes before its caller
 * or the nodes of an exec have other ticks than its buckets, ENOMEM.
 */
void *prf_chains_pack(const struct prf *prf, size_t *size)
{
	struct packing packing = {
		.prf = prf,
		.orders = calloc(prf->nr + 1, sizeof(*packing.orders)),
	};
	char *data = NULL;
	FILE *stream = open_memstream(&data, size);
	int result = -1;

	if (stream && packing.orders)
		result = pack(&packing, stream);
	free_packing(&packing);
	if (!stream || fclose(stream))
		result = -1;
	if (!result && *size > PRF_CHAINS_MOST)
		result = fail(EFBIG);
	if (!result)
		return data;
	free(data);
	return NULL;
}
