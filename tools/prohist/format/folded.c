// SPDX-License-Identifier: GPL-2.0-only
/*
 * folded.c - print folded stacks, for flame graphs
 */
#include <inttypes.h>
#include <stdio.h>

#include "prohist/report.h"
#include "util/utf8.h"

/* Replace characters that separate frames and lines. */
static void print_frame(const char *name)
{
	int length;

	for (; *name; name += length ?: 1) {
		length = utf8_text(name);
		if (*name == ';')
			putchar(':');
		else if (length)
			fwrite(name, 1, length, stdout);
		else
			putchar('?');
	}
}

/**
 * print_folded() - print "command;DSO;function;inlined... number" lines
 *
 * The number is the CPU time, in ticks of the mean period.
 */
int print_folded(const struct report *report)
{
	const struct sum *sum = report->sum;
	size_t i;

	for (i = 0; i < sum->nr_functions; i++) {
		const struct sum_function *function = &sum->functions[i];
		const struct inlines *inlines = &function->piece->inlines;
		size_t j;

		print_frame(sum->command);
		putchar(';');
		print_frame(sum_dso_name(sum, function->dso));
		putchar(';');
		print_frame(function->piece->name);
		for (j = inlines->nr; j; j--) {
			putchar(';');
			print_frame(inlines->list[j - 1].name);
		}
		printf(" %" PRIu64 "\n", sum_scaled(sum, function->ns));
	}
	return 0;
}
