// SPDX-License-Identifier: GPL-2.0-only
/*
 * kallsyms.c - names of the functions of the kernel and of its modules
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profil/names.h"
#include "util/array.h"

#define NAME	512

/* Room for a function whose end is not known, up to the next one */
#define LAST_SIZE	65536

/* Parse "ADDRESS TYPE NAME [MODULE]"; the strings are in @words. */
static bool parse(const char *line, char words[2][NAME], struct range *range)
{
	char type;
	int nr;

	words[1][0] = '\0';
	nr = sscanf(line, "%" SCNx64 " %c %511s [%511[^]]", &range->start,
		    &type, words[0], words[1]);
	range->end = range->start;
	range->name = words[0];
	range->module = words[1][0] ? words[1] : NULL;
	/* All addresses are 0 for those who may not know them */
	return nr >= 3 && range->start && strchr("tTwW", type);
}

static bool same_module(const struct range *a, const struct range *b)
{
	return a->module && b->module ? !strcmp(a->module, b->module) :
					a->module == b->module;
}

/*
 * The list has only starts. Several names of one address are one function; the
 * last function of a module ends where nobody says.
 */
static void set_ends(struct ranges *ranges)
{
	struct range *range = ranges->list + ranges->nr, *next = NULL;

	while (range-- > ranges->list) {
		range->end = UINT64_MAX;
		if (next)
			range->end = next->start > range->start ? next->start :
								  next->end;
		if ((!next || !same_module(range, next)) &&
		    range->end - range->start > LAST_SIZE)
			range->end = range->start + LAST_SIZE;
		next = range;
	}
}

/**
 * kallsyms_read() - read all functions
 * @ranges: receives them, none if the caller may not know them; for
 *	ranges_free(), even on failure
 *
 * Return: 0, or -1 if out of memory.
 */
int kallsyms_read(struct ranges *ranges)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char words[2][NAME], *line = NULL;
	struct range range;
	size_t room = 0;
	int failed = 0;

	memset(ranges, 0, sizeof(*ranges));
	while (file && !failed && getline(&line, &room, file) > 0)
		if (parse(line, words, &range))
			failed = ranges_add(ranges, &range);
	free(line);
	if (file)
		fclose(file);
	if (!failed && ranges->nr) {
		qsort(ranges->list, ranges->nr, sizeof(*ranges->list),
		      array_by_start);
		set_ends(ranges);
	}
	return failed;
}

/** kallsyms_find() - find the function at an address, or NULL */
const struct range *kallsyms_find(const struct ranges *ranges,
				  uint64_t address)
{
	size_t until = array_until(ranges->list, ranges->nr,
				   sizeof(*ranges->list), address);

	return until && ranges->list[until - 1].end > address ?
		&ranges->list[until - 1] : NULL;
}
