/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * sort.h - a sort_r() for the order of regions, to compile pure module code in
 * user space
 *
 * A heap sort, since the C library's qsort_r() may call malloc(), which is not
 * safe in signal handlers. Sorts 32-bit elements only, and ignores @swap.
 */
#ifndef PROFIL_LINUX_SORT_H
#define PROFIL_LINUX_SORT_H

#include <linux/types.h>

typedef int (*cmp_r_func_t)(const void *a, const void *b, const void *priv);

/* Let the element at @top sink below all larger ones. */
static inline void sort_sink(u32 *base, size_t num, size_t top,
			     cmp_r_func_t compare, const void *priv)
{
	for (;;) {
		size_t child = 2 * top + 1;
		u32 element = base[top];

		if (child >= num)
			return;
		if (child + 1 < num &&
		    compare(&base[child], &base[child + 1], priv) < 0)
			child++;
		if (compare(&element, &base[child], priv) >= 0)
			return;
		base[top] = base[child];
		base[child] = element;
		top = child;
	}
}

static inline void sort_r(u32 *base, size_t num, size_t size,
			  cmp_r_func_t compare, const void *swap,
			  const void *priv)
{
	size_t i;

	(void)size;
	(void)swap;
	for (i = num / 2; i-- > 0;)
		sort_sink(base, num, i, compare, priv);
	for (i = num; i-- > 1;) {
		u32 largest = base[0];

		base[0] = base[i];
		base[i] = largest;
		sort_sink(base, i, 0, compare, priv);
	}
}

#endif /* PROFIL_LINUX_SORT_H */
