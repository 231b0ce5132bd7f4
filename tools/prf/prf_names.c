// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf_names.c - unpack the contents of NAMES records
 *
 * The contents are untrusted: memory use is proportional to their size, which is
 * bounded.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "prf/prf.h"
#include "prf/prf_packed.h"
#include "util/array.h"

/*
 * Contents being parsed. @letters counts the bytes of names, each as often as it
 * is used.
 */
struct cursor {
	struct packed packed;
	const char *strings;
	size_t strings_size;
	uint64_t letters;
};

static uint64_t bad(struct cursor *cursor, const char *problem)
{
	return packed_bad(&cursor->packed, problem);
}

static uint64_t take(struct cursor *cursor)
{
	return packed_take(&cursor->packed);
}

static uint64_t take_below(struct cursor *cursor, uint64_t limit)
{
	return packed_below(&cursor->packed, limit);
}

/* Count @bytes for the use of a name. */
static void use(struct cursor *cursor, size_t bytes)
{
	cursor->letters += bytes;
	if (cursor->letters > PRF_NAMES_LETTERS)
		bad(cursor, "more names than there can be");
}

static const char *take_name(struct cursor *cursor)
{
	size_t offset = take_below(cursor, cursor->strings_size);
	const char *name = cursor->strings + offset;

	if (cursor->packed.problem)
		return "";
	use(cursor, strlen(name));
	return name;
}

static void *take_array(struct cursor *cursor, size_t *nr, size_t least,
			size_t size)
{
	return packed_array(&cursor->packed, nr, least, size);
}

static void take_dsos(struct cursor *cursor, struct prf_names *names)
{
	uint64_t dso = 0;
	size_t i;

	names->dsos = take_array(cursor, &names->nr_dsos, 1,
				 sizeof(*names->dsos));
	for (i = 0; i < names->nr_dsos; i++) {
		dso += take_below(cursor, UINT32_MAX) + !!i;
		if (dso > UINT32_MAX)
			bad(cursor, "names of a DSO that does not exist");
		names->dsos[i] = dso;
	}
}

static void take_segments(struct cursor *cursor, struct prf_names *names)
{
	size_t i;

	names->segments = take_array(cursor, &names->nr_segments, 3,
				     sizeof(*names->segments));
	if (names->nr_segments > PRF_NAMES_SEGMENTS)
		bad(cursor, "more segments of a file than there can be");
	for (i = 0; i < names->nr_segments; i++) {
		names->segments[i].offset = take(cursor);
		names->segments[i].size = take(cursor);
		names->segments[i].address = take(cursor);
	}
}

static void take_functions(struct cursor *cursor, struct prf_names *names)
{
	uint64_t start = 0, size;
	size_t i;

	names->functions = take_array(cursor, &names->nr_functions, 3,
				      sizeof(*names->functions));
	for (i = 0; i < names->nr_functions; i++) {
		start += take(cursor);
		size = take(cursor);
		names->functions[i].start = start;
		if (!size)
			bad(cursor, "a function without a byte");
		if (__builtin_add_overflow(start, size,
					   &names->functions[i].end))
			bad(cursor, "a function beyond the last address");
		names->functions[i].name = take_name(cursor);
	}
}

/* @costs: receives the depth, and the bytes of all names, of each frame */
static void take_frames(struct cursor *cursor, struct prf_names *names,
			uint32_t (*costs)[2])
{
	size_t i;

	for (i = 0; i < names->nr_frames; i++) {
		struct prf_frame *frame = &names->frames[i];

		frame->parent = take_below(cursor, i + 1);
		frame->name = take_name(cursor);
		frame->file = take_name(cursor);
		frame->line = take_below(cursor, INT32_MAX);
		costs[i + 1][0] = costs[frame->parent][0] + 1;
		costs[i + 1][1] = costs[frame->parent][1] +
			(cursor->packed.problem ? 0 : strlen(frame->name));
		if (costs[i + 1][0] > PRF_NAMES_DEPTH ||
		    costs[i + 1][1] > PRF_NAMES_LETTERS)
			bad(cursor, "more inlined calls than there can be");
	}
}

static void take_spots(struct cursor *cursor, struct prf_names *names,
		       const uint32_t (*costs)[2])
{
	uint64_t address = 0;
	size_t i;

	names->spots = take_array(cursor, &names->nr_spots, 3,
				  sizeof(*names->spots));
	for (i = 0; i < names->nr_spots && !cursor->packed.problem; i++) {
		struct prf_spot *spot = &names->spots[i];

		address += take(cursor);
		spot->address = address;
		spot->function = take_below(cursor, names->nr_functions);
		spot->frame = take_below(cursor, names->nr_frames + 1);
		if (!cursor->packed.problem)
			use(cursor, costs[spot->frame][1] +
			    strlen(names->functions[spot->function].name));
	}
}

static void take_lines(struct cursor *cursor, struct prf_names *names)
{
	uint64_t address = 0;
	size_t i;

	names->lines = take_array(cursor, &names->nr_lines, 3,
				   sizeof(*names->lines));
	for (i = 0; i < names->nr_lines; i++) {
		address += take(cursor);
		names->lines[i].address = address;
		names->lines[i].file = take_name(cursor);
		names->lines[i].line = take_below(cursor, INT32_MAX);
	}
}

