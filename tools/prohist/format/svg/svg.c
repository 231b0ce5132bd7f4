// SPDX-License-Identifier: GPL-2.0-only
/*
 * svg.c - draw a profile as an SVG picture
 *
 * The file needs no other file. Tooltips have the full names and numbers.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/format/svg/svg.h"
#include "prohist/report.h"

/* Minimum share of a DSO to be drawn, in percent. */
#define DRAWN_PERCENT	1.0
#define DRAWN_MOST	10
#define LISTED_MOST	12

/* Colours of the strips. */
const char svg_palette[] =
	".bed{fill:#e6e9ee}\n"
	".c0{fill:#2a6fc9}.c1{fill:#2f9e77}.c2{fill:#8d6bc1}.c3{fill:#8a94a3}\n"
	".c4{fill:#e0a800}.c5{fill:#5b7fa6}.c6{fill:#c3cad3}\n"
	".h0{fill:#f5cf8a}.h1{fill:#f3a84e}.h2{fill:#ee7f2d}.h3{fill:#dc5320}.h4{fill:#b52c1c}.h5{fill:#780f1b}\n"
	"rect:hover{opacity:.7}\n"
	"@media(prefers-color-scheme:dark){\n"
	".bed{fill:#262d38}\n"
	".c0{fill:#5a9bf0}.c1{fill:#4cc59a}.c2{fill:#b394e6}\n"
	".c4{fill:#f0c43c}.c5{fill:#7fa3cc}.c6{fill:#566070}\n"
	".h0{fill:#6b4520}.h1{fill:#96551c}.h2{fill:#c86a1b}.h3{fill:#f08f2c}.h4{fill:#ffbd55}.h5{fill:#fff0b8}\n"
	"}\n";

static const char style[] =
	"svg{background:#fff;color-scheme:light dark}\n"
	"text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1d2430}\n"
	".title{font:bold 20px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
	".dso{font:bold 15px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
	".name,.path{font:11px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
	".address{font-size:10px;text-anchor:middle;fill:#68727f}\n"
	".label,.small{font-size:10.5px;fill:#68727f}\n"
	".value{font-size:17px}\n"
	".strong{font-weight:600}\n"
	".soft{fill:#68727f}\n"
	".end{text-anchor:end}\n"
	".middle,.number{text-anchor:middle}\n"
	".number{font-size:10px;font-weight:600;fill:#fff}\n"
	".warning{fill:#a33b00}\n"
	".page{fill:#fff}\n"
	".line{fill:#aab2bd}\n"
	".flag,.extent{fill:#33415c}\n"
	".extent{opacity:.6}\n"
	".pole{fill:none;stroke:#33415c;stroke-width:1;opacity:.55}\n"
	"@media(prefers-color-scheme:dark){\n"
	"svg{background:#12161d}\n"
	"text{fill:#e3e8ef}\n"
	".page{fill:#12161d}\n"
	".address,.label,.small,.soft{fill:#95a0af}\n"
	".number{fill:#12161d}\n"
	".warning{fill:#ffb07a}\n"
	".line{fill:#566070}\n"
	".flag,.extent{fill:#c3cede}\n"
	".pole{stroke:#c3cede}\n"
	"}\n";

/* Draw a number with its label above; returns the x of the next one. */
static double draw_fact(const struct svg *svg, double x, const char *label,
			const char *value)
{
	double above = 6.0 * strlen(label), width = 10.0 * strlen(value);

	svg_text(svg, x, svg->y, "label", "%s", label);
	svg_text(svg, x, svg->y + 20, "value", "%s", value);
	return x + (above > width ? above : width) + 24;
}

/* Time of threads while they did not run, also of those not selected */
static void draw_waits(struct svg *svg)
{
	const struct sum *sum = svg->sum;
	double x = SVG_LEFT;
	enum prf_state state;
	char text[64];

	for (state = PRF_RUNNABLE; state < PRF_STATES; state++) {
		snprintf(text, sizeof(text), "%.3f s",
			 sum->waits_ns[state] / 1e9);
		x = draw_fact(svg, x, prf_states[state].name, text);
	}
	svg->y += 42;
}

