// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf.c - a profile of a run, in memory
 */
#include <stdlib.h>
#include <string.h>

#include "prf.h"

/* Room for one more in an array; its new address, or NULL. */
static void *grow(void *array, size_t nr, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 4;

	if (nr < *room)
		return array;
	array = reallocarray(array, more, size);
	if (array)
		*room = more;
	return array;
}

/**
 * prf_init() - make an empty run
 * @prf: receives it, to be freed with prf_free()
 * @command: the command line
 *
 * Return: 0, or -1 if there is no memory.
 */
int prf_init(struct prf *prf, const char *command)
{
	memset(prf, 0, sizeof(*prf));
	prf->command = strdup(command);
	return prf->command ? 0 : -1;
}

/** prf_add_image() - add a program that was executed */
struct prf_image *prf_add_image(struct prf *prf, const char *name,
				const char *reason)
{
	struct prf_image *image = grow(prf->images, prf->nr, &prf->room,
				       sizeof(*image));

	if (!image)
		return NULL;
	prf->images = image;
	image += prf->nr;
	memset(image, 0, sizeof(*image));
	image->name = strdup(name);
	image->reason = strdup(reason);
	if (!image->name || !image->reason) {
		free(image->name);
		free(image->reason);
		return NULL;
	}
	prf->nr++;
	return image;
}

/** prf_add_object() - add a mapping of text */
struct prf_object *prf_add_object(struct prf_image *image, const char *path)
{
	struct prf_object *object = grow(image->objects, image->nr,
					 &image->room, sizeof(*object));

	if (!object)
		return NULL;
	image->objects = object;
	object += image->nr;
	memset(object, 0, sizeof(*object));
	object->bucket_bytes = 1;
	object->path = strdup(path);
	if (!object->path)
		return NULL;
	image->nr++;
	return object;
}

/** prf_add_bucket() - add ticks, behind those that are there */
int prf_add_bucket(struct prf_object *object, uint64_t offset, uint64_t count)
{
	struct prf_bucket *buckets = grow(object->buckets, object->nr,
					  &object->room, sizeof(*buckets));

	if (!buckets)
		return -1;
	object->buckets = buckets;
	buckets[object->nr].offset = offset;
	buckets[object->nr].count = count;
	object->nr++;
	return 0;
}

/** prf_object_ticks() - sum of an object's buckets */
uint64_t prf_object_ticks(const struct prf_object *object)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < object->nr; i++)
		ticks += object->buckets[i].count;
	return ticks;
}

static void free_image(struct prf_image *image)
{
	size_t i;

	for (i = 0; i < image->nr; i++) {
		free(image->objects[i].buckets);
		free(image->objects[i].path);
	}
	free(image->objects);
	free(image->name);
	free(image->reason);
}

/** prf_free() - free what a run consists of, and make it empty */
void prf_free(struct prf *prf)
{
	size_t i;

	for (i = 0; i < prf->nr; i++)
		free_image(&prf->images[i]);
	free(prf->images);
	free(prf->command);
	memset(prf, 0, sizeof(*prf));
}
