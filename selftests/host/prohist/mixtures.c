// SPDX-License-Identifier: GPL-2.0-only
/*
 * mixtures.c - write pairs of profiles of one program, each measured in another
 * way
 *
 *	mixtures DIRECTORY PAIRS PERCENT SEED DSO [-- DSO]...
 *
 * where DSO is PATH BUILD-ID PGOFF SIZE [OFFSET]..., as for synthesize; there are
 * two. Makes before.N and after.N, which are files, or directories with three
 * runs. After, the first function of the second DSO has grown by PERCENT of the
 * time before, and the first one of the first DSO has shrunk as much.
 *
 * In a file, drawn by chance: the names of a DSO may be unknown, as its file was
 * replaced; buckets have 4 or 256 bytes; ticks in the kernel have functions, or
 * only one of two has, or none, or they were left out; the clock, the period and
 * the length of a run differ; a few ticks are coarse or unresolved; there is
 * another program, and the CPU time of both, in pairs with an even number, which
 * are to be compared without it. A pair may be of attached runs.
 */
#include <stdio.h>
#include <sys/stat.h>

#include <prf/prf.h>

#include "digits.h"
#include "sampler.h"

#define DSOS		2
#define FUNCTIONS	3
#define KERNEL		(DSOS * FUNCTIONS)
#define PARTS		(KERNEL + 2)
#define TICKS		20000

/* Share of each function: those of both DSOs, and two of the kernel. */
static const double shares[PARTS] = {
	0.3, 0.06, 0.02, 0.2, 0.1, 0.02, 0.2, 0.1,
};

struct binary {
	const char *path;
	const char *build_id;
	uint64_t pgoff;
	uint64_t size;
	uint64_t functions[FUNCTIONS];
};

/**
 * struct way - how a run is measured
 * @attached: profil was attached to it
 * @clock: enum prf_clock
 * @user_only: ticks in the kernel are left out
 * @nameless: the file of a DSO was replaced
 * @bucket_bytes: bytes of a bucket
 * @kernel: number of functions of the kernel that are known
 * @nowhere: one of so many ticks in user mode has no DSO; 0 if all have
 * @other: there is another program
 * @period_ns: the period
 */
struct way {
	bool attached;
	uint32_t clock;
	bool user_only;
	bool nameless[DSOS];
	uint32_t bucket_bytes;
	int kernel;
	int nowhere;
	bool other;
	uint64_t period_ns;
};

static bool chance(u64 *state, int percent)
{
	return number_below(state, 100) < (u64)percent;
}

static struct way draw_way(u64 *state, bool attached, bool perf, bool other)
{
	struct way way = { .attached = attached };

	way.clock = perf ? PRF_CLOCK_PERF_EVENT_OPEN : chance(state, 50) ?
		PRF_CLOCK_PERF : PRF_CLOCK_HRTIMER;
	way.user_only = chance(state, 15);
	way.nameless[0] = chance(state, 25);
	way.nameless[1] = chance(state, 25);
	way.bucket_bytes = chance(state, 25) ? 256 : 4;
	way.kernel = number_below(state, 3);
	way.nowhere = chance(state, 40) ? 25 : 0;
	way.other = other && chance(state, 50);
	way.period_ns = SAMPLER_PERIOD * (90 + number_below(state, 20)) / 100;
	if (chance(state, 20))
		way.period_ns /= 4;
	return way;
}

static struct prf_dso *add_dso(struct prf_exec *exec, const char *path)
{
	struct prf_dso *dso = prf_add_dso(exec, path);

	if (!dso)
		abort();
	return dso;
}

static void add_bucket(struct prf_dso *dso, uint64_t offset, uint64_t ticks)
{
	struct prf_bucket *last = dso->nr ? &dso->buckets[dso->nr - 1] : NULL;

	offset &= ~(uint64_t)(dso->bucket_bytes - 1);
	if (last && last->offset == offset)
		last->count += ticks;
	else if (ticks && prf_add_bucket(dso, offset, ticks))
		abort();
}

/* Move some of the ticks to where they have no DSO. */
static uint64_t hide(struct prf_exec *exec, const struct way *way, u64 *state,
		     uint64_t ticks)
{
	uint64_t left = 0;

	for (; ticks; ticks--) {
		if (!way->nowhere || number_below(state, way->nowhere))
			left++;
		else if (chance(state, 50))
			exec->coarse++;
		else
			exec->unresolved++;
	}
	return left;
}

static void add_binary(struct prf_exec *exec, const struct binary *binary,
		       const struct way *way, int index, u64 *state,
		       const uint64_t *ticks)
{
	char path[4096];
	struct prf_dso *dso;
	int i;

	snprintf(path, sizeof(path), "%s%s", binary->path,
		 way->nameless[index] && chance(state, 50) ? " (deleted)" : "");
	dso = add_dso(exec, path);
	dso->kind = index ? PRF_LIBRARY : PRF_PROGRAM;
	read_build_id(dso, way->nameless[index] ? "0123456789" :
		      binary->build_id);
	dso->start = (uint64_t)(index + 1) << 32;
	dso->end = dso->start + binary->size;
	dso->pgoff = binary->pgoff;
	dso->bucket_bytes = way->bucket_bytes;
	for (i = 0; i < FUNCTIONS; i++)
		add_bucket(dso, binary->functions[i],
			   hide(exec, way, state, ticks[i]));
	exec->counted += prf_dso_ticks(dso);
}

