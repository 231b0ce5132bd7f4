// SPDX-License-Identifier: GPL-2.0-only
/*
 * addrspace.c - the address space of an exec: where its DSOs are mapped
 *
 * Counters belong to the exec: all processes that run it share them. Mappings
 * belong to the address space: after fork, parent and child may load different
 * libraries at the same address.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profil/addrspace.h"
#include "profil/proc.h"
#include "util/term.h"

/**
 * addrspace_new() - address space of a process that has just called exec
 * @exec: the new exec
 * @tid: the only thread of the process
 *
 * Return: the address space, or NULL if out of memory.
 */
struct addrspace *addrspace_new(struct exec *exec, pid_t tid)
{
	struct addrspace *space = calloc(1, sizeof(*space));
	struct start start;

	if (!space)
		return NULL;
	process_start(tid, &start);
	space->users = 1;
	space->exec = exec;
	exec->users++;
	space->code = start.entry;
	exec->code = start.entry;
	space->base = start.loader;
	return space;
}

struct addrspace *addrspace_get(struct addrspace *space)
{
	if (space)
		space->users++;
	return space;
}

/** addrspace_copy() - duplicate after fork(); NULL if out of memory */
struct addrspace *addrspace_copy(const struct addrspace *space)
{
	struct addrspace *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *space;
	copy->users = 1;
	copy->exec->users++;
	copy->live = calloc(space->nr_live + 1, sizeof(*copy->live));
	copy->mapped = calloc(space->nr_mapped + 1, sizeof(*copy->mapped));
	if (!copy->live || !copy->mapped) {
		addrspace_put(copy);
		return NULL;
	}
	memcpy(copy->live, space->live, space->nr_live * sizeof(*copy->live));
	memcpy(copy->mapped, space->mapped,
	       space->nr_mapped * sizeof(*copy->mapped));
	return copy;
}

void addrspace_put(struct addrspace *space)
{
	if (!space || --space->users)
		return;
	space->exec->users--;
	free(space->live);
	free(space->mapped);
	free(space);
}

/** addrspace_separate() - switch to an exec of its own */
void addrspace_separate(struct addrspace *space, struct exec *exec)
{
	space->exec->users--;
	exec->users++;
	space->exec = exec;
}

/** addrspace_mapped() - address of a counter area, 0 if not mapped */
uint64_t addrspace_mapped(const struct addrspace *space, unsigned int area)
{
	return area < space->nr_mapped ? space->mapped[area] : 0;
}

/**
 * addrspace_set_mapped() - record the address at which a counter area is
 * mapped; -1 if out of memory
 */
int addrspace_set_mapped(struct addrspace *space, unsigned int area,
			 uint64_t address)
{
	uint64_t *mapped;

	if (area >= space->nr_mapped) {
		mapped = reallocarray(space->mapped, area + 1,
				      sizeof(*mapped));
		if (!mapped)
			return -1;
		memset(mapped + space->nr_mapped, 0,
		       (area + 1 - space->nr_mapped) * sizeof(*mapped));
		space->mapped = mapped;
		space->nr_mapped = area + 1;
	}
	space->mapped[area] = address;
	return 0;
}

/* Is the mapping this DSO, with its counters, if any, mapped here? */
static bool is_dso(const struct addrspace *space, const struct dso *dso,
		   const struct mapping *map)
{
	return dso->map.start == map->start && dso->map.end == map->end &&
		dso->map.pgoff == map->pgoff &&
		dso->map.inode == map->inode &&
		!strcmp(dso->map.device, map->device) &&
		!strcmp(dso->map.path, map->path) &&
		(dso->area == NO_AREA || addrspace_mapped(space, dso->area));
}

