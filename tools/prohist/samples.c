// SPDX-License-Identifier: GPL-2.0-only
/*
 * samples.c - find the ticks of each exec in a sum
 */
#include <stdlib.h>

#include "prohist/samples.h"
#include "util/xalloc.h"

static void add(struct samples *samples, const struct sum *sum,
		const struct sum_dso *dso, const struct sum_bucket *ticks)
{
	const struct sum_bucket *found = sum_find(dso, ticks->address,
						  ticks->bytes);
	struct sample *sample;

	if (!found)
		return;
	samples->list = one_more(samples->list, samples->nr, sizeof(*sample));
	sample = &samples->list[samples->nr++];
	*sample = (struct sample){
		.dso = dso - sum->dsos,
		.piece = found->piece,
		.bucket = found - dso->buckets,
		.ticks = ticks->ticks,
		.ns = ticks->ns,
	};
}

static void add_mapping(struct samples *samples, const struct sum *sum,
			const struct prf_dso *mapping, double period_ns)
{
	const struct sum_dso *dso = sum_dso(sum, mapping);
	size_t i;

	for (i = 0; dso && i < mapping->nr; i++) {
		const struct prf_bucket *bucket = &mapping->buckets[i];
		const struct sum_bucket ticks = {
			.address = symbols_address(&dso->symbols, mapping,
						   bucket->offset),
			.bytes = mapping->bucket_bytes,
			.ticks = bucket->count,
			.ns = bucket->count * period_ns,
		};

		add(samples, sum, dso, &ticks);
	}
}

/* Add ticks with only a known class. */
static void add_whole(struct samples *samples, const struct sum *sum,
		      enum sum_class class, uint64_t ticks, double period_ns)
{
	const struct sum_bucket bucket = {
		.bytes = 1,
		.ticks = ticks,
		.ns = ticks * period_ns,
	};
	const struct sum_dso *dso = sum_whole(sum, class);

	if (ticks && dso)
		add(samples, sum, dso, &bucket);
}

/** samples_of() - find the ticks of an exec in a finished sum of its run */
struct samples samples_of(const struct sum *sum, const struct prf *run,
			  const struct prf_exec *exec)
{
	struct samples samples = {};
	size_t i;

	for (i = 0; i < exec->nr; i++)
		add_mapping(&samples, sum, &exec->dsos[i], run->period_ns);
	add_whole(&samples, sum, SUM_KERNEL,
		  exec->kernel_count + exec->left_out, run->period_ns);
	add_whole(&samples, sum, SUM_OTHER, prf_elsewhere(exec),
		  run->period_ns);
	return samples;
}

static int by_piece(const void *a, const void *b)
{
	const struct sample *s = a, *t = b;

	if (s->dso != t->dso)
		return s->dso < t->dso ? -1 : 1;
	return s->piece < t->piece ? -1 : s->piece > t->piece;
}

/** samples_by_function() - like samples_of(), with one sample for each piece */
struct samples samples_by_function(const struct sum *sum, const struct prf *run,
				   const struct prf_exec *exec)
{
	struct samples samples = samples_of(sum, run, exec);
	struct sample *list = samples.list;
	size_t i, nr = 0;

	if (samples.nr)
		qsort(list, samples.nr, sizeof(*list), by_piece);
	for (i = 0; i < samples.nr; i++) {
		if (nr && !by_piece(&list[nr - 1], &list[i])) {
			list[nr - 1].ticks += list[i].ticks;
			list[nr - 1].ns += list[i].ns;
			continue;
		}
		list[nr++] = list[i];
	}
	samples.nr = nr;
	return samples;
}
