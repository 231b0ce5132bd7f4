// SPDX-License-Identifier: GPL-2.0-only
/*
 * dos_prf_make.c - convert runs to the format of MS-DOS PROFIL
 *
 * The program is the text of one file; its addresses are file offsets, in
 * paragraphs. Ticks in the kernel become I/O; in libraries, loader and vDSO,
 * DOS; all others high, also those in the text of other programs. Each field
 * has 16 bits: values that do not fit are reported on standard error.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "dos/dos_prf.h"

#define MOST	UINT16_MAX

/*
 * The fields of the file, wide enough not to overflow. Sizes and addresses are
 * in paragraphs, @us in microseconds.
 */
struct wide {
	uint64_t low;
	uint64_t high;
	uint64_t least_siz;
	uint64_t siz;
	uint64_t io;
	uint64_t dos;
	uint64_t above;
	uint64_t others;
	uint64_t cut;
	double ticks;
	double us;
	size_t nr;
	uint64_t *buckets;
};

static int add_text(struct wide *wide, const struct prf_dso *dso)
{
	uint64_t size = dso->end - dso->start, end;
	uint64_t least = dso->bucket_bytes / DOS_PARAGRAPH;

	if (__builtin_add_overflow(dso->pgoff, size, &end)) {
		errno = EFBIG;
		return -1;
	}
	end = end / DOS_PARAGRAPH + !!(end % DOS_PARAGRAPH);
	if (!wide->high || dso->pgoff / DOS_PARAGRAPH < wide->low)
		wide->low = dso->pgoff / DOS_PARAGRAPH;
	if (end > wide->high)
		wide->high = end;
	if (least > wide->least_siz)
		wide->least_siz = least;
	return 0;
}

static int find_text(struct wide *wide, const struct prf *runs, size_t nr,
		     const struct prf_dso *program)
{
	const struct prf_dso *dso;
	struct prf_at at = {};

	while (program && (dso = prf_next(runs, nr, &at)))
		if (prf_same_dso(dso, program) && add_text(wide, dso))
			return -1;
	return 0;
}

/* Choose as many buckets as fit, but none smaller than requested. */
static int choose_buckets(struct wide *wide, uint64_t wanted)
{
	uint64_t paragraphs = wide->high - wide->low;
	uint64_t fits = paragraphs / MOST + !!(paragraphs % MOST);

	wide->siz = wanted ?: 1;
	if (wide->siz < wide->least_siz)
		wide->siz = wide->least_siz;
	if (wide->siz < fits)
		wide->siz = fits;
	if (wide->siz > MOST) {
		errno = EFBIG;
		return -1;
	}
	if (wanted && wide->siz > wanted)
		warnx("using buckets of %" PRIu64 " paragraphs instead of %" PRIu64 ": smaller ones are too many, or finer than those of the profile",
		      wide->siz, wanted);
	wide->nr = paragraphs / wide->siz + !!(paragraphs % wide->siz);
	wide->buckets = calloc(wide->nr + 1, sizeof(*wide->buckets));
	return wide->buckets ? 0 : -1;
}

static void add_buckets(struct wide *wide, const struct prf_dso *dso)
{
	size_t i;

	for (i = 0; i < dso->nr; i++) {
		const struct prf_bucket *bucket = &dso->buckets[i];
		uint64_t at = (dso->pgoff + bucket->offset) / DOS_PARAGRAPH;

		wide->buckets[(at - wide->low) / wide->siz] += bucket->count;
	}
}

static void add_dso(struct wide *wide, const struct prf_dso *dso,
		    const struct prf_dso *program)
{
	uint64_t ticks = prf_dso_ticks(dso);

	/* A hit is CPU time */
	if (prf_state_of(dso) != PRF_ON_CPU)
		return;
	if (program && prf_same_dso(dso, program)) {
		add_buckets(wide, dso);
	} else if (dso->kind == PRF_PROGRAM) {
		wide->others += ticks;
		wide->above += ticks;
	} else if (dso->kind == PRF_ANONYMOUS) {
		wide->above += ticks;
	} else if (dso->kind == PRF_KERNEL_TEXT) {
		wide->io += ticks;
	} else {
		wide->dos += ticks;
	}
}

