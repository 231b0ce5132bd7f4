/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rows.h - ticks by any of cgroup, program, process, DSO and function
 */
#ifndef ROWS_H
#define ROWS_H

#include "prohist/sum.h"

/* What ticks can be grouped by */
#define ROW_COMM	1u
#define ROW_PID		2u
#define ROW_DSO		4u
#define ROW_SYMBOL	8u
#define ROW_CGROUP	16u

/**
 * struct row - ticks of a group; members that it is not grouped by are 0
 * @cgroup: path of the cgroup, or "[unknown]"
 * @comm: name of the program: its path without directories
 * @pid: PID of the process
 * @dso: the DSO
 * @symbol: name of the function
 * @ticks: ticks of the group
 * @ns: their CPU time: each counts the period of its file
 * @total_ns: that of the ticks in it and in what it called, if rows have totals
 * @states: by enum prf_state, that of @total_ns, or without totals of @ns
 */
struct row {
	const char *cgroup;
	const char *comm;
	uint32_t pid;
	const struct sum_dso *dso;
	const char *symbol;
	uint64_t ticks;
	double ns;
	double total_ns;
	double states[PRF_STATES];
};

/**
 * struct rows - all groups with ticks, or that called what has some; most first
 * @nr: number of rows
 * @list: the rows
 */
struct rows {
	size_t nr;
	struct row *list;
};

bool rows_have_totals(const struct sum *sum, unsigned int keys);
struct rows rows_make(const struct prf *runs, size_t nr, const struct sum *sum,
		      unsigned int keys);

#endif /* ROWS_H */
