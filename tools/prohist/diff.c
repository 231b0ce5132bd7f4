// SPDX-License-Identifier: GPL-2.0-only
/*
 * diff.c - compare runs before and after
 *
 * Compares shares of ticks by Fisher's exact test, which also holds where one side
 * has many more ticks than the other, and a function has few. As it tests many
 * functions at once, it divides the significance level of 5 % among them
 * (Bonferroni): if nothing changed, it finds a function in one of 20 cases.
 */
#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/diff.h"

#define LEVEL	0.05

static int by_name(const void *a, const void *b)
{
	const struct diff_item *c = a, *d = b;
	bool dso = c->name == c->dso;
	int order = alike_order(c->dso, d->dso);

	if (!order && dso != (d->name == d->dso))
		return dso ? -1 : 1;
	return order || dso ? order : strcmp(c->name, d->name);
}

static int by_change(const void *a, const void *b)
{
	const struct diff_item *c = a, *d = b;
	double x = fabs(c->share), y = fabs(d->share);

	return x == y ? by_name(a, b) : x < y ? 1 : -1;
}

/** diff_share() - share of an item in the CPU time of the ticks of one side */
double diff_share(const struct diff *diff, const struct diff_item *item,
		  int side)
{
	return item->ns[side] / diff->placed_ns[side];
}

/** diff_side() - is a run one of those before, 0, or after, 1? */
int diff_side(const struct diff *diff, size_t run)
{
	return run >= diff->nr[0];
}

/** diff_time() - CPU time of a run, as it is compared */
double diff_time(const struct diff *diff, size_t run, double ns)
{
	return diff->attached ? ns / diff->sums[run].wall_ns : ns;
}

static void append(struct diff_list *list, const struct diff *diff, size_t run,
		   struct diff_item item, uint64_t ticks, double ns)
{
	const struct sum *sum = &diff->sums[run];

	item.times = list->times + list->nr * (diff->nr[0] + diff->nr[1]);
	item.times[run] = diff_time(diff, run, sum->numbers.covered_ns) * ns /
		sum->placed_ns;
	item.ticks[diff_side(diff, run)] = ticks;
	item.ns[diff_side(diff, run)] = ns;
	list->items[list->nr++] = item;
}

static void add_function(struct diff *diff, size_t run,
			 const struct sum_function *function)
{
	const struct sum *sum = &diff->sums[run];
	const char *dso = alike_name(sum, function->dso);
	const struct diff_item whole = { .name = dso, .dso = dso };
	const struct diff_item item = { .name = function->name, .dso = dso };
	bool comparable = !alike_whole(&diff->alike, dso);
	struct diff_list *list = &diff->functions;

	if (diff->threshold > 0 &&
	    !(comparable && alike_has_name(function->name,
					   sum_dso_name(sum, function->dso)))) {
		list = &diff->nameless;
		comparable = false;
	}
	append(list, diff, run, comparable ? item : whole, function->ticks,
	       function->ns);
}

static void add_dsos(struct diff *diff, size_t run)
{
	const struct sum *sum = &diff->sums[run];
	size_t i;

	for (i = 0; i < sum->nr_dsos; i++) {
		const char *name = alike_name(sum, i);
		const struct diff_item item = {
			.name = name,
			.dso = name,
			.whole = alike_whole(&diff->alike, name),
		};

		append(&diff->dsos, diff, run, item, sum->dsos[i].ticks,
		       sum->dsos[i].ns);
	}
}

static void add(struct diff_item *item, const struct diff_item *other,
		size_t nr_runs)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		item->ticks[i] += other->ticks[i];
		item->ns[i] += other->ns[i];
	}
	for (i = 0; i < nr_runs; i++)
		item->times[i] += other->times[i];
}

/* Merge items by DSO and name: the path may differ. */
static void merge(struct diff_list *list, size_t nr_runs)
{
	struct diff_item *items = list->items;
	size_t i, kept = 0;

	qsort(items, list->nr, sizeof(*items), by_name);
	for (i = 0; i < list->nr; i++) {
		if (kept && !by_name(&items[kept - 1], &items[i]))
			add(&items[kept - 1], &items[i], nr_runs);
		else
			items[kept++] = items[i];
	}
	list->nr = kept;
}

static void make_room(struct diff_list *list, size_t most, size_t nr_runs)
{
	list->items = calloc(most + 1, sizeof(*list->items));
	list->times = calloc((most + 1) * nr_runs, sizeof(*list->times));
	if (!list->items || !list->times)
		err(2, NULL);
}