static void draw_facts(struct svg *svg)
{
	const struct sum *sum = svg->sum;
	double cpu = sum->numbers.cpu_ns / 1e9, time = sum->time_ns / 1e9;
	double x = SVG_LEFT;
	char text[64];

	snprintf(text, sizeof(text), "%.3f s", cpu);
	x = draw_fact(svg, x, "CPU time by the kernel", text);
	snprintf(text, sizeof(text), cpu > 0 ? "%.3f s (%.1f %%)" : "%.3f s",
		 time, 100 * time / cpu);
	x = draw_fact(svg, x, "CPU time by ticks", text);
	snprintf(text, sizeof(text), "%" PRIu64, sum->numbers.ticks);
	x = draw_fact(svg, x, "ticks", text);
	snprintf(text, sizeof(text), "%.6f ms", sum->period_ns / 1e6);
	x = draw_fact(svg, x, "period", text);
	x = draw_fact(svg, x, "clock", clock_name(sum->clock));
	snprintf(text, sizeof(text), "%.3f s", sum->wall_ns / 1e9);
	draw_fact(svg, x, "real time", text);
	svg->y += 42;
	if (sum->wall)
		draw_waits(svg);
}

static void draw_remark(struct svg *svg, const char *class, uint64_t number,
			const char *what, const char *why)
{
	if (!number)
		return;
	svg_text(svg, SVG_LEFT, svg->y, class, "%" PRIu64 " %s%s", number, what,
		 why);
	svg->y += 17;
}

static void draw_outcome(struct svg *svg, const struct prf_outcome *outcome)
{
	char what[80];

	snprintf(what, sizeof(what), "ticks %s, ", outcome->name);
	draw_remark(svg, outcome->place == PRF_MISSING ? "warning" : "soft",
		    prf_have(&svg->sum->numbers, outcome), what,
		    sum_meaning(svg->sum, outcome));
}

/* Say which ticks and programs are missing from the picture. */
static void draw_warnings(struct svg *svg)
{
	const struct sum *sum = svg->sum;
	size_t i;

	for (i = 0; i < PRF_OUTCOMES; i++)
		draw_outcome(svg, &prf_outcomes[i]);
	if (!sum_adds_up(sum))
		draw_remark(svg, "warning", sum->numbers.ticks,
			    "ticks in total: they do not add up", "");
	draw_remark(svg, "warning", sum->numbers.unfollowed,
		    "processes not followed", "");
	draw_remark(svg, "warning", sum->withheld,
		    "processes and programs not permitted", "");
	for (i = 0; i < svg->sum->nr_missed; i++) {
		fprintf(svg->out, "<text x=\"%d\" y=\"%.1f\" class=\"warning\">not profiled: ",
			SVG_LEFT, svg->y);
		svg_string(svg, svg->sum->missed[i].name, 80);
		fputs(": ", svg->out);
		svg_string(svg, svg->sum->missed[i].reason, 80);
		fputs("</text>\n", svg->out);
		svg->y += 17;
	}
}

static void draw_classes(struct svg *svg)
{
	double x = SVG_LEFT, legend = SVG_LEFT;
	char class[] = "c0";
	size_t i;

	for (i = 0; i < sum_classes(svg->sum); i++) {
		uint64_t ticks = svg->sum->classes[i];
		double percent = sum_percent(svg->sum,
					     svg->sum->classes_ns[i]);

		class[1] = '0' + i;
		fprintf(svg->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"22\" class=\"%s\"><title>%s: %"
			PRIu64 " ticks</title></rect>\n", x, svg->y,
			SVG_WIDTH * percent / 100, class, sum_class_name(i),
			ticks);
		x += SVG_WIDTH * percent / 100;
		svg_rect(svg, legend, svg->y + 32, 12, 12, class);
		svg_text(svg, legend + 18, svg->y + 42, "",
			 "%s <tspan class=\"strong\">%.1f %%</tspan> <tspan class=\"soft\">%"
			 PRIu64 "</tspan>", sum_class_name(i), percent, ticks);
		legend += 230;
	}
	svg->y += 74;
}

static int more_first(const void *a, const void *b)
{
	const struct sum_dso *o = *(const struct sum_dso **)a;
	const struct sum_dso *p = *(const struct sum_dso **)b;

	return o->ns < p->ns ? 1 : o->ns > p->ns ? -1 : 0;
}

static bool worth_it(const struct sum *sum, const struct sum_dso *dso)
{
	return dso->end > dso->start && dso->end < 1ULL << 63 &&
		dso->nr_pieces && sum_percent(sum, dso->ns) >= DRAWN_PERCENT;
}

/**
 * svg_choose() - choose the DSOs whose text is worth a strip
 * @sum: the sum
 * @drawn: receives their number
 * @nr: receives the number of all DSOs with ticks
 *
 * Return: the DSOs with ticks, to be freed: first those chosen, then the
 * others, each with most ticks first.
 */
