// SPDX-License-Identifier: GPL-2.0-only
/*
 * verdict.c - judge runs for prohist --fail-over
 */
#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/diff.h"

/* Part of the ticks, or of the CPU time, that may be missing */
#define MOST_MISSING	0.05

/* Standard deviations, at most, by which ticks may miss the CPU time */
#define FAR		5

/* Do the ticks of a profile have the CPU time that it covers? */
static bool time_agrees(const struct sum *sum)
{
	double ratio = sum->time_ns / sum->numbers.covered_ns;

	return fabs(ratio - 1) <
		MOST_MISSING + FAR / sqrt(sum->numbers.ticks);
}

static const char *problem_of(const struct sum *sum)
{
	const struct prf_exec *numbers = &sum->numbers;

	if (!sum->placed)
		return "no ticks";
	if (!numbers->cpu_ns || !numbers->covered_ns)
		return "no CPU time";
	if (!sum_adds_up(sum))
		return "its ticks do not add up";
	if (sum_untimed(sum) > SUM_UNTIMED)
		return "more than 5 % of its CPU time has no ticks";
	if (!time_agrees(sum))
		return "its ticks differ from the CPU time covered by more than 5 %";
	return NULL;
}

/* Is there a function, or without any a DSO, with ticks in both profiles? */
static bool anything_common(const struct diff *diff)
{
	const struct diff_list *list = diff->functions.nr ? &diff->functions :
		&diff->dsos;
	size_t i;

	for (i = 0; i < list->nr; i++)
		if (list->items[i].ticks[0] && list->items[i].ticks[1] &&
		    list->items[i].name[0] != '[')
			return true;
	return false;
}

static uint64_t nr_missed(const struct sum *sum)
{
	return sum->nr_missed + sum->numbers.unfollowed + sum->withheld;
}

/* A reason why runs, each complete, cannot be compared. */
static const char *problem_of_all(const struct diff *diff)
{
	const struct prf *runs = diff->runs;
	size_t i;

	for (i = 1; i < diff->nr[0] + diff->nr[1]; i++) {
		if (runs[0].exit_kind != runs[i].exit_kind ||
		    runs[0].exit_code != runs[i].exit_code)
			return "the exit statuses of the programs differ";
		if (nr_missed(&diff->sums[0]) != nr_missed(&diff->sums[i]))
			return "the numbers of programs that were not profiled differ";
	}
	if (!anything_common(diff))
		return "the profiles have no function in common";
	return NULL;
}

static bool find_problem(const struct diff *diff, struct verdict *verdict)
{
	size_t i;

	for (i = 0; i < diff->nr[0] + diff->nr[1]; i++) {
		verdict->problem = problem_of(&diff->sums[i]);
		verdict->path = diff->files[i];
		if (verdict->problem)
			return true;
	}
	verdict->path = NULL;
	verdict->problem = problem_of_all(diff);
	return verdict->problem;
}

static int by_growth(const void *a, const void *b)
{
	const struct diff_item *c = a, *d = b;

	if (c->growth.growth != d->growth.growth)
		return c->growth.growth < d->growth.growth ? 1 : -1;
	return strcmp(c->name, d->name);
}

static void add(struct verdict *verdict, struct gate_growth growth)
{
	verdict->verdict = gate_worse(verdict->verdict, growth.verdict);
	verdict->needed = fmax(verdict->needed, growth.needed);
}

static void judge_list(const struct gate *gate, struct diff_list *list,
		       struct verdict *verdict)
{
	struct diff_item *item;
	size_t i;

	for (i = 0; i < list->nr; i++) {
		item = &list->items[i];
		item->growth = gate_judge(gate, item->ticks, item->times);
		add(verdict, item->growth);
	}
	qsort(list->items, list->nr, sizeof(*item), by_growth);
	for (i = 0; i < list->nr; i++) {
		item = &list->items[i];
		if (item->growth.verdict == GATE_SLOWER &&
		    (!verdict->worst || item->growth.growth >
		     verdict->worst->growth.growth))
			verdict->worst = item;
	}
}

static void make_sides(const struct diff *diff, struct gate_side sides[2],
		       double *cpu_ns)
{
	size_t i;

	for (i = 0; i < diff->nr[0] + diff->nr[1]; i++) {
		const struct prf_exec *numbers = &diff->sums[i].numbers;
		struct gate_side *side = &sides[diff_side(diff, i)];

		side->nr = diff->nr[diff_side(diff, i)];
		side->cpu_ns += (double)numbers->cpu_ns / side->nr;
		side->covered_ns += (double)numbers->covered_ns / side->nr;
		side->ticks += diff->sums[i].placed;
		cpu_ns[i] = numbers->cpu_ns;
	}
}

