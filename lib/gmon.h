/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * gmon.h - what is counted for a program compiled with -pg
 *
 * Shared by what counts (mcount.c), what starts and stops it (gmon.c) and what
 * writes it down (gmon_file.c).
 */
#ifndef PROFIL_GMON_H
#define PROFIL_GMON_H

#include <stdbool.h>

#include "gmon_arcs.h"

/* Text for one counter of the histogram: as gprof has always been given it. */
#define GMON_BIN_TEXT	4

/**
 * struct gmon_own - what a process has counted itself, and a child has not
 * @dropped: calls that found no place in the table
 * @original: 1; 0 in a child by fork, where all of this is cleared
 */
struct gmon_own {
	uint64_t dropped;
	uint64_t original;
};

/**
 * struct gmon - a range of text and what is counted of it
 * @low: where it begins
 * @length: bytes of it; below 4 GiB
 * @load: where the object that it belongs to has been loaded: run-time minus
 *	link-time address, and gprof knows the latter
 * @entry: offset of the program's entry point, which stands for callers
 *	outside of the text: the C library, that calls main, threads, what
 *	qsort() compares with. 0 if it is not in the text
 * @rate: ticks in a second
 * @on: the kernel has been asked to count; a child inherits that
 * @said: that it would not has been said
 * @bins: histogram, with one counter for GMON_BIN_TEXT bytes
 * @nr_bins: number of counters
 * @arcs: calls
 * @own: begins the memory that is cleared in a child, with @bins and the table
 *	of @arcs behind it
 */
struct gmon {
	uintptr_t low;
	size_t length;
	uintptr_t load;
	uint32_t entry;
	uint32_t rate;
	bool on;
	bool said;
	uint16_t *bins;
	size_t nr_bins;
	struct gmon_arcs arcs;
	struct gmon_own *own;
};

/* What mcount counts in; NULL while it is not to count. */
extern struct gmon *gmon_counting;

/* No header of the C library declares it. */
void moncontrol(int mode);

void gmon_mcount(uintptr_t from, uintptr_t self);
void gmon_write(const struct gmon *gmon);
void gmon_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* PROFIL_GMON_H */
