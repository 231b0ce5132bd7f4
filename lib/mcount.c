// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * mcount.c - entry of a function compiled with -pg
 *
 * The stubs in mcount-x86_64.S call this, with the restrictions that
 * gmon_arcs.c lists; maybe even before gmon_counting is set, or after gmon.out
 * is written. On other machines _mcount() is an ordinary function.
 */
#include "device.h"
#include "gmon.h"

struct gmon *gmon_counting;

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
