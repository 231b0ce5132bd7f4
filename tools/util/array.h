/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * array.h - arrays that grow by one element, or are sorted by address
 */
#ifndef ARRAY_H
#define ARRAY_H

#include <stdint.h>
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

/* The start of an element: its first member, a uint64_t */
static inline uint64_t array_start(const void *array, size_t i, size_t size)
{
	return *(const uint64_t *)((const char *)array + i * size);
}

/**
 * array_until() - count the elements that start at or before an address
 * @array: the array, sorted by start
 * @nr: number of elements
 * @size: size of an element, whose first member is its start, a uint64_t
 * @address: the address
 */
static inline size_t array_until(const void *array, size_t nr, size_t size,
				 uint64_t address)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (array_start(array, middle, size) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void array_sort(void *array, size_t nr, size_t size);

/** array_by_start() - comparison for qsort(), in the order of array_until() */
static inline int array_by_start(const void *a, const void *b)
{
	const uint64_t *start = a, *other = b;

	return (*start > *other) - (*start < *other);
}

#endif /* ARRAY_H */
