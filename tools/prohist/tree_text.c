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
#include "symbolize/demangle.h"

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

/*
 * Choose the @top nodes with the most time; of those with as much as the last, the
 * first ones, since a caller may have no more than what it called. @least: from
 * find_least()
 */
static bool *choose(const struct tree *tree, size_t top, double least)
{
	bool *chosen = calloc(tree->nr, sizeof(*chosen));
	uint32_t node = 0;
	size_t i;

	if (!chosen)
		err(2, NULL);
	for (i = 1; i < tree->nr; i++) {
		chosen[i] = tree->nodes[i].total_ns > least;
		top -= chosen[i];
	}
	while ((node = tree_next(tree, node)) && top)
		if (!chosen[node] && tree->nodes[node].total_ns == least) {
			chosen[node] = true;
			top--;
		}
	return chosen;
}

/* Callees are sorted: is there a second one to print? */
static bool has_several(const struct tree *tree, uint32_t caller,
			const bool *chosen)
{
	uint32_t second = tree->nodes[tree->nodes[caller].callee].next;

	return second && chosen[second];
}

/* The states that a profile with waits has columns for: idle if there is any */
static enum prf_state end_of_states(const struct sum *sum)
{
	if (!sum->wall)
		return PRF_ON_CPU;
	return sum->classes[SUM_IDLE] ? PRF_STATES : PRF_IDLE;
}

static void print_states(const struct sum *sum, const struct tree_node *node)
{
	enum prf_state state;

	for (state = PRF_ON_CPU; state < end_of_states(sum); state++)
		printf("%8.1f %%", sum_percent(sum, node->states[state]));
}

/* The heading has those columns before the name of the function. */
static void print_heading(const struct report *report, const char *numbers,
			  const char *name)
{
	static const char * const headings[PRF_STATES] = {
		"on CPU", "runnable", "blocked", "idle"
	};
	enum prf_state state;
	char line[120];
	int at;

	at = snprintf(line, sizeof(line), "%s", numbers);
	for (state = PRF_ON_CPU; state < end_of_states(report->sum); state++)
		at += snprintf(line + at, sizeof(line) - at, "%10s",
			       headings[state]);
	snprintf(line + at, sizeof(line) - at, "  %s", name);
	term_heading(report->term, line);
}

static void print_name(const struct term *term, const struct tree *tree,
		       const struct tree_function *function)
{
	bool waits = tree_state(tree, function) != PRF_ON_CPU;
	const char *dso = tree_dso(tree, function);

	if (waits)
		term_colour(term,
			    state_colour(&tree->sum->dsos[function->dso]));
	term_name(function->name);
	if (dso && strcmp(dso, function->name))
		print_where(&tree->sum->dsos[function->dso]);
	if (waits)
		term_colour(term, TERM_PLAIN);
}

static void print_node(const struct term *term, const struct tree *tree,
		       uint32_t node, int indent, bool self)
{
	const struct tree_node *at = &tree->nodes[node];

	printf("%6.1f %%", sum_percent(tree->sum, at->total_ns));
	if (self)
		printf("%6.1f %%", sum_percent(tree->sum, at->ns));
	print_states(tree->sum, at);
	printf("  %*s", indent, "");
	print_name(term, tree, &tree->functions[at->function]);
	putchar('\n');
}

/* Print the nodes that are chosen. Returns how many are not. */
static size_t print_nodes(const struct term *term, const struct tree *tree,
			  const bool *chosen, bool self)
{
	int *indents = calloc(tree->nr, sizeof(*indents));
	uint32_t node = 0, caller;
	size_t left_out = 0;

	if (!indents)
		err(2, NULL);
	while ((node = tree_next(tree, node))) {
		if (!chosen[node]) {
			left_out++;
			continue;
		}
		caller = tree->nodes[node].caller;
		if (caller)
			indents[node] = indents[caller] +
				(has_several(tree, caller, chosen) ?
				 INDENT_SEVERAL : INDENT_ONE);
		print_node(term, tree, node, indents[node], self);
	}
	free(indents);
	return left_out;
}

static void print(const struct report *report, const struct tree *tree,
		  const char *name, bool self)
{
	double least = find_least(tree, report->top);
	bool *chosen = choose(tree, report->top, least);
	size_t left_out;

	print_summary(report->term, report->sum, report->stats);
	print_heading(report, self ? "   total    self" : "   total", name);
	left_out = print_nodes(report->term, tree, chosen, self);
	free(chosen);
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
	print(report, &tree, "function", true);
	tree_free(&tree);
	return 0;
}

/* Print the tree that @make makes of the tree of calls for the function. */
static int print_part(const struct report *report, const char *name,
		      void (*make)(struct tree *tree, const struct tree *from,
				   const char *name), bool self)
{
	char *wanted = demangle(report->function);
	struct tree tree, part;
	int result = 0;

	if (!wanted)
		err(2, NULL);
	if (make_tree(report, &tree)) {
		free(wanted);
		return -1;
	}
	make(&part, &tree, wanted);
	free(wanted);
	if (part.nr > 1) {
		print(report, &part, name, self);
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
	return print_part(report, "function, called by",
			  tree_callers, false);
}

/** print_callees() - print a function, and what it called */
int print_callees(const struct report *report)
{
	return print_part(report, "function, calling",
			  tree_callees, true);
}
