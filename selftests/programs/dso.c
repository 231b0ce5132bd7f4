// SPDX-License-Identifier: GPL-2.0-only
/*
 * dso.c - a library for opener to open; the macro NAME is its name
 */
#include "dso.h"
#include "spend.h"

/* The frames of two libraries differ, as their names do in length. */
OWN_TEXT(part) static void part(void)
{
	volatile char frame[64 * sizeof(NAME)];

	frame[0] = 0;
	LOOP(100000);
	frame[1] = frame[0];
}

extern struct library library;
struct library library = {
	.name = NAME,
	.start = __start_text_part,
	.end = __stop_text_part,
	.function = part,
};
