// SPDX-License-Identifier: GPL-2.0-only
/*
 * listings.c - source and instructions of functions in the HTML page
 *
 * Only the surroundings of lines and instructions with ticks are shown.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/format/html/html.h"
#include "prohist/listing.h"
#include "util/xalloc.h"

/* All listings, in bytes, and their number: objdump runs for each. */
#define BUDGET		(450 << 10)
#define MOST		40
/* Longest function, in bytes. */
#define LONGEST		(1 << 20)

/* Number of lines or instructions around those with ticks. */
#define CONTEXT		12
#define SOURCE_CONTEXT	3

/* Shares of the function's ticks from which a row stands out, in percent. */
#define HOT		10
#define WARM		3

/* A source line of the function; @other: not in the file where it begins. */
struct line {
	bool other;
	struct place place;
	uint64_t ticks;
	double ns;
};

/* A listing being written. */
struct writer {
	FILE *out;
	struct listing listing;
	struct sources sources;
	size_t nr;
	struct line *lines;
	bool newer;
};

static int by_place(const void *a, const void *b)
{
	const struct line *l = a, *m = b;
	int order = l->other - m->other;

	if (!order)
		order = strcmp(l->place.file, m->place.file);
	return order ? order : l->place.line - m->place.line;
}

/* Find the lines with ticks. */
static void find_lines(struct writer *writer)
{
	const struct listing *listing = &writer->listing;
	const char *first = NULL;
	size_t i, nr = 0;

	for (i = 0; i < listing->instructions.nr; i++) {
		struct line line = {
			.ticks = listing->ticks[i],
			.ns = listing->ns[i],
		};

		if (!symbols_place(&listing->dso->symbols,
				   listing->instructions.list[i].address,
				   &line.place))
			continue;
		first = first ?: line.place.file;
		line.other = strcmp(line.place.file, first) != 0;
		if (!line.ticks)
			continue;
		writer->lines = one_more(writer->lines, nr, sizeof(line));
		writer->lines[nr++] = line;
	}
	if (nr)
		qsort(writer->lines, nr, sizeof(*writer->lines), by_place);
	for (i = 0; i < nr; i++) {
		struct line *line = &writer->lines[i];

		if (writer->nr &&
		    !by_place(&writer->lines[writer->nr - 1], line)) {
			writer->lines[writer->nr - 1].ticks += line->ticks;
			writer->lines[writer->nr - 1].ns += line->ns;
			continue;
		}
		writer->lines[writer->nr++] = *line;
	}
}

/* Begin a row with ticks and percent. */
static void write_ticks(const struct writer *writer, uint64_t ticks, double ns,
			size_t others)
{
	double percent = 100 * ns / writer->listing.piece->ns;

	if (!ticks) {
		fputs("<tr><td><td>", writer->out);
		return;
	}
	fprintf(writer->out, "<tr%s><td>%" PRIu64,
		percent >= HOT ? " class=\"hot\"" :
		percent >= WARM ? " class=\"warm\"" : "", ticks);
	if (others)
		fprintf(writer->out, " +%zu", others);
	fprintf(writer->out, "<td>%.1f", percent);
}

static void write_line(const struct writer *writer, const struct source *source,
		       long number, const struct line *line)
{
	const char *text;
	int length;

	text = source_line(source, number, &length);
	if (!text && !line)
		return;
	write_ticks(writer, line ? line->ticks : 0, line ? line->ns : 0, 0);
	fprintf(writer->out, "<td>%ld<td>", number);
	if (text)
		html_code(writer->out, text, length);
	fputc('\n', writer->out);
}

