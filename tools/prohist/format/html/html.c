// SPDX-License-Identifier: GPL-2.0-only
/*
 * html.c - write a profile, or two beside each other, as an HTML page
 *
 * The page needs no other file, and its Content-Security-Policy permits none:
 * the only script that may run is that of page.js. Without it, the page is
 * complete, but cannot be sorted or filtered.
 *
 * The parts that grow with the profile have budgets, so that the page remains
 * below 2 MB.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/format/html/html.h"
#include "prohist/format/svg/svg.h"

/* Maximum numbers of characters of names, and of those outside of budgets. */
#define LONGEST_TEXT	400
#define LONGEST_PATH	150

static const char css[] =
#include "prohist/format/html/page.css.inc"
;

static const char js[] =
#include "prohist/format/html/page.js.inc"
;

/** html_text() - write a string of any bytes, escaped; a long one is cut */
void html_text(FILE *out, const char *string)
{
	const struct svg svg = { .out = out };

	svg_string(&svg, string, LONGEST_TEXT);
}

/** html_path() - like html_text(), for parts of the page without a budget */
void html_path(FILE *out, const char *string)
{
	const struct svg svg = { .out = out };

	svg_string(&svg, string, LONGEST_PATH);
}

/** html_code() - like html_text(), for @length bytes with tabs */
void html_code(FILE *out, const char *text, size_t length)
{
	struct html_part part;
	size_t i, column = 0;

	html_part_begin(&part);
	for (i = 0; i < length && text[i]; i++) {
		int spaces = text[i] == '\t' ? 8 - column % 8 : 0;

		if (spaces)
			fprintf(part.out, "%*s", spaces, "");
		else
			fputc(text[i], part.out);
		column += spaces ?: 1;
	}
	html_part_end(&part);
	html_text(out, part.text);
	free(part.text);
}

/** html_part_begin() - begin a part; to be ended and its text freed */
void html_part_begin(struct html_part *part)
{
	part->text = NULL;
	part->out = open_memstream(&part->text, &part->size);
	if (!part->out)
		err(1, NULL);
}

/** html_part_end() - end a part, whose text then is complete */
void html_part_end(struct html_part *part)
{
	if (fclose(part->out))
		err(1, NULL);
}

/**
 * html_part_fits() - end a part, write it if it fits the budget, and free it
 * @out: where to write it
 * @part: the part
 * @budget: bytes left; decremented by the size of the part
 */
bool html_part_fits(FILE *out, struct html_part *part, size_t *budget)
{
	bool fits;

	html_part_end(part);
	fits = part->size <= *budget;
	if (fits) {
		fwrite(part->text, part->size, 1, out);
		*budget -= part->size;
	}
	free(part->text);
	return fits;
}

static void find_functions(struct html *html)
{
	const struct sum *sum = html->sides[0].sum;
	size_t i;

	html->nr = sum->nr_functions;
	html->functions = calloc(html->nr + 1, sizeof(*html->functions));
	if (!html->functions)
		err(1, NULL);
	for (i = 0; i < html->nr; i++) {
		const struct sum_function *from = &sum->functions[i];
		struct html_function *function = &html->functions[i];

		function->change.name = from->name;
		function->change.dso = sum_dso_name(sum, from->dso);
		function->change.ticks[0] = from->ticks;
		function->path = sum->dsos[from->dso].path;
	}
}

/* Functions that changed by more than chance, then the others. */
static void find_changes(struct html *html, const struct diff *diff)
{
	const struct diff_list *list = &diff->functions;
	size_t i, n = 0;

	html->nr = diff->placed[0] && diff->placed[1] ? list->nr : 0;
	html->functions = calloc(html->nr + 1, sizeof(*html->functions));
	if (!html->functions)
		err(1, NULL);
	for (i = 0; i < html->nr; i++)
		if (list->items[i].changed)
			html->functions[n++].change = list->items[i];
	for (i = 0; i < html->nr; i++)
		if (!list->items[i].changed)
			html->functions[n++].change = list->items[i];
}

static void write_head(const struct html *html)
{
	FILE *out = html->out;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src '" SCRIPT_HASH
	      "'; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
	      out);
	html_text(out, html->sides[0].sum->command);
	fprintf(out, " - prohist</title>\n<style>\n%s%s</style>\n</head>\n",
		css, svg_palette);
}

static void write_title(const struct html *html)
{
	FILE *out = html->out;
	int i;

	if (html->nr_sides == 1) {
		fputs("<h1>", out);
		html_text(out, html->sides[0].sum->command);
		fputs("</h1>\n", out);
		return;
	}
	fputs("<h1>Two profiles</h1>\n", out);
	for (i = 0; i < html->nr_sides; i++) {
		fprintf(out, "<p>%s: <code>", html->sides[i].label);
		html_text(out, html->sides[i].sum->command);
		fputs("</code></p>\n", out);
	}
}

static void write_body(struct html *html, const struct html_part *listings)
{
	FILE *out = html->out;

	fputs("<body>\n<header>\n", out);
	write_title(html);
	fputs("<nav aria-label=\"Contents\"><a href=\"#summary\">Summary</a> "
	      "<a href=\"#dsos\">DSOs</a> <a href=\"#functions\">Functions</a> "
	      "<a href=\"#listings\">Listings</a></nav>\n</header>\n<main>\n",
	      out);
	html_summary(html);
	html_programs(html);
	html_dsos(html);
	html_functions(html);
	fwrite(listings->text, listings->size, 1, out);
	fprintf(out, "</main>\n<footer>Written by prohist %s. The error is half of the 95&nbsp;%% confidence interval.</footer>\n"
		"<script>%s</script>\n</body>\n</html>\n", VERSION, js);
}

/** print_html() - write a page about one sum, or about two */
int print_html(const struct report *report)
{
	struct html html = {
		.out = stdout,
		.nr_sides = 1,
		.sides = { { NULL, report->sum, report->runs, report->nr } },
	};
	struct html_part listings;

	if (report->diff) {
		html.nr_sides = 2;
		html.sides[0] = (struct html_side){
			"Before", report->diff->sums, report->runs,
			report->before
		};
		html.sides[1] = (struct html_side){
			"After", report->sum, report->runs + report->before,
			report->nr - report->before
		};
		find_changes(&html, report->diff);
	} else {
		find_functions(&html);
	}
	/* The table of functions refers to the listings */
	html_part_begin(&listings);
	html_listings(&html, listings.out);
	html_part_end(&listings);
	write_head(&html);
	write_body(&html, &listings);
	free(listings.text);
	free(html.functions);
	return 0;
}
