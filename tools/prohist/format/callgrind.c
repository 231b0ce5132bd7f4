// SPDX-License-Identifier: GPL-2.0-only
/*
 * callgrind.c - write callgrind.out, for callgrind_annotate, KCachegrind and
 * speedscope
 *
 * Each bucket is a line with its source line, ticks and CPU time: speedscope
 * supports only one position. Each name follows a number, so that no name can
 * be parsed as a number.
 *
 * With chains of callers, each function has the time in what it called. Readers
 * take its inclusive time for its own and that of its calls, so of a chain that has
 * a function several times only the innermost one has its call in the file. How
 * often a function was called is unknown.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/report.h"
#include "prohist/tree.h"

#define UNKNOWN	"???"

/* Last numbers given to names; each kind is numbered separately. */
struct numbers {
	unsigned int dso;
	unsigned int file;
	unsigned int function;
};

/**
 * struct call - time in what a function called
 * @from: the function that called
 * @to: the function that it called
 * @ticks: ticks in @to, and what that called
 * @ns: their CPU time
 */
struct call {
	uint32_t from;
	uint32_t to;
	uint64_t ticks;
	double ns;
};

/**
 * struct calls - all calls
 * @tree: the tree of calls
 * @nr: number of calls
 * @list: the calls, sorted
 */
struct calls {
	struct tree tree;
	size_t nr;
	struct call *list;
};

static int by_functions(const void *a, const void *b)
{
	const struct call *c = a, *d = b;

	if (c->from != d->from)
		return c->from < d->from ? -1 : 1;
	return (c->to > d->to) - (c->to < d->to);
}

/* Find the call, of a caller with the same function, that led to this node. */
static uint32_t find_outer(const struct tree *tree, uint32_t node)
{
	uint32_t call = node, up = tree->nodes[node].caller;

	while (up && tree->nodes[up].function != tree->nodes[node].function) {
		call = up;
		up = tree->nodes[up].caller;
	}
	return up ? call : 0;
}

/* The call of each node, less what is in inner calls of its caller */
static struct call *list_nodes(const struct tree *tree)
{
	struct call *list = calloc(tree->nr, sizeof(*list));
	uint32_t outer;
	size_t i;

	if (!list)
		err(2, NULL);
	for (i = 1; i < tree->nr; i++) {
		const struct tree_node *node = &tree->nodes[i];

		if (node->caller)
			list[i].from = tree->nodes[node->caller].function;
		list[i].to = node->function;
		list[i].ticks += node->total;
		list[i].ns += node->total_ns;
		outer = find_outer(tree, i);
		list[outer].ticks -= node->total;
		list[outer].ns -= node->total_ns;
	}
	return list;
}

static bool is_function(const struct tree *tree, uint32_t function)
{
	return tree->functions[function].dso != TREE_NO_DSO;
}

static void find_calls(struct calls *calls, const struct report *report)
{
	const struct tree *tree = &calls->tree;
	struct call *list;
	size_t nr = 0, i;

	tree_make(&calls->tree, report->sum, report->runs, report->nr, false);
	list = list_nodes(tree);
	for (i = 1; i < tree->nr; i++)
		if (tree->nodes[i].caller && list[i].ticks &&
		    is_function(tree, list[i].from) &&
		    is_function(tree, list[i].to))
			list[nr++] = list[i];
	qsort(list, nr, sizeof(*list), by_functions);
	for (i = 0; i < nr; i++) {
		struct call *last = &list[calls->nr - !!calls->nr];

		if (!calls->nr || by_functions(last, &list[i])) {
			list[calls->nr++] = list[i];
			continue;
		}
		last->ticks += list[i].ticks;
		last->ns += list[i].ns;
	}
	calls->list = list;
}

/* The name extends to the end of the line. */
static void put_name(const char *key, unsigned int number, const char *name)
{
	printf("%s=(%u) ", key, number);
	term_name(name);
	putchar('\n');
}