static void add_placed(struct diff *diff)
{
	double squares[2] = {};
	size_t i;
	int side;

	for (i = 0; i < diff->nr[0] + diff->nr[1]; i++) {
		const struct sum *sum = &diff->sums[i];

		side = diff_side(diff, i);
		diff->placed[side] += sum->placed;
		diff->placed_ns[side] += sum->placed_ns;
		squares[side] += sum->squares;
	}
	for (side = 0; side < 2; side++)
		if (squares[side] > 0)
			diff->weight[side] = diff->placed_ns[side] *
				diff->placed_ns[side] / squares[side];
}

static void make_lists(struct diff *diff)
{
	size_t nr = diff->nr[0] + diff->nr[1], functions = 0, dsos = 0, i, j;

	for (i = 0; i < nr; i++) {
		functions += diff->sums[i].nr_functions;
		dsos += diff->sums[i].nr_dsos;
	}
	add_placed(diff);
	alike_find(&diff->alike, diff->sums, nr);
	make_room(&diff->functions, functions, nr);
	make_room(&diff->nameless, functions, nr);
	make_room(&diff->dsos, dsos, nr);
	for (i = 0; i < nr; i++) {
		for (j = 0; j < diff->sums[i].nr_functions; j++)
			add_function(diff, i, &diff->sums[i].functions[j]);
		add_dsos(diff, i);
	}
	merge(&diff->functions, nr);
	merge(&diff->nameless, nr);
	merge(&diff->dsos, nr);
}

static void free_list(struct diff_list *list)
{
	free(list->items);
	free(list->times);
}

static double log_choose(double all, double some)
{
	return lgamma(all + 1) - lgamma(some + 1) - lgamma(all - some + 1);
}

/*
 * Is it as likely as @level that so many ticks of a share are on one side, or more,
 * if both have the same share? @all: all ticks of both sides
 */
static bool is_likely(const double ticks[2], const double all[2], int side,
		      double level)
{
	double both = ticks[0] + ticks[1], here = all[side], there = all[!side];
	double i = ticks[side], sum = 0;
	double term = exp(log_choose(here, i) + log_choose(there, both - i) -
			  log_choose(here + there, both));

	/* The terms get smaller */
	for (; i <= both && sum < level && term > level * 1e-12; i++) {
		sum += term;
		term *= (both - i) * (here - i) /
			((i + 1) * (there - both + i + 1));
	}
	return sum >= level;
}

/**
 * diff_is_change() - has a share changed by more than chance?
 * @diff: the comparison
 * @ns: CPU time before and after that has the share, in ns
 * @tests: number of shares that are compared
 */
bool diff_is_change(const struct diff *diff, const double ns[2], size_t tests)
{
	double ticks[2], all[2];
	int side;

	for (side = 0; side < 2; side++) {
		all[side] = round(diff->weight[side]);
		ticks[side] = round(ns[side] / diff->placed_ns[side] *
				    diff->weight[side]);
		if (!(all[side] >= 1))
			return false;
	}
	side = ticks[1] / all[1] > ticks[0] / all[0];
	return !is_likely(ticks, all, side, LEVEL / 2 / tests);
}

static void find_changed(struct diff *diff)
{
	struct diff_list *list = &diff->functions;
	size_t i;

	for (i = 0; i < list->nr; i++) {
		struct diff_item *item = &list->items[i];

		item->share = diff_share(diff, item, 1) -
			diff_share(diff, item, 0);
		item->changed = diff_is_change(diff, item->ns, list->nr);
	}
}

/* The greatest change first. */
static void sort_changes(struct diff *diff)
{
	struct diff_list *list = &diff->functions;

	if (!diff->placed[0] || !diff->placed[1])
		return;
	find_changed(diff);
	qsort(list->items, list->nr, sizeof(*list->items), by_change);
}

/**
 * diff_find() - find the functions and DSOs of runs, and compare them
 * @diff: the runs; receives the lists of functions and of DSOs, for diff_free();
 *	without a threshold, the functions with the greatest change come first
 */
void diff_find(struct diff *diff)
{
	make_lists(diff);
	if (!(diff->threshold > 0))
		sort_changes(diff);
}

/** diff_free() - free the lists of a comparison */
void diff_free(struct diff *diff)
{
	free_list(&diff->functions);
	free_list(&diff->nameless);
	free_list(&diff->dsos);
	free(diff->alike.list);
}
