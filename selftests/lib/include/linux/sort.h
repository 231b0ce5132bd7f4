/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sort.h - the kernel's sort_r(), based on the C library's qsort_r()
 */
#ifndef SELFTESTS_LINUX_SORT_H
#define SELFTESTS_LINUX_SORT_H

#include <linux/types.h>

typedef int (*cmp_r_func_t)(const void *a, const void *b, const void *priv);

void sort_r(void *base, size_t num, size_t size, cmp_r_func_t compare,
	    const void *swap, const void *priv);

#endif /* SELFTESTS_LINUX_SORT_H */
