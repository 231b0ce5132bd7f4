// SPDX-License-Identifier: GPL-2.0-only
/*
 * strip.c - draw text by address, with columns for its ticks
 *
 * Each column is a range of text. Its height is the CPU time of its ticks,
 * relative to the highest column of the strip; its colour is its share of that
 * of all ticks. Columns have a minimum width and height, to be visible.
 */
#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "prohist/format/svg/svg.h"

#define NARROWEST	2.0
#define LOWEST		1.5

/* Lower bounds of the colours, in percent of all ticks. */
static const double heats[SVG_HEATS] = { 0, 0.1, 0.3, 1, 3, 10 };

/* Ticks of a column, their CPU time, and its hottest function. */
struct column {
	uint64_t ticks;
	double ns;
	double most;
	const char *name;
};

static int heat(const struct svg *svg, double ns)
{
	double percent = sum_percent(svg->sum, ns);
	int i = SVG_HEATS - 1;

	while (i && percent < heats[i])
		i--;
	return i;
}

/* Position of an address in the strip, from 0 to 1. */
static double part(const struct svg_strip *strip, uint64_t address)
{
	if (address <= strip->start)
		return 0;
	if (address >= strip->end)
		return 1;
	return (double)(address - strip->start) / (strip->end - strip->start);
}

/** svg_place() - x coordinate of an address */
double svg_place(const struct svg_strip *strip, uint64_t address)
{
	return strip->x + strip->width * part(strip, address);
}

/* Number of columns: one for each bucket, but no more than fit. */
static size_t columns_of(const struct svg_strip *strip,
			 const struct sum_dso *dso,
			 const struct sum_piece *piece)
{
	uint64_t text = strip->end - strip->start;
	uint64_t bytes = dso->buckets[piece->first].bytes;
	size_t most = strip->width / NARROWEST, i;

	for (i = piece->first; i < piece->first + piece->nr; i++)
		if (dso->buckets[i].bytes < bytes)
			bytes = dso->buckets[i].bytes;
	if (text / bytes >= most)
		return most;
	return text / bytes + (text % bytes != 0);
}

static void add_piece(struct column *columns, size_t nr,
		      const struct svg_strip *strip,
		      const struct sum_dso *dso,
		      const struct sum_piece *piece)
{
	size_t i;

	for (i = piece->first; i < piece->first + piece->nr; i++) {
		const struct sum_bucket *bucket = &dso->buckets[i];
		size_t at = part(strip, bucket->address) * nr;
		struct column *column = &columns[at < nr ? at : nr - 1];

		column->ticks += bucket->ticks;
		column->ns += bucket->ns;
		if (bucket->ns <= column->most)
			continue;
		column->most = bucket->ns;
		column->name = piece->name;
	}
}

static void draw_column(const struct svg *svg, const struct svg_strip *strip,
			const struct column *column, size_t i, size_t nr,
			double most)
{
	double text = strip->end - strip->start, width = strip->width / nr;
	double rise = strip->rise * column->ns / most;

	if (rise < LOWEST)
		rise = LOWEST;
	fprintf(svg->out,
		"<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" class=\"h%d\"><title>",
		strip->x + i * width, strip->y + strip->rise - rise, width,
		rise + strip->bed, heat(svg, column->ns));
	svg_string(svg, column->name, 0);
	fprintf(svg->out, "\n%" PRIu64 " ticks, %.2f %%\n%#" PRIx64 " to %#"
		PRIx64 "</title></rect>\n",
		column->ticks, sum_percent(svg->sum, column->ns),
		strip->start + (uint64_t)(text * i / nr),
		strip->start + (uint64_t)(text * (i + 1) / nr));
}

static void draw_columns(const struct svg *svg, const struct svg_strip *strip,
			 const struct column *columns, size_t nr,
			 double most)
{
	size_t i;

	svg_rect(svg, strip->x, strip->y + strip->rise, strip->width,
		 strip->bed, "bed");
	for (i = 0; i < nr; i++)
		if (columns[i].ticks)
			draw_column(svg, strip, &columns[i], i, nr, most);
}

/**
 * svg_strip() - draw a strip
 * @svg: the picture
 * @strip: position and addresses
 * @dso: the DSO of the text
 * @piece: one function; NULL for all of them
 *
 * Return: CPU time of the highest column.
 */
double svg_strip(const struct svg *svg, const struct svg_strip *strip,
		   const struct sum_dso *dso,
		   const struct sum_piece *piece)
{
	const struct sum_piece all = { .nr = dso->nr_buckets };
	size_t nr = columns_of(strip, dso, piece ?: &all), i;
	struct column *columns = calloc(nr, sizeof(*columns));
	double most = 0;

	if (!columns)
		err(2, NULL);
	if (piece)
		add_piece(columns, nr, strip, dso, piece);
	for (i = 0; !piece && i < dso->nr_pieces; i++)
		add_piece(columns, nr, strip, dso, &dso->pieces[i]);
	for (i = 0; i < nr; i++)
		most = fmax(most, columns[i].ns);
	draw_columns(svg, strip, columns, nr, most);
	free(columns);
	return most;
}

/** svg_heats() - draw the legend of the colours; @x is the right end */
void svg_heats(const struct svg *svg, double x, double y)
{
	char class[] = "h0";
	int i;

	x -= 56 * SVG_HEATS;
	svg_text(svg, x - 10, y + 10, "small end",
		 "share of all ticks in one column");
	for (i = 0; i < SVG_HEATS; i++) {
		class[1] = '0' + i;
		svg_rect(svg, x + 56 * i, y, 56, 12, class);
		if (i)
			svg_text(svg, x + 56 * i, y + 26, "small middle",
				 "%g %%", heats[i]);
	}
}
