// SPDX-License-Identifier: GPL-2.0-only
/*
 * annotate.c - print a function's instructions with ticks and source
 *
 * An instruction that shares its bucket with others is printed with their
 * number.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/listing.h"
#include "prohist/report.h"
#include "prohist/suggest.h"
#include "symbolize/demangle.h"

/* Width of the column of instructions. */
#define COLUMN	40

/* The listing of one function, as it is printed. */
struct annotation {
	const struct report *report;
	struct listing listing;
	struct sources sources;
	struct place place;
	bool newer;
};

/*
 * Print the source line unless it is the last one printed. @width: columns
 * taken by the instruction.
 */
static void print_source(struct annotation *annotation,
			 uint64_t address, int width)
{
	struct place before = annotation->place, place;
	const struct source *source;
	const char *text;
	bool same;
	int length;

	if (!symbols_place(&annotation->listing.dso->symbols, address, &place))
		return;
	same = before.file && !strcmp(before.file, place.file);
	if (same && place.line == before.line)
		return;
	annotation->place = place;
	printf("%*s  ", width < COLUMN ? COLUMN - width : 0, "");
	if (!same) {
		term_name(base_name(place.file));
		putchar(':');
	}
	printf("%d", place.line);
	source = source_find(&annotation->sources, place.file,
			     annotation->listing.dso->symbols.owner);
	text = source_line(source, place.line, &length);
	if (text) {
		fputs("  ", stdout);
		term_text(text, length);
	}
	if (listing_is_older(&annotation->listing, source))
		annotation->newer = true;
}

static void print_instruction(struct annotation *annotation, size_t i)
{
	const struct listing *listing = &annotation->listing;
	const struct instruction *instruction =
		&listing->instructions.list[i];
	uint64_t ticks = listing->ticks[i];
	double percent = 100 * listing->ns[i] / listing->piece->ns;

	if (ticks)
		printf("%10" PRIu64 " %5.1f %%", ticks, percent);
	else
		printf("%18s", "");
	if (ticks && listing->others[i])
		printf(" +%-3zu", listing->others[i]);
	else
		printf("%5s", "");
	printf("%8" PRIx64 "  ", instruction->address);
	term_code(annotation->report->term, instruction->text, percent);
	print_source(annotation, instruction->address, strlen(instruction->text));
	putchar('\n');
}

/* Report ticks that may belong to a neighbour. */
static void print_edges(const struct listing *listing)
{
	uint64_t before = listing_before(listing);
	uint64_t beyond = listing_beyond(listing);

	if (before)
		printf("%" PRIu64 " ticks of a bucket that reaches into its beginning are not here\n",
		       before);
	if (beyond)
		printf("its last bucket, with %" PRIu64 " ticks, reaches beyond its end\n",
		       beyond);
}

static void print_heading(const struct sum *sum, const struct listing *listing)
{
	const struct sum_piece *piece = listing->piece;
	uint64_t bytes = listing->dso->buckets[piece->first].bytes;

	term_name(piece->name);
	fputs(" (", stdout);
	term_name(listing->dso->path);
	printf(")\n%" PRIu64 " ticks, %.1f %% +- %.1f %% of all; buckets of %" PRIu64 " byte%s\n",
	       piece->ticks, sum_percent(sum, piece->ns),
	       sum_error(sum, piece->ns), bytes, bytes == 1 ? "" : "s");
	if (listing->dso->symbols.problem)
		printf("%s\n", listing->dso->symbols.problem);
	print_edges(listing);
	if (listing_shares(listing))
		printf("+N: of this instruction or one of the next N, which begin in the same bucket\n");
}

/* Returns 0, or -1 after reporting the error. */
static int annotate(struct annotation *annotation)
{
	struct listing *listing = &annotation->listing;
	const struct sum_dso *dso = listing->dso;
	const struct sum_piece *piece = listing->piece;
	size_t i;

	if (!symbols_have_file(&dso->symbols)) {
		term_warn("%s (%s): %s", piece->name, dso->path,
		      dso->symbols.no_file ?: "there is no file of it");
		return -1;
	}
	if (listing_make(listing))
		return -1;
	if (!listing->instructions.nr) {
		term_warn("%s (%s): objdump finds no instructions", piece->name,
		      dso->path);
		return -1;
	}
	print_heading(annotation->report->sum, listing);
	term_heading(annotation->report->term,
		     "     ticks                 address  instruction");
	for (i = 0; i < listing->instructions.nr; i++)
		print_instruction(annotation, i);
	if (annotation->newer)
		printf("the source is newer than the DSO\n");
	putchar('\n');
	return 0;
}

static int annotate_piece(const struct report *report,
			  const struct sum_dso *dso,
			  const struct sum_piece *piece)
{
	struct annotation annotation = {
		.report = report,
		.listing = { .dso = dso, .piece = piece },
	};
	int result = annotate(&annotation);

	listing_free(&annotation.listing);
	sources_free(&annotation.sources);
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
		err(2, NULL);
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
	suggest_nearest(sum, report->function);
	return -1;
}
