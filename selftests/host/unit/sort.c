// SPDX-License-Identifier: GPL-2.0-only
/*
 * sort.c - the kernel's sort_r(), based on the C library's qsort_r()
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include <linux/sort.h>

struct sort_context {
	cmp_r_func_t compare;
	const void *priv;
};

static int sort_compare(const void *a, const void *b, void *context)
{
	const struct sort_context *sort = context;

	return sort->compare(a, b, sort->priv);
}

/* All callers here pass a NULL @swap. */
void sort_r(void *base, size_t num, size_t size, cmp_r_func_t compare,
	    const void *swap, const void *priv)
{
	struct sort_context context = { .compare = compare, .priv = priv };

	(void)swap;
	qsort_r(base, num, size, sort_compare, &context);
}
