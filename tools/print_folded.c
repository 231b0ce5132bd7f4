// SPDX-License-Identifier: GPL-2.0-only
/*
 * print_folded.c - lines that flame graphs are made of
 */
#include <inttypes.h>
#include <stdio.h>

#include "print.h"
#include "utf8.h"

/* What separates frames and lines may not be in a name. */
static void print_frame(const char *name)
{
	int length;

	for (; *name; name += length ?: 1) {
		length = utf8_text(name);
		if (*name == ';')
			putchar(':');
		else if (length)
			printf("%.*s", length, name);
		else
			putchar('?');
	}
}

/** print_folded() - command;object;function ticks */
int print_folded(const struct report *report)
{
	const struct sum *sum = report->sum;
	size_t i;

	for (i = 0; i < sum->nr_functions; i++) {
		const struct sum_function *function = &sum->functions[i];

		print_frame(sum->command);
		putchar(';');
		print_frame(sum_object_name(sum, function->object));
		putchar(';');
		print_frame(function->name);
		printf(" %" PRIu64 "\n", function->ticks);
	}
	return 0;
}
