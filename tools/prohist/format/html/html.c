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

#include "prohist/format/flamegraph.h"
#include "prohist/format/html/html.h"
#include "prohist/format/svg/svg.h"

static const char css[] =
#include "prohist/format/html/page.css.inc"
;

static const char js[] =
#include "prohist/format/html/page.js.inc"
;

/* Functions as in the text: also those that only called what waited. */
static void find_rows(struct html *html)
{
	const struct html_side *side = &html->sides[0];
	struct rows rows;
	size_t i;

	html->called.callers = true;
	sum_runs(&html->called, side->runs, side->nr_runs, side->sum->inlined);
	rows = rows_make(side->runs, side->nr_runs, &html->called,
			 ROW_DSO | ROW_SYMBOL);
	html->nr = rows.nr;
	html->functions = calloc(html->nr + 1, sizeof(*html->functions));
	if (!html->functions)
		err(2, NULL);
	for (i = 0; i < html->nr; i++) {
		const struct row *from = &rows.list[i];
		struct html_function *function = &html->functions[i];

		function->change.name = from->symbol;
		function->change.dso = base_name(from->dso->path);
		function->change.ticks[0] = from->ticks;
		function->change.ns[0] = from->ns;
		function->path = from->dso->path;
		function->total_ns = from->total_ns;
		memcpy(function->states, from->states, sizeof(from->states));
	}
	free(rows.list);
}

static void find_functions(struct html *html)
{
	const struct sum *sum = html->sides[0].sum;
	size_t i;

	html->nr = sum->nr_functions;
	html->functions = calloc(html->nr + 1, sizeof(*html->functions));
	if (!html->functions)
		err(2, NULL);
	for (i = 0; i < html->nr; i++) {
		const struct sum_function *from = &sum->functions[i];
		struct html_function *function = &html->functions[i];

		function->change.name = from->name;
		function->change.dso = sum_dso_name(sum, from->dso);
		function->change.ticks[0] = from->ticks;
		function->change.ns[0] = from->ns;
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
		err(2, NULL);
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
	fprintf(out, " - prohist</title>\n<style>\n%s%s%s</style>\n</head>\n",
		css, svg_palette, flamegraph_palette);
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
	fprintf(out, "<nav aria-label=\"Contents\"><a href=\"#summary\">Summary</a> %s<a href=\"#dsos\">DSOs</a> <a href=\"#functions\">Functions</a> <a href=\"#listings\">Listings</a></nav>\n</header>\n<main>\n",
		html_has_flame(html) ?
		"<a href=\"#flame\">Flame graph</a> " : "");
	html_summary(html);
	html_programs(html);
	html_flame(html);
	html_dsos(html);
	html_functions(html);
	fwrite(listings->text, listings->size, 1, out);
	fprintf(out, "</main>\n<footer>Written by prohist %s. The error is half of the 95&nbsp;%% confidence interval.</footer>\n"
		"<script>%s</script>\n</body>\n</html>\n", VERSION, js);
}

static void write_page(struct html *html)
{
	struct html_part listings;

	/* The table of functions refers to the listings */
	html_part_begin(&listings);
	html_listings(html, listings.out);
	html_part_end(&listings);
	write_head(html);
	write_body(html, &listings);
	free(listings.text);
	free(html->functions);
}

/** print_html() - write a page about a sum */
int print_html(const struct report *report)
{
	struct html html = {
		.out = stdout,
		.nr_sides = 1,
		.sides = { { NULL, report->sum, report->runs, report->nr } },
	};

	if (report->sum->wall)
		find_rows(&html);
	else
		find_functions(&html);
	write_page(&html);
	sum_free(&html.called);
	return 0;
}

/*
 * The sum of all runs of a side: that of the only one is there already, and may
 * be large.
 */
static const struct sum *sum_side(const struct diff *diff, int side,
				  struct sum *room)
{
	size_t first = side ? diff->nr[0] : 0;

	if (diff->nr[side] == 1)
		return &diff->sums[first];
	sum_runs(room, diff->runs + first, diff->nr[side],
		 diff->sums->inlined);
	return room;
}

/** diff_html() - write a page with the sums of both sides beside each other */
int diff_html(const struct diff *diff)
{
	struct sum sums[2] = {};
	struct html html = {
		.out = stdout,
		.nr_sides = 2,
		.diff = diff,
		.sides = {
			{ "Before", sum_side(diff, 0, &sums[0]), diff->runs,
			  diff->nr[0] },
			{ "After", sum_side(diff, 1, &sums[1]),
			  diff->runs + diff->nr[0], diff->nr[1] },
		},
	};

	find_changes(&html, diff);
	write_page(&html);
	sum_free(&sums[0]);
	sum_free(&sums[1]);
	return 0;
}
