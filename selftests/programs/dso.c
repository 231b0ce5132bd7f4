// SPDX-License-Identifier: GPL-2.0-only
/*
 * dso.c - a library for opener to open; the macro NAME is its name
 */
#include "dso.h"
#include "spend.h"

OWN_TEXT(part) static void part(void)
{
	LOOP(100000);
}

extern struct library library;
struct library library = {
	.name = NAME,
	.start = __start_text_part,
	.end = __stop_text_part,
	.function = part,
};
