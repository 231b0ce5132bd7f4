// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * gmon_arcs.c - call counts of each pair of caller and function
 *
 * Runs inside mcount: in any thread, in signal handlers, and while registers
 * hold the caller's arguments. So it is compiled for general registers only,
 * calls no function, never waits, and takes a bounded number of steps.
 */
#include "gmon_arcs.h"

/* Enough to find a free slot unless the table is nearly full. */
#define PROBES		64

/* One slot for this many bytes of text: a call instruction alone has five. */
#define TEXT_PER_ARC	8

#define BITS_MIN	8
#define BITS_MAX	22

/**
 * gmon_arcs_bits() - choose the size of the table
 * @text: size of the profiled text, in bytes
 *
 * Unused slots take address space, but no memory.
 *
 * Return: binary logarithm of the number of slots.
 */
unsigned int gmon_arcs_bits(size_t text)
{
	unsigned int bits = BITS_MIN;

	while (bits < BITS_MAX && (size_t)TEXT_PER_ARC << bits < text)
		bits++;
	return bits;
}

/*
 * Find the slot of @key, or take a free one. A key never moves, so a slot once
 * found remains valid.
 */
static inline GMON_UNCOUNTED struct gmon_arc *
gmon_arc_of(const struct gmon_arcs *arcs, uint64_t key)
{
	/* Multiplying by the golden ratio scatters neighbouring keys */
	size_t at = key * 0x9e3779b97f4a7c15 >> (64 - arcs->bits);
	unsigned int i;

	for (i = 0; i < PROBES; i++) {
		struct gmon_arc *arc = &arcs->slots[(at + i) & (arcs->nr - 1)];
		uint64_t found = __atomic_load_n(&arc->key, __ATOMIC_RELAXED);

		if (found == key)
			return arc;
		if (found)
			continue;
		if (__atomic_compare_exchange_n(&arc->key, &found, key, 0,
						__ATOMIC_RELAXED,
						__ATOMIC_RELAXED) ||
		    found == key)
			return arc;
	}
	return NULL;
}

/**
 * gmon_arcs_count() - count a call
 * @arcs: the table
 * @from: offset of the call site; not 0
 * @self: offset of the called function
 *
 * If the kernel clears the table at fork, and a signal handler forks after this
 * has found the slot, the child may count one call too many.
 */
GMON_UNCOUNTED void gmon_arcs_count(const struct gmon_arcs *arcs,
				    uint32_t from, uint32_t self)
{
	struct gmon_arc *arc = gmon_arc_of(arcs, (uint64_t)from << 32 | self);

	__atomic_fetch_add(arc ? &arc->calls : arcs->dropped, 1,
			   __ATOMIC_RELAXED);
}
