/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * gmon_arcs.h - call counts of each pair of caller and function
 *
 * A hash table of fixed size. Any number of threads and signal handlers insert
 * and count at the same time, without a lock. An empty table is all zeros, so
 * it may lie in memory that the kernel clears at fork.
 */
#ifndef PROFIL_GMON_ARCS_H
#define PROFIL_GMON_ARCS_H

#include <stddef.h>
#include <stdint.h>

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
 * struct gmon_arcs - the hash table
 * @slots: @nr slots
 * @nr: number of slots, a power of two
 * @bits: binary logarithm of @nr
 * @dropped: number of calls for which there was no slot
 */
struct gmon_arcs {
	struct gmon_arc *slots;
	size_t nr;
	unsigned int bits;
	uint64_t *dropped;
};

unsigned int gmon_arcs_bits(size_t text);
void gmon_arcs_count(const struct gmon_arcs *arcs, uint32_t from,
		     uint32_t self);

#endif /* PROFIL_GMON_ARCS_H */
