/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * write.h - the HTML page being written
 */
#ifndef HTML_WRITE_H
#define HTML_WRITE_H

#include <stdio.h>

#include "prohist/diff.h"
#include "prohist/report.h"

/**
 * struct html_side - one of the profiles in the page
 * @label: "before" or "after"; NULL if there is only one
 * @sum: its finished sum
 * @runs: its runs
 * @nr_runs: number of runs
 */
struct html_side {
	const char *label;
	const struct sum *sum;
	const struct prf *runs;
	size_t nr_runs;
};

/**
 * struct html_function - a function in the page
 * @change: its name, DSO and ticks: @ticks[0] of the only profile, or of both
 * @path: path of its DSO if there is one profile, else NULL
 * @total_ns: see &struct row; of one profile with waits
 * @states: the same
 * @outer: its name, or that of the function that it is inlined in
 * @listing: number of the function, from 1, with the listing of @outer; 0: none
 */
struct html_function {
	struct diff_item change;
	const char *path;
	double total_ns;
	double states[PRF_STATES];
	const char *outer;
	size_t listing;
};

/**
 * struct html - a page being written
 * @out: output stream
 * @nr_sides: number of profiles, 1 or 2
 * @sides: the profiles
 * @diff: their comparison, or NULL
 * @called: of one profile with waits, its sum with what callers have
 * @nr: number of functions
 * @functions: all functions, in the order of the table
 */
struct html {
	FILE *out;
	int nr_sides;
	struct html_side sides[2];
	const struct diff *diff;
	struct sum called;
	size_t nr;
	struct html_function *functions;
};

/**
 * struct html_part - a part of the page that may be too large for it
 * @out: output stream
 * @text: what was written to it, after html_part_end()
 * @size: its size in bytes
 */
struct html_part {
	FILE *out;
	char *text;
	size_t size;
};

void html_part_begin(struct html_part *part);
void html_part_end(struct html_part *part);
bool html_part_fits(FILE *out, struct html_part *part, size_t *budget);

void html_text(FILE *out, const char *string);
void html_path(FILE *out, const char *string);
void html_code(FILE *out, const char *text, size_t length);

#endif /* HTML_WRITE_H */
