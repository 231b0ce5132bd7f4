// SPDX-License-Identifier: GPL-2.0-only
/*
 * synthesize.c - write a profile with known ticks
 *
 *	synthesize FILE DSO [-- DSO]...
 *
 * where DSO is PATH BUILD-ID PGOFF SIZE [OFFSET COUNT]...; numbers except COUNT
 * are hexadecimal; offsets are from the start of the mapping. The first DSO is
 * the program. The profile also has 10 ticks in the kernel, 5 elsewhere, 2
 * lost, and a program that was not profiled. The environment variable COMMAND
 * sets the command, BUCKET the bytes of a bucket, and START the start of the run
 * in nanoseconds.
 */
#include <stdlib.h>
#include <string.h>

#include <prf/prf.h>

#include "digits.h"

static uint32_t kind_of(const struct prf_exec *exec, const char *path)
{
	if (!strcmp(path, "[vdso]"))
		return PRF_VDSO;
	return exec->nr == 1 ? PRF_PROGRAM : PRF_LIBRARY;
}

/* Take the arguments of one DSO. Return: the remaining arguments. */
static char **add_dso(struct prf_exec *exec, char **argv)
{
	const char *bucket = getenv("BUCKET");
	struct prf_dso *dso = prf_add_dso(exec, argv[0]);

	if (!dso)
		abort();
	dso->kind = kind_of(exec, argv[0]);
	read_build_id(dso, argv[1]);
	dso->start = 0x555555555000 + (exec->nr << 32);
	dso->pgoff = strtoull(argv[2], NULL, 16);
	dso->end = dso->start + strtoull(argv[3], NULL, 16);
	if (bucket)
		dso->bucket_bytes = atoi(bucket);
	for (argv += 4; argv[0] && strcmp(argv[0], "--"); argv += 2)
		if (prf_add_bucket(dso, strtoull(argv[0], NULL, 16),
				   strtoull(argv[1], NULL, 10)))
			abort();
	exec->counted += prf_dso_ticks(dso);
	return argv[0] ? argv + 1 : argv;
}

static void synthesize(struct prf *prf, char **argv)
{
	const char *command = getenv("COMMAND"), *start = getenv("START");
	struct prf_exec *exec;

	if (prf_init(prf, command ? command : "known"))
		abort();
	if (start)
		prf->start_unix_ns = strtoull(start, NULL, 10);
	prf->wall_ns = 3000000000;
	prf->period_ns = 1000000;
	prf->clock = PRF_CLOCK_PERF;
	exec = prf_add_exec(prf, argv[0], "");
	if (!exec)
		abort();
	while (argv[0])
		argv = add_dso(exec, argv);
	exec->kernel_count = 10;
	exec->kernel = 10;
	exec->outside = 5;
	exec->lost = 2;
	exec->counted += 10;
	exec->ticks = exec->counted + 7;
	exec->cpu_ns = exec->ticks * prf->period_ns;
	exec->covered_ns = exec->cpu_ns;
	exec = prf_add_exec(prf, "/bin/unreached", "it is static");
	if (!exec)
		abort();
	exec->reach = PRF_NOT_REACHED;
}

int main(int argc, char **argv)
{
	struct prf prf;
	FILE *file;

	if (argc < 6)
		return 2;
	file = fopen(argv[1], "we");
	if (!file)
		return 1;
	synthesize(&prf, argv + 2);
	if (prf_write(file, &prf) || fclose(file))
		return 1;
	prf_free(&prf);
	return 0;
}
