// SPDX-License-Identifier: GPL-2.0-only
/*
 * rows.c - group ticks by any of cgroup, program, process, DSO and function
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/rows.h"
#include "prohist/samples.h"
#include "prohist/tree.h"
#include "util/xalloc.h"

static int by_keys(const void *a, const void *b)
{
	const struct row *r = a, *s = b;
	int order = 0;

	if (r->cgroup)
		order = strcmp(r->cgroup, s->cgroup);
	if (!order && r->comm)
		order = strcmp(r->comm, s->comm);
	if (!order && r->pid != s->pid)
		order = r->pid < s->pid ? -1 : 1;
	if (!order && r->dso != s->dso)
		order = r->dso < s->dso ? -1 : 1;
	if (!order && r->symbol)
		order = strcmp(r->symbol, s->symbol);
	return order;
}

static int more_first(const void *a, const void *b)
{
	const struct row *r = a, *s = b;

	if (r->ns != s->ns)
		return r->ns < s->ns ? 1 : -1;
	if (r->total_ns != s->total_ns)
		return r->total_ns < s->total_ns ? 1 : -1;
	return by_keys(a, b);
}

/**
 * rows_have_totals() - can rows say how much time was in what a group called?
 * @sum: the sum
 * @keys: ROW_*: what they are grouped by
 *
 * Execs are merged in the tree of calls.
 */
bool rows_have_totals(const struct sum *sum, unsigned int keys)
{
	return sum->chains && sum->callers && keys &&
		!(keys & ~(ROW_DSO | ROW_SYMBOL));
}

/* A process has all that its functions call. */
static void add_own_totals(struct rows *rows)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		rows->list[i].total_ns = rows->list[i].ns;
}

/* Append a row, or add it to the last one if their keys are equal. */
static void append(struct rows *rows, struct row row)
{
	struct row *last = rows->nr ? &rows->list[rows->nr - 1] : NULL;
	size_t i;

	if (last && !by_keys(last, &row)) {
		last->ticks += row.ticks;
		last->ns += row.ns;
		for (i = 0; i < PRF_STATES; i++)
			last->states[i] += row.states[i];
	} else {
		rows->list[rows->nr++] = row;
	}
}

static void add_sample(struct rows *rows, const struct sum *sum,
		       unsigned int keys, const struct prf_exec *exec,
		       const struct sample *sample)
{
	const struct sum_dso *dso = &sum->dsos[sample->dso];
	struct row row = { .ticks = sample->ticks, .ns = sample->ns };

	if (keys & ROW_CGROUP)
		row.cgroup = exec->cgroup[0] ? exec->cgroup : "[unknown]";
	if (keys & ROW_COMM)
		row.comm = base_name(exec->name);
	if (keys & ROW_PID)
		row.pid = exec->pid;
	if (keys & ROW_DSO)
		row.dso = &sum->dsos[dso->shown];
	/* The tree has what a function is inlined in */
	if (keys & ROW_SYMBOL)
		row.symbol = rows_have_totals(sum, keys) ?
			sum_innermost(&dso->pieces[sample->piece]) :
			dso->pieces[sample->piece].label;
	if (!rows_have_totals(sum, keys))
		row.states[sum_state(dso->class)] = row.ns;
	rows->list = one_more(rows->list, rows->nr, sizeof(row));
	append(rows, row);
}

static void add_exec(struct rows *rows, const struct sum *sum,
		     unsigned int keys, const struct prf *run,
		     const struct prf_exec *exec)
{
	struct samples samples = samples_of(sum, run, exec);
	size_t i;

	for (i = 0; i < samples.nr; i++)
		add_sample(rows, sum, keys, exec, &samples.list[i]);
	free(samples.list);
}

static void merge(struct rows *rows)
{
	size_t i, nr = rows->nr;

	rows->nr = 0;
	for (i = 0; i < nr; i++)
		append(rows, rows->list[i]);
}

