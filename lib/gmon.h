/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * gmon.h - counters of a program compiled with -pg
 *
 * Shared by the part that counts (mcount.c), the part that starts and stops
 * (gmon.c), and the part that writes the file (gmon_file.c).
 */
#ifndef PROFIL_GMON_H
#define PROFIL_GMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of text for each counter of the histogram, as usual for gprof. */
#define GMON_COUNTER_TEXT	4

/* For code that mcount runs: with -pg, it would call mcount itself. */
#define GMON_UNCOUNTED	__attribute__((no_instrument_function))

/**
 * struct gmon_arc - a call site and the function that it calls
 * @key: offsets from the start of the text, of the call site in the upper half
 *	and of the function in the lower; 0 marks a free slot
 * @calls: number of calls
 */
struct gmon_arc {
	uint64_t key;
	uint64_t calls;
};

/**
 * struct gmon_arcs - call counts of each pair of caller and function
 * @slots: @nr slots
 * @nr: number of slots, a power of two
 * @bits: binary logarithm of @nr
 * @dropped: number of calls for which there was no slot
 *
 * A hash table of fixed size. Any number of threads and signal handlers insert
 * and count at the same time, without a lock. An empty table is all zeros, so
 * it may lie in memory that the kernel clears at fork.
 */
struct gmon_arcs {
	struct gmon_arc *slots;
	size_t nr;
	unsigned int bits;
	uint64_t *dropped;
};

/**
 * struct gmon_own - state that a forked child does not inherit
 * @dropped: number of calls for which the table had no slot
 * @original: 1; 0 in a forked child, where the kernel clears all of this
 */
struct gmon_own {
	uint64_t dropped;
	uint64_t original;
};

/**
 * struct gmon - a range of text and its counters
 * @low: first address
 * @length: size in bytes; below 4 GiB
 * @load: run-time minus link-time address of its DSO; gprof uses the latter
 * @entry: offset of the program's entry point, which stands for callers outside
 *	the text: the C library, which calls main(), threads and the comparison
 *	function of qsort(). 0 if it is not in the text
 * @rate: ticks per second
 * @on: a profile has been started; a child inherits it
 * @warned: the user has been warned that starting one failed
 * @counters: histogram, one counter for each GMON_COUNTER_TEXT bytes
 * @nr_counters: number of counters
 * @arcs: call counts
 * @own: start of the memory that the kernel clears in a child; @counters and
 *	the table of @arcs follow it
 */
struct gmon {
	uintptr_t low;
	size_t length;
	uintptr_t load;
	uint32_t entry;
	uint32_t rate;
	bool on;
	bool warned;
	uint16_t *counters;
	size_t nr_counters;
	struct gmon_arcs arcs;
	struct gmon_own *own;
};

/* Counters that mcount uses; NULL while it must not count. */
extern struct gmon *gmon_counting;

/* The C library has it, but declares it in no header. */
void moncontrol(int mode);

unsigned int gmon_arcs_bits(size_t text);
void gmon_arcs_count(const struct gmon_arcs *arcs, uint32_t from,
		     uint32_t self);
void gmon_mcount(uintptr_t from, uintptr_t self);
void gmon_write(const struct gmon *gmon);
void gmon_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* PROFIL_GMON_H */
