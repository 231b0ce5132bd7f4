// SPDX-License-Identifier: GPL-2.0-only
/*
 * diff.c - print functions whose shares changed significantly
 *
 * Compares shares of ticks by the two-proportion z test. As it tests many
 * functions at once, it divides the significance level of 5 % among them
 * (Bonferroni): if nothing changed, it prints a function in one of 20 cases.
 */
#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/report.h"

#define LEVEL	0.05

/*
 * A function of either profile, matched by name and DSO name: the path may
 * differ.
 */
struct change {
	const char *name;
	const char *dso;
	uint64_t ticks[2];
	double share;
};

static int by_name(const void *a, const void *b)
{
	const struct change *c = a, *d = b;
	int order = strcmp(c->name, d->name);

	return order ? order : strcmp(c->dso, d->dso);
}

static int by_change(const void *a, const void *b)
{
	const struct change *c = a, *d = b;
	double x = fabs(c->share), y = fabs(d->share);

	return x == y ? by_name(a, b) : x < y ? 1 : -1;
}

static size_t fill(struct change *changes, const struct sum *sum, int which)
{
	size_t i;

	for (i = 0; i < sum->nr_functions; i++) {
		const struct sum_function *function = &sum->functions[i];

		changes[i].name = function->name;
		changes[i].dso = sum_dso_name(sum, function->dso);
		changes[i].ticks[which] = function->ticks;
	}
	return sum->nr_functions;
}

static size_t merge(struct change *changes, size_t nr)
{
	size_t i, kept = 0;

	qsort(changes, nr, sizeof(*changes), by_name);
	for (i = 0; i < nr; i++) {
		if (kept && !by_name(&changes[kept - 1], &changes[i])) {
			changes[kept - 1].ticks[0] += changes[i].ticks[0];
			changes[kept - 1].ticks[1] += changes[i].ticks[1];
			continue;
		}
		changes[kept++] = changes[i];
	}
	return kept;
}

/* Probability of at least this difference if the shares are the same. */
static double chance(const struct change *change, double all0, double all1)
{
	double both = (change->ticks[0] + change->ticks[1]) / (all0 + all1);
	double error = sqrt(both * (1 - both) * (1 / all0 + 1 / all1));

	return error > 0 ? erfc(fabs(change->share) / error / M_SQRT2) : 1;
}

static void print_change(const struct change *change, double all0, double all1)
{
	printf("%6.1f %% %6.1f %% %+6.1f %%  ", 100 * change->ticks[0] / all0,
	       100 * change->ticks[1] / all1, 100 * change->share);
	term_name(change->name);
	if (strcmp(change->name, change->dso)) {
		printf(" (");
		term_name(change->dso);
		putchar(')');
	}
	putchar('\n');
}

static void print_changes(struct change *changes, size_t nr, double all0,
			  double all1)
{
	size_t i, shown = 0;

	for (i = 0; i < nr; i++)
		changes[i].share = changes[i].ticks[1] / all1 -
			changes[i].ticks[0] / all0;
	qsort(changes, nr, sizeof(*changes), by_change);
	for (i = 0; i < nr; i++) {
		if (chance(&changes[i], all0, all1) >= LEVEL / nr)
			continue;
		print_change(&changes[i], all0, all1);
		shown++;
	}
	if (!shown)
		printf("no function changed by more than chance\n");
	printf("%zu functions compared\n", nr);
}

/** print_diff() - print what changed in the second of two profiles */
void print_diff(const struct term *term, const struct sum *before,
		const struct sum *after)
{
	size_t nr = before->nr_functions + after->nr_functions;
	struct change *changes = calloc(nr + 1, sizeof(*changes));

	if (!changes)
		err(1, NULL);
	term_heading(term, "  before    after   change  by function");
	if (before->placed && after->placed) {
		nr = fill(changes, before, 0);
		nr += fill(changes + nr, after, 1);
		nr = merge(changes, nr);
		print_changes(changes, nr, before->placed, after->placed);
	} else {
		printf("a profile without ticks cannot be compared\n");
	}
	free(changes);
}
