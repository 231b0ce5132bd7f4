// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf_nodes.c - chains of callers in a run, in memory
 */
#include <stdbool.h>
#include <stdlib.h>

#include "prf/prf.h"
#include "util/array.h"

/**
 * prf_add_node() - add a frame after the last one
 *
 * The parameters are members of struct prf_node.
 */
struct prf_node *prf_add_node(struct prf_exec *exec, uint32_t caller,
			      uint32_t dso, uint64_t offset, uint64_t count,
			      uint64_t below)
{
	struct prf_node *node = array_grow(exec->nodes, exec->nr_nodes,
					   sizeof(*node));

	if (!node)
		return NULL;
	exec->nodes = node;
	node += exec->nr_nodes++;
	*node = (struct prf_node){ caller, dso, offset, count, below };
	return node;
}

static int by_place(const void *a, const void *b)
{
	const struct prf_site *p = a, *q = b;

	if (p->dso != q->dso)
		return p->dso < q->dso ? -1 : 1;
	return (p->offset > q->offset) - (p->offset < q->offset);
}

/* List the places of nodes with ticks, sorted; sums up those in the kernel. */
static struct prf_site *list_ticks(struct prf_exec *exec, size_t *nr)
{
	struct prf_site *list = calloc(exec->nr_nodes + 1, sizeof(*list));
	size_t i;

	*nr = 0;
	if (!list)
		return NULL;
	exec->kernel_count = 0;
	for (i = 0; i < exec->nr_nodes; i++) {
		const struct prf_node *node = &exec->nodes[i];

		if (node->dso == PRF_NODE_KERNEL)
			exec->kernel_count += node->count;
		else if (node->count)
			list[(*nr)++] = (struct prf_site){
				node->dso, node->offset, node->count,
			};
	}
	qsort(list, *nr, sizeof(*list), by_place);
	return list;
}

/**
 * prf_sum_nodes() - make the buckets of an exec, and its kernel ticks, from its
 * nodes
 *
 * Return: 0, or -1 if out of memory.
 */
int prf_sum_nodes(struct prf_exec *exec)
{
	struct prf_site *list;
	size_t nr, i;
	int result = 0;

	for (i = 0; i < exec->nr; i++)
		exec->dsos[i].nr = 0;
	list = list_ticks(exec, &nr);
	if (!list)
		return -1;
	for (i = 0; i < nr && !result; i++) {
		if (i + 1 < nr && !by_place(&list[i], &list[i + 1]))
			list[i + 1].count += list[i].count;
		else
			result = prf_add_bucket(&exec->dsos[list[i].dso],
						list[i].offset, list[i].count);
	}
	free(list);
	return result;
}

/**
 * prf_calling() - which nodes of an exec have called anything
 *
 * Return: whether each has; to be freed; NULL if out of memory.
 */
bool *prf_calling(const struct prf_exec *exec)
{
	bool *calling = calloc(exec->nr_nodes + 1, sizeof(*calling));
	size_t i;

	for (i = 0; calling && i < exec->nr_nodes; i++) {
		const struct prf_node *node = &exec->nodes[i];

		if (node->caller && node->caller != PRF_CUT)
			calling[node->caller - 1] = true;
		if (node->below)
			calling[i] = true;
	}
	return calling;
}

/**
 * prf_callers() - the places of callers
 * @exec: an exec
 * @nr: receives their number
 *
 * Return: the places, sorted, each once, with a count of 0; to be freed; NULL if
 * out of memory.
 */
struct prf_site *prf_callers(const struct prf_exec *exec, size_t *nr)
{
	struct prf_site *list = calloc(exec->nr_nodes + 1, sizeof(*list));
	bool *calling = prf_calling(exec);
	size_t all = 0, i;

	for (i = 0; list && calling && i < exec->nr_nodes; i++)
		if (calling[i] && exec->nodes[i].dso != PRF_NODE_KERNEL)
			list[all++] = (struct prf_site){
				exec->nodes[i].dso, exec->nodes[i].offset, 0,
			};
	if (!list || !calling) {
		free(calling);
		free(list);
		return NULL;
	}
	free(calling);
	qsort(list, all, sizeof(*list), by_place);
	for (*nr = i = 0; i < all; i++)
		if (!i || by_place(&list[i - 1], &list[i]))
			list[(*nr)++] = list[i];
	return list;
}
