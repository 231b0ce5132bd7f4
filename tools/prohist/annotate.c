// SPDX-License-Identifier: GPL-2.0-only
/*
 * annotate.c - print a function's instructions with ticks and source
 *
 * Ticks are known per bucket only. Those of a bucket are printed at the first
 * instruction that begins in it, with the number of other such instructions.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "prohist/report.h"
#include "prohist/suggest.h"
#include "symbolize/demangle.h"
#include "symbolize/disasm.h"
#include "symbolize/source.h"

/* Width of the column of instructions. */
#define COLUMN	40

/* The listing of one function. */
struct listing {
	const struct report *report;
	const struct sum_dso *dso;
	const struct sum_piece *piece;
	struct instructions instructions;
	uint64_t *ticks;
	size_t *others;
	struct sources sources;
	struct place place;
	bool newer;
};

/* Index of the first instruction at or after an address. */
static size_t first_from(const struct instructions *instructions,
			 uint64_t address)
{
	size_t low = 0, high = instructions->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (instructions->list[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void share_out(struct listing *listing, const struct sum_bucket *bucket)
{
	size_t first = first_from(&listing->instructions, bucket->address);
	size_t after = first_from(&listing->instructions,
				  bucket->address + bucket->bytes);

	/* None begins in the bucket: use the one that extends into it */
	if (first == after)
		first -= first > 0;
	else if (after - first - 1 > listing->others[first])
		listing->others[first] = after - first - 1;
	listing->ticks[first] += bucket->ticks;
}

static bool is_newer(const struct listing *listing,
		     const struct source *source)
{
	struct stat stat_buffer;

	return source->text &&
		!stat(listing->dso->symbols.file, &stat_buffer) &&
		source->changed > stat_buffer.st_mtime;
}

/*
 * Print the source line unless it is the last one printed. @width: columns
 * taken by the instruction.
 */
static void print_source(struct listing *listing, uint64_t address, int width)
{
	struct place before = listing->place, place;
	const struct source *source;
	const char *text;
	bool same;
	int length;

	if (!symbols_place(&listing->dso->symbols, address, &place))
		return;
	same = before.file && !strcmp(before.file, place.file);
	if (same && place.line == before.line)
		return;
	listing->place = place;
	printf("%*s  ", width < COLUMN ? COLUMN - width : 0, "");
	if (!same) {
		term_name(base_name(place.file));
		putchar(':');
	}
	printf("%d", place.line);
	source = source_find(&listing->sources, place.file);
	text = source_line(source, place.line, &length);
	if (text) {
		fputs("  ", stdout);
		term_text(text, length);
	}
	if (is_newer(listing, source))
		listing->newer = true;
}

static void print_instruction(struct listing *listing, size_t i)
{
	const struct instruction *instruction =
		&listing->instructions.list[i];
	uint64_t ticks = listing->ticks[i];
	double percent = 100.0 * ticks / listing->piece->ticks;

	if (ticks)
		printf("%10" PRIu64 " %5.1f %%", ticks, percent);
	else
		printf("%18s", "");
	if (ticks && listing->others[i])
		printf(" +%-3zu", listing->others[i]);
	else
		printf("%5s", "");
	printf("%8" PRIx64 "  ", instruction->address);
	term_code(listing->report->term, instruction->text, percent);
	print_source(listing, instruction->address, strlen(instruction->text));
	putchar('\n');
}

/*
 * A bucket counts for the function with its first byte: report ticks that may
 * belong to a neighbour.
 */
static void print_edges(const struct listing *listing)
{
	const struct sum_dso *dso = listing->dso;
	const struct sum_piece *piece = listing->piece;
	const struct sum_bucket *last =
		&dso->buckets[piece->first + piece->nr - 1];

	if (piece->first) {
		const struct sum_bucket *before = last - piece->nr;

		if (before->address + before->bytes > piece->start)
			printf("%" PRIu64 " ticks of a bucket that reaches into its beginning are not here\n",
			       before->ticks);
	}
	if (last->address + last->bytes > piece->end)
		printf("its last bucket, with %" PRIu64 " ticks, reaches beyond its end\n",
		       last->ticks);
}

static void print_heading(const struct listing *listing)
{
	const struct sum *sum = listing->report->sum;
	const struct sum_piece *piece = listing->piece;
	uint64_t bytes = listing->dso->buckets[piece->first].bytes;

	term_name(piece->name);
	fputs(" (", stdout);
	term_name(listing->dso->path);
	printf(")\n%" PRIu64 " ticks, %.1f %% +- %.1f %% of all; buckets of %" PRIu64 " byte%s\n",
	       piece->ticks, sum_percent(sum, piece->ticks),
	       sum_error(sum, piece->ticks), bytes, bytes == 1 ? "" : "s");
	if (listing->dso->symbols.problem)
		printf("%s\n", listing->dso->symbols.problem);
	print_edges(listing);
}

static void print_listing(struct listing *listing)
{
	const struct sum_piece *piece = listing->piece;
	bool shared = false;
	size_t i;

	for (i = piece->first; i < piece->first + piece->nr; i++)
		share_out(listing, &listing->dso->buckets[i]);
	for (i = 0; i < listing->instructions.nr; i++)
		if (listing->ticks[i] && listing->others[i])
			shared = true;
	if (shared)
		printf("+N: of this instruction or one of the next N, which begin in the same bucket\n");
	term_heading(listing->report->term,
		     "     ticks                 address  instruction");
	for (i = 0; i < listing->instructions.nr; i++)
		print_instruction(listing, i);
	if (listing->newer)
		printf("the source is newer than the DSO\n");
	putchar('\n');
}

/* Returns 0, or -1 after reporting the error. */
static int annotate(struct listing *listing)
{
	const struct sum_dso *dso = listing->dso;
	const struct sum_piece *piece = listing->piece;
	size_t nr;

	if (!symbols_known(&dso->symbols)) {
		term_warn("%s (%s): %s", piece->name, dso->path,
		      dso->symbols.problem ?: "there is no file of it");
		return -1;
	}
	if (disassemble(dso->symbols.file, piece->start, piece->end,
			&listing->instructions))
		return -1;
	nr = listing->instructions.nr;
	if (!nr) {
		term_warn("%s (%s): objdump finds no instructions", piece->name,
		      dso->path);
		return -1;
	}
	/* One more: share_out() uses the index after the last one */
	listing->ticks = calloc(nr + 1, sizeof(*listing->ticks));
	listing->others = calloc(nr + 1, sizeof(*listing->others));
	if (!listing->ticks || !listing->others)
		err(1, NULL);
	print_heading(listing);
	print_listing(listing);
	return 0;
}

static int annotate_piece(const struct report *report,
			  const struct sum_dso *dso,
			  const struct sum_piece *piece)
{
	struct listing listing = {
		.report = report,
		.dso = dso,
		.piece = piece,
	};
	int result = annotate(&listing);

	instructions_free(&listing.instructions);
	sources_free(&listing.sources);
	free(listing.ticks);
	free(listing.others);
	return result;
}

/** print_annotated() - annotate all functions with the name, in any DSO */
int print_annotated(const struct report *report)
{
	const struct sum *sum = report->sum;
	char *wanted = demangle(report->function);
	int result = 0, found = 0;
	size_t i, j;

	if (!wanted)
		err(1, NULL);
	for (i = 0; i < sum->nr_dsos; i++) {
		const struct sum_dso *dso = &sum->dsos[i];

		for (j = 0; j < dso->nr_pieces; j++) {
			if (!sum_called(dso->pieces[j].name, wanted))
				continue;
			found++;
			result |= annotate_piece(report, dso,
						 &dso->pieces[j]);
		}
	}
	free(wanted);
	if (found)
		return result;
	say_nearest(sum, report->function);
	return -1;
}
