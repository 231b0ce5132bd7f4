// SPDX-License-Identifier: GPL-2.0-only
/*
 * names.c - names of code that only this machine knows, while it runs
 */
#include <stdlib.h>
#include <string.h>

#include "profil/names.h"
#include "util/array.h"

/**
 * ranges_add() - add a function after the last one
 * @ranges: the functions
 * @range: the function; its strings are copied
 *
 * Return: 0, or -1 if out of memory.
 */
int ranges_add(struct ranges *ranges, const struct range *range)
{
	struct range *list = array_grow(ranges->list, ranges->nr,
					sizeof(*list));

	if (!list)
		return -1;
	ranges->list = list;
	list += ranges->nr;
	*list = *range;
	list->name = strdup(range->name);
	list->module = range->module ? strdup(range->module) : NULL;
	ranges->nr++;
	return list->name && !list->module == !range->module ? 0 : -1;
}

/** ranges_free() - free the functions */
void ranges_free(struct ranges *ranges)
{
	size_t i;

	for (i = 0; i < ranges->nr; i++) {
		free(ranges->list[i].name);
		free(ranges->list[i].module);
	}
	free(ranges->list);
	memset(ranges, 0, sizeof(*ranges));
}

/* First bucket after @i that belongs to another function; its offset */
static uint64_t next_other(const struct prf_dso *dso,
			   const struct range *const *of, size_t i)
{
	size_t j;

	for (j = i + 1; j < dso->nr; j++)
		if (of[j] && of[j] != of[i])
			return dso->buckets[j].offset;
	return UINT64_MAX;
}

/**
 * names_give() - give a DSO the names of the functions that have ticks
 * @dso: the DSO, whose pgoff is the address of its start; grows as needed
 * @of: the function of each bucket, or NULL; they may overlap
 *
 * Return: 0, or -1 if out of memory.
 */
int names_give(struct prf_dso *dso, const struct range *const *of)
{
	const struct range *last = NULL;
	uint64_t start, end = 0, limit;
	size_t i;

	for (i = 0; i < dso->nr; i++) {
		if (!of[i] || of[i] == last)
			continue;
		last = of[i];
		start = last->start > dso->pgoff ? last->start - dso->pgoff : 0;
		if (start < end)
			start = end;
		end = last->end - dso->pgoff;
		limit = next_other(dso, of, i);
		if (end > limit)
			end = limit;
		if (end > dso->end - dso->start)
			dso->end = dso->start + end;
		if (prf_add_symbol(dso, start, end, last->name))
			return -1;
	}
	return 0;
}