/* The row of a function of the tree; has no DSO if that is none */
static struct row row_of(const struct sum *sum, unsigned int keys,
			 const struct tree_function *function)
{
	struct row row = {};

	if (keys & ROW_DSO)
		row.dso = &sum->dsos[function->dso];
	if (keys & ROW_SYMBOL)
		row.symbol = function->name;
	return row;
}

/* Add a row for each function: some have only called what has ticks. */
static void add_functions(struct rows *rows, const struct tree *tree,
			  unsigned int keys)
{
	size_t i;

	for (i = 0; i < tree->nr_functions; i++) {
		if (tree->functions[i].dso == TREE_NO_DSO ||
		    tree->functions[i].total_ns <= 0)
			continue;
		rows->list = one_more(rows->list, rows->nr,
				      sizeof(*rows->list));
		append(rows, row_of(tree->sum, keys, &tree->functions[i]));
	}
}

/* Find the rows, sorted by keys, of all functions of the tree. */
static struct row **find_rows(const struct rows *rows, const struct tree *tree,
			      unsigned int keys)
{
	struct row **of = calloc(tree->nr_functions + 1, sizeof(*of));
	struct row row;
	size_t i;

	if (!of)
		err(2, NULL);
	for (i = 0; i < tree->nr_functions; i++) {
		if (tree->functions[i].dso == TREE_NO_DSO)
			continue;
		row = row_of(tree->sum, keys, &tree->functions[i]);
		of[i] = bsearch(&row, rows->list, rows->nr, sizeof(row),
				by_keys);
	}
	return of;
}

/* Is a frame the outermost one that belongs to its row? */
static bool is_outermost(const struct tree *tree, uint32_t node,
			 struct row *const *of)
{
	const struct row *row = of[tree->nodes[node].function];

	do
		node = tree->nodes[node].caller;
	while (node && of[tree->nodes[node].function] != row);
	return !node;
}

static void add_total(struct row *row, const struct tree_node *node)
{
	size_t i;

	row->total_ns += node->total_ns;
	for (i = 0; i < PRF_STATES; i++)
		row->states[i] += node->states[i];
}

/* Add the time of what each group called: that counts once. */
static void add_totals(struct rows *rows, const struct tree *tree,
		       unsigned int keys)
{
	struct row **of = find_rows(rows, tree, keys), *row;
	uint32_t node = 0;

	while ((node = tree_next(tree, node))) {
		row = of[tree->nodes[node].function];
		if (row && is_outermost(tree, node, of))
			add_total(row, &tree->nodes[node]);
	}
	free(of);
}

/**
 * rows_make() - group ticks
 * @runs: the runs
 * @nr: number of runs
 * @sum: the finished sum of the runs
 * @keys: ROW_*: what to group by
 *
 * Return: the rows; the list is to be freed, and its strings belong to @runs
 * and @sum.
 */
struct rows rows_make(const struct prf *runs, size_t nr, const struct sum *sum,
		      unsigned int keys)
{
	bool totals = rows_have_totals(sum, keys);
	struct rows rows = {};
	struct tree tree = {};
	size_t i, j;

	for (i = 0; i < nr; i++)
		for (j = 0; j < runs[i].nr; j++)
			add_exec(&rows, sum, keys, &runs[i], &runs[i].execs[j]);
	if (totals) {
		tree_make(&tree, sum, runs, nr, false);
		add_functions(&rows, &tree, keys);
	}
	if (rows.nr) {
		qsort(rows.list, rows.nr, sizeof(*rows.list), by_keys);
		merge(&rows);
		if (totals)
			add_totals(&rows, &tree, keys);
		else if (!(keys & (ROW_DSO | ROW_SYMBOL)))
			add_own_totals(&rows);
		qsort(rows.list, rows.nr, sizeof(*rows.list), more_first);
	}
	tree_free(&tree);
	return rows;
}
