// SPDX-License-Identifier: GPL-2.0-only
/*
 * suggest.c - find names similar to a given one
 *
 * Similar are names that contain the given one, and names at a small edit
 * distance.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/suggest.h"
#include "util/term.h"

/* Names suggested at most */
#define NEAREST	4

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

/* A name that contains the given one is similar, unless it is much longer. */
static size_t measure(const char *name, const char *wanted)
{
	if (strcasestr(name, wanted) && strlen(name) / 4 <= strlen(wanted))
		return 1;
	return distance(name, wanted);
}

/* Find the functions with the most similar names, the most similar first. */
static size_t nearest(const struct sum *sum, const char *wanted,
		      const char *found[NEAREST])
{
	size_t measures[NEAREST + 1], enough = strlen(wanted) / 3 + 1;
	size_t nr = 0, i, j;

	for (i = 0; i < sum->nr_functions; i++) {
		const char *name = sum_innermost(sum->functions[i].piece);
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

/**
 * suggest_nearest() - report that no function of a name has ticks
 * @sum: the sum with the functions
 * @wanted: the name
 */
void suggest_nearest(const struct sum *sum, const char *wanted)
{
	const char *names[NEAREST];
	size_t nr = nearest(sum, wanted, names), i, size;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		err(2, NULL);
	fprintf(stream, "no function '%s' has ticks", wanted);
	for (i = 0; i < nr; i++)
		fprintf(stream, "%s'%s'", i ? ", " : "; there is ", names[i]);
	if (fclose(stream))
		err(2, NULL);
	term_warn("%s", text);
	free(text);
}
