// SPDX-License-Identifier: GPL-2.0-only
/*
 * draw.c - write pairs of profiles with ticks drawn by the schedule of the
 * module
 *
 *	draw DIRECTORY PAIRS TICKS PERCENT
 *
 * writes before.N and after.N, for N from 1 to PAIRS. Runs have so many ticks on
 * average. After, the first of four DSOs has grown by PERCENT of the time
 * before, and the last has shrunk as much. The seed is fixed.
 */
#include <stdio.h>

#include <prf/prf.h>

#include "sampler.h"

#define NR	4

static void add_dso(struct prf_exec *exec, int number, uint64_t ticks)
{
	struct prf_dso *dso;
	char path[32];

	snprintf(path, sizeof(path), "/nonexistent/part%d", number);
	dso = prf_add_dso(exec, path);
	if (!dso || (ticks && prf_add_bucket(dso, 0, ticks)))
		abort();
	dso->kind = number ? PRF_LIBRARY : PRF_PROGRAM;
	dso->start = (number + 1) << 20;
	dso->end = dso->start + 4096;
}

static int write_run(const char *path, const double *shares, uint64_t cpu_ns,
		     u64 *state)
{
	static const struct sampler_rhythm rhythm = { .loop_ns = 61803 };
	struct prf_exec *exec;
	uint64_t ticks[NR];
	FILE *file = fopen(path, "we");
	struct prf prf;
	int i;

	if (!file || prf_init(&prf, "drawn"))
		return -1;
	prf.period_ns = SAMPLER_PERIOD;
	prf.clock = PRF_CLOCK_PERF;
	exec = prf_add_exec(&prf, "/nonexistent/part0", "");
	if (!exec)
		abort();
	exec->cpu_ns = cpu_ns;
	exec->covered_ns = cpu_ns;
	exec->ticks = sampler_run(&rhythm, shares, NR, cpu_ns, state, ticks);
	exec->counted = exec->ticks;
	for (i = 0; i < NR; i++)
		add_dso(exec, i, ticks[i]);
	i = prf_write(file, &prf);
	prf_free(&prf);
	return fclose(file) ? -1 : i;
}

int main(int argc, char **argv)
{
	static const double before[NR] = { 0.45, 0.3, 0.05, 0.2 };
	double after[NR] = { 0.45, 0.3, 0.05, 0.2 };
	u64 state = 0x64726177;
	char path[4096];
	uint64_t cpu_ns;
	int i;

	if (argc != 5)
		return 2;
	cpu_ns = strtoull(argv[3], NULL, 10) * SAMPLER_PERIOD;
	after[0] += atof(argv[4]) / 100;
	after[NR - 1] -= atof(argv[4]) / 100;
	for (i = 1; i <= atoi(argv[2]); i++) {
		snprintf(path, sizeof(path), "%s/before.%d", argv[1], i);
		if (write_run(path, before, cpu_ns, &state))
			return 1;
		snprintf(path, sizeof(path), "%s/after.%d", argv[1], i);
		if (write_run(path, after, cpu_ns, &state))
			return 1;
	}
	return 0;
}
