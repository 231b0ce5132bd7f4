// SPDX-License-Identifier: GPL-2.0-only
/*
 * functions.c - the table of functions in the HTML page
 *
 * There may be thousands of rows: end tags that HTML does not need are left
 * out.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "prohist/format/html/html.h"

/* All rows, in bytes. */
#define BUDGET	(640 << 10)

/* Shortest bar, in percent of the longest. */
#define BAR_LEAST	1

/* After the last state that has a column; 0 if none has */
static enum prf_state states_end(const struct html *html)
{
	const struct sum *sum = html->sides[0].sum;

	if (html->nr_sides > 1 || !sum->wall)
		return 0;
	return sum->classes[SUM_IDLE] ? PRF_STATES : PRF_IDLE;
}

static double share(const struct html *html, size_t i, int side)
{
	return sum_percent(html->sides[side].sum,
			   html->functions[i].change.ns[side]);
}

static double largest_share(const struct html *html)
{
	double most = 0;
	int side;
	size_t i;

	for (side = 0; side < html->nr_sides; side++)
		for (i = 0; i < html->nr; i++)
			if (share(html, i, side) > most)
				most = share(html, i, side);
	return most;
}

/* Write a cell with a bar. */
static void write_share(FILE *out, double percent, double most)
{
	double bar = most > 0 ? 100 * percent / most : 0;

	if (bar >= BAR_LEAST)
		fprintf(out, "<td style=\"--bar:%.0f\">%.1f", bar, percent);
	else
		fprintf(out, "<td>%.1f", percent);
}

static void write_name(FILE *out, const struct html_function *function)
{
	fputs("<td>", out);
	if (function->listing)
		fprintf(out, "<a href=\"#f%zu\">", function->listing - 1);
	html_text(out, function->change.name);
	if (function->listing)
		fputs("</a>", out);
	fputs("<td>", out);
	html_text(out, function->change.dso);
	fputc('\n', out);
}

/* Where there are states, they take the place of the error, as in the text. */
static void write_states(const struct html *html, FILE *out, size_t i)
{
	const struct html_function *function = &html->functions[i];
	const struct sum *sum = html->sides[0].sum;
	enum prf_state state;

	if (rows_have_totals(&html->called, ROW_DSO | ROW_SYMBOL))
		fprintf(out, "<td>%.1f", sum_percent(sum, function->total_ns));
	for (state = PRF_ON_CPU; state < states_end(html); state++)
		fprintf(out, "<td>%.1f",
			sum_percent(sum, function->states[state]));
}

static void write_row(const struct html *html, FILE *out, size_t i, double most)
{
	const struct diff_item *change = &html->functions[i].change;

	if (states_end(html)) {
		fprintf(out, "<tr><td>%" PRIu64, change->ticks[0]);
		write_share(out, share(html, i, 0), most);
		write_states(html, out, i);
	} else if (html->nr_sides == 1) {
		fprintf(out, "<tr><td>%" PRIu64, change->ticks[0]);
		write_share(out, share(html, i, 0), most);
		fprintf(out, "<td>%.1f",
			sum_error(html->sides[0].sum, change->ns[0]));
	} else {
		fputs("<tr>", out);
		write_share(out, share(html, i, 0), most);
		write_share(out, share(html, i, 1), most);
		fprintf(out, "<td>%+.1f<td>%s", 100 * change->share,
			change->changed ? "yes" : "no");
	}
	write_name(out, &html->functions[i]);
}

static void write_column(FILE *out, const char *name, bool sorted)
{
	fprintf(out, "<th scope=\"col\"%s>%s</th>",
		sorted ? " aria-sort=\"descending\"" : "", name);
}

static void write_numbers(const struct html *html)
{
	static const char * const states[PRF_STATES] = {
		"On CPU, %", "Runnable, %", "Blocked, %", "Idle, %",
	};
	enum prf_state state;
	FILE *out = html->out;

	write_column(out, "Ticks", true);
	write_column(out, "%", false);
	if (!states_end(html))
		write_column(out, "Error", false);
	else if (rows_have_totals(&html->called, ROW_DSO | ROW_SYMBOL))
		write_column(out, "Total, %", false);
	for (state = PRF_ON_CPU; state < states_end(html); state++)
		write_column(out, states[state], false);
}

static void write_changes(FILE *out)
{
	write_column(out, "Before", false);
	write_column(out, "After", false);
	write_column(out, "Change", false);
	write_column(out, "Beyond chance", true);
}

static void write_heading(const struct html *html)
{
	bool diff = html->nr_sides > 1;

	fprintf(html->out, "<table class=\"numbers\" id=\"table\">\n<caption>%s</caption>\n<thead><tr>",
		diff ? "Percent of all ticks, changes beyond chance first" :
		"Functions, most ticks first");
	if (diff)
		write_changes(html->out);
	else
		write_numbers(html);
	write_column(html->out, "Function", false);
	write_column(html->out, "DSO", false);
	fputs("</tr></thead>\n<tbody>\n", html->out);
}

/* The script shows the fields, which need it. */
static void write_fields(const struct html *html)
{
	fputs("<form id=\"tools\" class=\"tools\" role=\"search\" aria-label=\"Functions\" hidden>\n"
	      "<label for=\"filter\">Filter by function or DSO</label>\n"
	      "<input id=\"filter\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\">\n",
	      html->out);
	if (html->nr_sides > 1)
		fputs("<label><input id=\"significant\" type=\"checkbox\"> Only what changed by more than chance</label>\n",
		      html->out);
	fputs("<p id=\"count\" role=\"status\"></p>\n</form>\n", html->out);
}

static void write_rest(const struct html *html, size_t first)
{
	uint64_t ticks[2] = {};
	size_t i;

	for (i = first; i < html->nr; i++) {
		ticks[0] += html->functions[i].change.ticks[0];
		ticks[1] += html->functions[i].change.ticks[1];
	}
	if (first == html->nr)
		return;
	fprintf(html->out, "<p class=\"warning\">%zu more functions, with %" PRIu64,
		html->nr - first, ticks[0]);
	if (html->nr_sides > 1)
		fprintf(html->out, " and %" PRIu64, ticks[1]);
	fputs(" ticks, are too many for this page: <code>prohist --format=json</code> prints all functions.</p>\n",
	      html->out);
}

/** html_functions() - table of all functions */
void html_functions(const struct html *html)
{
	FILE *out = html->out;
	double most = largest_share(html);
	size_t budget = BUDGET, i;

	fputs("<section aria-labelledby=\"functions\">\n<h2 id=\"functions\" tabindex=\"-1\">Functions</h2>\n",
	      out);
	write_fields(html);
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Table of functions\">\n",
	      out);
	write_heading(html);
	for (i = 0; i < html->nr; i++) {
		struct html_part part;

		html_part_begin(&part);
		write_row(html, part.out, i, most);
		if (!html_part_fits(out, &part, &budget))
			break;
	}
	fputs("</tbody>\n</table>\n</div>\n<p><button id=\"more\" type=\"button\" hidden></button></p>\n",
	      out);
	write_rest(html, i);
	if (html->nr_sides > 1 && !html->nr)
		fputs("<p class=\"warning\">A profile without ticks cannot be compared.</p>\n",
		      out);
	fputs("</section>\n", out);
}
