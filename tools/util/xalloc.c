// SPDX-License-Identifier: GPL-2.0-only
/*
 * xalloc.c - allocate memory or exit
 *
 * For prohist, which only prints: without memory it cannot go on, and has
 * nothing to clean up.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/xalloc.h"

/**
 * one_more() - make room for one more element
 * @array: the array; NULL if it is empty
 * @nr: number of elements; grow by one at a time
 * @size: size of an element, in bytes
 *
 * Return: the array, which may have moved.
 */
void *one_more(void *array, size_t nr, size_t size)
{
	array = array_grow(array, nr, size);
	if (!array)
		err(2, NULL);
	return array;
}

/** copy() - duplicate a string */
char *copy(const char *string)
{
	char *new = strdup(string);

	if (!new)
		err(2, NULL);
	return new;
}
