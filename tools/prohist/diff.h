/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diff.h - comparison of runs before and after
 */
#ifndef DIFF_H
#define DIFF_H

#include "prohist/alike.h"
#include "prohist/gate.h"
#include "prohist/sum.h"
#include "util/term.h"

/**
 * struct diff_item - a function or DSO of any run
 * @name: name of the function; that of the DSO if the item is a DSO
 * @dso: name of the DSO
 * @ticks: its ticks before and after
 * @ns: their CPU time
 * @times: its CPU time in each run, in nanoseconds
 * @share: change of its share of all ticks
 * @changed: whether the share changed by more than chance
 * @growth: growth of its CPU time
 * @whole: of a DSO, why its functions are not compared, or NULL
 */
struct diff_item {
	const char *name;
	const char *dso;
	uint64_t ticks[2];
	double ns[2];
	double *times;
	double share;
	bool changed;
	struct gate_growth growth;
	const char *whole;
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

/**
 * struct diff - runs to compare
 * @term: standard output
 * @runs: all runs, those before first
 * @sums: the sum of each run; of several on one side, without their symbols
 * @nr: number of runs before, and after
 * @placed: sums of their @placed
 * @placed_ns: sums of their @placed_ns
 * @weight: number of ticks of one period that know as much; see sum_weight()
 * @paths: the two arguments, each a file or directory
 * @files: the file of each run
 * @threshold: growth to fail over, relative to the CPU time before; 0 if none
 * @top: maximum number of functions and DSOs that the text of a verdict lists
 * @alike: which DSOs can be compared by function
 * @attached: the runs have no length of their own: their times are per second
 *	of real time
 * @functions: all functions, and in place of those that cannot be compared
 *	their DSOs; with @threshold, only functions, and only those with a name
 * @nameless: with @threshold, all others, by DSO
 * @dsos: all DSOs
 * @verdict: with @threshold, the verdict
 */
struct diff {
	const struct term *term;
	const struct prf *runs;
	const struct sum *sums;
	size_t nr[2];
	uint64_t placed[2];
	double placed_ns[2];
	double weight[2];
	char * const *paths;
	char * const *files;
	double threshold;
	size_t top;
	struct alike alike;
	bool attached;
	struct diff_list functions;
	struct diff_list nameless;
	struct diff_list dsos;
	struct verdict verdict;
};

void diff_find(struct diff *diff);
void diff_free(struct diff *diff);
double diff_share(const struct diff *diff, const struct diff_item *item,
		  int side);
bool diff_is_change(const struct diff *diff, const double ns[2], size_t tests);
double diff_time(const struct diff *diff, size_t run, double ns);
int diff_side(const struct diff *diff, size_t run);

/* verdict.c */

void verdict_find(struct diff *diff);
const char *verdict_name(const struct verdict *verdict);

#endif /* DIFF_H */
