// SPDX-License-Identifier: GPL-2.0-only
/*
 * array.c - sort arrays by address
 */
#include <string.h>

#include "util/array.h"

/* Copy the elements, sorted by one byte of their starts. */
static void copy_by_byte(char *to, const char *from, size_t nr, size_t size,
			 unsigned int shift)
{
	size_t at[256] = {}, next = 0, i, here;

	for (i = 0; i < nr; i++)
		at[(uint8_t)(array_start(from, i, size) >> shift)]++;
	for (i = 0; i < 256; i++) {
		here = at[i];
		at[i] = next;
		next += here;
	}
	for (i = 0; i < nr; i++)
		memcpy(to + size *
		       at[(uint8_t)(array_start(from, i, size) >> shift)]++,
		       from + i * size, size);
}

/**
 * array_sort() - sort in the order of array_until(); equal ones keep theirs
 * @array: the array
 * @nr: number of elements
 * @size: size of an element, whose first member is its start, a uint64_t
 *
 * qsort() takes six times as long for the symbols of a large program.
 */
void array_sort(void *array, size_t nr, size_t size)
{
	char *room = reallocarray(NULL, nr, size), *from = array, *to = room;
	unsigned int shift;
	uint64_t all = 0;
	size_t i;

	if (!room) {
		qsort(array, nr, size, array_by_start);
		return;
	}
	for (i = 0; i < nr; i++)
		all |= array_start(from, i, size);
	for (shift = 0; shift < 64 && all >> shift; shift += 8) {
		copy_by_byte(to, from, nr, size, shift);
		to = from;
		from = from == array ? room : array;
	}
	if (from == room)
		memcpy(array, room, nr * size);
	free(room);
}
