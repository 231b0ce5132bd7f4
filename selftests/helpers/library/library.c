// SPDX-License-Identifier: GPL-2.0-only
/*
 * library.c - a library to be opened by helpers/opener; NAME says which
 */
#include "../library.h"
#include "../spend.h"

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