/* Find the index of the DSO at a mapping; add the DSO if it is new. */
static int number_of(struct addrspace *space, const struct mapping *map,
		     const char *loader, pid_t tid, size_t *number)
{
	const struct exec *exec = space->exec;

	for (*number = 0; *number < exec->nr; ++*number)
		if (is_dso(space, &exec->dsos[*number], map))
			return 0;
	return exec_add_dso(space->exec, map, loader, tid);
}

static void say_too_many(const struct addrspace *space, size_t most)
{
	if (space->exec->crowded)
		return;
	space->exec->crowded = true;
	term_warn("%s: more than %zu executable mappings; the rest count as elsewhere",
		  space->exec->name, most);
}

/**
 * addrspace_look() - read which DSOs are mapped now
 * @space: the address space
 * @tid: a thread in it
 * @most: maximum number of mappings; the rest have no counters
 * @changed: receives whether the list differs from the last one
 *
 * Return: 0, or -1 with errno.
 */
int addrspace_look(struct addrspace *space, pid_t tid, size_t most,
		   bool *changed)
{
	struct maps maps;
	size_t *live, nr, i;

	if (maps_read(tid, space->exec->name, space->base, &maps))
		return -1;
	nr = maps.nr < most ? maps.nr : most;
	if (nr < maps.nr)
		say_too_many(space, most);
	live = calloc(nr + 1, sizeof(*live));
	for (i = 0; live && i < nr; i++) {
		if (number_of(space, &maps.list[i], maps.loader, tid,
			      &live[i])) {
			free(live);
			live = NULL;
		}
	}
	if (live) {
		*changed = nr != space->nr_live || !space->live ||
			memcmp(live, space->live, nr * sizeof(*live));
		free(space->live);
		space->live = live;
		space->nr_live = nr;
	}
	maps_free(&maps);
	return live ? 0 : -1;
}

/* Find an area with room, preferably one mapped here; else add one. */
static struct area *area_with(struct addrspace *space, uint64_t size,
			      unsigned int *number)
{
	struct exec *exec = space->exec;

	for (*number = 0; *number < exec->nr_areas; ++*number) {
		struct area *area = &exec->areas[*number];

		if (addrspace_mapped(space, *number) &&
		    area->size - area->used >= size)
			return area;
	}
	return exec_add_area(exec, size) ? NULL : &exec->areas[*number];
}

/**
 * addrspace_place() - assign counters to DSOs that have none yet
 * @space: the address space
 * @head: size of the request in front of the first area's counters, in bytes
 * @bucket: bytes of text for each counter
 *
 * A new area has no file yet; the backend creates it.
 *
 * Return: index of the area, or -1 if out of memory.
 */
int addrspace_place(struct addrspace *space, uint64_t head, uint32_t bucket)
{
	struct exec *exec = space->exec;
	uint64_t size = 0, before = 0;
	unsigned int number;
	struct area *area;
	size_t i;

	for (i = 0; i < space->nr_live; i++) {
		struct dso *dso = &exec->dsos[space->live[i]];

		if (dso->area == NO_AREA)
			size += dso_counters(dso, bucket);
	}
	if (!exec->nr_areas) {
		/* The first counter is for ticks outside all DSOs */
		exec->head = head;
		before = head + COUNTER;
	}
	area = area_with(space, before + size, &number);
	if (!area)
		return -1;
	area->used += before;
	for (i = 0; i < space->nr_live; i++) {
		struct dso *dso = &exec->dsos[space->live[i]];

		if (dso->area != NO_AREA)
			continue;
		dso->area = number;
		dso->first = area->used;
		area->used += dso_counters(dso, bucket);
	}
	return number;
}

/** addrspace_dso_at() - find the DSO mapped at @pc; NULL if none */
const struct dso *addrspace_dso_at(const struct addrspace *space, uint64_t pc)
{
	size_t i;

	for (i = 0; i < space->nr_live; i++) {
		const struct dso *dso =
			&space->exec->dsos[space->live[i]];

		if (pc >= dso->map.start && pc < dso->map.end)
			return dso;
	}
	return NULL;
}