const struct sum_dso **svg_choose(const struct sum *sum, size_t *drawn,
				  size_t *nr)
{
	const struct sum_dso **dsos = calloc(2 * sum->nr_dsos + 1,
					     sizeof(*dsos));
	const struct sum_dso **others = dsos + sum->nr_dsos;
	size_t nr_others = 0, i;

	if (!dsos)
		err(2, NULL);
	for (i = 0; i < sum->nr_dsos; i++)
		dsos[i] = &sum->dsos[i];
	qsort(dsos, sum->nr_dsos, sizeof(*dsos), more_first);
	*drawn = 0;
	for (i = 0; i < sum->nr_dsos; i++) {
		if (*drawn < DRAWN_MOST && worth_it(sum, dsos[i]))
			dsos[(*drawn)++] = dsos[i];
		else if (dsos[i]->ticks)
			others[nr_others++] = dsos[i];
	}
	memmove(dsos + *drawn, others, nr_others * sizeof(*dsos));
	*nr = *drawn + nr_others;
	return dsos;
}

static void list_dso(struct svg *svg, const struct sum_dso *dso)
{
	char class[] = "c0";

	class[1] = '0' + dso->class;
	svg_rect(svg, SVG_LEFT, svg->y - 10, 12, 12, class);
	svg_text(svg, SVG_LEFT + 78, svg->y, "strong end", "%.1f %%",
		 sum_percent(svg->sum, dso->ns));
	svg_text(svg, SVG_LEFT + 182, svg->y, "end", "%" PRIu64,
		 dso->ticks);
	svg_name(svg, SVG_LEFT + 198, svg->y, "name", dso->path, 130);
	svg->y += 20;
}

/* List the DSOs that are not drawn. */
static void draw_others(struct svg *svg, const struct sum_dso **dsos,
			size_t nr)
{
	uint64_t rest = 0;
	size_t i;

	if (!nr)
		return;
	svg_text(svg, SVG_LEFT, svg->y + 16, "dso", "other DSOs");
	svg->y += 40;
	for (i = 0; i < nr; i++) {
		if (i < LISTED_MOST)
			list_dso(svg, dsos[i]);
		else
			rest += dsos[i]->ticks;
	}
	if (nr <= LISTED_MOST)
		return;
	svg_text(svg, SVG_LEFT + 182, svg->y, "end", "%" PRIu64, rest);
	svg_text(svg, SVG_LEFT + 198, svg->y, "soft", "%zu more",
		 nr - LISTED_MOST);
	svg->y += 20;
}

static void draw_dsos(struct svg *svg)
{
	size_t drawn, nr, i;
	const struct sum_dso **dsos = svg_choose(svg->sum, &drawn, &nr);

	for (i = 0; i < drawn; i++)
		svg_dso(svg, dsos[i]);
	draw_others(svg, dsos + drawn, nr - drawn);
	free(dsos);
}

static void draw(struct svg *svg)
{
	svg->y = 48;
	svg_name(svg, SVG_LEFT, svg->y, "title", svg->sum->command, 90);
	if (svg->sum->files > 1) {
		svg->y += 20;
		svg_text(svg, SVG_LEFT, svg->y, "soft", "and %u more runs",
			 svg->sum->files - 1);
	}
	svg->y += 32;
	draw_facts(svg);
	draw_warnings(svg);
	draw_classes(svg);
	svg_heats(svg, SVG_LEFT + SVG_WIDTH, svg->y - 8);
	svg->y += 40;
	draw_dsos(svg);
}

/** print_svg() - draw summary, classes and DSOs */
int print_svg(const struct report *report)
{
	struct svg svg = { .sum = report->sum };
	struct svg head = { .sum = report->sum, .out = stdout };
	char *body = NULL;
	size_t size;

	svg.out = open_memstream(&body, &size);
	if (!svg.out)
		err(2, NULL);
	draw(&svg);
	if (fclose(svg.out))
		err(2, NULL);
	printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n<title>",
	       2 * SVG_LEFT + SVG_WIDTH, svg.y + SVG_LEFT,
	       2 * SVG_LEFT + SVG_WIDTH, svg.y + SVG_LEFT);
	svg_string(&head, report->sum->command, 0);
	printf("</title>\n<style>\n%s%s</style>\n"
	       "<rect width=\"100%%\" height=\"100%%\" class=\"page\"/>\n%s</svg>\n",
	       style, svg_palette, body);
	free(body);
	return 0;
}
