/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gate.h - has CPU time grown by more than a threshold?
 */
#ifndef GATE_H
#define GATE_H

#include <stddef.h>
#include <stdint.h>

/* Probability of a wrong verdict of either kind, at most. */
#define GATE_LEVEL	0.05

enum gate_verdict {
	GATE_OK,
	GATE_SLOWER,
	GATE_TOO_FEW,
	GATE_TOO_FEW_RUNS,
};

/**
 * struct gate_side - the runs before, or those after
 * @nr: number of runs
 * @cpu_ns: mean CPU time of a run
 * @covered_ns: the part of it in which ticks fall
 * @ticks: number of these ticks in all runs; if their periods differ, of as
 *	many of one period as know as much
 */
struct gate_side {
	size_t nr;
	double cpu_ns;
	double covered_ns;
	double ticks;
};

/**
 * struct gate_limits - standard errors that decide a test
 * @slower: above the threshold, of what is slower
 * @ok: below the threshold, of what is ok
 * @interval: half width of the 95 % confidence interval
 */
struct gate_limits {
	double slower;
	double ok;
	double interval;
};

/**
 * struct gate - runs before and after, and a threshold
 * @sides: the runs before and after
 * @cpu_ns: CPU time of each run, those before first
 * @threshold: growth that is permitted, relative to the CPU time before
 * @freedom: degrees of freedom of the variation between runs; 0 if unknown
 * @ticks: limits of the error of the ticks
 * @runs: limits of the variation between runs
 */
struct gate {
	struct gate_side sides[2];
	const double *cpu_ns;
	double threshold;
	size_t freedom;
	struct gate_limits ticks;
	struct gate_limits runs;
};

/**
 * struct gate_growth - growth of the CPU time of a part of a program
 * @growth: estimate, relative to the CPU time of the whole program before
 * @error: half width of its 95 % confidence interval
 * @verdict: whether the growth exceeds the threshold
 * @needed: ticks that each side needs for a verdict, if there are too few
 */
struct gate_growth {
	double growth;
	double error;
	enum gate_verdict verdict;
	double needed;
};

void gate_init(struct gate *gate, uint64_t functions, uint64_t dsos);
const char *gate_verdict_name(enum gate_verdict verdict);
enum gate_verdict gate_worse(enum gate_verdict a, enum gate_verdict b);
struct gate_growth gate_whole(const struct gate *gate);
struct gate_growth gate_judge(const struct gate *gate,
			      const double ticks[2], const double *times);
double gate_finds(const struct gate *gate);

#endif /* GATE_H */
