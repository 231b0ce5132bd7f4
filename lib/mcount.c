// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * mcount.c - count the calls of functions compiled with -pg
 *
 * Runs in any thread, in signal handlers, and while registers hold the caller's
 * arguments; maybe even before gmon_counting is set, or after gmon.out is
 * written. So it is compiled for general registers only, calls no function of
 * another file, never waits, and takes a bounded number of steps. The stubs in
 * mcount-x86_64.S call it. On other machines _mcount() is an ordinary function.
 */
#include "device.h"
#include "gmon.h"

/* Enough to find a free slot unless the table is nearly full. */
#define PROBES		64

/* One slot for this many bytes of text: a call instruction alone has five. */
#define TEXT_PER_ARC	8

#define BITS_MIN	8
#define BITS_MAX	22

struct gmon *gmon_counting;

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

/**
 * gmon_mcount() - count a call, if the function is in the profiled text
 * @from: return address of the function, which is in its caller
 * @self: an address in the function
 *
 * Functions of other DSOs, such as a shared library compiled with -pg, are not
 * counted: gmon.out covers one DSO. Callers outside the text count as its entry
 * point.
 */
GMON_UNCOUNTED void gmon_mcount(uintptr_t from, uintptr_t self)
{
	const struct gmon *gmon = __atomic_load_n(&gmon_counting,
						  __ATOMIC_ACQUIRE);

	if (!gmon)
		return;
	from -= gmon->low;
	self -= gmon->low;
	if (self >= gmon->length)
		return;
	if (from >= gmon->length)
		from = gmon->entry;
	if (from)
		gmon_arcs_count(&gmon->arcs, from, self);
}

#ifndef __x86_64__
/**
 * _mcount() - count a call
 * @from: return address of the function that calls this
 *
 * arm64's and riscv's compilers make an ordinary call of this, around which the
 * function keeps its arguments.
 */
GMON_UNCOUNTED PROFIL_PUBLIC void _mcount(uintptr_t from)
{
	gmon_mcount(from, (uintptr_t)__builtin_return_address(0));
}
#endif