static void take_names(struct cursor *cursor, struct prf_names *names)
{
	uint32_t (*costs)[2];

	take_dsos(cursor, names);
	take_segments(cursor, names);
	take_functions(cursor, names);
	names->frames = take_array(cursor, &names->nr_frames, 4,
				   sizeof(*names->frames));
	costs = calloc(names->nr_frames + 1, sizeof(*costs));
	if (costs) {
		take_frames(cursor, names, costs);
		take_spots(cursor, names, costs);
	} else {
		bad(cursor, "no memory");
	}
	free(costs);
	take_lines(cursor, names);
}

/* The strings come first, and the last one ends with a NUL. */
static void take_strings(struct cursor *cursor)
{
	uint64_t size = take(cursor);

	if (size > (size_t)(cursor->packed.end - cursor->packed.at)) {
		bad(cursor, "strings that are cut short");
		return;
	}
	cursor->strings_size = size;
	cursor->strings = (const char *)cursor->packed.at;
	cursor->packed.at += cursor->strings_size;
	if (cursor->strings_size &&
	    cursor->strings[cursor->strings_size - 1])
		bad(cursor, "a string without an end");
}

static const char *unpack(struct prf_block *block)
{
	struct cursor cursor = {
		.packed.at = block->data,
		.packed.end = block->data + block->size,
	};
	size_t i;

	take_strings(&cursor);
	block->names = take_array(&cursor, &block->nr, 6,
				  sizeof(*block->names));
	for (i = 0; i < block->nr && !cursor.packed.problem; i++)
		take_names(&cursor, &block->names[i]);
	if (cursor.packed.at != cursor.packed.end)
		bad(&cursor, "something after the last names");
	return cursor.packed.problem;
}

/* All DSOs of the run, in order */
static struct prf_dso **list_dsos(struct prf *prf, size_t *nr)
{
	struct prf_dso **list;
	size_t i, j;

	for (*nr = i = 0; i < prf->nr; i++)
		*nr += prf->execs[i].nr;
	list = calloc(*nr + 1, sizeof(*list));
	if (!list)
		return NULL;
	for (*nr = i = 0; i < prf->nr; i++)
		for (j = 0; j < prf->execs[i].nr; j++)
			list[(*nr)++] = &prf->execs[i].dsos[j];
	return list;
}

static const char *attach(struct prf *prf, const struct prf_block *block)
{
	const char *problem = NULL;
	struct prf_dso **dsos;
	size_t nr, i, j;

	dsos = list_dsos(prf, &nr);
	if (!dsos)
		return "no memory";
	for (i = 0; i < block->nr; i++)
		for (j = 0; j < block->names[i].nr_dsos; j++) {
			uint32_t dso = block->names[i].dsos[j];

			if (dso >= nr || dsos[dso]->names)
				problem = "names of a DSO that does not exist, or has some";
			else
				dsos[dso]->names = &block->names[i];
		}
	free(dsos);
	return problem;
}

/** prf_names_free() - free the arrays of names, but not their strings */
void prf_names_free(struct prf_names *names)
{
	free(names->dsos);
	free(names->segments);
	free(names->functions);
	free(names->frames);
	free(names->spots);
	free(names->lines);
}

/* Remove what the last NAMES record says. */
static void drop_last(struct prf *prf)
{
	struct prf_block *block = &prf->blocks[--prf->nr_blocks];
	const struct prf_names *end = block->names + block->nr;
	size_t i, j;

	for (i = 0; i < prf->nr; i++)
		for (j = 0; j < prf->execs[i].nr; j++) {
			struct prf_dso *dso = &prf->execs[i].dsos[j];

			if (dso->names >= block->names && dso->names < end)
				dso->names = NULL;
		}
	for (i = 0; i < block->nr; i++)
		prf_names_free(&block->names[i]);
	free(block->names);
	free(block->data);
}

/**
 * prf_add_names() - add the contents of a NAMES record, after all DSOs
 * @prf: the run
 * @data: the contents, uncompressed, from malloc(); the run takes it over
 * @size: their size, in bytes
 *
 * Return: NULL, or what is wrong; then it has changed nothing.
 */
const char *prf_add_names(struct prf *prf, void *data, size_t size)
{
	bool has_room = prf->nr_blocks < PRF_NAMES_RECORDS;
	struct prf_block *block = has_room ?
		array_grow(prf->blocks, prf->nr_blocks, sizeof(*block)) : NULL;
	const char *problem;

	if (!block) {
		free(data);
		return has_room ? "no memory" :
				  "names by more readers than there can be";
	}
	prf->blocks = block;
	block += prf->nr_blocks++;
	*block = (struct prf_block){ .data = data, .size = size };
	problem = unpack(block) ?: attach(prf, block);
	if (problem)
		drop_last(prf);
	return problem;
}

/** prf_drop_names() - remove what NAMES records say */
void prf_drop_names(struct prf *prf)
{
	while (prf->nr_blocks)
		drop_last(prf);
	free(prf->blocks);
	prf->blocks = NULL;
}
