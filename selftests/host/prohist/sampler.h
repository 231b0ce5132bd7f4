/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampler.h - draw the ticks of a program by module/schedule.h
 *
 * The program is a loop, in which each function has its part of the time.
 */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "schedule.h"

/* Mean time between ticks, in nanoseconds */
#define SAMPLER_PERIOD	1000000

#define SAMPLER_MOST	64

/**
 * struct sampler_rhythm - when a program runs
 * @name: name
 * @loop_ns: CPU time of the loop
 * @on_ns: CPU time until the program loses the CPU; 0 if never
 * @off_ns: time for which others then have it
 */
struct sampler_rhythm {
	const char *name;
	u64 loop_ns;
	u64 on_ns;
	u64 off_ns;
};

/* CPU time at a time since the start, or -1 if another program runs. */
static inline s64 sampler_cpu_time(const struct sampler_rhythm *rhythm,
				   u64 time_ns)
{
	u64 round, rest;

	if (!rhythm->on_ns)
		return time_ns;
	round = time_ns / (rhythm->on_ns + rhythm->off_ns);
	rest = time_ns % (rhythm->on_ns + rhythm->off_ns);
	return rest < rhythm->on_ns ? round * rhythm->on_ns + rest : -1;
}

static inline int sampler_function(const struct sampler_rhythm *rhythm,
				   const double *shares, int nr, u64 time_ns)
{
	double left = (double)(time_ns % rhythm->loop_ns) / rhythm->loop_ns;
	int i;

	for (i = 0; i < nr - 1 && left >= shares[i]; i++)
		left -= shares[i];
	return i;
}

/**
 * sampler_run() - draw the ticks of a run
 * @rhythm: when the program runs
 * @shares: share of each function in the CPU time; the sum is 1
 * @nr: number of functions
 * @cpu_ns: CPU time of the run
 * @state: state of the random numbers, not 0
 * @ticks: receives the ticks of each function
 *
 * Return: number of ticks.
 */
static inline u64 sampler_run(const struct sampler_rhythm *rhythm,
			      const double *shares, int nr, u64 cpu_ns,
			      u64 *state, uint64_t *ticks)
{
	const u64 secret[2] = { number(state), number(state) };
	u64 start = SAMPLER_PERIOD + number_below(state, 1ULL << 50), all = 0;
	struct profil_schedule schedule;
	s64 time;

	memset(ticks, 0, nr * sizeof(*ticks));
	profil_schedule_start(&schedule, secret, 0, SAMPLER_PERIOD, start);
	for (;;) {
		time = sampler_cpu_time(rhythm, schedule.next - start);
		if (time >= (s64)cpu_ns)
			return all;
		if (time >= 0) {
			ticks[sampler_function(rhythm, shares, nr, time)]++;
			all++;
		}
		profil_schedule_advance(&schedule, schedule.next);
	}
}

#endif /* SAMPLER_H */
