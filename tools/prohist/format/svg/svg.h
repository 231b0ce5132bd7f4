/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * svg.h - parts of the SVG picture
 */
#ifndef SVG_H
#define SVG_H

#include <stdio.h>

#include "prohist/sum.h"

#define SVG_LEFT	32
#define SVG_WIDTH	1136
#define SVG_HEATS	6

/* Mean width of a character */
#define SVG_CHARACTER	6.7

/**
 * struct svg - a picture being drawn
 * @out: output stream
 * @sum: the sum to draw
 * @y: top of the next part
 */
struct svg {
	FILE *out;
	const struct sum *sum;
	double y;
};

/**
 * struct svg_strip - text by address, with columns for its ticks
 * @x: left end
 * @y: top of the highest column
 * @width: width of all the text
 * @rise: height of the highest column
 * @bed: height of the bar for the text itself, below the columns
 * @start: address at the left end
 * @end: address at the right end
 */
struct svg_strip {
	double x;
	double y;
	double width;
	double rise;
	double bed;
	uint64_t start;
	uint64_t end;
};

extern const char svg_palette[];

void svg_string(const struct svg *svg, const char *string, size_t most);
size_t svg_characters(const char *string);
void svg_name(const struct svg *svg, double x, double y, const char *class,
	      const char *name, size_t most);
void svg_text(const struct svg *svg, double x, double y, const char *class,
	      const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void svg_rect(const struct svg *svg, double x, double y, double width,
	      double height, const char *class);
void svg_size(char *text, size_t room, uint64_t bytes);
double svg_place(const struct svg_strip *strip, uint64_t address);
double svg_strip(const struct svg *svg, const struct svg_strip *strip,
		   const struct sum_dso *dso,
		   const struct sum_piece *piece);
void svg_heats(const struct svg *svg, double x, double y);
void svg_dso(struct svg *svg, const struct sum_dso *dso);
const struct sum_dso **svg_choose(const struct sum *sum, size_t *drawn,
				  size_t *nr);

#endif /* SVG_H */
