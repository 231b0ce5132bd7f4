/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * columns.h - columns of text reports
 */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "prohist/rows.h"
#include "util/term.h"

enum column_id {
	COLUMN_END,
	COLUMN_TICKS,
	COLUMN_PERCENT,
	COLUMN_ERROR,
	COLUMN_TOTAL,
	COLUMN_SO_FAR,
	COLUMN_TIME,
	COLUMN_CPU,
	COLUMN_RUNNABLE,
	COLUMN_BLOCKED,
	COLUMN_IDLE,
	COLUMN_BAR,
	COLUMN_CGROUP,
	COLUMN_COMM,
	COLUMN_PID,
	COLUMN_DSO,
	COLUMN_SYMBOL,
	COLUMN_NAME,
	NR_COLUMNS,
};

/**
 * struct columns - layout of a table
 * @term: standard output
 * @sum: the sum, for the number of all ticks
 * @ids: the columns from left to right, ended by COLUMN_END; if the last one is
 *	COLUMN_NAME, callers print it
 * @name: heading of COLUMN_NAME
 * @most: CPU time of a full bar
 * @so_far: ticks of all rows printed
 * @so_far_ns: their CPU time
 * @width: widths of the columns, set by columns_heading()
 */
struct columns {
	const struct term *term;
	const struct sum *sum;
	const enum column_id *ids;
	const char *name;
	double most;
	uint64_t so_far;
	double so_far_ns;
	int width[NR_COLUMNS];
};

enum column_id column_of(const char *name);
const char *column_name(enum column_id id);
unsigned int column_key(enum column_id id);
double column_state_ns(enum column_id id, const struct row *row);
enum column_id *columns_states(enum column_id *ids, const struct sum *sum);
enum term_colour state_colour(const struct sum_dso *dso);
void columns_heading(struct columns *columns, const struct rows *rows);
void columns_print(struct columns *columns, const struct row *row);
void columns_more(const struct columns *columns, size_t nr);

#endif /* COLUMNS_H */
