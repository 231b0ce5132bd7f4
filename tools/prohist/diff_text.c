// SPDX-License-Identifier: GPL-2.0-only
/*
 * diff_text.c - print the comparison of runs as text
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "prohist/diff.h"
#include "prohist/options.h"

/* Share of a DSO from which it matters that its functions are not compared */
#define WHOLE_LEAST	0.01

/* Print a function with its DSO, or a DSO. */
static void print_name(const struct diff_item *item)
{
	term_name(item->name);
	if (item->name == item->dso)
		return;
	printf(" (");
	term_name(item->dso);
	putchar(')');
}

static void print_change(const struct diff *diff, const struct diff_item *item)
{
	printf("%6.1f %% %6.1f %% %+6.1f %%  ",
	       100 * diff_share(diff, item, 0), 100 * diff_share(diff, item, 1),
	       100 * item->share);
	print_name(item);
	putchar('\n');
}

/* Say which DSOs of any size are not compared by function. */
static void print_whole(const struct diff *diff, double least)
{
	size_t i;

	for (i = 0; i < diff->dsos.nr; i++) {
		const struct diff_item *dso = &diff->dsos.items[i];

		if (!dso->whole || fmax(diff_share(diff, dso, 0),
					diff_share(diff, dso, 1)) < least)
			continue;
		term_name(dso->name);
		printf(" is compared as a whole: %s\n", dso->whole);
	}
}

static void print_changed(const struct diff *diff)
{
	const struct diff_list *list = &diff->functions;
	size_t i, nr = 0;

	for (i = 0; i < list->nr; i++)
		if (list->items[i].changed && nr++ < diff->top)
			print_change(diff, &list->items[i]);
	if (nr > diff->top)
		printf("%zu more\n", nr - diff->top);
	if (!nr)
		printf("no function changed by more than chance\n");
	print_whole(diff, WHOLE_LEAST);
	printf("%zu functions compared\n", list->nr);
}

static void print_shares(const struct diff *diff)
{
	term_heading(diff->term, "  before    after   change  by function");
	if (diff->placed[0] && diff->placed[1])
		print_changed(diff);
	else
		printf("a profile without ticks cannot be compared\n");
}

/* Percent that need no decimals have none. */
static void print_threshold(const struct diff *diff)
{
	printf("%g %%", 100 * diff->threshold);
}

static void print_row(double before, double after,
		      const struct gate_growth *growth)
{
	printf("%6.1f %% %6.1f %% %+6.1f %% ", 100 * before, 100 * after,
	       100 * growth->growth);
	if (growth->error > 0)
		printf("+-%5.1f %%", 100 * growth->error);
	else
		printf("%9s", "");
	printf("  %-13s  ", gate_verdict_name(growth->verdict));
}

static void print_item(const struct diff *diff, const struct diff_item *item)
{
	const struct gate_side *sides = diff->verdict.sides;
	double times[2];
	int i;

	for (i = 0; i < 2; i++)
		times[i] = diff_share(diff, item, i) * sides[i].covered_ns /
			sides[0].cpu_ns;
	print_row(times[0], times[1], &item->growth);
	print_name(item);
	putchar('\n');
}

/* Print the items that are not ok. */
static void print_list(const struct diff *diff, const struct diff_list *list)
{
	size_t i, shown = 0;

	for (i = 0; i < list->nr; i++) {
		if (list->items[i].growth.verdict == GATE_OK)
			continue;
		if (shown++ < diff->top)
			print_item(diff, &list->items[i]);
	}
	if (shown > diff->top)
		printf("(%zu more)\n", shown - diff->top);
}

static void print_table(const struct diff *diff)
{
	const struct verdict *verdict = &diff->verdict;

	term_heading(diff->term,
		     "  before    after   growth      error  verdict        % of the CPU time before");
	if (diff->attached)
		printf("of the CPU time in a second of real time, as the programs were running before\n");
	print_row(1, 1 + verdict->whole.growth, &verdict->whole);
	printf("everything\n");
	print_list(diff, &diff->dsos);
	print_list(diff, &diff->functions);
	print_whole(diff, diff->threshold);
	printf("%zu DSOs and %zu functions compared; growth of %.1f %% is found in 95 %% of cases, if runs do not vary",
	       diff->dsos.nr, diff->functions.nr, 100 * verdict->finds);
	if (diff->nr[0] + diff->nr[1] == 2)
		printf(", which one run of each does not show");
	putchar('\n');
}

static void print_slower(const struct diff *diff)
{
	const struct verdict *verdict = &diff->verdict;

	if (verdict->whole.verdict == GATE_SLOWER) {
		printf("the CPU time%s grew by %.1f %%, more than ",
		       diff->attached ? " per second" : "",
		       100 * verdict->whole.growth);
	} else {
		print_name(verdict->worst);
		printf(" grew by %.1f %% of the CPU time before, more than ",
		       100 * verdict->worst->growth.growth);
	}
	print_threshold(diff);
}

static void print_too_few(const struct diff *diff)
{
	const struct verdict *verdict = &diff->verdict;
	const struct sum *last = &diff->sums[diff->nr[0] + diff->nr[1] - 1];

	printf("%" PRIu64 " before and %" PRIu64 " after; ", diff->placed[0],
	       diff->placed[1]);
	if (verdict->needed > PRF_MOST) {
		printf("no number of ticks is enough if the growth is ");
		print_threshold(diff);
		return;
	}
	printf("about %.0f of each are needed (%.3g s of CPU time); run the program for longer, or use a shorter interval",
	       verdict->needed, verdict->needed * last->period_ns / 1e9);
}

static void print_reason(const struct diff *diff)
{
	switch (diff->verdict.verdict) {
	case GATE_OK:
		printf("nothing grew by more than ");
		print_threshold(diff);
		printf(" of the CPU time before");
		break;
	case GATE_SLOWER:
		print_slower(diff);
		break;
	case GATE_TOO_FEW:
		print_too_few(diff);
		break;
	case GATE_TOO_FEW_RUNS:
		printf("the CPU time varies between runs, and its growth is known only to +-%.1f %%; add runs",
		       100 * diff->verdict.whole.error);
		break;
	}
}

/* The last line begins with "prohist: " and the verdict. */
static void print_verdict(const struct diff *diff)
{
	const struct verdict *verdict = &diff->verdict;

	if (!verdict->problem)
		print_table(diff);
	printf("prohist: %s: ", verdict_name(verdict));
	if (verdict->path) {
		term_name(verdict->path);
		printf(": ");
	}
	if (verdict->problem)
		printf("%s", verdict->problem);
	else
		print_reason(diff);
	putchar('\n');
}

/** diff_text() - print functions whose shares changed, or the verdict */
int diff_text(const struct diff *diff)
{
	if (diff->threshold > 0)
		print_verdict(diff);
	else
		print_shares(diff);
	return 0;
}
