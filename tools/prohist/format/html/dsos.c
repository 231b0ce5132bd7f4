// SPDX-License-Identifier: GPL-2.0-only
/*
 * dsos.c - where ticks fall: classes, DSOs and strips in the HTML page
 *
 * A strip has no text of its own, so that it can have the width of the page.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "prohist/format/html/html.h"
#include "prohist/format/svg/svg.h"

/* All strips of one profile, in bytes. */
#define BUDGET	(200 << 10)
#define LISTED	30

#define WIDTH	720
#define RISE	56
#define BED	10

static void write_key(FILE *out, const char *class)
{
	fprintf(out, "<svg class=\"key\" viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect width=\"1\" height=\"1\" class=\"%s\"/></svg>",
		class);
}

static void write_classes(FILE *out, const struct sum *sum)
{
	char class[] = "c0";
	double x = 0;
	size_t i;

	fputs("<svg class=\"classes\" viewBox=\"0 0 100 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\n",
	      out);
	for (i = 0; i < sum_classes(sum); i++) {
		double width = sum_percent(sum, sum->classes_ns[i]);

		class[1] = '0' + i;
		fprintf(out, "<rect x=\"%.2f\" width=\"%.2f\" height=\"1\" class=\"%s\"/>\n",
			x, width, class);
		x += width;
	}
	fputs("</svg>\n<ul class=\"legend\">\n", out);
	for (i = 0; i < sum_classes(sum); i++) {
		class[1] = '0' + i;
		fputs("<li>", out);
		write_key(out, class);
		fprintf(out, "%s <strong>%.1f&nbsp;%%</strong> <small>%" PRIu64
			"</small></li>\n", sum_class_name(i),
			sum_percent(sum, sum->classes_ns[i]), sum->classes[i]);
	}
	fputs("</ul>\n", out);
}

static void write_strip(FILE *out, const struct sum *sum,
			const struct sum_dso *dso)
{
	const struct svg svg = { .out = out, .sum = sum };
	const struct svg_strip strip = {
		.width = WIDTH,
		.rise = RISE,
		.bed = BED,
		.start = dso->start,
		.end = dso->end,
	};
	double most;
	char size[32];

	fprintf(out, "<svg class=\"strip\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Ticks in the text of ",
		WIDTH, RISE + BED);
	html_path(out, base_name(dso->path));
	fputs(", by address; the table of functions has the same ticks\">\n",
	      out);
	most = svg_strip(&svg, &strip, dso, NULL);
	svg_size(size, sizeof(size), dso->end - dso->start);
	fprintf(out, "</svg>\n<p class=\"axis\"><span>%#" PRIx64 "</span> <span>%s of text; the highest column is %.2f&nbsp;%%</span> <span>%#"
		PRIx64 "</span></p>\n", dso->start, size,
		sum_percent(sum, most), dso->end);
}

static void write_dso(FILE *out, const struct sum *sum,
		      const struct sum_dso *dso, size_t *budget)
{
	struct html_part part;
	char class[] = "c0";

	class[1] = '0' + dso->class;
	fputs("<article class=\"dso\">\n<h3>", out);
	write_key(out, class);
	html_path(out, base_name(dso->path));
	fprintf(out, "</h3>\n<p><strong>%.1f&nbsp;%%</strong> \xc2\xb1&nbsp;%.1f, %" PRIu64 " ticks; <code>",
		sum_percent(sum, dso->ns), sum_error(sum, dso->ns),
		dso->ticks);
	html_path(out, dso->path);
	fputs("</code></p>\n", out);
	if (dso->symbols.problem)
		fprintf(out, "<p class=\"warning\">%s</p>\n",
			dso->symbols.problem);
	html_part_begin(&part);
	write_strip(part.out, sum, dso);
	if (!html_part_fits(out, &part, budget))
		fputs("<p class=\"soft\">The strip is too large for this page.</p>\n",
		      out);
	fputs("</article>\n", out);
}

static void write_others(FILE *out, const struct sum *sum,
			 const struct sum_dso **dsos, size_t nr)
{
	uint64_t rest = 0;
	size_t i;

	if (!nr)
		return;
	fputs("<h3>Other DSOs</h3>\n<ul class=\"others\">\n", out);
	for (i = 0; i < nr; i++) {
		if (i >= LISTED) {
			rest += dsos[i]->ticks;
			continue;
		}
		fprintf(out, "<li><strong>%.1f&nbsp;%%</strong> <small>%" PRIu64 "</small> <code>",
			sum_percent(sum, dsos[i]->ns), dsos[i]->ticks);
		html_path(out, dsos[i]->path);
		fputs("</code></li>\n", out);
	}
	if (nr > LISTED)
		fprintf(out, "<li><small>%" PRIu64 "</small> %zu more</li>\n",
			rest, nr - LISTED);
	fputs("</ul>\n", out);
}

static void write_side(FILE *out, const struct html_side *side)
{
	size_t drawn, nr, i, budget = BUDGET;
	const struct sum_dso **dsos = svg_choose(side->sum, &drawn, &nr);

	fputs("<div>\n", out);
	if (side->label)
		fprintf(out, "<h3>%s</h3>\n", side->label);
	write_classes(out, side->sum);
	for (i = 0; i < drawn; i++)
		write_dso(out, side->sum, dsos[i], &budget);
	write_others(out, side->sum, dsos + drawn, nr - drawn);
	fputs("</div>\n", out);
	free(dsos);
}

static void write_heats(FILE *out)
{
	static const char * const heats[SVG_HEATS] = {
		"less", "0.1", "0.3", "1", "3", "10"
	};
	char class[] = "h0";
	int i;

	fputs("<p id=\"heats\">Colours of the columns, by share of all ticks:</p>\n<ul class=\"legend\" aria-labelledby=\"heats\">\n",
	      out);
	for (i = 0; i < SVG_HEATS; i++) {
		class[1] = '0' + i;
		fputs("<li>", out);
		write_key(out, class);
		fprintf(out, i ? "from %s&nbsp;%%</li>\n" : "%s</li>\n",
			heats[i]);
	}
	fputs("</ul>\n", out);
}

/** html_dsos() - shares of classes and DSOs, with strips of their text */
void html_dsos(const struct html *html)
{
	int i;

	fputs("<section aria-labelledby=\"dsos\">\n<h2 id=\"dsos\">DSOs</h2>\n<div class=\"sides\">\n",
	      html->out);
	for (i = 0; i < html->nr_sides; i++)
		write_side(html->out, &html->sides[i]);
	fputs("</div>\n", html->out);
	write_heats(html->out);
	fputs("</section>\n", html->out);
}
