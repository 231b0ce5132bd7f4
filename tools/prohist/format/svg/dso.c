// SPDX-License-Identifier: GPL-2.0-only
/*
 * dso.c - draw a DSO: its text as a strip, and its hot functions
 *
 * Hot functions have numbers. A number stands above the strip at the function's
 * place, with the name if there is room, and again in a row below, in which the
 * function's own text is drawn larger.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/format/svg/svg.h"

#define HOT_MOST	12
#define HOT_LEAST	3
#define HOT_PERCENT	0.5

#define FLAG		18.0
/* Least number of characters at which a cut name is of use. */
#define ENOUGH		16
#define RISE		60
#define BED		14
#define EXTENT		4
#define ROW		24

/* A numbered function; @at is its place, @x that of its flag. */
struct flag {
	const struct sum_piece *piece;
	int number;
	double at;
	double x;
};

static int hot_first(const void *a, const void *b)
{
	const struct flag *f = a, *g = b;

	if (f->piece->ns != g->piece->ns)
		return f->piece->ns < g->piece->ns ? 1 : -1;
	return f->piece->start < g->piece->start ? -1 : 1;
}

static int left_first(const void *a, const void *b)
{
	const struct flag *f = a, *g = b;

	if (f->at != g->at)
		return f->at < g->at ? -1 : 1;
	return f->number - g->number;
}

/* Insert a piece into the list of the hottest so far. */
static size_t insert(struct flag *flags, size_t nr,
		     const struct sum_piece *piece)
{
	struct flag new = { .piece = piece };
	size_t i = nr < HOT_MOST ? nr++ : HOT_MOST;

	for (; i && hot_first(&new, &flags[i - 1]) < 0; i--)
		if (i < HOT_MOST)
			flags[i] = flags[i - 1];
	if (i < HOT_MOST)
		flags[i] = new;
	return nr;
}

static size_t find_hot(const struct svg *svg, const struct sum_dso *dso,
		       struct flag *flags)
{
	size_t i, nr = 0;

	for (i = 0; i < dso->nr_pieces; i++)
		nr = insert(flags, nr, &dso->pieces[i]);
	while (nr > HOT_LEAST && sum_percent(svg->sum,
					     flags[nr - 1].piece->ns) <
	       HOT_PERCENT)
		nr--;
	for (i = 0; i < nr; i++)
		flags[i].number = i + 1;
	return nr;
}

/*
 * Place flags as near to their functions as possible without overlap: flags
 * that would overlap form a group, centred on the middle of its functions.
 */
static void arrange(struct flag *flags, size_t nr, double left, double right)
{
	struct {
		size_t nr;
		double middle;
	} groups[HOT_MOST];
	size_t i, j, n = 0;

	for (i = 0; i < nr; i++) {
		groups[n].nr = 1;
		groups[n++].middle = flags[i].at;
		while (n > 1 && groups[n - 2].middle + FLAG / 2 *
		       (groups[n - 2].nr + groups[n - 1].nr) >
		       groups[n - 1].middle) {
			size_t a = groups[n - 2].nr, b = groups[n - 1].nr;

			groups[n - 2].middle = (a * groups[n - 2].middle +
				b * groups[n - 1].middle) / (a + b);
			groups[n-- - 2].nr = a + b;
		}
	}
	for (i = 0, j = 0; j < n; j++) {
		double x = groups[j].middle - FLAG / 2 * (groups[j].nr - 1);
		size_t end = i + groups[j].nr;

		for (; i < end; i++, x += FLAG)
			flags[i].x = x;
	}
	for (i = 0; i < nr; i++)
		if (flags[i].x < left + FLAG * (i + 0.5))
			flags[i].x = left + FLAG * (i + 0.5);
	for (i = nr; i-- > 0;)
		if (flags[i].x > right - FLAG * (nr - i - 0.5))
			flags[i].x = right - FLAG * (nr - i - 0.5);
}

static void draw_number(const struct svg *svg, double x, double y, int number)
{
	fprintf(svg->out,
		"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"8\" class=\"flag\"/>\n",
		x, y);
	svg_text(svg, x, y + 3.8, "number", "%d", number);
}

