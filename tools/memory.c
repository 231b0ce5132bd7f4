// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.c - memory that is there, or the tool ends
 *
 * What only prints can do nothing without memory, and leaves nothing behind.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/**
 * one_more() - room for one more
 * @array: to be resized; NULL at first
 * @nr: of elements in it, which grows by one at a time
 * @size: bytes of each
 *
 * Return: the array, which may have moved.
 */
void *one_more(void *array, size_t nr, size_t size)
{
	/* Room is doubled whenever the number is a power of two. */
	if (nr & (nr - 1))
		return array;
	array = reallocarray(array, nr ? 2 * nr : 1, size);
	if (!array)
		err(1, NULL);
	return array;
}

/** copy() - a string of one's own */
char *copy(const char *string)
{
	char *new = strdup(string);

	if (!new)
		err(1, NULL);
	return new;
}
