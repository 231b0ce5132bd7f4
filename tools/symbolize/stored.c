// SPDX-License-Identifier: GPL-2.0-only
/*
 * stored.c - find the names of code that profiles have stored
 *
 * Each profile has those of its own buckets. Many of its mappings share them.
 */
#include <stdlib.h>
#include <string.h>

#include "symbolize/stored.h"
#include "util/array.h"

struct stored_spot {
	uint64_t address;
	const struct prf_names *names;
	const struct prf_spot *spot;
};

/**
 * stored_add() - add names of a profile, before stored_sort()
 * @stored: zeroed at first
 * @names: the names, which must outlive @stored; they may be there already
 *
 * Return: 0, or -1 if out of memory.
 */
int stored_add(struct stored *stored, const struct prf_names *names)
{
	const struct prf_names **list;

	if (stored->nr && stored->list[stored->nr - 1] == names)
		return 0;
	list = array_grow(stored->list, stored->nr, sizeof(*list));
	if (!list)
		return -1;
	stored->list = list;
	list[stored->nr++] = names;
	return 0;
}

static int by_pointer(const void *a, const void *b)
{
	const void *const *left = a, *const *right = b;

	return (*left > *right) - (*left < *right);
}

static void remove_repeated(struct stored *stored)
{
	size_t i, nr = 0;

	qsort(stored->list, stored->nr, sizeof(*stored->list), by_pointer);
	for (i = 0; i < stored->nr; i++)
		if (!nr || stored->list[nr - 1] != stored->list[i])
			stored->list[nr++] = stored->list[i];
	stored->nr = nr;
}

static int by_line_address(const void *a, const void *b)
{
	const struct prf_line *const *left = a, *const *right = b;

	return array_by_start(*left, *right);
}

static void copy_names(struct stored *stored, const struct prf_names *names)
{
	size_t i;

	for (i = 0; i < names->nr_spots; i++)
		stored->spots[stored->nr_spots++] = (struct stored_spot){
			names->spots[i].address, names, &names->spots[i]
		};
	for (i = 0; i < names->nr_lines; i++)
		stored->lines[stored->nr_lines++] = &names->lines[i];
}

/**
 * stored_sort() - make names ready to be found, after the last stored_add()
 *
 * Return: 0, or -1 if out of memory.
 */
int stored_sort(struct stored *stored)
{
	size_t spots = 0, lines = 0, i;

	if (!stored->nr)
		return 0;
	remove_repeated(stored);
	for (i = 0; i < stored->nr; i++) {
		spots += stored->list[i]->nr_spots;
		lines += stored->list[i]->nr_lines;
	}
	stored->spots = calloc(spots + 1, sizeof(*stored->spots));
	stored->lines = calloc(lines + 1, sizeof(*stored->lines));
	if (!stored->spots || !stored->lines)
		return -1;
	for (i = 0; i < stored->nr; i++)
		copy_names(stored, stored->list[i]);
	qsort(stored->spots, spots, sizeof(*stored->spots), array_by_start);
	qsort(stored->lines, lines, sizeof(*stored->lines), by_line_address);
	return 0;
}

static const struct stored_spot *find_spot(const struct stored *stored,
					   uint64_t address)
{
	size_t until = array_until(stored->spots, stored->nr_spots,
				   sizeof(*stored->spots), address);

	return until && stored->spots[until - 1].address == address ?
		&stored->spots[until - 1] : NULL;
}

/**
 * stored_function() - find the function of a bucket, or NULL
 * @stored: the names
 * @address: its address
 * @until: receives the next address whose function is known, if there is one
 */
const struct prf_function *stored_function(const struct stored *stored,
					   uint64_t address, uint64_t *until)
{
	const struct stored_spot *found = find_spot(stored, address);

	if (found && found + 1 < stored->spots + stored->nr_spots)
		*until = found[1].address;
	return found ? &found->names->functions[found->spot->function] : NULL;
}

/** stored_line() - find the source line at an address, or NULL */
const struct prf_line *stored_line(const struct stored *stored,
				   uint64_t address)
{
	const struct prf_line key = { .address = address };
	const struct prf_line *wanted = &key, **found;

	if (!stored->nr_lines)
		return NULL;
	found = bsearch(&wanted, stored->lines, stored->nr_lines,
			sizeof(*found), by_line_address);
	return found ? *found : NULL;
}

static const struct prf_frame *parent_of(const struct prf_names *names,
					 const struct prf_frame *frame)
{
	return frame->parent ? &names->frames[frame->parent - 1] : NULL;
}

/**
 * stored_inlines() - find the functions inlined at the first byte of a bucket
 * @stored: the names
 * @address: its address
 * @inlines: zeroed; receives the functions, for inlines_free() before
 *	stored_free()
 *
 * Return: 0, or -1 if out of memory.
 */
int stored_inlines(const struct stored *stored, uint64_t address,
		   struct inlines *inlines)
{
	const struct stored_spot *found = find_spot(stored, address);
	const struct prf_frame *frame, *innermost;
	size_t depth = 0;

	if (!found || !found->spot->frame)
		return 0;
	innermost = &found->names->frames[found->spot->frame - 1];
	for (frame = innermost; frame; frame = parent_of(found->names, frame))
		depth++;
	inlines->list = calloc(depth, sizeof(*inlines->list));
	if (!inlines->list)
		return -1;
	inlines->entry = innermost;
	for (frame = innermost; frame; frame = parent_of(found->names, frame)) {
		struct inlined *inlined = &inlines->list[inlines->nr];

		inlined->name = strdup(frame->name);
		if (!inlined->name)
			return -1;
		inlined->file = frame->file[0] ? frame->file : NULL;
		inlined->line = frame->line;
		inlines->nr++;
	}
	return 0;
}

void stored_free(struct stored *stored)
{
	free(stored->list);
	free(stored->spots);
	free(stored->lines);
}
