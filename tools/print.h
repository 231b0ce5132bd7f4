/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * print.h - the forms in which prohist prints
 */
#ifndef PRINT_H
#define PRINT_H

#include "dos_prf.h"
#include "sum.h"
#include "term.h"

/**
 * struct report - what is to be printed
 * @term: the standard output, where everything goes
 * @runs: what was read
 * @nr: number of runs, at least one
 * @sum: of the runs, finished; empty if the form has no use for it
 * @object: name of the one to choose, or NULL
 * @function: the one to show, or NULL
 * @top: how many functions there is room for, as text
 */
struct report {
	const struct term *term;
	const struct prf *runs;
	size_t nr;
	const struct sum *sum;
	const char *object;
	const char *function;
	size_t top;
};

const struct prf_object *report_object(const struct report *report);

/* The forms: 0, or -1 when the reason has been said. */
int print_text(const struct report *report);
int print_json(const struct report *report);
int print_folded(const struct report *report);
int write_callgrind(const struct report *report);
int write_dos(const struct report *report);
int print_svg(const struct report *report);
int print_lines(const struct report *report);
int print_annotated(const struct report *report);
int write_gmon(const struct report *report);
int write_perf(const struct report *report);
int write_pprof(const struct report *report);

void print_share(const struct term *term, const struct sum *sum,
		 uint64_t ticks, uint64_t so_far, uint64_t most);
void print_more(const struct sum *sum, uint64_t so_far, size_t nr);
void print_reckoning(const struct term *term, const struct sum *sum);
void print_diff(const struct term *term, const struct sum *before,
		const struct sum *after);
void print_buckets(const struct term *term, const struct prf *prf);
int print_dos(const struct term *term, const struct dos_prf *dos);

#endif /* PRINT_H */
