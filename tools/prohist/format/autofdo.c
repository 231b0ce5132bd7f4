// SPDX-License-Identifier: GPL-2.0-only
/*
 * autofdo.c - write LLVM's text sample profile, for clang -fprofile-sample-use
 *
 * A function has lines of samples and, at lines with calls, the functions that
 * were inlined there, which have lines again. Lines count from that of the
 * function's declaration; discriminators distinguish the blocks of a line.
 *
 * The samples of a line are the most of any of its instructions, as in LLVM's
 * own converters: the sum would grow with the length of the code.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <err.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/report.h"
#include "util/utf8.h"
#include "util/xalloc.h"

/**
 * struct node - samples of a line, or a function
 * @offset: its line in the function that contains it
 * @discriminator: its block of that line
 * @name: linkage name of the function, or NULL for a line
 * @samples: samples of the line, or of all lines of the function
 * @parent: the function that contains it, or NULL
 * @nodes: tree of what the function contains
 */
struct node {
	uint16_t offset;
	unsigned int discriminator;
	const char *name;
	uint64_t samples;
	struct node *parent;
	void *nodes;
};

/**
 * struct functions - functions in the order in which they are printed
 * @nr: number of functions
 * @list: the functions
 */
struct functions {
	size_t nr;
	const struct node **list;
};

/*
 * A discriminator consists of a block, a factor by which the compiler
 * multiplied the code, and a copy. Each takes a bit if it is 0, else a byte or
 * two, with a 0 as the first bit.
 */
static unsigned int component(unsigned int bits)
{
	if (bits & 1)
		return 0;
	bits >>= 1;
	return bits & 0x20 ? (bits >> 1 & 0xfe0) | (bits & 0x1f) : bits & 0x1f;
}

static unsigned int block_of(unsigned int discriminator)
{
	return component(discriminator);
}

/* An instruction of a loop unrolled four times runs a quarter as often. */
static unsigned int factor_of(unsigned int discriminator)
{
	unsigned int bits = discriminator & 1 ? 1 :
		discriminator & 0x40 ? 14 : 7;

	return component(discriminator >> bits) ?: 1;
}

/* LLVM reads other things in lines that begin or end like this. */
static bool is_readable(const char *name)
{
	return name && *name && !strchr(" #[", *name) &&
		!isdigit((unsigned char)*name) && utf8_is_text(name);
}

static bool is_known(const struct declared *declared)
{
	return declared->line > 0 && is_readable(declared->name);
}

static int compare(const void *left, const void *right)
{
	const struct node *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->discriminator != b->discriminator)
		return a->discriminator < b->discriminator ? -1 : 1;
	return strcmp(a->name ?: "", b->name ?: "");
}

/* Find a node of a function, or add it. */
static struct node *find(struct node *parent, const struct node *wanted)
{
	struct node **found = tsearch(wanted, &parent->nodes, compare);
	struct node *node;

	if (!found)
		err(2, NULL);
	if (*found != wanted)
		return *found;
	node = malloc(sizeof(*node));
	if (!node)
		err(2, NULL);
	*node = *wanted;
	node->parent = parent;
	*found = node;
	return node;
}

/* Of as many functions as there can be, the outermost may be missing. */
static bool can_write(const struct inlines *inlines)
{
	bool can = is_known(&inlines->outer) && inlines->nr < PRF_NAMES_DEPTH;
	size_t i;

	for (i = 0; can && i < inlines->nr; i++)
		can = is_known(&inlines->list[i].declared) &&
			inlines->list[i].line;
	return can;
}

/* Find the innermost function, from the outermost on; sets its declaration. */
static struct node *find_function(struct node *program,
				  const struct inlines *inlines, int *line)
{
	const struct node outer = { .name = inlines->outer.name };
	struct node *node = find(program, &outer);
	size_t i;

	*line = inlines->outer.line;
	for (i = inlines->nr; i--; ) {
		const struct inlined *inlined = &inlines->list[i];
		const struct node call = {
			.offset = inlined->line - *line,
			.discriminator = block_of(inlined->discriminator),
			.name = inlined->declared.name,
		};

		node = find(node, &call);
		*line = inlined->declared.line;
	}
	return node;
}

/* Returns whether there is a line for it. */
static bool add_inlined(struct node *program, const struct place *place,
			const struct inlines *inlines, uint64_t ticks)
{
	uint64_t samples = ticks * factor_of(place->discriminator);
	struct node *node, wanted = {};
	int line;

	if (!can_write(inlines))
		return false;
	node = find_function(program, inlines, &line);
	wanted.offset = place->line - line;
	wanted.discriminator = block_of(place->discriminator);
	node = find(node, &wanted);
	if (samples <= node->samples)
		return true;
	samples -= node->samples;
	for (; node; node = node->parent)
		node->samples += samples;
	return true;
}

