// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * gmon_arcs.c - how often each caller has called each function
 *
 * Runs inside mcount: in any thread, in signal handlers, with the caller's
 * arguments in the registers. So it is compiled for general registers alone,
 * calls nothing, waits for nobody and takes a bounded number of steps.
 */
#include "gmon_arcs.h"

/* A table that is not nearly full has a free place long before these. */
#define PROBES		64

/* One place for so many bytes of text: a call alone has five. */
#define TEXT_PER_ARC	8

#define BITS_MIN	8
#define BITS_MAX	22

/**
 * gmon_arcs_bits() - how large a table should be
 * @text: bytes of text that is counted
 *
 * Places that are not used cost address space, no memory.
 *
 * Return: the logarithm of the number of places.
 */
unsigned int gmon_arcs_bits(size_t text)
{
	unsigned int bits = BITS_MIN;

	while (bits < BITS_MAX && (size_t)TEXT_PER_ARC << bits < text)
		bits++;
	return bits;
}

/*
 * The place of @key, which is taken for it if nobody has yet. A key never
 * leaves its place, so one that is found needs no further look.
 */
static inline GMON_UNCOUNTED struct gmon_arc *
gmon_arc_of(const struct gmon_arcs *arcs, uint64_t key)
{
	/* The golden ratio spreads keys that are near each other. */
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
 * @from: offset of the place of the call; not 0
 * @self: offset of the function that is called
 *
 * Where the table is cleared at fork, and a signal handler forks in between,
 * the child may find one call too many.
 */
GMON_UNCOUNTED void gmon_arcs_count(const struct gmon_arcs *arcs,
				    uint32_t from, uint32_t self)
{
	struct gmon_arc *arc = gmon_arc_of(arcs, (uint64_t)from << 32 | self);

	__atomic_fetch_add(arc ? &arc->calls : arcs->dropped, 1,
			   __ATOMIC_RELAXED);
}