/* Write the lines from @i to @end of a file, and those around them. */
static void write_lines(const struct writer *writer,
			const struct source *source, size_t i, size_t end)
{
	long before = writer->lines[i].place.line, number;
	long last = writer->lines[end - 1].place.line;

	number = before > SOURCE_CONTEXT ? before - SOURCE_CONTEXT : 1;
	for (; number <= last + SOURCE_CONTEXT; number++) {
		long next = i < end ? writer->lines[i].place.line : last;

		if (i < end && number == next) {
			write_line(writer, source, number,
				   &writer->lines[i++]);
			before = number;
		} else if (number - before <= SOURCE_CONTEXT ||
			   next - number <= SOURCE_CONTEXT) {
			write_line(writer, source, number, NULL);
		} else {
			if (source->text)
				fputs("<tr class=\"gap\"><td><td><td><td>\xe2\x8b\xae\n",
				      writer->out);
			number = next - SOURCE_CONTEXT - 1;
		}
	}
}

/* Write the lines of one file; returns the index of the next file's. */
static size_t write_file(struct writer *writer, size_t i)
{
	const char *file = writer->lines[i].place.file;
	const struct source *source =
		source_find(&writer->sources, file,
			    writer->listing.dso->symbols.owner);
	size_t end = i;

	if (listing_is_older(&writer->listing, source))
		writer->newer = true;
	fputs("<tbody><tr><th colspan=\"4\" scope=\"rowgroup\">", writer->out);
	html_text(writer->out, file);
	if (!source->text)
		fputs(" <small>(cannot be read)</small>", writer->out);
	fputs("</th></tr>\n", writer->out);
	while (end < writer->nr && !strcmp(writer->lines[end].place.file, file))
		end++;
	write_lines(writer, source, i, end);
	return end;
}

static void begin_table(const struct writer *writer, const char *kind,
			const char *columns)
{
	fprintf(writer->out, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"%s of ",
		kind);
	html_text(writer->out, writer->listing.piece->name);
	fprintf(writer->out, "\">\n<table class=\"code\">\n<caption>%s</caption>\n<thead><tr><th scope=\"col\">Ticks</th><th scope=\"col\">%%</th>%s</tr></thead>\n",
		kind, columns);
}

static void write_source(struct writer *writer)
{
	size_t i = 0;

	if (!writer->nr)
		return;
	begin_table(writer, "Source",
		    "<th scope=\"col\">Line</th><th scope=\"col\">Source</th>");
	while (i < writer->nr)
		i = write_file(writer, i);
	fputs("</table>\n</div>\n", writer->out);
}

static bool is_near(const struct listing *listing, size_t i)
{
	size_t end = i + CONTEXT + 1;

	if (end > listing->instructions.nr)
		end = listing->instructions.nr;
	for (i = i > CONTEXT ? i - CONTEXT : 0; i < end; i++)
		if (listing->ticks[i])
			return true;
	return false;
}

static void write_instruction(const struct writer *writer, size_t i)
{
	const struct listing *listing = &writer->listing;
	const struct instruction *instruction = &listing->instructions.list[i];
	struct place place;

	write_ticks(writer, listing->ticks[i], listing->ns[i],
		    listing->others[i]);
	fprintf(writer->out, "<td>%" PRIx64 "<td>", instruction->address);
	if (symbols_place(&listing->dso->symbols, instruction->address,
			  &place)) {
		html_text(writer->out, base_name(place.file));
		fprintf(writer->out, ":%d", place.line);
	}
	fputs("<td>", writer->out);
	html_code(writer->out, instruction->text, strlen(instruction->text));
	fputc('\n', writer->out);
}

static void write_gap(FILE *out, size_t nr)
{
	if (nr)
		fprintf(out, "<tr class=\"gap\"><td><td><td><td><td>%zu without ticks\n",
			nr);
}

static void write_instructions(const struct writer *writer)
{
	size_t i, left_out = 0;

	begin_table(writer, "Instructions",
		    "<th scope=\"col\">Address</th><th scope=\"col\">Line</th><th scope=\"col\">Instruction</th>");
	fputs("<tbody>\n", writer->out);
	for (i = 0; i < writer->listing.instructions.nr; i++) {
		if (!is_near(&writer->listing, i)) {
			left_out++;
			continue;
		}
		write_gap(writer->out, left_out);
		left_out = 0;
		write_instruction(writer, i);
	}
	write_gap(writer->out, left_out);
	fputs("</tbody>\n</table>\n</div>\n", writer->out);
}

