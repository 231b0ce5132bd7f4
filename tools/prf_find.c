// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf_find.c - the objects of runs
 *
 * The same object is in many images, and at another address in each.
 */
#include <errno.h>
#include <string.h>

#include "prf.h"

/**
 * prf_next() - each object of each image of each run
 * @runs: the runs
 * @nr: number of runs
 * @at: zeroed at first; says which run and image it is
 *
 * Return: the next one, or NULL.
 */
const struct prf_object *prf_next(const struct prf *runs, size_t nr,
				  struct prf_at *at)
{
	for (; at->run < nr; at->run++, at->image = 0) {
		const struct prf *run = &runs[at->run];

		for (; at->image < run->nr; at->image++, at->object = 0)
			if (at->object < run->images[at->image].nr)
				return &run->images[at->image]
						.objects[at->object++];
	}
	return NULL;
}

/** prf_same_object() - whether two mappings are of one file as it was built */
bool prf_same_object(const struct prf_object *a, const struct prf_object *b)
{
	return a->build_id_len == b->build_id_len &&
		!memcmp(a->build_id, b->build_id, a->build_id_len) &&
		!strcmp(a->path, b->path);
}

/* The path, or the end of it behind a slash. */
static bool is_called(const struct prf_object *object, const char *name)
{
	size_t path = strlen(object->path), length = strlen(name);

	return length <= path && !strcmp(object->path + path - length, name) &&
		(length == path || object->path[path - length - 1] == '/');
}

/**
 * prf_program() - the program of the first image that has one
 * @runs: where to look
 * @nr: number of runs
 *
 * Return: its text, or NULL.
 */
const struct prf_object *prf_program(const struct prf *runs, size_t nr)
{
	const struct prf_object *object;
	struct prf_at at = {};

	while ((object = prf_next(runs, nr, &at)))
		if (object->kind == PRF_PROGRAM)
			break;
	return object;
}

/**
 * prf_find_object() - find an object by its name
 * @runs: where to look
 * @nr: number of runs
 * @name: path, or the end of it behind a slash
 *
 * Return: the first such object, or NULL with errno: ENOENT if there is none,
 * ENOTUNIQ if there are several paths.
 */
const struct prf_object *prf_find_object(const struct prf *runs, size_t nr,
					 const char *name)
{
	const struct prf_object *object, *found = NULL;
	struct prf_at at = {};

	errno = ENOENT;
	while ((object = prf_next(runs, nr, &at))) {
		if (!is_called(object, name))
			continue;
		if (!strcmp(object->path, name))
			return object;
		if (!found)
			found = object;
		else if (strcmp(object->path, found->path))
			errno = ENOTUNIQ;
	}
	return errno == ENOTUNIQ ? NULL : found;
}
