// SPDX-License-Identifier: GPL-2.0-only
/*
 * flame.c - flame graph in the HTML page
 *
 * The page has the frames as lines of text, from which its script draws those
 * that are wide enough to be seen. Without scripts, there is a picture.
 */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/format/flamegraph.h"
#include "prohist/format/html/html.h"
#include "util/xalloc.h"

/* All frames, in bytes, and at first their number. */
#define BUDGET		(320 << 10)
#define MOST		16384

/* The picture: width of its narrowest frame, and its bytes. */
#define NARROWEST	4.0
#define PICTURE		(96 << 10)

/* Names that frames refer to by their indexes */
struct names {
	size_t nr;
	const char **list;
};

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char * const *)a, *(const char * const *)b);
}

static void add_name(struct names *names, const char *name)
{
	if (!name)
		return;
	names->list = one_more(names->list, names->nr, sizeof(name));
	names->list[names->nr++] = name;
}

static void sort_names(struct names *names)
{
	size_t i, nr = 0;

	if (names->nr)
		qsort(names->list, names->nr, sizeof(*names->list), compare);
	for (i = 0; i < names->nr; i++)
		if (!nr || strcmp(names->list[nr - 1], names->list[i]))
			names->list[nr++] = names->list[i];
	names->nr = nr;
}

static size_t find_name(const struct names *names, const char *name)
{
	const char **found = bsearch(&name, names->list, names->nr,
				     sizeof(name), compare);

	return found - names->list;
}

static void write_names(FILE *out, const char *id, const struct names *names)
{
	size_t i;

	fprintf(out, "<div id=\"%s\" hidden>", id);
	for (i = 0; i < names->nr; i++) {
		html_text(out, names->list[i]);
		fputc('\n', out);
	}
	fputs("</div>\n", out);
}

/*
 * Write "depth name DSO merged self..." of a frame, in which the last numbers are
 * the CPU time in it before and after, or of the only profile, in microseconds.
 */
static void write_frame(FILE *out, const struct flame *flame,
			const struct flame_frame *frame,
			const struct names *names, const struct names *dsos)
{
	int side;

	fprintf(out, "%" PRIu32 " ", frame->depth);
	if (frame->name)
		fprintf(out, "%zu ", find_name(names, frame->name));
	else
		fputs("- ", out);
	if (frame->dso)
		fprintf(out, "%zu", find_name(dsos, frame->dso));
	else
		fputc('-', out);
	fprintf(out, " %" PRIu32, frame->merged);
	for (side = 0; side <= flame->wide; side++)
		fprintf(out, " %.0f", frame->self_ns[side] / 1000);
	fputc('\n', out);
}

static void write_frames(FILE *out, const struct flame *flame)
{
	struct names names = {}, dsos = {};
	size_t i;

	for (i = 0; i < flame->nr; i++) {
		add_name(&names, flame->frames[i].name);
		add_name(&dsos, flame->frames[i].dso);
	}
	sort_names(&names);
	sort_names(&dsos);
	write_names(out, "flame-names", &names);
	write_names(out, "flame-dsos", &dsos);
	fputs("<div id=\"flame-frames\" hidden>", out);
	for (i = 0; i < flame->nr; i++)
		write_frame(out, flame, &flame->frames[i], &names, &dsos);
	fputs("</div>\n", out);
	free(names.list);
	free(dsos.list);
}

static void write_key(FILE *out, const char *class)
{
	fprintf(out, "<li><svg class=\"key\" viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect width=\"1\" height=\"1\" class=\"%s\"/></svg>",
		class);
}

static void write_dsos(FILE *out, const struct flame *flame)
{
	struct flame_key keys[FLAME_COLOURS];
	size_t nr = flame_legend(flame, keys), i;

	for (i = 0; i < nr; i++) {
		write_key(out, flamegraph_dso_class(keys[i].colour));
		html_path(out, keys[i].name);
		fprintf(out, " <small>%.1f&nbsp;%%</small></li>\n",
			keys[i].percent);
	}
}

static void write_changes(FILE *out)
{
	write_key(out, "fg3");
	fputs("has a greater share after</li>\n", out);
	write_key(out, "fs3");
	fputs("has a smaller one</li>\n", out);
	write_key(out, "fn");
	fputs("the change may be chance</li>\n", out);
}

