/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.h - memory that is there, or the tool ends
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

void *one_more(void *array, size_t nr, size_t size);
char *copy(const char *string);

#endif /* MEMORY_H */
