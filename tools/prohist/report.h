/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h - output formats of prohist
 */
#ifndef REPORT_H
#define REPORT_H

#include "dos/dos_prf.h"
#include "prohist/columns.h"
#include "prohist/diff.h"
#include "prohist/rows.h"
#include "prohist/sum.h"
#include "util/term.h"

/**
 * struct report - what a format prints
 * @term: standard output, where all formats print
 * @runs: the runs read
 * @nr: number of runs, at least one
 * @sum: the finished sum of the runs; empty if the format does not use it
 * @dso: name of the DSO to print, or NULL
 * @function: name of the function to annotate, or whose callers or callees to
 *	print; or NULL
 * @keys: ROW_*: what --sort names, or 0
 * @fields: columns that --fields names, ended by COLUMN_END, or NULL
 * @top: maximum number of rows in text formats
 * @stats: --stats
 */
struct report {
	const struct term *term;
	const struct prf *runs;
	size_t nr;
	const struct sum *sum;
	const char *dso;
	const char *function;
	unsigned int keys;
	const enum column_id *fields;
	size_t top;
	bool stats;
};

const struct prf_dso *report_dso(const struct report *report);
const struct sum_dso *report_sum_dso(const struct report *report);
const struct sum_dso *report_exact_dso(const struct report *report);

/* Print functions of the formats: 0, or -1 after reporting the error. */
int print_text(const struct report *report);
int print_csv(const struct report *report);
int print_json(const struct report *report);
int print_flamegraph(const struct report *report);
int print_folded(const struct report *report);
int write_autofdo(const struct report *report);
int write_bolt(const struct report *report);
int print_html(const struct report *report);
int write_callgrind(const struct report *report);
int write_dos(const struct report *report);
int print_firefox(const struct report *report);
int print_speedscope(const struct report *report);
int print_svg(const struct report *report);
int print_lines(const struct report *report);
int print_annotated(const struct report *report);
int print_tree(const struct report *report);
int print_callers(const struct report *report);
int print_callees(const struct report *report);
int write_gmon(const struct report *report);
int write_perf(const struct report *report);
int write_pprof(const struct report *report);

int diff_flamegraph(const struct diff *diff);
int diff_text(const struct diff *diff);
int diff_json(const struct diff *diff);
int diff_html(const struct diff *diff);

void print_summary(const struct term *term, const struct sum *sum, bool stats);
void print_where(const struct sum_dso *dso);
void print_buckets(const struct term *term, const struct prf *prf);
int print_dos(const struct term *term, const struct dos_prf *dos);

#endif /* REPORT_H */
