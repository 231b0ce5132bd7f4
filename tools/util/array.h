/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * array.h - arrays that grow by one element
 */
#ifndef ARRAY_H
#define ARRAY_H

#include <stdlib.h>

/**
 * array_grow() - make room for one more element
 * @array: the array; NULL if it is empty
 * @nr: number of elements; room doubles whenever this is a power of two
 * @size: size of an element, in bytes
 *
 * Return: the array, which may have moved, or NULL if out of memory; then
 * @array is unchanged.
 */
static inline void *array_grow(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	return reallocarray(array, nr ? 2 * nr : 1, size);
}

#endif /* ARRAY_H */
