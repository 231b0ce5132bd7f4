// SPDX-License-Identifier: GPL-2.0-only
/*
 * samples.c - find the ticks of each exec in a sum
 */
#include <stdlib.h>

#include "prohist/samples.h"
#include "util/xalloc.h"

static int by_piece(const void *a, const void *b)
{
	const struct sample *s = a, *t = b;

	if (s->dso != t->dso)
		return s->dso < t->dso ? -1 : 1;
	return s->piece < t->piece ? -1 : s->piece > t->piece;
}

/* Add a sample to one of the same function; returns whether it is. */
static bool merge(struct sample *to, const struct sample *sample)
{
	if (by_piece(to, sample))
		return false;
	to->ticks += sample->ticks;
	to->ns += sample->ns;
	return true;
}

/* Append a sample, unless the last one is of the same function and that counts. */
static void append(struct samples *samples, const struct sample *sample)
{
	if (samples->by_function && samples->nr &&
	    merge(&samples->list[samples->nr - 1], sample))
		return;
	samples->list = one_more(samples->list, samples->nr, sizeof(*sample));
	samples->list[samples->nr++] = *sample;
}

static void add(struct samples *samples, const struct sum *sum,
		const struct sum_dso *dso, const struct sum_bucket *ticks)
{
	const struct sum_bucket *found = sum_find(dso, ticks->address,
						  ticks->bytes);

	if (!found)
		return;
	append(samples, &(struct sample){
		.dso = dso - sum->dsos,
		.piece = found->piece,
		.bucket = found - dso->buckets,
		.ticks = ticks->ticks,
		.ns = ticks->ns,
	});
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

static void add_exec(struct samples *samples, const struct sum *sum,
		     const struct prf *run, const struct prf_exec *exec)
{
	size_t i;

	for (i = 0; i < exec->nr; i++)
		add_mapping(samples, sum, &exec->dsos[i], run->period_ns);
	add_whole(samples, sum, SUM_KERNEL,
		  exec->kernel_count + prf_placed(exec, PRF_IN_KERNEL),
		  run->period_ns);
	add_whole(samples, sum, SUM_OTHER, prf_placed(exec, PRF_ELSEWHERE),
		  run->period_ns);
}

/** samples_of() - find the ticks of an exec in a finished sum of its run */
struct samples samples_of(const struct sum *sum, const struct prf *run,
			  const struct prf_exec *exec)
{
	struct samples samples = {};

	add_exec(&samples, sum, run, exec);
	return samples;
}

/** samples_by_function() - like samples_of(), with one sample for each piece */
struct samples samples_by_function(const struct sum *sum, const struct prf *run,
				   const struct prf_exec *exec)
{
	struct samples samples = { .by_function = true };
	size_t nr = 0, i;

	add_exec(&samples, sum, run, exec);
	if (samples.nr)
		qsort(samples.list, samples.nr, sizeof(*samples.list),
		      by_piece);
	for (i = 0; i < samples.nr; i++)
		if (!nr || !merge(&samples.list[nr - 1], &samples.list[i]))
			samples.list[nr++] = samples.list[i];
	samples.nr = nr;
	return samples;
}
