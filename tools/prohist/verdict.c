// SPDX-License-Identifier: GPL-2.0-only
/*
 * verdict.c - judge runs for prohist --fail-over
 */
#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/diff.h"

/* Part of the ticks, or of the CPU time, that may be missing */
#define MOST_MISSING	0.05

/* Standard deviations, at most, by which ticks may miss the CPU time */
#define FAR		5

/* Name of the DSO of ticks without one */
#define NOWHERE		"[elsewhere]"

/* Do the ticks of a profile have the CPU time that it covers? */
static bool time_agrees(const struct sum *sum)
{
	double ratio = sum->time_ns / sum->numbers.covered_ns;

	return fabs(ratio - 1) <
		MOST_MISSING + FAR / sqrt(sum->numbers.ticks);
}

/* Share of the ticks that are in no DSO for lack of memory or time */
static double nowhere(const struct sum *sum)
{
	return (double)(sum->numbers.coarse + sum->numbers.unresolved) /
		sum->placed;
}

static const char *problem_of(const struct diff *diff, const struct sum *sum)
{
	const struct prf_exec *numbers = &sum->numbers;

	if (!sum->placed)
		return "no ticks";
	if (diff->attached && !(sum->wall_ns > 0))
		return "no real time";
	if (!numbers->cpu_ns || !numbers->covered_ns)
		return "no CPU time";
	if (sum->kernel_unknown)
		return "how much of its time in the kernel belongs to the selected programs is unknown";
	if (!sum_adds_up(sum))
		return "its ticks do not add up";
	if (sum_untimed(sum) > SUM_UNTIMED)
		return "more than 5 % of its CPU time has no ticks";
	if (nowhere(sum) > MOST_MISSING)
		return "more than 5 % of its ticks are coarse or unresolved";
	if (!time_agrees(sum))
		return "its ticks differ from the CPU time covered by more than 5 %";
	return NULL;
}

static bool is_common(const struct diff_item *item)
{
	return item->ticks[0] && item->ticks[1] && item->name[0] != '[';
}

/* Does anything that is compared have ticks in both profiles? */
static bool anything_common(const struct diff *diff)
{
	const struct diff_list *functions = &diff->functions;
	const struct diff_list *dsos = &diff->dsos;
	size_t i;

	for (i = 0; i < functions->nr; i++)
		if (is_common(&functions->items[i]))
			return true;
	for (i = 0; i < dsos->nr; i++)
		if ((!functions->nr || dsos->items[i].whole) &&
		    is_common(&dsos->items[i]))
			return true;
	return false;
}

static uint64_t nr_missed(const struct sum *sum)
{
	return sum->nr_missed + sum->numbers.unfollowed + sum->withheld;
}

/* Were runs measured in ways that give the parts other shares? */
static const char *problem_of_ways(const struct sum *a, const struct sum *b)
{
	bool perf = a->clock == PRF_CLOCK_PERF_EVENT_OPEN;

	if (perf != (b->clock == PRF_CLOCK_PERF_EVENT_OPEN))
		return "some profiles are of the kernel module, others of perf_event_open";
	if (perf && a->user_only != b->user_only)
		return "some profiles lack ticks in the kernel, which perf_event_open estimates";
	return NULL;
}

/* A reason why runs, each complete, cannot be compared. */
static const char *problem_of_all(const struct diff *diff)
{
	const struct prf *runs = diff->runs;
	const char *problem;
	size_t i;

	for (i = 1; i < diff->nr[0] + diff->nr[1]; i++) {
		if (runs[0].exit_kind != runs[i].exit_kind ||
		    runs[0].exit_code != runs[i].exit_code)
			return "the exit statuses of the programs differ";
		if (nr_missed(&diff->sums[0]) != nr_missed(&diff->sums[i]))
			return "the numbers of programs that were not profiled differ";
		problem = problem_of_ways(&diff->sums[0], &diff->sums[i]);
		if (problem)
			return problem;
	}
	if (!anything_common(diff))
		return "the profiles have no function in common";
	return NULL;
}