static void put_bucket(const struct sum_bucket *bucket, int line)
{
	printf("%d %" PRIu64 " %.0f\n", line, bucket->ticks, bucket->ns);
}

static const char *file_of(const struct sum_dso *dso,
			   const struct sum_piece *piece, struct place *place)
{
	return symbols_place(&dso->symbols, piece->start, place) ?
		place->file : UNKNOWN;
}

/* Index of the first call of a function, or of one after it */
static size_t first_call(const struct calls *calls, uint32_t from)
{
	size_t low = 0, high = calls->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (calls->list[middle].from < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Put what a function called; the line of its calls is that of its start. */
static void put_calls(const struct calls *calls, uint32_t from, int line,
		      struct numbers *numbers)
{
	const struct tree *tree = &calls->tree;
	size_t i = first_call(calls, from);
	struct place place;

	for (; i < calls->nr && calls->list[i].from == from; i++) {
		const struct call *call = &calls->list[i];
		const struct tree_function *to = &tree->functions[call->to];
		const struct sum_dso *dso = &tree->sum->dsos[to->dso];

		put_name("cob", ++numbers->dso, dso->path);
		put_name("cfi", ++numbers->file,
			 file_of(dso, to->piece, &place));
		put_name("cfn", ++numbers->function, to->name);
		printf("calls=0 %d\n%d %" PRIu64 " %.0f\n", place.line, line,
		       call->ticks, call->ns);
	}
}

/* Inlined code may come from another file than the function. */
static void put_buckets(const struct sum_dso *dso,
			const struct sum_piece *piece, unsigned int number,
			const char *own, struct numbers *numbers)
{
	const struct sum_bucket *bucket = &dso->buckets[piece->first];
	const char *file = own, *next;
	struct place place;
	size_t i;

	for (i = 0; i < piece->nr; i++, bucket++) {
		bool known = sum_place(dso, piece, bucket, &place);

		if (!bucket->ticks)
			continue;
		next = known ? place.file : UNKNOWN;
		if (strcmp(next, file) && !strcmp(next, own))
			printf("fe=(%u)\n", number);
		else if (strcmp(next, file))
			put_name("fi", ++numbers->file, next);
		put_bucket(bucket, known ? place.line : 0);
		file = next;
	}
	if (strcmp(file, own))
		printf("fe=(%u)\n", number);
}

static void put_piece(const struct sum_dso *dso, const struct sum_piece *piece,
		      const struct calls *calls, struct numbers *numbers)
{
	unsigned int number = ++numbers->file;
	const struct tree_function *function;
	struct place place;
	const char *own = file_of(dso, piece, &place);

	put_name("fl", number, own);
	put_name("fn", ++numbers->function, piece->name);
	put_buckets(dso, piece, number, own, numbers);
	if (!calls->nr)
		return;
	function = tree_find(&calls->tree, dso, piece->name);
	if (function->piece == piece)
		put_calls(calls, function - calls->tree.functions, place.line,
			  numbers);
}

/** write_callgrind() - write all buckets by DSO and function, and calls */
int write_callgrind(const struct report *report)
{
	const struct sum *sum = report->sum;
	struct numbers numbers = {};
	struct calls calls = {};
	size_t i, j;

	if (sum->chains)
		find_calls(&calls, report);
	printf("# callgrind format\nversion: 1\ncreator: prohist " VERSION
	       "\ncmd: ");
	term_name(sum->command);
	printf("\npositions: line\nevents: Ticks Ns\n");
	for (i = 0; i < sum->nr_dsos; i++) {
		const struct sum_dso *dso = &sum->dsos[i];

		put_name("\nob", ++numbers.dso, dso->path);
		for (j = 0; j < dso->nr_pieces; j++)
			put_piece(dso, &dso->pieces[j], &calls, &numbers);
	}
	printf("\ntotals: %" PRIu64 " %.0f\n", sum->placed, sum->placed_ns);
	tree_free(&calls.tree);
	free(calls.list);
	return 0;
}
