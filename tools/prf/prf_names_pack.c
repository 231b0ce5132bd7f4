// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf_names_pack.c - pack names as the contents of a NAMES record
 */
#define _GNU_SOURCE
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "prf/prf.h"
#include "prf/prf_packed.h"

/* A string, and its offset among the strings of the record */
struct word {
	const char *text;
	size_t offset;
};

/* Strings and tables of a record in the making; errors stay in @failed. */
struct pack {
	FILE *strings;
	FILE *tables;
	size_t used;
	void *words;
	int failed;
};

static int compare(const void *a, const void *b)
{
	const struct word *left = a, *right = b;

	return strcmp(left->text, right->text);
}

/* Put the offset of a string; each is kept once. */
static void put_name(struct pack *pack, const char *text)
{
	struct word *word = malloc(sizeof(*word)), **found;

	if (!word) {
		pack->failed = -1;
		return;
	}
	*word = (struct word){ text, pack->used };
	found = tsearch(word, &pack->words, compare);
	if (!found)
		pack->failed = -1;
	if (found && *found == word) {
		fwrite(text, 1, strlen(text) + 1, pack->strings);
		pack->used += strlen(text) + 1;
	}
	packed_put(pack->tables, found ? (*found)->offset : 0);
	if (!found || *found != word)
		free(word);
}

static void put_dsos(struct pack *pack, const struct prf_names *names)
{
	size_t i;

	packed_put(pack->tables, names->nr_dsos);
	for (i = 0; i < names->nr_dsos; i++)
		packed_put(pack->tables,
			   i ? names->dsos[i] - names->dsos[i - 1] - 1 :
			       names->dsos[i]);
}

static void put_segments(struct pack *pack, const struct prf_names *names)
{
	size_t i;

	packed_put(pack->tables, names->nr_segments);
	for (i = 0; i < names->nr_segments; i++) {
		packed_put(pack->tables, names->segments[i].offset);
		packed_put(pack->tables, names->segments[i].size);
		packed_put(pack->tables, names->segments[i].address);
	}
}

static void put_functions(struct pack *pack, const struct prf_names *names)
{
	const struct prf_function *function = names->functions;
	uint64_t before = 0;
	size_t i;

	packed_put(pack->tables, names->nr_functions);
	for (i = 0; i < names->nr_functions; i++, function++) {
		packed_put(pack->tables, function->start - before);
		packed_put(pack->tables, function->end - function->start);
		put_name(pack, function->name);
		before = function->start;
	}
}

static void put_frames(struct pack *pack, const struct prf_names *names)
{
	const struct prf_frame *frame = names->frames;
	size_t i;

	packed_put(pack->tables, names->nr_frames);
	for (i = 0; i < names->nr_frames; i++, frame++) {
		packed_put(pack->tables, frame->parent);
		put_name(pack, frame->name);
		put_name(pack, frame->file);
		packed_put(pack->tables, frame->line);
	}
}

static void put_spots(struct pack *pack, const struct prf_names *names)
{
	const struct prf_spot *spot = names->spots;
	uint64_t before = 0;
	size_t i;

	packed_put(pack->tables, names->nr_spots);
	for (i = 0; i < names->nr_spots; i++, spot++) {
		packed_put(pack->tables, spot->address - before);
		packed_put(pack->tables, spot->function);
		packed_put(pack->tables, spot->frame);
		before = spot->address;
	}
}

static void put_lines(struct pack *pack, const struct prf_names *names)
{
	const struct prf_line *line = names->lines;
	uint64_t before = 0;
	size_t i;

	packed_put(pack->tables, names->nr_lines);
	for (i = 0; i < names->nr_lines; i++, line++) {
		packed_put(pack->tables, line->address - before);
		put_name(pack, line->file);
		packed_put(pack->tables, line->line);
		before = line->address;
	}
}

static void put_all(struct pack *pack, const struct prf_names *names, size_t nr)
{
	size_t i;

	packed_put(pack->tables, nr);
	for (i = 0; i < nr; i++) {
		put_dsos(pack, &names[i]);
		put_segments(pack, &names[i]);
		put_functions(pack, &names[i]);
		put_frames(pack, &names[i]);
		put_spots(pack, &names[i]);
		put_lines(pack, &names[i]);
	}
}

/* The number of bytes of strings, the strings, and the tables */
static void *join(const char *strings, size_t strings_size, const char *tables,
		  size_t tables_size, size_t *size)
{
	char *data = NULL;
	FILE *stream = open_memstream(&data, size);

	if (!stream)
		return NULL;
	packed_put(stream, strings_size);
	fwrite(strings, 1, strings_size, stream);
	fwrite(tables, 1, tables_size, stream);
	if (!fclose(stream))
		return data;
	free(data);
	return NULL;
}

/**
 * prf_names_pack() - make the contents of a NAMES record
 * @names: names of DSOs, with spots and lines in the order of their addresses
 * @nr: number of DSOs
 * @size: receives the size of the contents, in bytes
 *
 * Return: the contents, uncompressed, for prf_add_names(), or NULL if out of
 * memory.
 */
void *prf_names_pack(const struct prf_names *names, size_t nr, size_t *size)
{
	char *strings = NULL, *tables = NULL;
	size_t strings_size, tables_size;
	struct pack pack = {
		.strings = open_memstream(&strings, &strings_size),
		.tables = open_memstream(&tables, &tables_size),
	};
	void *data = NULL;

	if (pack.strings && pack.tables)
		put_all(&pack, names, nr);
	if (!pack.strings || fclose(pack.strings))
		pack.failed = -1;
	if (!pack.tables || fclose(pack.tables))
		pack.failed = -1;
	if (!pack.failed)
		data = join(strings, strings_size, tables, tables_size, size);
	tdestroy(pack.words, free);
	free(strings);
	free(tables);
	return data;
}