static void judge_all(struct diff *diff, struct gate *gate,
		      const double *no_time, struct verdict *verdict)
{
	static const uint64_t not_seen[2];

	gate_init(gate, diff->functions.nr, diff->dsos.nr);
	verdict->finds = gate_finds(gate);
	verdict->whole = gate_whole(gate);
	add(verdict, verdict->whole);
	add(verdict, gate_judge(gate, not_seen, no_time));
	judge_list(gate, &diff->functions, verdict);
	judge_list(gate, &diff->dsos, verdict);
}

/**
 * diff_judge() - judge the growth of all parts and the whole
 * @diff: the runs; sorts their functions and DSOs by growth
 * @verdict: zeroed; receives the verdict
 */
void diff_judge(struct diff *diff, struct verdict *verdict)
{
	double *cpu_ns, *no_time;
	struct gate gate = { .threshold = diff->threshold };

	if (find_problem(diff, verdict))
		return;
	cpu_ns = calloc(diff->nr[0] + diff->nr[1], sizeof(*cpu_ns));
	no_time = calloc(diff->nr[0] + diff->nr[1], sizeof(*no_time));
	if (!cpu_ns || !no_time)
		err(1, NULL);
	make_sides(diff, gate.sides, cpu_ns);
	gate.cpu_ns = cpu_ns;
	judge_all(diff, &gate, no_time, verdict);
	memcpy(verdict->sides, gate.sides, sizeof(gate.sides));
	free(cpu_ns);
	free(no_time);
}

/** verdict_name() - the verdict, in words */
const char *verdict_name(const struct verdict *verdict)
{
	if (verdict->problem)
		return "no verdict";
	return gate_verdict_name(verdict->verdict);
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

static void print_item(const struct verdict *verdict,
		       const struct diff_item *item)
{
	const struct gate_side *sides = verdict->sides;
	double times[2];
	int i;

	for (i = 0; i < 2; i++)
		times[i] = item->ticks[i] / sides[i].ticks *
			sides[i].covered_ns / sides[0].cpu_ns;
	print_row(times[0], times[1], &item->growth);
	diff_print_name(item);
	putchar('\n');
}

/* Print the items that are not ok. */
static void print_list(const struct diff *diff, const struct verdict *verdict,
		       const struct diff_list *list)
{
	size_t i, shown = 0;

	for (i = 0; i < list->nr; i++) {
		if (list->items[i].growth.verdict == GATE_OK)
			continue;
		if (shown++ < diff->top)
			print_item(verdict, &list->items[i]);
	}
	if (shown > diff->top)
		printf("(%zu more)\n", shown - diff->top);
}

static void print_table(const struct diff *diff, const struct verdict *verdict)
{
	term_heading(diff->term,
		     "  before    after   growth      error  verdict        % of the CPU time before");
	print_row(1, 1 + verdict->whole.growth, &verdict->whole);
	printf("everything\n");
	print_list(diff, verdict, &diff->dsos);
	print_list(diff, verdict, &diff->functions);
	printf("%zu DSOs and %zu functions compared; growth of %.1f %% is found in 95 %% of cases, if runs do not vary",
	       diff->dsos.nr, diff->functions.nr, 100 * verdict->finds);
	if (diff->nr[0] + diff->nr[1] == 2)
		printf(", which one run of each does not show");
	putchar('\n');
}

static void print_slower(const struct diff *diff, const struct verdict *verdict)
{
	if (verdict->whole.verdict == GATE_SLOWER) {
		printf("the CPU time grew by %.1f %%, more than ",
		       100 * verdict->whole.growth);
	} else {
		diff_print_name(verdict->worst);
		printf(" grew by %.1f %% of the CPU time before, more than ",
		       100 * verdict->worst->growth.growth);
	}
	print_threshold(diff);
}

static void print_too_few(const struct diff *diff,
			  const struct verdict *verdict)
{
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

static void print_reason(const struct diff *diff,
			 const struct verdict *verdict)
{
	switch (verdict->verdict) {
	case GATE_OK:
		printf("nothing grew by more than ");
		print_threshold(diff);
		printf(" of the CPU time before");
		break;
	case GATE_SLOWER:
		print_slower(diff, verdict);
		break;
	case GATE_TOO_FEW:
		print_too_few(diff, verdict);
		break;
	case GATE_TOO_FEW_RUNS:
		printf("the CPU time varies between runs, and its growth is known only to +-%.1f %%; add runs",
		       100 * verdict->whole.error);
		break;
	}
}

/**
 * print_verdict() - print the verdict as text
 * @diff: the profiles, judged
 * @verdict: the verdict
 *
 * The last line begins with "prohist: " and the verdict.
 */
void print_verdict(const struct diff *diff, const struct verdict *verdict)
{
	if (!verdict->problem)
		print_table(diff, verdict);
	printf("prohist: %s: ", verdict_name(verdict));
	if (verdict->path) {
		term_name(verdict->path);
		printf(": ");
	}
	if (verdict->problem)
		printf("%s", verdict->problem);
	else
		print_reason(diff, verdict);
	putchar('\n');
}
