/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * gmon_arcs.h - how often each caller has called each function
 *
 * A table of fixed size that is filled and counted in without a lock, by any
 * number of threads and signal handlers at a time. All zeros is the empty
 * table: it may lie in memory that the kernel clears at fork.
 */
#ifndef PROFIL_GMON_ARCS_H
#define PROFIL_GMON_ARCS_H

#include <stddef.h>
#include <stdint.h>

/* What mcount executes; must not itself call mcount, if built with -pg. */
#define GMON_UNCOUNTED	__attribute__((no_instrument_function))

/**
 * struct gmon_arc - a caller and what it calls
 * @key: offset of the place of the call in the text, in the upper half, and of
 *	the function in the lower; 0 is a free place
 * @calls: number of calls
 */
struct gmon_arc {
	uint64_t key;
	uint64_t calls;
};

/**
 * struct gmon_arcs - the table
 * @slots: @nr places
 * @nr: a power of two
 * @bits: its logarithm
 * @dropped: counts the calls that found no place
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