static void draw_pole(const struct svg *svg, const struct svg_strip *strip,
		      const struct flag *flag, double y)
{
	fprintf(svg->out,
		"<path d=\"M%.1f %.1fV%.1fL%.1f %.1fV%.1f\" class=\"pole\"/>\n",
		flag->x, y, y + 11, flag->at, y + 18,
		strip->y + strip->rise + strip->bed);
}

/*
 * Draw the name right of the number if there is room, else left. @left: end of
 * the flag on the left; @right: start of the next one. Returns the end of this
 * one.
 */
static double draw_flag(const struct svg *svg, const struct svg_strip *strip,
			const struct flag *flag, double left, double right)
{
	const char *name = flag->piece->name;
	size_t length = svg_characters(name), most;
	double y = strip->y - 20, x = flag->x + FLAG / 2;

	draw_pole(svg, strip, flag, y);
	draw_number(svg, flag->x, y, flag->number);
	most = right - x > 8 ? (right - x - 8) / SVG_CHARACTER : 0;
	if (length <= most || most >= ENOUGH) {
		svg_name(svg, x + 2, y + 4, "name", name, most);
		return x + 2 + SVG_CHARACTER * (length < most ? length : most);
	}
	most = x - FLAG - left > 8 ? (x - FLAG - left - 8) / SVG_CHARACTER : 0;
	if (length <= most || most >= ENOUGH)
		svg_name(svg, x - FLAG - 2, y + 4, "name end", name, most);
	return x;
}

static void draw_flags(const struct svg *svg, const struct svg_strip *strip,
		       struct flag *flags, size_t nr)
{
	double left = strip->x, right = strip->x + strip->width;
	size_t i;

	for (i = 0; i < nr; i++)
		flags[i].at = (svg_place(strip, flags[i].piece->start) +
			       svg_place(strip, flags[i].piece->end)) / 2;
	qsort(flags, nr, sizeof(*flags), left_first);
	arrange(flags, nr, left, right);
	for (i = 0; i < nr; i++)
		left = draw_flag(svg, strip, &flags[i], left, i + 1 < nr ?
				 flags[i + 1].x - FLAG / 2 : right);
}

/* Mark the extent of numbered functions, with gaps between neighbours. */
static void draw_extents(const struct svg *svg, const struct svg_strip *strip,
			 const struct flag *flags, size_t nr)
{
	double y = strip->y + strip->rise + strip->bed;
	size_t i;

	for (i = 0; i < nr; i++) {
		double x = svg_place(strip, flags[i].piece->start);
		double width = svg_place(strip, flags[i].piece->end) - x;

		svg_rect(svg, x, y + 1, width < 3 ? 2 : width - 1, EXTENT - 1,
			 "extent");
	}
}

static void draw_axis(const struct svg *svg, const struct svg_strip *strip)
{
	double y = strip->y + strip->rise + strip->bed + EXTENT;
	uint64_t step = 1, address;

	while (step < (strip->end - strip->start) / 8)
		step *= 2;
	address = (strip->start + step - 1) & ~(step - 1);
	for (; address < strip->end; address += step) {
		double x = svg_place(strip, address);

		svg_rect(svg, x, y, 1, 4, "line");
		svg_text(svg, x, y + 15, "address", "%#" PRIx64, address);
	}
}

static void draw_row(const struct svg *svg, const struct sum_dso *dso,
		     const struct flag *flag)
{
	const struct sum_piece *piece = flag->piece;
	struct svg_strip strip = {
		.x = SVG_LEFT + 640,
		.y = svg->y + 2,
		.width = 336,
		.rise = 13,
		.bed = 4,
		.start = piece->start,
		.end = piece->end,
	};
	char size[32];

	draw_number(svg, SVG_LEFT + 9, svg->y + 11, flag->number);
	svg_text(svg, SVG_LEFT + 78, svg->y + 15, "strong end", "%.1f %%",
		 sum_percent(svg->sum, piece->ns));
	svg_text(svg, SVG_LEFT + 84, svg->y + 15, "soft",
		 "\xc2\xb1 %.1f", sum_error(svg->sum, piece->ns));
	svg_text(svg, SVG_LEFT + 182, svg->y + 15, "end", "%" PRIu64,
		 piece->ticks);
	svg_name(svg, SVG_LEFT + 198, svg->y + 15, "name", piece->name, 64);
	svg_strip(svg, &strip, dso, piece);
	svg_size(size, sizeof(size), piece->end - piece->start);
	svg_text(svg, SVG_LEFT + SVG_WIDTH, svg->y + 15, "soft end",
		 "%s at %#" PRIx64, size, piece->start);
}

