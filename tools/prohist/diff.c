// SPDX-License-Identifier: GPL-2.0-only
/*
 * diff.c - compare runs before and after, and print functions whose shares changed
 *
 * Compares shares of ticks by the two-proportion z test. As it tests many
 * functions at once, it divides the significance level of 5 % among them
 * (Bonferroni): if nothing changed, it prints a function in one of 20 cases.
 */
#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/diff.h"

#define LEVEL	0.05

static int by_name(const void *a, const void *b)
{
	const struct diff_item *c = a, *d = b;
	int order = strcmp(c->name, d->name);

	return order ? order : strcmp(c->dso, d->dso);
}

static int by_change(const void *a, const void *b)
{
	const struct diff_item *c = a, *d = b;
	double x = fabs(c->share), y = fabs(d->share);

	return x == y ? by_name(a, b) : x < y ? 1 : -1;
}

/*
 * Is this a function with a symbol? Others are named by their DSO, or by DSO
 * and address, which differs between builds.
 */
static bool has_name(const struct diff_item *function)
{
	size_t length = strlen(function->dso);

	if (strncmp(function->name, function->dso, length))
		return true;
	if (!function->name[length])
		return function->dso[0] != '[';
	return strncmp(function->name + length, "+0", 2);
}

/** diff_side() - is a run one of those before, 0, or after, 1? */
int diff_side(const struct diff *diff, size_t run)
{
	return run >= diff->nr[0];
}

static void append(struct diff_list *list, const struct diff *diff, size_t run,
		   struct diff_item item, uint64_t ticks)
{
	const struct sum *sum = &diff->sums[run];

	item.times = list->times + list->nr * (diff->nr[0] + diff->nr[1]);
	item.times[run] = sum->numbers.covered_ns * (double)ticks / sum->placed;
	item.ticks[diff_side(diff, run)] = ticks;
	list->items[list->nr++] = item;
}

static void add_functions(struct diff *diff, size_t run)
{
	const struct sum *sum = &diff->sums[run];
	size_t i;

	for (i = 0; i < sum->nr_functions; i++) {
		const struct sum_function *function = &sum->functions[i];
		const struct diff_item item = {
			.name = function->name,
			.dso = sum_dso_name(sum, function->dso),
		};

		if (diff->threshold <= 0 || has_name(&item))
			append(&diff->functions, diff, run, item,
			       function->ticks);
	}
}

static void add_dsos(struct diff *diff, size_t run)
{
	const struct sum *sum = &diff->sums[run];
	size_t i;

	for (i = 0; i < sum->nr_dsos; i++) {
		const struct diff_item item = {
			.name = sum_dso_name(sum, i),
			.dso = sum_dso_name(sum, i),
		};

		append(&diff->dsos, diff, run, item, sum->dsos[i].ticks);
	}
}

static void add(struct diff_item *item, const struct diff_item *other,
		size_t nr_runs)
{
	size_t i;

	item->ticks[0] += other->ticks[0];
	item->ticks[1] += other->ticks[1];
	for (i = 0; i < nr_runs; i++)
		item->times[i] += other->times[i];
}

/* Merge items by name and DSO name: the path may differ. */
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
		err(1, NULL);
}

static void make_lists(struct diff *diff)
{
	size_t nr = diff->nr[0] + diff->nr[1], functions = 0, dsos = 0, i;

	for (i = 0; i < nr; i++) {
		functions += diff->sums[i].nr_functions;
		dsos += diff->sums[i].nr_dsos;
		diff->placed[diff_side(diff, i)] += diff->sums[i].placed;
	}
	make_room(&diff->functions, functions, nr);
	make_room(&diff->dsos, dsos, nr);
	for (i = 0; i < nr; i++) {
		add_functions(diff, i);
		add_dsos(diff, i);
	}
	merge(&diff->functions, nr);
	merge(&diff->dsos, nr);
}

static void free_list(struct diff_list *list)
{
	free(list->items);
	free(list->times);
}

/* Probability of at least this difference if the shares are the same. */
static double chance(const struct diff_item *item, double all0, double all1)
{
	double both = (item->ticks[0] + item->ticks[1]) / (all0 + all1);
	double error = sqrt(both * (1 - both) * (1 / all0 + 1 / all1));

	return error > 0 ? erfc(fabs(item->share) / error / M_SQRT2) : 1;
}

static void find_changed(struct diff_list *list, double all0, double all1)
{
	size_t i;

	for (i = 0; i < list->nr; i++) {
		struct diff_item *item = &list->items[i];

		item->share = item->ticks[1] / all1 - item->ticks[0] / all0;
		item->changed = chance(item, all0, all1) < LEVEL / list->nr;
	}
}

/** diff_print_name() - print a function with its DSO, or a DSO */
void diff_print_name(const struct diff_item *item)
{
	term_name(item->name);
	if (!strcmp(item->name, item->dso))
		return;
	printf(" (");
	term_name(item->dso);
	putchar(')');
}

static void print_change(const struct diff_item *item, double all0, double all1)
{
	printf("%6.1f %% %6.1f %% %+6.1f %%  ", 100 * item->ticks[0] / all0,
	       100 * item->ticks[1] / all1, 100 * item->share);
	diff_print_name(item);
	putchar('\n');
}

static void print_changed(const struct diff *diff)
{
	const struct diff_list *list = &diff->functions;
	size_t i, nr = 0;

	for (i = 0; i < list->nr; i++)
		if (list->items[i].changed && nr++ < diff->top)
			print_change(&list->items[i], diff->placed[0],
				     diff->placed[1]);
	if (nr > diff->top)
		printf("%zu more\n", nr - diff->top);
	if (!nr)
		printf("no function changed by more than chance\n");
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

/**
 * diff_find() - find which functions changed by more than chance
 * @diff: the runs; receives the lists of functions, the greatest change first,
 *	and of DSOs, for diff_free()
 */
void diff_find(struct diff *diff)
{
	struct diff_list *list = &diff->functions;

	make_lists(diff);
	if (!diff->placed[0] || !diff->placed[1])
		return;
	find_changed(list, diff->placed[0], diff->placed[1]);
	qsort(list->items, list->nr, sizeof(*list->items), by_change);
}

/** diff_free() - free the lists of a comparison */
void diff_free(struct diff *diff)
{
	free_list(&diff->functions);
	free_list(&diff->dsos);
}

/**
 * print_diff() - compare runs, and print the verdict if wanted
 * @diff: the runs; receives their functions and DSOs
 *
 * Return: 0 or, with a threshold, the exit status: 1 if the CPU time grew by
 * more, 2 if there is no verdict.
 */
int print_diff(struct diff *diff)
{
	struct verdict verdict = {};

	if (diff->threshold > 0) {
		make_lists(diff);
		diff_judge(diff, &verdict);
	} else {
		diff_find(diff);
	}
	if (diff->json)
		print_diff_json(diff, &verdict);
	else if (diff->threshold > 0)
		print_verdict(diff, &verdict);
	else
		print_shares(diff);
	diff_free(diff);
	if (!verdict.problem && verdict.verdict <= GATE_SLOWER)
		return verdict.verdict;
	return 2;
}
