// SPDX-License-Identifier: GPL-2.0-only
/*
 * dos_prf_make.c - runs in the numbers of MS-DOS PROFIL
 *
 * The program is the text of one file, and addresses are offsets in the file,
 * in paragraphs. The kernel is I/O; libraries, loader and vDSO are DOS; all
 * else is high, the text of other programs too. There are 16 bits for every
 * number: what does not fit is said on the standard error.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "dos_prf.h"

#define MOST	UINT16_MAX

/* The same with room for everything; paragraphs, but for the time. */
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

static int add_text(struct wide *wide, const struct prf_object *object)
{
	uint64_t size = object->end - object->start, end;
	uint64_t least = object->bucket_bytes / DOS_PARAGRAPH;

	if (__builtin_add_overflow(object->pgoff, size, &end)) {
		errno = EFBIG;
		return -1;
	}
	end = end / DOS_PARAGRAPH + !!(end % DOS_PARAGRAPH);
	if (!wide->high || object->pgoff / DOS_PARAGRAPH < wide->low)
		wide->low = object->pgoff / DOS_PARAGRAPH;
	if (end > wide->high)
		wide->high = end;
	if (least > wide->least_siz)
		wide->least_siz = least;
	return 0;
}

static int find_text(struct wide *wide, const struct prf *runs, size_t nr,
		     const struct prf_object *program)
{
	const struct prf_object *object;
	struct prf_at at = {};

	while (program && (object = prf_next(runs, nr, &at)))
		if (prf_same_object(object, program) && add_text(wide, object))
			return -1;
	return 0;
}

/* As many buckets as there can be, but none smaller than was asked for. */
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
		warnx("buckets are of %" PRIu64 " paragraphs, not %" PRIu64 ": there would be too many, or the ticks are not known so well",
		      wide->siz, wanted);
	wide->nr = paragraphs / wide->siz + !!(paragraphs % wide->siz);
	wide->buckets = calloc(wide->nr + 1, sizeof(*wide->buckets));
	return wide->buckets ? 0 : -1;
}

static void add_buckets(struct wide *wide, const struct prf_object *object)
{
	size_t i;

	for (i = 0; i < object->nr; i++) {
		const struct prf_bucket *bucket = &object->buckets[i];
		uint64_t at = (object->pgoff + bucket->offset) / DOS_PARAGRAPH;

		wide->buckets[(at - wide->low) / wide->siz] += bucket->count;
	}
}

static void add_object(struct wide *wide, const struct prf_object *object,
		       const struct prf_object *program)
{
	uint64_t ticks = prf_object_ticks(object);

	if (program && prf_same_object(object, program)) {
		add_buckets(wide, object);
	} else if (object->kind == PRF_PROGRAM) {
		wide->others += ticks;
		wide->above += ticks;
	} else if (object->kind == PRF_ANONYMOUS) {
		wide->above += ticks;
	} else {
		wide->dos += ticks;
	}
}

static void add_objects(struct wide *wide, const struct prf *runs, size_t nr,
			const struct prf_object *program)
{
	const struct prf_object *object;
	struct prf_at at = {};

	while ((object = prf_next(runs, nr, &at)))
		add_object(wide, object, program);
}

static void add_classes(struct wide *wide, const struct prf *run)
{
	size_t i;

	for (i = 0; i < run->nr; i++) {
		const struct prf_image *image = &run->images[i];

		wide->io += image->kernel_count + image->left_out;
		wide->above += image->outside;
		wide->ticks += image->ticks;
		wide->us += image->ticks * (run->period_ns / 1e3);
	}
}

/* @cut: receives what is above 16 bits, beside what is there. */
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
	warnx("clock_grain is %u us, the greatest that there is: it was %.0f us",
	      MOST, us);
	return MOST;
}

/* True addresses if all fit, else those from the program's beginning. */
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
		warnx("addresses are from the start of the text: it is at %#" PRIx64 " of the file",
		      wide->low * DOS_PARAGRAPH);
	if (cut)
		warnx("prog_high_pa is %u, the greatest that there is: the text has %" PRIu64 " paragraphs",
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
		warnx("%" PRIu64 " hits are missing: no number is above %u",
		      wide->cut, MOST);
	if (wide->others)
		warnx("%" PRIu64 " of the high hits are in other programs",
		      wide->others);
	return 0;
}

/**
 * dos_prf_make() - turn runs into such a file
 * @runs: at least one
 * @nr: number of runs
 * @program: what is the program; NULL if there is none
 * @bucket_siz: paragraphs in a bucket, or more if they do not fit; 0 for as few
 *	as fit
 * @dos: receives it; its buckets are to be freed
 *
 * Return: 0, or -1 with errno; EFBIG if the text is too large for any bucket.
 */
int dos_prf_make(const struct prf *runs, size_t nr,
		 const struct prf_object *program, uint64_t bucket_siz,
		 struct dos_prf *dos)
{
	struct wide wide = {};
	int result = -1;
	size_t i;

	for (i = 0; i < nr; i++)
		add_classes(&wide, &runs[i]);
	if (!find_text(&wide, runs, nr, program) &&
	    !choose_buckets(&wide, bucket_siz)) {
		add_objects(&wide, runs, nr, program);
		result = fill(&wide, runs, dos);
	}
	free(wide.buckets);
	return result;
}