static void draw_rows(struct svg *svg, const struct sum_dso *dso,
		      struct flag *flags, size_t nr)
{
	uint64_t rest = dso->ticks;
	double rest_ns = dso->ns;
	size_t i;

	qsort(flags, nr, sizeof(*flags), hot_first);
	for (i = 0; i < nr; i++) {
		draw_row(svg, dso, &flags[i]);
		rest -= flags[i].piece->ticks;
		rest_ns -= flags[i].piece->ns;
		svg->y += ROW;
	}
	if (nr < dso->nr_pieces) {
		svg_text(svg, SVG_LEFT + 78, svg->y + 15, "strong end",
			 "%.1f %%", sum_percent(svg->sum, rest_ns));
		svg_text(svg, SVG_LEFT + 182, svg->y + 15, "end", "%" PRIu64,
			 rest);
		svg_text(svg, SVG_LEFT + 198, svg->y + 15, "soft",
			 "%zu more", dso->nr_pieces - nr);
		svg->y += ROW;
	}
}

static void draw_heading(struct svg *svg, const struct sum_dso *dso)
{
	const char *name = base_name(dso->path);
	double x = SVG_LEFT + 30 + 9.1 * svg_characters(name);
	char class[] = "c0";

	class[1] = '0' + dso->class;
	svg_rect(svg, SVG_LEFT, svg->y + 5, 12, 12, class);
	svg_name(svg, SVG_LEFT + 20, svg->y + 16, "dso", name, 40);
	if (strcmp(name, dso->path) && x < 700)
		svg_name(svg, x, svg->y + 16, "path soft", dso->path,
			 (SVG_LEFT + SVG_WIDTH - 180 - x) / SVG_CHARACTER);
	svg_text(svg, SVG_LEFT + SVG_WIDTH, svg->y + 16, "strong end",
		 "%.1f %% \xc2\xb1 %.1f, %" PRIu64 " ticks",
		 sum_percent(svg->sum, dso->ns),
		 sum_error(svg->sum, dso->ns), dso->ticks);
	svg->y += 26;
	if (!dso->symbols.problem)
		return;
	svg_text(svg, SVG_LEFT + 20, svg->y + 10, "warning", "%s",
		 dso->symbols.problem);
	svg->y += 18;
}

/** svg_dso() - draw a DSO with known addresses */
void svg_dso(struct svg *svg, const struct sum_dso *dso)
{
	struct flag flags[HOT_MOST];
	size_t nr = find_hot(svg, dso, flags);
	struct svg_strip strip = {
		.x = SVG_LEFT,
		.width = SVG_WIDTH,
		.rise = RISE,
		.bed = BED,
		.start = dso->start,
		.end = dso->end,
	};
	char size[32];
	double most;

	draw_heading(svg, dso);
	strip.y = svg->y + 30;
	/* Draw columns after the poles, to be in front of them */
	draw_flags(svg, &strip, flags, nr);
	most = svg_strip(svg, &strip, dso, NULL);
	draw_extents(svg, &strip, flags, nr);
	draw_axis(svg, &strip);
	svg->y = strip.y + RISE + BED + EXTENT + 33;
	svg_size(size, sizeof(size), dso->end - dso->start);
	svg_text(svg, SVG_LEFT + SVG_WIDTH, svg->y, "small end",
		 "%s of text; the highest column is %.2f %%", size,
		 sum_percent(svg->sum, most));
	svg->y += 6;
	draw_rows(svg, dso, flags, nr);
	svg->y += 26;
}
