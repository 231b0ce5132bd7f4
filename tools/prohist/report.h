/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h - output formats of prohist
 */
#ifndef REPORT_H
#define REPORT_H

#include "dos/dos_prf.h"
#include "prohist/aggregate.h"
#include "util/term.h"

/**
 * struct report - what a format prints
 * @term: standard output, where all formats print
 * @runs: the runs read
 * @nr: number of runs, at least one
 * @sum: the finished sum of the runs; empty if the format does not use it
 * @dso: name of the DSO to print, or NULL
 * @function: name of the function to annotate, or NULL
 * @top: maximum number of functions in text formats
 */
struct report {
	const struct term *term;
	const struct prf *runs;
	size_t nr;
	const struct sum *sum;
	const char *dso;
	const char *function;
	size_t top;
};

/* Columns of the text reports, from left to right. */
enum column_id {
	COLUMN_TICKS,
	COLUMN_PERCENT,
	COLUMN_ERROR,
	COLUMN_SO_FAR,
};

const struct prf_dso *report_dso(const struct report *report);

/* Print functions of the formats: 0, or -1 after reporting the error. */
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

void columns_heading(const struct term *term, enum column_id last,
		     const char *name);
void columns_print(const struct term *term, const struct sum *sum,
		   enum column_id last, uint64_t ticks, uint64_t so_far,
		   uint64_t most);
void columns_more(const struct sum *sum, uint64_t so_far, size_t nr);
void print_summary(const struct term *term, const struct sum *sum);
void print_diff(const struct term *term, const struct sum *before,
		const struct sum *after);
void print_buckets(const struct term *term, const struct prf *prf);
int print_dos(const struct term *term, const struct dos_prf *dos);

#endif /* REPORT_H */
