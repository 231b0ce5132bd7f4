/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * xalloc.h - allocate memory or exit
 */
#ifndef XALLOC_H
#define XALLOC_H

#include <stddef.h>

void *one_more(void *array, size_t nr, size_t size);
char *copy(const char *string);

#endif /* XALLOC_H */
