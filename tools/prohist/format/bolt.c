// SPDX-License-Identifier: GPL-2.0-only
/*
 * bolt.c - write a profile without branches for llvm-bolt
 *
 * The file is what "perf2bolt -nl" writes (.fdata), but with counts: a line
 * with symbol, offset in it, and ticks for each bucket. llvm-bolt numbers local
 * symbols of the same name by address.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "prohist/report.h"
#include "symbolize/linkage.h"
#include "util/utf8.h"

/* Spaces separate fields. */
static void put_name(const struct linkage *linkage)
{
	const char *byte;

	for (byte = linkage->name; *byte; byte++) {
		if (*byte == ' ' || *byte == '\\')
			putchar('\\');
		putchar(*byte);
	}
	if (linkage->rank)
		printf("/%u", linkage->rank);
}

/* Returns the ticks that no line can express. */
static uint64_t put_buckets(const struct sum *sum, const struct sum_dso *dso)
{
	struct linkages linkages;
	struct linkage linkage = {};
	uint64_t without = 0;
	double rest = 0;
	size_t i;

	if (linkages_read(&linkages, &dso->symbols))
		err(2, NULL);
	for (i = 0; i < dso->nr_buckets; i++) {
		const struct sum_bucket *bucket = &dso->buckets[i];

		if (bucket->address >= linkage.end &&
		    !linkages_find(&linkages, bucket->address, &linkage))
			linkage = (struct linkage){};
		if (!linkage.name || !utf8_is_text(linkage.name)) {
			without += bucket->ticks;
			continue;
		}
		printf("1 ");
		put_name(&linkage);
		printf(" %" PRIx64 " %" PRIu64 "\n",
		       bucket->address - linkage.start,
		       sum_scaled(sum, bucket->ns, &rest));
	}
	linkages_free(&linkages);
	return without;
}

/** write_bolt() - write the buckets of one DSO */
int write_bolt(const struct report *report)
{
	const struct sum_dso *dso = report_exact_dso(report);
	uint64_t without;

	if (!dso)
		return -1;
	printf("no_lbr cpu-clock:\n");
	without = put_buckets(report->sum, dso);
	if (without)
		term_warn("%s: %" PRIu64 " ticks are missing: they are in code without symbols, or in functions whose names this format cannot express",
			  dso->path, without);
	return 0;
}
