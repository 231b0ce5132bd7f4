// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * mcount.c - a function compiled with -pg has been entered
 *
 * Called by the stubs of mcount-x86_64.S, and subject to what gmon_arcs.c says
 * of its context. May be called before there is anything to count in, and
 * after it has been written.
 */
#include "gmon.h"

struct gmon *gmon_counting;

/**
 * gmon_mcount() - count a call, if both ends are known
 * @from: return address of the function, in its caller
 * @self: address in the function
 *
 * A function of another object than the one that is counted, such as a shared
 * library compiled with -pg, has no place in gmon.out.
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
