// SPDX-License-Identifier: GPL-2.0-only
/*
 * gmon.c - write gmon.out of one DSO, for gprof
 *
 * gprof adds histograms of the same text, and accepts others only if they do
 * not overlap. So each piece of text with ticks has a histogram, and more of
 * them if its counts exceed 16 bits. Pieces and bins have the same size in all
 * files, so that gprof can sum up files, too.
 */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/gmon_out.h>

#include "prohist/report.h"

/* Bytes of text: of a bin, the smallest that gprof accepts, and of a piece. */
#define BIN	2
#define PIECE	4096
#define BINS	(PIECE / BIN)

/* Maximum of gprof's sums. */
#define MOST	INT32_MAX

/* Error of gprof's seconds, in percent, up to which there is no warning. */
#define TOLERANCE	0.5

/**
 * struct out - the histogram being written
 * @sum: all ticks
 * @rate: ticks per second
 * @cut: ticks beyond gprof's maximum
 * @rest: what is left of a tick, for the next bucket
 * @address: start of the piece
 * @bins: ticks of the piece, not written yet
 */
struct out {
	const struct sum *sum;
	uint32_t rate;
	uint64_t cut;
	double rest;
	uint64_t address;
	uint64_t bins[BINS];
};

/* Only byte arrays, as in <sys/gmon_out.h>, so there is no padding. */
struct record {
	char tag;
	struct gmon_hist_hdr header;
	uint8_t bins[2 * BINS];
};

static void put_header(void)
{
	const uint32_t version = GMON_VERSION;
	struct gmon_hdr header = { .cookie = GMON_MAGIC };

	memcpy(header.version, &version, sizeof(version));
	fwrite(&header, sizeof(header), 1, stdout);
}

/*
 * Move at most 65535 ticks of each bin to @bins; returns whether any are left.
 */
static bool take_bins(struct out *out, uint8_t *bins)
{
	uint64_t left = 0;
	size_t i;

	for (i = 0; i < BINS; i++) {
		uint16_t count = out->bins[i] < UINT16_MAX ? out->bins[i] :
			UINT16_MAX;

		memcpy(bins + i * sizeof(count), &count, sizeof(count));
		out->bins[i] -= count;
		left |= out->bins[i];
	}
	return left;
}

static void put_piece(struct out *out)
{
	const uint64_t end = out->address + PIECE;
	const uint32_t bins = BINS;
	struct record record = {
		.tag = GMON_TAG_TIME_HIST,
		.header = { .dimen = "seconds", .dimen_abbrev = 's' },
	};
	bool more;

	memcpy(record.header.low_pc, &out->address, sizeof(out->address));
	memcpy(record.header.high_pc, &end, sizeof(end));
	memcpy(record.header.hist_size, &bins, sizeof(bins));
	memcpy(record.header.prof_rate, &out->rate, sizeof(out->rate));
	do {
		more = take_bins(out, record.bins);
		fwrite(&record, sizeof(record), 1, stdout);
	} while (more);
}

/* A tick counts at the start of its bucket, as time in mean periods. */
static void add_bucket(struct out *out, const struct sum_bucket *bucket)
{
	uint64_t *bin = &out->bins[bucket->address % PIECE / BIN];
	uint64_t ticks = sum_scaled(out->sum, bucket->ns, &out->rest);

	if (ticks > MOST - *bin) {
		out->cut += ticks - (MOST - *bin);
		ticks = MOST - *bin;
	}
	*bin += ticks;
}

static void put_dso(struct out *out, const struct sum_dso *dso)
{
	size_t i = 0;

	while (i < dso->nr_buckets) {
		out->address = dso->buckets[i].address / PIECE * PIECE;
		for (; i < dso->nr_buckets && dso->buckets[i].address -
		     out->address < PIECE; i++)
			add_bucket(out, &dso->buckets[i]);
		put_piece(out);
	}
}

/* gmon.out has whole ticks per second only. */
static uint32_t find_rate(const struct sum *sum)
{
	double rate = sum->placed_ns > 0 ?
		sum->placed / (sum->placed_ns / 1e9) : 1, whole;

	whole = rate < 1 ? 1 : rate > MOST ? MOST : (uint32_t)(rate + 0.5);
	if (whole > rate * (1 + TOLERANCE / 100) ||
	    whole < rate * (1 - TOLERANCE / 100))
		warnx("gprof's seconds are %.3g of the true ones: it was %.3f ticks in a second, and gmon.out has whole numbers",
		      rate / whole, rate);
	return whole;
}

/** write_gmon() - write all ticks of the chosen DSO */
int write_gmon(const struct report *report)
{
	const struct sum_dso *dso = report_sum_dso(report);
	struct out out = { .sum = report->sum };
	uint64_t others;

	if (!dso)
		return -1;
	out.rate = find_rate(report->sum);
	put_header();
	put_dso(&out, dso);
	others = report->sum->placed - dso->ticks;
	if (others)
		term_warn("%s has %" PRIu64 " of %" PRIu64 " ticks; the others are in other DSOs",
		      dso->path, dso->ticks, report->sum->placed);
	if (out.cut)
		warnx("%" PRIu64 " ticks are missing: gprof counts up to %u",
		      out.cut, MOST);
	return 0;
}
