// SPDX-License-Identifier: GPL-2.0-only
/*
 * print_reckoning.c - what the numbers are worth
 *
 * First of all: how much of the CPU time there are ticks for, and where all
 * ticks have gone.
 */
#include <inttypes.h>
#include <stdio.h>

#include "print.h"

static void print_number(const char *name, uint64_t number, const char *what)
{
	printf("%10s %10" PRIu64 "  %s\n", name, number, what);
}

static void print_fate(const struct sum *sum)
{
	const struct prf_image *numbers = &sum->numbers;

	print_number("ticks", numbers->ticks, "in all");
	print_number("counted", numbers->counted, "are in the buckets");
	print_number("clipped", numbers->clipped,
		     "found their counter full");
	print_number("outside", numbers->outside, "belong to no region");
	print_number("lost", numbers->lost, "could not be written");
	print_number("left out", numbers->left_out,
		     "in the kernel, and not wanted");
	print_number("kernel", numbers->kernel,
		     "in the kernel, among the above");
	printf("ticks = counted + clipped + outside + lost + left out: %s\n",
	       sum_adds_up(sum) ? "yes" : "NO");
}

static void print_missed(const struct sum *sum)
{
	size_t i;

	if (sum->numbers.unfollowed)
		printf("not followed: %" PRIu64 " children\n",
		       sum->numbers.unfollowed);
	for (i = 0; i < sum->nr_missed; i++) {
		printf("not reached: ");
		term_name(sum->missed[i].name);
		printf(": ");
		term_name(sum->missed[i].reason);
		putchar('\n');
	}
}

/** print_reckoning() - CPU time and the fate of all ticks */
void print_reckoning(const struct term *term, const struct sum *sum)
{
	double cpu = sum->numbers.cpu_ns / 1e9;
	double time = sum->time_ns / 1e9;

	printf("profile of ");
	term_name(sum->command);
	if (sum->files > 1)
		printf(" and %u more", sum->files - 1);
	putchar('\n');
	term_heading(term, "reckoning");
	printf("CPU time: %.3f s by the kernel, %.3f s covered, %.3f s by ticks",
	       cpu, sum->numbers.covered_ns / 1e9, time);
	if (cpu > 0)
		printf(" (%.1f %%)", 100 * time / cpu);
	printf("\nclock: %s, period %.6f ms; real time %.3f s\n",
	       clock_name(sum->clock), sum->period_ns / 1e6,
	       sum->wall_ns / 1e9);
	print_fate(sum);
	print_missed(sum);
}
