// SPDX-License-Identifier: GPL-2.0-only
/*
 * listing.c - list buckets as MS-DOS PROHIST did
 *
 * A line with hits, address, percentages and a bar for each bucket with hits. A
 * blank line stands for any number of buckets without hits.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "prohist/report.h"

#define COLUMNS	49

/* Buckets with hits, sorted; their addresses are @base + offset. */
struct listing {
	const struct prf_bucket *buckets;
	size_t nr;
	uint64_t base;
	uint64_t step;
	uint64_t all;
	uint64_t most;
};

static void reckon(struct listing *listing)
{
	size_t i;

	for (i = 0; i < listing->nr; i++) {
		uint64_t count = listing->buckets[i].count;

		listing->all += count;
		if (count > listing->most)
			listing->most = count;
	}
}

static void print_listing(const struct term *term, struct listing *listing)
{
	int width = term_bar_width(term, COLUMNS);
	uint64_t so_far = 0, next = 0;
	size_t i;

	reckon(listing);
	printf("%10s %-18s %8s %8s  a full bar is %" PRIu64 " hits\n",
	       "hits", "address", "so far", "percent", listing->most);
	for (i = 0; i < listing->nr; i++) {
		const struct prf_bucket *bucket = &listing->buckets[i];

		if (bucket->offset != next)
			putchar('\n');
		next = bucket->offset + listing->step;
		so_far += bucket->count;
		printf("%10" PRIu64 " %#018" PRIx64 " %6.1f %% %6.1f %%  ",
		       bucket->count, listing->base + bucket->offset,
		       100.0 * so_far / listing->all,
		       100.0 * bucket->count / listing->all);
		term_bar(term, width, bucket->count, listing->most,
			 TERM_GREEN);
		putchar('\n');
	}
}

static void print_dso(const struct term *term,
		      const struct prf_dso *dso)
{
	struct listing listing = {
		.buckets = dso->buckets,
		.nr = dso->nr,
		.base = dso->pgoff,
		.step = dso->bucket_bytes,
	};

	if (!dso->nr)
		return;
	putchar('\n');
	term_name(dso->path);
	printf("\nbuckets of %" PRIu32 " bytes; addresses are offsets in the file\n",
	       dso->bucket_bytes);
	print_listing(term, &listing);
}

static void print_classes(uint64_t io, uint64_t dos, uint64_t high)
{
	printf("\n%10" PRIu64 " hits in the kernel (I/O)\n", io);
	printf("%10" PRIu64 " hits in libraries (DOS)\n", dos);
	printf("%10" PRIu64 " hits elsewhere (high)\n", high);
}

/** print_buckets() - list the buckets of each DSO of each exec */
void print_buckets(const struct term *term, const struct prf *prf)
{
	uint64_t io = 0, dos = 0, high = 0;
	size_t i, j;

	for (i = 0; i < prf->nr; i++) {
		const struct prf_exec *exec = &prf->execs[i];

		io += exec->kernel_count + exec->left_out;
		high += prf_placed(exec, PRF_ELSEWHERE);
		for (j = 0; j < exec->nr; j++) {
			const struct prf_dso *dso = &exec->dsos[j];

			/* MS-DOS counted no waits */
			if (prf_state_of(dso) != PRF_ON_CPU)
				continue;
			if (dso->kind == PRF_ANONYMOUS)
				high += prf_dso_ticks(dso);
			else if (dso->kind == PRF_KERNEL_TEXT)
				io += prf_dso_ticks(dso);
			else if (dso->kind != PRF_PROGRAM)
				dos += prf_dso_ticks(dso);
			print_dso(term, dso);
		}
	}
	print_classes(io, dos, high);
}

/**
 * print_dos() - list the contents of a file of MS-DOS PROFIL
 *
 * Return: 0, or -1 if out of memory.
 */
int print_dos(const struct term *term, const struct dos_prf *dos)
{
	uint64_t step = (uint64_t)dos->bucket_siz * DOS_PARAGRAPH;
	struct prf_bucket *buckets = calloc(dos->bucket_num + 1,
					    sizeof(*buckets));
	struct listing listing = {
		.buckets = buckets,
		.base = (uint64_t)dos->prog_low_pa * DOS_PARAGRAPH,
		.step = step,
	};
	size_t i;

	if (!buckets)
		return -1;
	for (i = 0; i < dos->bucket_num; i++) {
		if (!dos->buckets[i])
			continue;
		buckets[listing.nr].offset = i * step;
		buckets[listing.nr++].count = dos->buckets[i];
	}
	printf("a tick every %u us; buckets of %u paragraphs (%" PRIu64 " bytes)\n",
	       dos->clock_grain, dos->bucket_siz, step);
	print_listing(term, &listing);
	print_classes(dos->hit_io, dos->hit_dos, dos->hit_high);
	free(buckets);
	return 0;
}