static void write_notes(const struct writer *writer, const struct sum *sum)
{
	const struct listing *listing = &writer->listing;
	const struct sum_piece *piece = listing->piece;
	uint64_t bytes = listing->dso->buckets[piece->first].bytes;
	uint64_t before = listing_before(listing);
	uint64_t beyond = listing_beyond(listing);
	FILE *out = writer->out;

	fprintf(out, "<p>%" PRIu64 " ticks, %.1f&nbsp;%% \xc2\xb1&nbsp;%.1f of all; buckets of %" PRIu64 " byte%s; <code>",
		piece->ticks, sum_percent(sum, piece->ns),
		sum_error(sum, piece->ns), bytes, bytes == 1 ? "" : "s");
	html_text(out, listing->dso->path);
	fputs("</code></p>\n", out);
	if (before)
		fprintf(out, "<p>%" PRIu64 " ticks of a bucket that reaches into its beginning are not here.</p>\n",
			before);
	if (beyond)
		fprintf(out, "<p>Its last bucket, with %" PRIu64 " ticks, reaches beyond its end.</p>\n",
			beyond);
	if (listing_shares(listing))
		fputs("<p>+N: of this instruction or one of the next N, which begin in the same bucket.</p>\n",
		      out);
}

/* Write a function of one DSO; returns 0, or -1 if objdump fails. */
static int write_piece(FILE *out, const struct sum *sum,
		       const struct sum_dso *dso, const struct sum_piece *piece)
{
	struct writer writer = {
		.out = out,
		.listing = { .dso = dso, .piece = piece },
	};
	int result = 0;

	if (!symbols_have_file(&dso->symbols) ||
	    piece->end - piece->start > LONGEST)
		return 0;
	result = listing_make(&writer.listing);
	if (!result && writer.listing.instructions.nr) {
		find_lines(&writer);
		write_notes(&writer, sum);
		fputs("<div class=\"listing\">\n", out);
		write_source(&writer);
		write_instructions(&writer);
		fputs("</div>\n", out);
		if (writer.newer)
			fputs("<p class=\"warning\">The source is newer than the DSO.</p>\n",
			      out);
	}
	listing_free(&writer.listing);
	sources_free(&writer.sources);
	free(writer.lines);
	return result;
}

static bool is_in(const struct html_function *function,
		  const struct sum_dso *dso)
{
	return function->path ? !strcmp(dso->path, function->path) :
		!strcmp(base_name(dso->path), function->change.dso);
}

/* Find the function that one is inlined in, or that it is. */
static const char *find_outer(const struct html *html,
			      const struct html_function *function)
{
	size_t j, k;
	int i;

	for (i = 0; i < html->nr_sides; i++) {
		const struct sum *sum = html->sides[i].sum;

		for (j = 0; j < sum->nr_dsos; j++) {
			const struct sum_dso *dso = &sum->dsos[j];

			for (k = 0; is_in(function, dso) && k < dso->nr_pieces;
			     k++)
				if (!strcmp(dso->pieces[k].label,
					    function->change.name))
					return dso->pieces[k].name;
		}
	}
	return function->change.name;
}

/* What is inlined in a function makes it several pieces: join those from @first. */
static struct sum_piece join(const struct sum_dso *dso, size_t first)
{
	struct sum_piece whole = dso->pieces[first];
	const struct sum_piece *more = &dso->pieces[first + 1];

	for (; more < dso->pieces + dso->nr_pieces &&
	     more->start == whole.start; more++) {
		whole.end = more->end;
		whole.nr += more->nr;
		whole.ticks += more->ticks;
		whole.ns += more->ns;
	}
	return whole;
}

/* Write a function in one DSO; -1 if objdump fails. */
static int write_pieces(FILE *out, const struct html_function *function,
			const struct sum *sum, const struct sum_dso *dso)
{
	struct sum_piece whole;
	size_t i;

	for (i = 0; i < dso->nr_pieces; i++) {
		if (strcmp(dso->pieces[i].name, function->outer) ||
		    (i && dso->pieces[i].start == dso->pieces[i - 1].start))
			continue;
		whole = join(dso, i);
		if (write_piece(out, sum, dso, &whole))
			return -1;
	}
	return 0;
}

