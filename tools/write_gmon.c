// SPDX-License-Identifier: GPL-2.0-only
/*
 * write_gmon.c - gmon.out of one object, for gprof
 *
 * gprof wants histograms that either are of the same text, and are then added,
 * or have no text in common. So there is one for each piece of text that has
 * ticks, and as many as it takes for counts that do not fit into 16 bits. All
 * pieces and bins are of one size in all files, which gprof can therefore add.
 */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/gmon_out.h>

#include "print.h"

/* Bytes of text: of a bin, than which gprof knows no smaller, and of a piece. */
#define BIN	2
#define PIECE	4096
#define BINS	(PIECE / BIN)

/* gprof adds in this many. */
#define MOST	INT32_MAX

/* Of all seconds, in percent, that may be wrong without a word. */
#define TOLERANCE	0.5

/**
 * struct out - the histograms
 * @rate: ticks in a second
 * @cut: ticks that gprof cannot count
 * @address: of the piece
 * @bins: its ticks that have not been written
 */
struct out {
	uint32_t rate;
	uint64_t cut;
	uint64_t address;
	uint64_t bins[BINS];
};

/* The structures of <sys/gmon_out.h> are made of bytes. */
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

/* Return: whether any ticks are left. */
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

/* Ticks are where their bucket begins. */
static void add_bucket(struct out *out, const struct sum_bucket *bucket)
{
	uint64_t *bin = &out->bins[bucket->address % PIECE / BIN];
	uint64_t ticks = bucket->ticks;

	if (ticks > MOST - *bin) {
		out->cut += ticks - (MOST - *bin);
		ticks = MOST - *bin;
	}
	*bin += ticks;
}

static void put_object(struct out *out, const struct sum_object *object)
{
	size_t i = 0;

	while (i < object->nr_buckets) {
		out->address = object->buckets[i].address / PIECE * PIECE;
		for (; i < object->nr_buckets && object->buckets[i].address -
		     out->address < PIECE; i++)
			add_bucket(out, &object->buckets[i]);
		put_piece(out);
	}
}

/* There are whole ticks in a second only. */
static uint32_t find_rate(const struct sum_object *object)
{
	double ns = 0, rate, whole;
	size_t i;

	for (i = 0; i < object->nr_buckets; i++)
		ns += object->buckets[i].ns;
	rate = ns > 0 ? object->ticks / (ns / 1e9) : 1;
	whole = rate < 1 ? 1 : rate > MOST ? MOST : (uint32_t)(rate + 0.5);
	if (whole > rate * (1 + TOLERANCE / 100) ||
	    whole < rate * (1 - TOLERANCE / 100))
		warnx("gprof's seconds are %.3g of the true ones: it was %.3f ticks in a second, and gmon.out has whole numbers",
		      rate / whole, rate);
	return whole;
}

/* Return: why gprof cannot make anything of an object, or NULL. */
static const char *find_problem(const struct sum_object *object)
{
	if (!object)
		return "there are no ticks in it";
	if (symbols_known(&object->symbols))
		return NULL;
	return object->symbols.problem ?: "it is no file";
}

/** write_gmon() - the object that was chosen, with all its ticks */
int write_gmon(const struct report *report)
{
	const struct prf_object *wanted = report_object(report);
	const struct sum_object *object;
	struct out out = {};
	const char *problem;
	uint64_t others;

	if (!wanted)
		return -1;
	object = sum_object(report->sum, wanted);
	problem = find_problem(object);
	if (problem) {
		term_warn("%s: %s", wanted->path, problem);
		return -1;
	}
	out.rate = find_rate(object);
	put_header();
	put_object(&out, object);
	others = report->sum->placed - object->ticks;
	if (others)
		term_warn("%s has %" PRIu64 " of %" PRIu64 " ticks; the others are in other objects",
		      object->path, object->ticks, report->sum->placed);
	if (out.cut)
		warnx("%" PRIu64 " ticks are missing: gprof counts up to %u",
		      out.cut, MOST);
	return 0;
}