static bool add(struct node *program, const struct symbols *symbols,
		uint64_t address, uint64_t ticks)
{
	struct inlines inlines;
	struct place place;
	bool added;

	if (!symbols_place(symbols, address, &place))
		return false;
	if (symbols_inlines(symbols, address, &inlines))
		err(2, NULL);
	added = add_inlined(program, &place, &inlines, ticks);
	inlines_free(&inlines);
	return added;
}

/* A line that is missing is unknown to clang, one without ticks is cold. */
static void add_lines(struct node *program, const struct sum_dso *dso)
{
	const struct sum_piece *piece = dso->pieces;
	size_t i;

	for (i = 0; i < dso->nr_pieces; i++, piece++) {
		uint64_t address = piece->start;

		while (address < piece->end) {
			add(program, &dso->symbols, address, 0);
			address = symbols_next_line(&dso->symbols, address);
		}
	}
}

/* Returns the ticks that no line can express. */
static uint64_t add_buckets(struct node *program, const struct sum *sum,
			    const struct sum_dso *dso)
{
	uint64_t without = 0;
	double rest = 0;
	size_t i;

	for (i = 0; i < dso->nr_buckets; i++) {
		const struct sum_bucket *bucket = &dso->buckets[i];
		double next = rest;

		if (add(program, &dso->symbols, bucket->address,
			sum_scaled(sum, bucket->ns, &next)))
			rest = next;
		else
			without += bucket->ticks;
	}
	return without;
}

static void put_node(const void *found, VISIT visit, void *data)
{
	const struct node *node = *(struct node *const *)found;
	int depth = *(const int *)data + 1;

	if (visit != postorder && visit != leaf)
		return;
	printf("%*s%u", depth, "", node->offset);
	if (node->discriminator)
		printf(".%u", node->discriminator);
	if (node->name)
		printf(": %s:%" PRIu64 "\n", node->name, node->samples);
	else
		printf(": %" PRIu64 "\n", node->samples);
	twalk_r(node->nodes, put_node, &depth);
}

static void collect(const void *found, VISIT visit, void *data)
{
	struct functions *functions = data;

	if (visit != postorder && visit != leaf)
		return;
	functions->list = one_more(functions->list, functions->nr,
				   sizeof(*functions->list));
	functions->list[functions->nr++] = *(struct node *const *)found;
}

static int by_samples(const void *left, const void *right)
{
	const struct node *a = *(struct node *const *)left;
	const struct node *b = *(struct node *const *)right;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void keep_first(const void *found, VISIT visit, void *data)
{
	const struct node **first = data;

	if (!*first && (visit == postorder || visit == leaf))
		*first = *(struct node *const *)found;
}

/*
 * There are no calls to count. Like LLVM for inlined functions, take the samples
 * of the first line; clang weighs the other blocks by this number.
 */
static uint64_t times_entered(const struct node *node)
{
	while (node->nodes) {
		const struct node *first = NULL;

		twalk_r(node->nodes, keep_first, &first);
		node = first;
	}
	return node->samples;
}

static void put_functions(const struct node *program)
{
	struct functions functions = {};
	int depth = 0;
	size_t i;

	twalk_r(program->nodes, collect, &functions);
	if (functions.nr)
		qsort(functions.list, functions.nr, sizeof(*functions.list),
		      by_samples);
	for (i = 0; i < functions.nr && functions.list[i]->samples; i++) {
		const struct node *function = functions.list[i];

		printf("%s:%" PRIu64 ":%" PRIu64 "\n", function->name,
		       function->samples, times_entered(function));
		twalk_r(function->nodes, put_node, &depth);
	}
	free(functions.list);
}

static void free_node(void *data)
{
	struct node *node = data;

	tdestroy(node->nodes, free_node);
	free(node);
}

/** write_autofdo() - write the lines of one DSO */
int write_autofdo(const struct report *report)
{
	const struct sum_dso *dso = report_exact_dso(report);
	struct node program = {};
	uint64_t without;

	if (!dso)
		return -1;
	without = add_buckets(&program, report->sum, dso);
	add_lines(&program, dso);
	if (!program.samples) {
		term_warn("%s: no lines of functions: compile with -gmlt -fdebug-info-for-profiling",
			  dso->path);
		tdestroy(program.nodes, free_node);
		return -1;
	}
	put_functions(&program);
	if (without)
		term_warn("%s: %" PRIu64 " ticks are missing: they are in code without lines, or in functions whose names this format cannot express",
			  dso->path, without);
	tdestroy(program.nodes, free_node);
	return 0;
}
