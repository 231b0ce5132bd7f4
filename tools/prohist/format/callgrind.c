// SPDX-License-Identifier: GPL-2.0-only
/*
 * callgrind.c - write callgrind.out, for callgrind_annotate, KCachegrind and
 * speedscope
 *
 * Each bucket is a line with its source line, ticks and CPU time: speedscope
 * supports only one position. Each name follows a number, so that no name can
 * be parsed as a number.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "prohist/report.h"

#define UNKNOWN	"???"

/* Last numbers given to names; each kind is numbered separately. */
struct numbers {
	unsigned int dso;
	unsigned int file;
	unsigned int function;
};

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

/* Inlined code may come from another file than the function. */
static void put_piece(const struct sum_dso *dso,
		      const struct sum_piece *piece, struct numbers *numbers)
{
	const struct sum_bucket *bucket = &dso->buckets[piece->first];
	unsigned int number = ++numbers->file;
	const char *own, *file, *next;
	struct place place;
	size_t i;

	own = symbols_place(&dso->symbols, piece->start, &place) ?
		place.file : UNKNOWN;
	put_name("fl", number, own);
	put_name("fn", ++numbers->function, piece->name);
	for (i = 0, file = own; i < piece->nr; i++, bucket++, file = next) {
		bool known = sum_place(dso, piece, bucket, &place);

		next = known ? place.file : UNKNOWN;
		if (strcmp(next, file) && !strcmp(next, own))
			printf("fe=(%u)\n", number);
		else if (strcmp(next, file))
			put_name("fi", ++numbers->file, next);
		put_bucket(bucket, known ? place.line : 0);
	}
}

/** write_callgrind() - write all buckets by DSO and function */
int write_callgrind(const struct report *report)
{
	const struct sum *sum = report->sum;
	struct numbers numbers = {};
	size_t i, j;

	printf("# callgrind format\nversion: 1\ncreator: prohist " VERSION
	       "\ncmd: ");
	term_name(sum->command);
	printf("\npositions: line\nevents: Ticks Ns\n");
	for (i = 0; i < sum->nr_dsos; i++) {
		const struct sum_dso *dso = &sum->dsos[i];

		put_name("\nob", ++numbers.dso, dso->path);
		for (j = 0; j < dso->nr_pieces; j++)
			put_piece(dso, &dso->pieces[j], &numbers);
	}
	printf("\ntotals: %" PRIu64 " %.0f\n", sum->placed, sum->placed_ns);
	return 0;
}