static void add_dsos(struct wide *wide, const struct prf *runs, size_t nr,
		     const struct prf_dso *program)
{
	const struct prf_dso *dso;
	struct prf_at at = {};

	while ((dso = prf_next(runs, nr, &at)))
		add_dso(wide, dso, program);
}

static void add_classes(struct wide *wide, const struct prf *run)
{
	size_t i;

	for (i = 0; i < run->nr; i++) {
		const struct prf_exec *exec = &run->execs[i];

		wide->io += exec->kernel_count + exec->left_out;
		wide->above += prf_placed(exec, PRF_ELSEWHERE);
		wide->ticks += exec->ticks;
		wide->us += exec->ticks * (run->period_ns / 1e3);
	}
}

/* Limit a number to 16 bits; add the excess to @cut. */
static uint16_t narrow(uint64_t number, uint64_t *cut)
{
	if (number <= MOST)
		return number;
	*cut += number - MOST;
	return MOST;
}

static uint16_t clock_grain(const struct wide *wide, const struct prf *runs)
{
	double us = wide->ticks ? wide->us / wide->ticks :
		runs->period_ns / 1e3;

	if (us < MOST)
		return us + 0.5;
	warnx("clock_grain is %u us, the maximum of the format, instead of %.0f us",
	      MOST, us);
	return MOST;
}

/*
 * Use file offsets if all of them fit, else offsets from the program's start.
 */
static void place_program(const struct wide *wide, struct dos_prf *dos)
{
	uint64_t cut = 0;

	dos->prog_low_pa = wide->low;
	dos->prog_high_pa = wide->high;
	if (wide->high <= MOST)
		return;
	dos->prog_low_pa = 0;
	dos->prog_high_pa = narrow(wide->high - wide->low, &cut);
	if (wide->low)
		warnx("addresses are relative to the start of the text, which is at offset %#" PRIx64 " in the file",
		      wide->low * DOS_PARAGRAPH);
	if (cut)
		warnx("prog_high_pa is %u, the maximum of the format, but the text has %" PRIu64 " paragraphs",
		      MOST, wide->high - wide->low);
}

static int fill(struct wide *wide, const struct prf *runs,
		struct dos_prf *dos)
{
	size_t i;

	dos->buckets = calloc(wide->nr + 1, sizeof(*dos->buckets));
	if (!dos->buckets)
		return -1;
	dos->bucket_num = wide->nr;
	for (i = 0; i < wide->nr; i++)
		dos->buckets[i] = narrow(wide->buckets[i], &wide->cut);
	dos->clock_grain = clock_grain(wide, runs);
	dos->bucket_siz = wide->siz;
	place_program(wide, dos);
	dos->dos_pa = 0;
	dos->hit_io = narrow(wide->io, &wide->cut);
	dos->hit_dos = narrow(wide->dos, &wide->cut);
	dos->hit_high = narrow(wide->above, &wide->cut);
	if (wide->cut)
		warnx("%" PRIu64 " hits are missing: the maximum of a field is %u",
		      wide->cut, MOST);
	if (wide->others)
		warnx("%" PRIu64 " of the high hits are in other programs",
		      wide->others);
	return 0;
}

/**
 * dos_prf_make() - convert runs to a file of MS-DOS PROFIL
 * @runs: the runs, at least one
 * @nr: number of runs
 * @program: the DSO to use as the program; NULL if there is none
 * @bucket_siz: paragraphs in a bucket, more if the format or the profile
 *	requires that; 0 for as few as possible
 * @dos: receives the contents; free its buckets
 *
 * Return: 0, or -1 with errno; EFBIG if the text is too large for any bucket
 * size.
 */
int dos_prf_make(const struct prf *runs, size_t nr,
		 const struct prf_dso *program, uint64_t bucket_siz,
		 struct dos_prf *dos)
{
	struct wide wide = {};
	int result = -1;
	size_t i;

	for (i = 0; i < nr; i++)
		add_classes(&wide, &runs[i]);
	if (!find_text(&wide, runs, nr, program) &&
	    !choose_buckets(&wide, bucket_siz)) {
		add_dsos(&wide, runs, nr, program);
		result = fill(&wide, runs, dos);
	}
	free(wide.buckets);
	return result;
}
