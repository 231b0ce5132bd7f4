// SPDX-License-Identifier: GPL-2.0-only
/*
 * callgrind.c - write callgrind.out, for callgrind_annotate, KCachegrind and
 * speedscope
 *
 * Each bucket is a line with its source line, ticks and CPU time: speedscope
 * supports only one position. Each name follows a number, so that no name can
 * be parsed as a number.
 *
 * With chains of callers, each function has the time in what it called. For
 * callgrind_annotate, the inclusive time of a function is that of all calls to it: of
 * a chain that has the function several times, the outermost call counts, and what is
 * outermost itself is called by ROOT. How often a function was called is unknown:
 * once, as readers take a call of no times for none.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/report.h"
#include "prohist/tree.h"

#define UNKNOWN	"???"
#define ROOT	"[root]"

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

static bool has_outer(const struct tree *tree, uint32_t node)
{
	uint32_t up = tree->nodes[node].caller;

	while (up && tree->nodes[up].function != tree->nodes[node].function)
		up = tree->nodes[up].caller;
	return up;
}

/* The outermost frames are called by the root, whose number is after all others. */
static uint32_t caller_of(const struct tree *tree, uint32_t node)
{
	uint32_t caller = tree->nodes[node].caller;

	return caller ? tree->nodes[caller].function : tree->nr_functions;
}

static void find_calls(struct calls *calls, const struct report *report)
{
	const struct tree *tree = &calls->tree;
	struct call *list;
	size_t nr = 0, i;

	tree_make(&calls->tree, report->sum, report->runs, report->nr, false);
	list = calloc(tree->nr, sizeof(*list));
	if (!list)
		err(2, NULL);
	for (i = 1; i < tree->nr; i++)
		if (!has_outer(tree, i))
			list[nr++] = (struct call){
				.from = caller_of(tree, i),
				.to = tree->nodes[i].function,
				.ticks = tree->nodes[i].total,
				.ns = tree->nodes[i].total_ns,
			};
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

/* Readers take functions of one name and file for one: see sum_label(). */
static void put_function(const char *key, unsigned int number,
			 const struct sum_dso *dso, const char *name)
{
	char *label = sum_label(dso, name);

	put_name(key, number, label);
	free(label);
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

/*
 * Put the names of what was called, of its DSO and file if they are not those of its
 * caller: callgrind_annotate strips its directory from those of callers only. Returns
 * the line.
 */
static int put_called(const struct tree *tree, uint32_t number,
		      const char *caller_dso, const char *caller_file,
		      struct numbers *numbers)
{
	const struct tree_function *to = &tree->functions[number];
	const char *dso = UNKNOWN, *file = UNKNOWN;
	struct place place = {};

	if (to->piece) {
		dso = tree->sum->dsos[to->dso].path;
		file = file_of(&tree->sum->dsos[to->dso], to->piece, &place);
	}
	if (strcmp(dso, caller_dso))
		put_name("cob", ++numbers->dso, dso);
	if (strcmp(file, caller_file))
		put_name("cfi", ++numbers->file, file);
	put_function("cfn", ++numbers->function, to->piece ?
		     &tree->sum->dsos[to->dso] : NULL, to->name);
	return place.line;
}

/* Put what a function called; the line of its calls is that of its start. */
static void put_calls(const struct calls *calls, uint32_t from,
		      const char *dso, const char *file, int line,
		      struct numbers *numbers)
{
	size_t i = first_call(calls, from);

	for (; i < calls->nr && calls->list[i].from == from; i++) {
		const struct call *call = &calls->list[i];

		printf("calls=1 %d\n", put_called(&calls->tree, call->to, dso,
						  file, numbers));
		printf("%d %" PRIu64 " %.0f\n", line, call->ticks, call->ns);
	}
}

/* Put what calls, but is no function: the root, and unknown callers. */
static void put_others(const struct calls *calls, struct numbers *numbers)
{
	const struct tree *tree = &calls->tree;
	size_t i;

	put_name("\nob", ++numbers->dso, UNKNOWN);
	for (i = 0; i <= tree->nr_functions; i++) {
		if (i < tree->nr_functions && tree->functions[i].piece)
			continue;
		put_name("fl", ++numbers->file, UNKNOWN);
		put_name("fn", ++numbers->function, i < tree->nr_functions ?
			 tree->functions[i].name : ROOT);
		put_calls(calls, i, UNKNOWN, UNKNOWN, 0, numbers);
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
	put_function("fn", ++numbers->function, dso, piece->name);
	put_buckets(dso, piece, number, own, numbers);
	if (!calls->nr)
		return;
	function = tree_find(&calls->tree, dso, piece->name);
	if (function->piece == piece)
		put_calls(calls, function - calls->tree.functions, dso->path,
			  own, place.line, numbers);
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
	if (calls.nr)
		put_others(&calls, &numbers);
	printf("\ntotals: %" PRIu64 " %.0f\n", sum->placed, sum->placed_ns);
	tree_free(&calls.tree);
	free(calls.list);
	return 0;
}
