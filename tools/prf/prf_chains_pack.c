// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf_chains_pack.c - pack chains of calls as the contents of a CHAINS record
 *
 * Nodes come in depth-first order, so that a small number says what calls each,
 * and by columns, as numbers of one meaning compress better.
 */
#include <errno.h>
#include <stdlib.h>

#include "prf/prf.h"
#include "prf/prf_packed.h"

/*
 * Where each node of an exec comes in the file, by its index.
 * @size: nodes in its tree
 * @depth: frames of its chain
 * @nodes: index of the node at each position
 * @outermost: nodes in chains with an outermost frame
 */
struct order {
	uint32_t *size;
	uint32_t *depth;
	uint32_t *nodes;
	size_t outermost;
};

static bool has_caller(const struct prf_node *node)
{
	return node->caller && node->caller != PRF_CUT;
}

/* Count the nodes of trees. Errors are in errno. */
static int count(const struct prf_exec *exec, struct order *order)
{
	size_t i;

	for (i = exec->nr_nodes; i--; ) {
		const struct prf_node *node = &exec->nodes[i];

		order->size[i]++;
		if (!node->caller) {
			order->outermost += order->size[i];
		} else if (has_caller(node)) {
			if (node->caller > i) {
				errno = EINVAL;
				return -1;
			}
			order->size[node->caller - 1] += order->size[i];
		}
	}
	return 0;
}

/*
 * Give each node the first position that its caller has left, which is after the
 * trees of what that called before. @next: the position that each has left
 */
static int place(const struct prf_exec *exec, struct order *order,
		 uint32_t *next, struct prf_room *room)
{
	uint32_t outermost = 0, cut = order->outermost, *at;
	size_t i;

	for (i = 0; i < exec->nr_nodes; i++) {
		const struct prf_node *node = &exec->nodes[i];
		bool called = has_caller(node);

		order->depth[i] = 1 + (called ? order->depth[node->caller - 1] :
						0);
		if (order->depth[i] > PRF_CHAIN_DEPTH ||
		    order->depth[i] > room->frames) {
			errno = EFBIG;
			return -1;
		}
		room->frames -= order->depth[i];
		at = called ? &next[node->caller - 1] :
			node->caller ? &cut : &outermost;
		order->nodes[*at] = i;
		next[i] = *at + 1;
		*at += order->size[i];
	}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct prf_node *n = a, *m = b;

	if (n->dso != m->dso)
		return n->dso < m->dso ? -1 : 1;
	return (n->offset > m->offset) - (n->offset < m->offset);
}

/* The places of nodes, sorted, each once; NULL if out of memory */
static struct prf_node *list_places(const struct prf_exec *exec, size_t *nr)
{
	struct prf_node *list = calloc(exec->nr_nodes + 1, sizeof(*list));
	size_t i, all = 0;

	if (!list)
		return NULL;
	for (i = 0; i < exec->nr_nodes; i++)
		if (exec->nodes[i].dso != PRF_NODE_KERNEL)
			list[all++] = exec->nodes[i];
	qsort(list, all, sizeof(*list), by_place);
	for (*nr = i = 0; i < all; i++)
		if (!*nr || by_place(&list[*nr - 1], &list[i]))
			list[(*nr)++] = list[i];
	return list;
}

static void put_places(FILE *stream, const struct prf_exec *exec,
		       const struct prf_node *places, size_t nr)
{
	uint32_t dso = 0;
	uint64_t least = 0;
	size_t i;

	packed_put(stream, nr);
	for (i = 0; i < nr; i++) {
		uint64_t bucket = places[i].offset /
			exec->dsos[places[i].dso].bucket_bytes;

		packed_put(stream, places[i].dso - dso);
		if (places[i].dso != dso)
			least = 0;
		dso = places[i].dso;
		packed_put(stream, bucket - least);
		least = bucket + 1;
	}
}

static void put_callers(FILE *stream, const struct prf_exec *exec,
			const struct order *order)
{
	uint32_t before = 0, depth;
	size_t i;

	packed_put(stream, order->outermost);
	packed_put(stream, exec->nr_nodes - order->outermost);
	for (i = 0; i < exec->nr_nodes; i++) {
		depth = order->depth[order->nodes[i]];
		if (i == order->outermost)
			before = 0;
		packed_put(stream, before + 1 - depth);
		before = depth;
	}
}

static void put_tree(FILE *stream, const struct prf_exec *exec,
		     const struct order *order, const struct prf_node *places,
		     size_t nr)
{
	const struct prf_node *node, *place;
	size_t i;

	put_callers(stream, exec, order);
	for (i = 0; i < exec->nr_nodes; i++) {
		node = &exec->nodes[order->nodes[i]];
		place = bsearch(node, places, nr, sizeof(*places), by_place);
		packed_put(stream, place ? place - places + 1 : 0);
	}
	for (i = 0; i < exec->nr_nodes; i++)
		packed_put(stream, exec->nodes[order->nodes[i]].count);
	for (i = 0; i < exec->nr_nodes; i++)
		packed_put(stream, exec->nodes[order->nodes[i]].below);
}

static int put(FILE *stream, const struct prf_exec *exec,
	       struct order *order, struct prf_room *room)
{
	uint32_t *next = calloc(exec->nr_nodes + 1, sizeof(*next));
	struct prf_node *places = NULL;
	int result = -1;
	size_t nr;

	if (next && !count(exec, order) && !place(exec, order, next, room))
		places = list_places(exec, &nr);
	if (places) {
		put_places(stream, exec, places, nr);
		put_tree(stream, exec, order, places, nr);
		result = 0;
	}
	free(places);
	free(next);
	return result;
}

static int make_order(const struct prf_exec *exec, struct order *order)
{
	size_t nr = exec->nr_nodes + 1;

	order->size = calloc(nr, sizeof(*order->size));
	order->depth = calloc(nr, sizeof(*order->depth));
	order->nodes = calloc(nr, sizeof(*order->nodes));
	return order->size && order->depth && order->nodes ? 0 : -1;
}

static void free_order(struct order *order)
{
	free(order->size);
	free(order->depth);
	free(order->nodes);
}

static int take_room(size_t *room, size_t wanted)
{
	if (wanted > *room) {
		errno = EFBIG;
		return -1;
	}
	*room -= wanted;
	return 0;
}

/**
 * prf_chains_pack() - make the contents of a CHAINS record
 * @exec: the exec
 * @size: receives the size of the contents, in bytes
 * @room: what the file has room for; receives what is left
 *
 * Return: the contents, uncompressed, for prf_add_chains(), or NULL with errno:
 * EFBIG if there is no room, EINVAL if a node comes before its caller, ENOMEM.
 */
void *prf_chains_pack(const struct prf_exec *exec, size_t *size,
		      struct prf_room *room)
{
	struct order order = {};
	char *data = NULL;
	FILE *stream;
	int result;

	if (take_room(&room->nodes, exec->nr_nodes))
		return NULL;
	stream = open_memstream(&data, size);
	if (!stream)
		return NULL;
	result = make_order(exec, &order) ?: put(stream, exec, &order, room);
	free_order(&order);
	if (fclose(stream))
		result = -1;
	if (!result && !take_room(&room->bytes, *size))
		return data;
	free(data);
	return NULL;
}