static void add_kernel(struct prf_exec *exec, const struct way *way,
		       const uint64_t ticks[2])
{
	static const char * const names[] = { "copy", "fault" };
	struct prf_dso *dso;
	int i;

	exec->kernel = ticks[0] + ticks[1];
	if (way->user_only) {
		exec->left_out = exec->kernel;
		return;
	}
	exec->counted += exec->kernel;
	if (!way->kernel) {
		exec->kernel_count = exec->kernel;
		return;
	}
	dso = add_dso(exec, "[kernel.kallsyms]");
	dso->kind = PRF_KERNEL_TEXT;
	dso->end = 0x2000;
	for (i = 0; i < 2; i++)
		add_bucket(dso, i * 0x1000, ticks[i]);
	for (i = 0; i < way->kernel; i++)
		if (prf_add_symbol(dso, i * 0x1000, (i + 1) * 0x1000, names[i]))
			abort();
}

static void add_other(struct prf *prf)
{
	struct prf_exec *exec = prf_add_exec(prf, "/bin/other", "");

	if (!exec)
		abort();
	exec->kernel_count = exec->counted = exec->kernel = exec->ticks = 500;
	exec->cpu_ns = exec->covered_ns = 500 * prf->period_ns;
}

static void write_run(const char *path, const struct binary *binaries,
		      const struct way *way, const double *parts, u64 *state)
{
	static const struct sampler_rhythm rhythm = { .loop_ns = 61803 };
	uint64_t ticks[PARTS], length = TICKS * (uint64_t)SAMPLER_PERIOD;
	struct prf_exec *exec;
	struct prf prf;
	FILE *file;
	int i;

	if (way->attached)
		length += number_below(state, 2 * length);
	if (prf_init(&prf, "mixture"))
		abort();
	prf.wall_ns = 2 * length;
	prf.period_ns = way->period_ns;
	prf.clock = way->clock;
	prf.flags = way->user_only ? PRF_FLAG_USER_ONLY : 0;
	prf.exit_kind = way->attached ? PRF_RUNNING : PRF_EXITED;
	if (way->other)
		add_other(&prf);
	exec = prf_add_exec(&prf, "/bin/program", "");
	if (!exec)
		abort();
	/* The sampler has one period: scale the time instead */
	exec->ticks = sampler_run(&rhythm, parts, PARTS, (double)length *
				  SAMPLER_PERIOD / way->period_ns, state, ticks);
	for (i = 0; i < DSOS; i++)
		add_binary(exec, &binaries[i], way, i, state,
			   ticks + i * FUNCTIONS);
	add_kernel(exec, way, ticks + KERNEL);
	exec->cpu_ns = length;
	exec->covered_ns = length;
	/* It was waited for, and so was what profil did before */
	if (way->other)
		prf.cpu_ns = length + length / 20;
	file = fopen(path, "we");
	if (!file || prf_write(file, &prf) || fclose(file))
		abort();
	prf_free(&prf);
}

static void write_side(const char *path, const struct binary *binaries,
		       const double *parts, bool attached, bool perf,
		       bool several, bool other, u64 *state)
{
	const struct way way = draw_way(state, attached, perf, other);
	char name[4096];
	int i;

	if (several && mkdir(path, 0777))
		abort();
	for (i = 0; i < (several ? 3 : 1); i++) {
		snprintf(name, sizeof(name), several ? "%s/%d.prf" : "%s", path,
			 i);
		write_run(name, binaries, &way, parts, state);
	}
}

static void read_binary(struct binary *binary, char ***argv)
{
	char **word = *argv;
	int i;

	binary->path = *word++;
	binary->build_id = *word++;
	binary->pgoff = strtoull(*word++, NULL, 16);
	binary->size = strtoull(*word++, NULL, 16);
	for (i = 0; i < FUNCTIONS; i++)
		binary->functions[i] = strtoull(*word++, NULL, 16);
	*argv = word + 1;
}

int main(int argc, char **argv)
{
	struct binary binaries[DSOS];
	double after[PARTS];
	char path[4096], **words = argv + 5;
	bool attached, perf, several;
	u64 state;
	int i;

	if (argc != 5 + DSOS * (4 + FUNCTIONS) + DSOS - 1)
		return 2;
	state = strtoull(argv[4], NULL, 10);
	for (i = 0; i < DSOS; i++)
		read_binary(&binaries[i], &words);
	memcpy(after, shares, sizeof(after));
	after[0] -= atof(argv[3]) / 100;
	after[FUNCTIONS] += atof(argv[3]) / 100;
	for (i = 1; i <= atoi(argv[2]); i++) {
		attached = chance(&state, 25);
		perf = chance(&state, 25);
		several = chance(&state, 20);
		snprintf(path, sizeof(path), "%s/before.%d", argv[1], i);
		write_side(path, binaries, shares, attached, perf, several,
			   i % 2 == 0, &state);
		snprintf(path, sizeof(path), "%s/after.%d", argv[1], i);
		write_side(path, binaries, after, attached, perf, several,
			   i % 2 == 0, &state);
	}
	return 0;
}
