// SPDX-License-Identifier: GPL-2.0-only
/*
 * tree_text.c - print trees of calls as text
 *
 * What is printed is connected: a caller has at least as much time as what it
 * called. A function is indented less if its caller called nothing else, so that
 * deep chains fit on the screen.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/report.h"
#include "prohist/suggest.h"
#include "prohist/tree.h"

/* Columns of indentation below a caller that called one function, or several */
#define INDENT_ONE	1
#define INDENT_SEVERAL	2

static int more_first(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/* Time that a node must exceed, so that no more than @top do; -1: any */
static double find_least(const struct tree *tree, size_t top)
{
	double *times, least;
	size_t i;

	if (tree->nr - 1 <= top)
		return -1;
	times = calloc(tree->nr, sizeof(*times));
	if (!times)
		err(2, NULL);
	for (i = 1; i < tree->nr; i++)
		times[i - 1] = tree->nodes[i].total_ns;
	qsort(times, tree->nr - 1, sizeof(*times), more_first);
	least = times[top];
	free(times);
	return least;
}

/* Callees are sorted: is there a second one to print? */
static bool has_several(const struct tree *tree, uint32_t caller, double least)
{
	uint32_t second = tree->nodes[tree->nodes[caller].callee].next;

	return second && tree->nodes[second].total_ns > least;
}

static void print_node(const struct tree *tree, uint32_t node, int indent,
		       bool self)
{
	const struct tree_node *at = &tree->nodes[node];
	const struct tree_function *function = &tree->functions[at->function];
	const char *dso = tree_dso(tree, function);

	printf("%6.1f %%", sum_percent(tree->sum, at->total_ns));
	if (self)
		printf("%6.1f %%", sum_percent(tree->sum, at->ns));
	printf("  %*s", indent, "");
	term_name(function->name);
	if (dso && strcmp(dso, function->name)) {
		printf(" (");
		term_name(dso);
		putchar(')');
	}
	putchar('\n');
}

/* Print the nodes with the most time. Returns how many were left out. */
static size_t print_nodes(const struct tree *tree, double least, bool self)
{
	int *indents = calloc(tree->nr, sizeof(*indents));
	uint32_t node = 0, caller;
	size_t left_out = 0;

	if (!indents)
		err(2, NULL);
	while ((node = tree_next(tree, node))) {
		if (tree->nodes[node].total_ns <= least) {
			left_out++;
			continue;
		}
		caller = tree->nodes[node].caller;
		if (caller)
			indents[node] = indents[caller] +
				(has_several(tree, caller, least) ?
				 INDENT_SEVERAL : INDENT_ONE);
		print_node(tree, node, indents[node], self);
	}
	free(indents);
	return left_out;
}

static void print(const struct report *report, const struct tree *tree,
		  const char *heading, bool self)
{
	double least = find_least(tree, report->top);
	size_t left_out;

	print_summary(report->term, report->sum, report->stats);
	term_heading(report->term, heading);
	left_out = print_nodes(tree, least, self);
	if (left_out)
		printf("%zu frames with %.1f %% or less are not shown; --top=0 shows all\n",
		       left_out, sum_percent(report->sum, least));
}

static int make_tree(const struct report *report, struct tree *tree)
{
	if (!report->sum->chains) {
		term_warn("there are no chains of callers in the profile");
		return -1;
	}
	tree_make(tree, report->sum, report->runs, report->nr, false);
	return 0;
}

/** print_tree() - print the tree of calls, from the outermost frames */
int print_tree(const struct report *report)
{
	struct tree tree;

	if (make_tree(report, &tree))
		return -1;
	print(report, &tree, "   total    self  function", true);
	tree_free(&tree);
	return 0;
}

/* Print the tree that @make makes of the tree of calls for the function. */
static int print_part(const struct report *report, const char *heading,
		      void (*make)(struct tree *tree, const struct tree *from,
				   const char *name), bool self)
{
	struct tree tree, part;
	int result = 0;

	if (make_tree(report, &tree))
		return -1;
	make(&part, &tree, report->function);
	if (part.nr > 1) {
		print(report, &part, heading, self);
	} else {
		suggest_nearest(report->sum, report->function);
		result = -1;
	}
	tree_free(&part);
	tree_free(&tree);
	return result;
}

/** print_callers() - print a function, and what called it */
int print_callers(const struct report *report)
{
	return print_part(report, "   total  function, called by",
			  tree_callers, false);
}

/** print_callees() - print a function, and what it called */
int print_callees(const struct report *report)
{
	return print_part(report, "   total    self  function, calling",
			  tree_callees, true);
}
