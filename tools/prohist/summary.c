// SPDX-License-Identifier: GPL-2.0-only
/*
 * summary.c - print the summary of a report
 *
 * Shows how much of the CPU time ticks cover, and the outcomes of all ticks.
 */
#include <inttypes.h>
#include <stdio.h>

#include "prohist/report.h"

static void print_number(const char *name, uint64_t number, const char *what)
{
	printf("%10s %10" PRIu64 "  %s\n", name, number, what);
}

static void print_outcomes(const struct sum *sum)
{
	const struct prf_exec *numbers = &sum->numbers;

	print_number("ticks", numbers->ticks, "in total");
	print_number("counted", numbers->counted, "in the buckets");
	print_number("clipped", numbers->clipped,
		     "not counted: the counter was full");
	print_number("outside", numbers->outside, "outside all regions");
	print_number("lost", numbers->lost,
		     sum->clock == PRF_CLOCK_PERF_EVENT_OPEN ?
		     "not counted: the thread ended before its next tick" :
		     "not counted: pending at the end, or counter not writable");
	print_number("left out", numbers->left_out,
		     "in the kernel, excluded");
	print_number("coarse", numbers->coarse,
		     "in no bucket: there was none left");
	print_number("unresolved", numbers->unresolved,
		     "in no bucket: the mapping was gone");
	if (numbers->unselected)
		print_number("unselected", numbers->unselected,
			     "in other DSOs or functions");
	print_number("kernel", numbers->kernel,
		     "in the kernel, included above");
	printf("ticks = counted + clipped + outside + lost + left out + coarse + unresolved%s: %s\n",
	       numbers->unselected ? " + unselected" : "",
	       sum_adds_up(sum) ? "yes" : "NO");
}

static void print_untimed(const struct sum *sum)
{
	const char *remedy = "see CONTENTS OF THE FILE in profil(1)";

	if (sum_untimed(sum) <= SUM_UNTIMED)
		return;
	if (sum->clock == PRF_CLOCK_PERF_EVENT_OPEN)
		remedy = "use the kernel module, or a shorter profil --interval";
	printf("%.1f %% of the CPU time has no ticks, and may belong anywhere; %s\n",
	       100 * sum_untimed(sum), remedy);
}

static void print_missed(const struct sum *sum)
{
	size_t i;

	if (sum->numbers.unfollowed)
		printf("not followed: %" PRIu64 " processes\n",
		       sum->numbers.unfollowed);
	if (sum->withheld)
		printf("not permitted: %" PRIu64 " processes and programs\n",
		       sum->withheld);
	for (i = 0; i < sum->nr_missed; i++) {
		printf("not profiled: ");
		term_name(sum->missed[i].name);
		printf(": ");
		term_name(sum->missed[i].reason);
		putchar('\n');
	}
}

/** print_summary() - CPU time and the outcomes of all ticks */
void print_summary(const struct term *term, const struct sum *sum)
{
	double covered = sum->numbers.covered_ns / 1e9;
	double time = sum->time_ns / 1e9;

	printf("profile of ");
	term_name(sum->command);
	if (sum->files > 1)
		printf(" and %u more", sum->files - 1);
	putchar('\n');
	term_heading(term, "summary");
	printf("CPU time: %.3f s by the kernel, %.3f s covered, %.3f s by ticks",
	       sum->numbers.cpu_ns / 1e9, covered, time);
	if (covered > 0)
		printf(" (%.1f %% of covered)", 100 * time / covered);
	printf("\nclock: %s, period %.6f ms; real time %.3f s\n",
	       clock_name(sum->clock), sum->period_ns / 1e6,
	       sum->wall_ns / 1e9);
	print_outcomes(sum);
	print_untimed(sum);
	print_missed(sum);
}