/* Write a function in one profile; -1 if objdump fails. */
static int write_side(FILE *out, const struct html_function *function,
		      const struct sum *sum)
{
	size_t i;

	for (i = 0; i < sum->nr_dsos; i++)
		if (is_in(function, &sum->dsos[i]) &&
		    write_pieces(out, function, sum, &sum->dsos[i]))
			return -1;
	return 0;
}

/* Write a function in all profiles; -1 if objdump fails. */
static int write_sides(const struct html *html, FILE *out,
		       const struct html_function *function, bool *found)
{
	int i, result = 0;

	*found = false;
	for (i = 0; i < html->nr_sides && !result; i++) {
		const struct html_side *side = &html->sides[i];
		struct html_part part;

		html_part_begin(&part);
		result = write_side(part.out, function, side->sum);
		html_part_end(&part);
		fprintf(out, "<div>\n");
		if (part.size && side->label)
			fprintf(out, "<h4>%s</h4>\n", side->label);
		fwrite(part.text, part.size, 1, out);
		fprintf(out, "</div>\n");
		*found |= part.size != 0;
		free(part.text);
	}
	return result;
}

static bool is_same_dso(const struct html_function *a,
			const struct html_function *b)
{
	return a->path && b->path ? !strcmp(a->path, b->path) :
		!strcmp(a->change.dso, b->change.dso);
}

/* Find the number of the listing of the function that one is inlined in, or 0. */
static size_t find_listing(const struct html *html, size_t i)
{
	const struct html_function *function = &html->functions[i];
	size_t j;

	for (j = 0; j < i; j++) {
		const struct html_function *other = &html->functions[j];

		if (!strcmp(other->outer, function->outer) &&
		    is_same_dso(other, function))
			return other->listing;
	}
	return 0;
}

/* Write one listing, if there is any and it fits; -1 if objdump fails. */
static int write_listing(struct html *html, FILE *out, size_t i,
			 size_t *budget)
{
	struct html_function *function = &html->functions[i];
	struct html_part part, sides;
	size_t none = 0;
	int result;
	bool found;

	function->outer = find_outer(html, function);
	function->listing = find_listing(html, i);
	if (function->listing)
		return 0;
	html_part_begin(&sides);
	result = write_sides(html, sides.out, function, &found);
	html_part_end(&sides);
	html_part_begin(&part);
	fprintf(part.out, "<details id=\"f%zu\"><summary><h3>", i);
	html_text(part.out, function->outer);
	fputs("</h3> <small>", part.out);
	html_text(part.out, function->change.dso);
	fputs("</small></summary>\n", part.out);
	fprintf(part.out, "<div class=\"sides\">\n%s</div>\n", sides.text);
	fputs("<p><a href=\"#functions\">Back to the functions</a></p>\n</details>\n",
	      part.out);
	if (html_part_fits(out, &part, found ? budget : &none))
		function->listing = i + 1;
	free(sides.text);
	return result;
}

/** html_listings() - source and instructions of the first functions */
void html_listings(struct html *html, FILE *out)
{
	size_t budget = BUDGET, listed = 0, i;

	fputs("<section aria-labelledby=\"listings\">\n<h2 id=\"listings\">Listings</h2>\n"
	      "<p>The functions whose names are links have a listing here. For all instructions of any function: "
	      "<code>prohist --annotate=FUNCTION FILE</code></p>\n", out);
	for (i = 0; i < html->nr && i < 2 * MOST && listed < MOST; i++) {
		const double *ns = html->functions[i].change.ns;

		if (!ns[0] && !ns[1])
			break;
		if (write_listing(html, out, i, &budget))
			break;
		listed += html->functions[i].listing == i + 1;
	}
	if (!listed)
		fputs("<p>No function has one: the files of the DSOs, or objdump, are missing.</p>\n",
		      out);
	fputs("</section>\n", out);
}
