// SPDX-License-Identifier: GPL-2.0-only
/*
 * write_callgrind.c - callgrind.out, for callgrind_annotate and KCachegrind
 *
 * Each bucket is a line: its address, the line of the source, its ticks and its
 * time. A name has a number in front of it, so that none can be taken for one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "print.h"

#define UNKNOWN	"???"

/* Numbers of the names of each kind, all of which are different. */
struct numbers {
	unsigned int object;
	unsigned int file;
	unsigned int function;
};

/* A name is what is left of the line. */
static void put_name(const char *key, unsigned int number, const char *name)
{
	printf("%s=(%u) ", key, number);
	term_name(name);
	putchar('\n');
}

static void put_bucket(const struct sum_bucket *bucket, int line)
{
	printf("0x%" PRIx64 " %d %" PRIu64 " %.0f\n", bucket->address, line,
	       bucket->ticks, bucket->ns);
}

/* What was inlined may be of another file than the function. */
static void put_piece(const struct sum_object *object,
		      const struct sum_piece *piece, struct numbers *numbers)
{
	const struct sum_bucket *bucket = &object->buckets[piece->first];
	unsigned int number = ++numbers->file;
	const char *own, *file, *next;
	struct place place;
	size_t i;

	own = symbols_place(&object->symbols, piece->start, &place) ?
		place.file : UNKNOWN;
	put_name("fl", number, own);
	put_name("fn", ++numbers->function, piece->name);
	for (i = 0, file = own; i < piece->nr; i++, bucket++, file = next) {
		bool known = sum_place(object, piece, bucket, &place);

		next = known ? place.file : UNKNOWN;
		if (strcmp(next, file) && !strcmp(next, own))
			printf("fe=(%u)\n", number);
		else if (strcmp(next, file))
			put_name("fi", ++numbers->file, next);
		put_bucket(bucket, known ? place.line : 0);
	}
}

static double total_ns(const struct sum *sum)
{
	double ns = 0;
	size_t i, j;

	for (i = 0; i < sum->nr_objects; i++)
		for (j = 0; j < sum->objects[i].nr_buckets; j++)
			ns += sum->objects[i].buckets[j].ns;
	return ns;
}

/** write_callgrind() - every bucket of every function of every object */
int write_callgrind(const struct report *report)
{
	const struct sum *sum = report->sum;
	struct numbers numbers = {};
	size_t i, j;

	printf("# callgrind format\nversion: 1\ncreator: prohist " VERSION
	       "\ncmd: ");
	term_name(sum->command);
	printf("\npositions: instr line\nevents: Ticks Ns\n");
	for (i = 0; i < sum->nr_objects; i++) {
		const struct sum_object *object = &sum->objects[i];

		put_name("\nob", ++numbers.object, object->path);
		for (j = 0; j < object->nr_pieces; j++)
			put_piece(object, &object->pieces[j], &numbers);
	}
	printf("\ntotals: %" PRIu64 " %.0f\n", sum->placed, total_ns(sum));
	return 0;
}
