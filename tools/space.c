// SPDX-License-Identifier: GPL-2.0-only
/*
 * space.c - an address space: what is mapped where, of an image
 *
 * Counters belong to the image and are shared by all that execute it. What is
 * mapped now belongs to the address space: after fork, parent and child may
 * open different libraries at the same address.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "space.h"

/**
 * space_new() - that of a program that has just been executed
 * @image: the program
 * @tid: its only thread
 *
 * Return: the space, or NULL if there is no memory.
 */
struct space *space_new(struct image *image, pid_t tid)
{
	struct space *space = calloc(1, sizeof(*space));
	struct start start;

	if (!space)
		return NULL;
	process_start(tid, &start);
	space->users = 1;
	space->image = image;
	image->users++;
	space->code = start.entry;
	image->code = start.entry;
	space->base = start.loader;
	return space;
}

struct space *space_get(struct space *space)
{
	if (space)
		space->users++;
	return space;
}

/** space_copy() - as fork() does it; NULL if there is no memory */
struct space *space_copy(const struct space *space)
{
	struct space *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *space;
	copy->users = 1;
	copy->image->users++;
	copy->live = calloc(space->nr_live + 1, sizeof(*copy->live));
	copy->mapped = calloc(space->nr_mapped + 1, sizeof(*copy->mapped));
	if (!copy->live || !copy->mapped) {
		space_put(copy);
		return NULL;
	}
	memcpy(copy->live, space->live, space->nr_live * sizeof(*copy->live));
	memcpy(copy->mapped, space->mapped,
	       space->nr_mapped * sizeof(*copy->mapped));
	return copy;
}

void space_put(struct space *space)
{
	if (!space || --space->users)
		return;
	space->image->users--;
	free(space->live);
	free(space->mapped);
	free(space);
}

/** space_separate() - it has an image of its own now */
void space_separate(struct space *space, struct image *image)
{
	space->image->users--;
	image->users++;
	space->image = image;
}

/** space_mapped() - where an area is mapped; 0: nowhere */
uint64_t space_mapped(const struct space *space, unsigned int area)
{
	return area < space->nr_mapped ? space->mapped[area] : 0;
}

/** space_set_mapped() - an area has been mapped; -1 if there is no memory */
int space_set_mapped(struct space *space, unsigned int area, uint64_t address)
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

/* Is that mapping this object, and are its counters within reach? */
static bool is_object(const struct space *space, const struct object *object,
		      const struct mapping *map)
{
	return object->map.start == map->start && object->map.end == map->end &&
		object->map.pgoff == map->pgoff &&
		object->map.inode == map->inode &&
		!strcmp(object->map.device, map->device) &&
		!strcmp(object->map.path, map->path) &&
		(object->area == NO_AREA || space_mapped(space, object->area));
}

/* Number of the object at that mapping, which is added if it is new. */
static int number_of(struct space *space, const struct mapping *map,
		     const char *loader, pid_t tid, size_t *number)
{
	const struct image *image = space->image;

	for (*number = 0; *number < image->nr; ++*number)
		if (is_object(space, &image->objects[*number], map))
			return 0;
	return image_add_object(space->image, map, loader, tid);
}

static void say_too_many(const struct space *space, size_t most)
{
	if (space->image->crowded)
		return;
	space->image->crowded = true;
	fprintf(stderr,
		"profil: %s: more than %zu mappings of text; the others count as elsewhere\n",
		space->image->name, most);
}

/**
 * space_look() - what text is mapped now
 * @space: the address space
 * @tid: a thread in it
 * @most: mappings that there may be
 * @changed: receives whether they are others than before
 *
 * Return: 0, or -1 with errno.
 */
int space_look(struct space *space, pid_t tid, size_t most, bool *changed)
{
	struct maps maps;
	size_t *live, nr, i;

	if (maps_read(tid, space->image->name, space->base, &maps))
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

/* The area that has room, preferably one that is there. */
static struct area *area_with(struct space *space, uint64_t size,
			      unsigned int *number)
{
	struct image *image = space->image;

	for (*number = 0; *number < image->nr_areas; ++*number) {
		struct area *area = &image->areas[*number];

		if (space_mapped(space, *number) &&
		    area->size - area->used >= size)
			return area;
	}
	return image_add_area(image, size) ? NULL : &image->areas[*number];
}

/**
 * space_place() - decide where the counters of new objects are
 * @space: the address space
 * @head: bytes at the beginning of the first area that are not for counters
 * @bucket: bytes of text for each counter
 *
 * If the area that is to have them is new, it has no file.
 *
 * Return: number of the area, or -1 if there is no memory.
 */
int space_place(struct space *space, uint64_t head, uint32_t bucket)
{
	struct image *image = space->image;
	uint64_t size = 0, before = 0;
	unsigned int number;
	struct area *area;
	size_t i;

	for (i = 0; i < space->nr_live; i++) {
		struct object *object = &image->objects[space->live[i]];

		if (object->area == NO_AREA)
			size += object_counters(object, bucket);
	}
	if (!image->nr_areas) {
		/* The first counter is for what is in no object */
		image->head = head;
		before = head + COUNTER;
	}
	area = area_with(space, before + size, &number);
	if (!area)
		return -1;
	area->used += before;
	for (i = 0; i < space->nr_live; i++) {
		struct object *object = &image->objects[space->live[i]];

		if (object->area != NO_AREA)
			continue;
		object->area = number;
		object->first = area->used;
		area->used += object_counters(object, bucket);
	}
	return number;
}

/** space_object_at() - what is mapped there, or NULL */
const struct object *space_object_at(const struct space *space, uint64_t pc)
{
	size_t i;

	for (i = 0; i < space->nr_live; i++) {
		const struct object *object =
			&space->image->objects[space->live[i]];

		if (pc >= object->map.start && pc < object->map.end)
			return object;
	}
	return NULL;
}
