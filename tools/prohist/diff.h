/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diff.h - comparison of runs before and after
 */
#ifndef DIFF_H
#define DIFF_H

#include "prohist/aggregate.h"
#include "prohist/gate.h"
#include "util/term.h"

/**
 * struct diff_item - a function or DSO of any run
 * @name: name of the function; that of the DSO if the item is a DSO
 * @dso: name of the DSO
 * @ticks: its ticks before and after
 * @times: its CPU time in each run, in nanoseconds
 * @share: change of its share of all ticks
 * @changed: whether the share changed by more than chance
 * @growth: growth of its CPU time
 */
struct diff_item {
	const char *name;
	const char *dso;
	uint64_t ticks[2];
	double *times;
	double share;
	bool changed;
	struct gate_growth growth;
};

/**
 * struct diff_list - functions or DSOs of all runs
 * @items: the items
 * @nr: number of items
 * @times: memory for the times of the items
 */
struct diff_list {
	struct diff_item *items;
	size_t nr;
	double *times;
};

/**
 * struct diff - runs to compare
 * @term: standard output
 * @runs: all runs, those before first
 * @sums: the sum of each run
 * @nr: number of runs before, and after
 * @placed: sums of their @placed
 * @paths: the two arguments, each a file or directory
 * @files: the file of each run
 * @json: whether to print JSON instead of text
 * @threshold: growth to fail over, relative to the CPU time before; 0 if none
 * @top: maximum number of functions and DSOs that the text of a verdict lists
 * @functions: all functions; with @threshold, only those that have a name
 * @dsos: all DSOs
 */
struct diff {
	const struct term *term;
	const struct prf *runs;
	const struct sum *sums;
	size_t nr[2];
	uint64_t placed[2];
	char * const *paths;
	char * const *files;
	bool json;
	double threshold;
	size_t top;
	struct diff_list functions;
	struct diff_list dsos;
};

/**
 * struct verdict - whether CPU time grew by more than the threshold
 * @verdict: the verdict, unless there is a problem
 * @problem: why there is no verdict, or NULL
 * @path: the argument with the problem, or NULL if both have it
 * @sides: the runs before and after
 * @whole: growth of the whole
 * @finds: growth of a part that would be called slower
 * @needed: ticks that each side needs, if there are too few
 * @worst: the function or DSO that grew most, if any is slower
 */
struct verdict {
	enum gate_verdict verdict;
	const char *problem;
	const char *path;
	struct gate_side sides[2];
	struct gate_growth whole;
	double finds;
	double needed;
	const struct diff_item *worst;
};

void diff_find(struct diff *diff);
void diff_free(struct diff *diff);
int print_diff(struct diff *diff);
int diff_side(const struct diff *diff, size_t run);
void diff_print_name(const struct diff_item *item);
void diff_judge(struct diff *diff, struct verdict *verdict);
void print_verdict(const struct diff *diff, const struct verdict *verdict);
void print_diff_json(const struct diff *diff, const struct verdict *verdict);
const char *verdict_name(const struct verdict *verdict);

#endif /* DIFF_H */
