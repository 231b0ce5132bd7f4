// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_space.c - what a process has mapped for execution
 *
 * The kernel reports what is mapped, and not what is unmapped: a mapping stays
 * until another one takes its place.
 */
#include <stdlib.h>

#include "profil/perf_space.h"
#include "util/array.h"

struct space *space_get(struct space *space)
{
	if (space)
		space->users++;
	return space;
}

void space_put(struct space *space)
{
	if (!space || --space->users)
		return;
	free(space->list);
	free(space);
}

/* Copy what @mapping leaves of the others, and @mapping itself, in order. */
static size_t merge(struct mapping *to, const struct space *from,
		    const struct mapping *mapping)
{
	size_t nr = 0, i;

	for (i = 0; from && i < from->nr; i++) {
		if (from->list[i].start >= mapping->start)
			break;
		to[nr] = from->list[i];
		if (to[nr].end > mapping->start)
			to[nr].end = mapping->start;
		nr++;
	}
	to[nr++] = *mapping;
	for (i = 0; from && i < from->nr; i++) {
		if (from->list[i].end <= mapping->end)
			continue;
		to[nr] = from->list[i];
		if (to[nr].start < mapping->end) {
			to[nr].offset += mapping->end - to[nr].start;
			to[nr].start = mapping->end;
		}
		nr++;
	}
	return nr;
}

/**
 * space_map() - add a mapping, in the place of what was there
 * @space: the address space, or NULL; receives another one if it is shared
 * @mapping: the mapping
 *
 * Return: 0, or -1 if out of memory.
 */
int space_map(struct space **space, const struct mapping *mapping)
{
	struct space *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return -1;
	copy->users = 1;
	/* It may divide another one in two */
	copy->list = calloc((*space ? (*space)->nr : 0) + 2,
			    sizeof(*copy->list));
	if (!copy->list) {
		free(copy);
		return -1;
	}
	copy->nr = merge(copy->list, *space, mapping);
	space_put(*space);
	*space = copy;
	return 0;
}

/** space_find() - the mapping at an address, or NULL */
const struct mapping *space_find(const struct space *space, uint64_t address)
{
	size_t i = space ? array_until(space->list, space->nr,
				       sizeof(*space->list), address) : 0;

	if (!i || address >= space->list[i - 1].end)
		return NULL;
	return &space->list[i - 1];
}
