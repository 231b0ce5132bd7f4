// SPDX-License-Identifier: GPL-2.0-only
/*
 * print_share.c - the share that a function or a line has of all ticks
 */
#include <inttypes.h>
#include <stdio.h>

#include "print.h"

/* Of numbers, and of names as long as most are. */
#define COLUMNS	(42 + 30)

/**
 * print_share() - ticks, percent, error, percent so far and a bar
 * @term: where
 * @sum: what the share is of
 * @ticks: of the share
 * @so_far: ticks of all that were printed, with these
 * @most: ticks that a full bar is for
 */
void print_share(const struct term *term, const struct sum *sum,
		 uint64_t ticks, uint64_t so_far, uint64_t most)
{
	int width = term_bar_width(term, COLUMNS);

	printf("%10" PRIu64 " %5.1f %% +- %4.1f %% %5.1f %%  ", ticks,
	       sum_percent(sum, ticks), sum_error(sum, ticks),
	       sum_percent(sum, so_far));
	width = term_bar(term, width, ticks, most);
	printf("%*s ", width, "");
}

/** print_more() - those that there was no room for: @nr of them */
void print_more(const struct sum *sum, uint64_t so_far, size_t nr)
{
	uint64_t rest = sum->placed - so_far;

	if (nr)
		printf("%10" PRIu64 " %5.1f %%  (%zu more)\n", rest,
		       sum_percent(sum, rest), nr);
}