/* The script shows the fields, which need it. */
static void write_fields(FILE *out)
{
	fputs("<form id=\"flame-tools\" class=\"tools\" role=\"search\" aria-label=\"Flame graph\" hidden>\n"
	      "<label for=\"flame-search\">Mark functions</label>\n"
	      "<input id=\"flame-search\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\">\n"
	      "<button id=\"flame-callers\" type=\"button\" aria-pressed=\"false\">Callers</button>\n"
	      "<button id=\"flame-upwards\" type=\"button\" aria-pressed=\"false\">Upwards</button>\n"
	      "<button id=\"flame-all\" type=\"button\" hidden>Show everything</button>\n"
	      "<p id=\"flame-found\" role=\"status\"></p>\n</form>\n", out);
}

static void write_remarks(FILE *out, const struct flame *flame)
{
	double all = flame->frames->ns[flame->wide];

	fprintf(out, "<p class=\"soft\">Each frame is a function in one chain of callers, as wide as its share of the %s time%s.",
		flame->wall ? "threads'" : "CPU", flame->diff ? " after" : "");
	if (flame->merged)
		fprintf(out, " %zu frames are too narrow for this page, and merged: they have %.1f&nbsp;%% of the time.",
			flame->merged, 100 * flame->merged_ns / all);
	if (flame->gone_ns > 0)
		fprintf(out, " Frames that had %.1f&nbsp;%% of the time before are not there after.",
			100 * flame->gone_ns / flame->frames->ns[0]);
	fputs("</p>\n", out);
}

/* What is shown where scripts do not run */
static void write_picture(FILE *out, const struct flame *flame)
{
	size_t budget = PICTURE;
	struct html_part part;
	struct svg svg = {};

	html_part_begin(&part);
	svg.out = part.out;
	fprintf(part.out, "<svg id=\"flame-picture\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Flame graph; the table of functions has the same time\">\n",
		2 * SVG_LEFT + SVG_WIDTH,
		FLAMEGRAPH_ROW * (int)(flame->deepest + 1));
	flamegraph_frames(&svg, flame, NARROWEST);
	fputs("</svg>\n", part.out);
	html_part_fits(out, &part, &budget);
}

static void write_graph(FILE *out, const struct flame *flame)
{
	fputs("<section aria-labelledby=\"flame\">\n<h2 id=\"flame\">Flame graph</h2>\n",
	      out);
	write_fields(out);
	fputs("<ul class=\"legend\">\n", out);
	if (flame->diff)
		write_changes(out);
	else
		write_dsos(out, flame);
	fputs("</ul>\n", out);
	write_picture(out, flame);
	fprintf(out, "<div id=\"flame-graph\" data-tests=\"%zu\" data-weight=\"%.0f %.0f\" hidden></div>\n",
		flame->diff ? flame->nr : 0,
		flame->diff ? flame->diff->weight[0] : sum_weight(flame->sum),
		flame->diff ? flame->diff->weight[1] : 0);
	fputs("<p id=\"flame-detail\" hidden></p>\n", out);
	write_remarks(out, flame);
	write_frames(out, flame);
	fputs("</section>\n", out);
}

static void find_frames(const struct html *html, struct flame *flame)
{
	bool programs = false;
	int i;

	*flame = (struct flame){
		.diff = html->diff,
		.sum = html->diff ? NULL : html->sides[0].sum,
		.wall = html->sides[0].sum->wall,
		.wide = html->nr_sides - 1,
	};
	for (i = 0; i < html->nr_sides; i++)
		programs |= flame_has_programs(html->sides[i].runs,
					       html->sides[i].nr_runs);
	for (i = 0; i < html->nr_sides; i++)
		flame_add_runs(flame, html->sides[i].runs,
			       html->sides[i].nr_runs, i, programs,
			       html->sides[i].sum->inlined);
}

/** html_has_flame() - do all profiles have chains of calls? */
bool html_has_flame(const struct html *html)
{
	int i;

	for (i = 0; i < html->nr_sides; i++)
		if (!html->sides[i].sum->chains || !html->sides[i].sum->placed)
			return false;
	return true;
}

/* Write the flame graph with no more frames than @most of @all, if it fits. */
static bool try(const struct html *html, const struct flame *all, size_t most)
{
	size_t budget = BUDGET, size = all->nr * sizeof(*all->frames);
	struct flame flame = *all;
	struct html_part part;

	flame.frames = malloc(size);
	if (!flame.frames)
		err(2, NULL);
	memcpy(flame.frames, all->frames, size);
	flame_finish(&flame, 0, most);
	html_part_begin(&part);
	write_graph(part.out, &flame);
	free(flame.frames);
	return html_part_fits(html->out, &part, &budget);
}

/** html_flame() - flame graph, with as many frames as fit */
void html_flame(const struct html *html)
{
	size_t most = MOST;
	struct flame all;

	if (!html_has_flame(html))
		return;
	find_frames(html, &all);
	while (!try(html, &all, most))
		most /= 2;
	flame_free(&all);
}
