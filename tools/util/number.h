/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * number.h - parse numbers given by the user
 */
#ifndef NUMBER_H
#define NUMBER_H

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Accept only decimal digits, and only values from @min to @max. */
static inline bool parse_number(const char *text, uint64_t min, uint64_t max,
				uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !*end && !errno && *number >= min && *number <= max;
}

#endif /* NUMBER_H */