static bool find_problem(const struct diff *diff, struct verdict *verdict)
{
	size_t i;

	for (i = 0; i < diff->nr[0] + diff->nr[1]; i++) {
		verdict->problem = problem_of(diff, &diff->sums[i]);
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

/* Judge several items as one. */
static struct gate_growth judge(const struct diff *diff,
				const struct gate *gate,
				const struct diff_item *const items[],
				size_t nr)
{
	size_t nr_runs = diff->nr[0] + diff->nr[1], i, j;
	double ticks[2] = {}, *times = calloc(nr_runs, sizeof(*times));
	struct gate_growth growth;
	int side;

	if (!times)
		err(2, NULL);
	for (i = 0; i < nr; i++) {
		if (!items[i])
			continue;
		for (side = 0; side < 2; side++)
			ticks[side] += diff_share(diff, items[i], side) *
				diff->weight[side];
		for (j = 0; j < nr_runs; j++)
			times[j] += items[i]->times[j];
	}
	growth = gate_judge(gate, ticks, times);
	free(times);
	return growth;
}

static const struct diff_item *find_dso(const struct diff_list *list,
					const char *dso)
{
	size_t i;

	for (i = 0; i < list->nr; i++)
		if (!alike_order(list->items[i].dso, dso))
			return &list->items[i];
	return NULL;
}

/*
 * A part that seems to have grown may only have been found more often: before,
 * its ticks may be among those of its DSO without a function, or among those
 * without a DSO. It is slower only if it is so together with any of these, too.
 */
static struct gate_growth judge_item(const struct diff *diff,
				     const struct gate *gate,
				     const struct diff_item *item)
{
	const struct diff_item *hidden[2], *items[] = { item, NULL, NULL };
	struct gate_growth growth = { .verdict = GATE_OK }, more;
	int which;

	if (!strcmp(item->dso, NOWHERE))
		return growth;
	growth = judge(diff, gate, items, 1);
	hidden[0] = find_dso(&diff->dsos, NOWHERE);
	hidden[1] = item->name == item->dso ? NULL :
		find_dso(&diff->nameless, item->dso);
	for (which = 1; which < 4 && growth.verdict == GATE_SLOWER; which++) {
		items[1] = which & 1 ? hidden[0] : NULL;
		items[2] = which & 2 ? hidden[1] : NULL;
		more = judge(diff, gate, items, 3);
		growth.verdict = more.verdict;
		growth.needed = more.needed;
	}
	return growth;
}

/* Judge each item, and then sort them. */
static void judge_list(const struct diff *diff, const struct gate *gate,
		       struct diff_list *list, struct verdict *verdict)
{
	struct diff_item *item;
	size_t i;

	for (i = 0; i < list->nr; i++) {
		item = &list->items[i];
		item->growth = judge_item(diff, gate, item);
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
		cpu_ns[i] = diff_time(diff, i, numbers->cpu_ns);
		side->cpu_ns += cpu_ns[i] / side->nr;
		side->covered_ns += diff_time(diff, i, numbers->covered_ns) /
			side->nr;
		side->ticks = diff->weight[diff_side(diff, i)];
	}
}

static void judge_all(struct diff *diff, struct gate *gate,
		      const double *no_time, struct verdict *verdict)
{
	static const double not_seen[2];

	gate_init(gate, diff->functions.nr, diff->dsos.nr);
	verdict->finds = gate_finds(gate);
	verdict->whole = gate_whole(gate);
	add(verdict, verdict->whole);
	add(verdict, gate_judge(gate, not_seen, no_time));
	judge_list(diff, gate, &diff->functions, verdict);
	judge_list(diff, gate, &diff->dsos, verdict);
}

/**
 * verdict_find() - judge the growth of all parts and the whole
 * @diff: the runs, after diff_find(), with a threshold; receives the verdict, and has its functions and DSOs sorted by
 *	growth
 */
void verdict_find(struct diff *diff)
{
	struct verdict *verdict = &diff->verdict;
	double *cpu_ns, *no_time;
	struct gate gate = { .threshold = diff->threshold };

	if (find_problem(diff, verdict))
		return;
	cpu_ns = calloc(diff->nr[0] + diff->nr[1], sizeof(*cpu_ns));
	no_time = calloc(diff->nr[0] + diff->nr[1], sizeof(*no_time));
	if (!cpu_ns || !no_time)
		err(2, NULL);
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
