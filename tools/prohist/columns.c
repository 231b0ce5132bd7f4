// SPDX-License-Identifier: GPL-2.0-only
/*
 * columns.c - print the columns of text reports
 */
#include <inttypes.h>
#include <stdio.h>

#include "prohist/report.h"

/* Columns left for typical names, and for the space around bars. */
#define NAME_WIDTH	36

static const struct column {
	const char *name;
	int width;
} columns[] = {
	[COLUMN_TICKS] = { "ticks", 10 },
	[COLUMN_PERCENT] = { "percent", 8 },
	[COLUMN_ERROR] = { "error", 10 },
	[COLUMN_SO_FAR] = { "so far", 8 },
};

/**
 * columns_heading() - print the heading of the columns
 * @term: standard output
 * @last: the last column; all columns up to it, a bar and a name are printed
 * @name: heading of the names
 */
void columns_heading(const struct term *term, enum column_id last,
		     const char *name)
{
	char text[100];
	int length = 0, i;

	for (i = 0; i <= (int)last; i++)
		length += snprintf(text + length, sizeof(text) - length, "%*s",
				   columns[i].width, columns[i].name);
	snprintf(text + length, sizeof(text) - length, "  %s", name);
	term_heading(term, text);
}

static void print_cell(const struct sum *sum, enum column_id id,
		       uint64_t ticks, uint64_t so_far)
{
	int width = columns[id].width;

	switch (id) {
	case COLUMN_TICKS:
		printf("%*" PRIu64, width, ticks);
		break;
	case COLUMN_PERCENT:
		printf("%*.1f %%", width - 2, sum_percent(sum, ticks));
		break;
	case COLUMN_ERROR:
		printf(" +-%*.1f %%", width - 5, sum_error(sum, ticks));
		break;
	case COLUMN_SO_FAR:
		printf("%*.1f %%", width - 2, sum_percent(sum, so_far));
		break;
	}
}

/**
 * columns_print() - print the columns of a row and its bar, but not its name
 * @term: standard output
 * @sum: the sum, for the number of all ticks
 * @last: the last column; all columns up to it and a bar are printed
 * @ticks: ticks of the row
 * @so_far: ticks of this row and all rows before it, for COLUMN_SO_FAR
 * @most: ticks of a full bar
 */
void columns_print(const struct term *term, const struct sum *sum,
		   enum column_id last, uint64_t ticks, uint64_t so_far,
		   uint64_t most)
{
	int taken = NAME_WIDTH, width, i;

	for (i = 0; i <= (int)last; i++) {
		print_cell(sum, i, ticks, so_far);
		taken += columns[i].width;
	}
	printf("  ");
	width = term_bar_width(term, taken);
	width = term_bar(term, width, ticks, most);
	printf("%*s ", width, "");
}

/**
 * columns_more() - print the number of ticks in rows beyond --top
 * @sum: the sum, for the number of all ticks
 * @so_far: ticks of all rows printed
 * @nr: number of rows not printed; if 0, prints nothing
 */
void columns_more(const struct sum *sum, uint64_t so_far, size_t nr)
{
	uint64_t rest = sum->placed - so_far;

	if (!nr)
		return;
	print_cell(sum, COLUMN_TICKS, rest, 0);
	print_cell(sum, COLUMN_PERCENT, rest, 0);
	printf("  (%zu more)\n", nr);
}
