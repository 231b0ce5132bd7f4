// SPDX-License-Identifier: GPL-2.0-only
/*
 * rows.c - group ticks by any of cgroup, program, process, DSO and function
 */
#include <stdlib.h>
#include <string.h>

#include "prohist/rows.h"
#include "prohist/samples.h"
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
	return by_keys(a, b);
}

/* Append a row, or add it to the last one if their keys are equal. */
static void append(struct rows *rows, struct row row)
{
	struct row *last = rows->nr ? &rows->list[rows->nr - 1] : NULL;

	if (last && !by_keys(last, &row)) {
		last->ticks += row.ticks;
		last->ns += row.ns;
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
		row.dso = dso;
	if (keys & ROW_SYMBOL)
		row.symbol = dso->pieces[sample->piece].label;
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
	struct rows rows = {};
	size_t i, j;

	for (i = 0; i < nr; i++)
		for (j = 0; j < runs[i].nr; j++)
			add_exec(&rows, sum, keys, &runs[i], &runs[i].execs[j]);
	if (rows.nr) {
		qsort(rows.list, rows.nr, sizeof(*rows.list), by_keys);
		merge(&rows);
		qsort(rows.list, rows.nr, sizeof(*rows.list), more_first);
	}
	return rows;
}
