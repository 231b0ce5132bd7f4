// SPDX-License-Identifier: GPL-2.0-only
/*
 * suggest.c - find names similar to a given one
 *
 * Similar are names that contain the given one, and names at a small edit
 * distance.
 */
#define _GNU_SOURCE
#include <string.h>

#include "prohist/suggest.h"

/* Only the first characters of a name count. */
#define LONGEST	80

static size_t least(size_t a, size_t b, size_t c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

/* Edit distance: insertions, removals and replacements (Levenshtein). */
static size_t distance(const char *a, const char *b)
{
	size_t row[LONGEST + 1], i, j, corner, above;
	size_t m = strnlen(a, LONGEST), n = strnlen(b, LONGEST);

	for (j = 0; j <= n; j++)
		row[j] = j;
	for (i = 1; i <= m; i++) {
		corner = row[0];
		row[0] = i;
		for (j = 1; j <= n; j++) {
			above = row[j];
			row[j] = least(above + 1, row[j - 1] + 1,
				       corner + (a[i - 1] != b[j - 1]));
			corner = above;
		}
	}
	return row[n];
}

static size_t measure(const char *name, const char *wanted)
{
	return strcasestr(name, wanted) ? 1 : distance(name, wanted);
}

/**
 * nearest() - find the functions with the most similar names
 * @sum: the sum with the functions
 * @wanted: the name
 * @found: receives the names, the most similar first
 *
 * Return: number of names found.
 */
size_t nearest(const struct sum *sum, const char *wanted,
	       const char *found[NEAREST])
{
	size_t measures[NEAREST + 1], enough = strlen(wanted) / 2 + 1;
	size_t nr = 0, i, j;

	for (i = 0; i < sum->nr_functions; i++) {
		const char *name = sum->functions[i].name;
		size_t size = measure(name, wanted);

		if (size > enough)
			continue;
		for (j = nr; j && measures[j - 1] > size; j--) {
			measures[j] = measures[j - 1];
			if (j < NEAREST)
				found[j] = found[j - 1];
		}
		measures[j] = size;
		if (j < NEAREST)
			found[j] = name;
		if (nr < NEAREST)
			nr++;
	}
	return nr;
}
