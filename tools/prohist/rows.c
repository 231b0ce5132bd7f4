// SPDX-License-Identifier: GPL-2.0-only
/*
 * rows.c - group ticks by any of program, process, DSO and function
 */
#include <stdlib.h>
#include <string.h>

#include "prohist/rows.h"
#include "util/xalloc.h"

/* What all rows of an exec have in common */
struct maker {
	struct rows rows;
	const struct sum *sum;
	unsigned int keys;
	struct row exec;
	double period_ns;
};

static int by_keys(const void *a, const void *b)
{
	const struct row *r = a, *s = b;
	int order = 0;

	if (r->comm)
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

	if (r->ticks != s->ticks)
		return r->ticks < s->ticks ? 1 : -1;
	return by_keys(a, b);
}

static void add(struct maker *maker, const struct sum_dso *dso,
		const char *symbol, uint64_t ticks)
{
	struct rows *rows = &maker->rows;
	struct row *row;

	if (!ticks)
		return;
	rows->list = one_more(rows->list, rows->nr, sizeof(*row));
	row = &rows->list[rows->nr++];
	*row = maker->exec;
	row->dso = maker->keys & ROW_DSO ? dso : NULL;
	row->symbol = symbol;
	row->ticks = ticks;
	row->ns = ticks * maker->period_ns;
}

static void add_dso(struct maker *maker, const struct prf_dso *mapping)
{
	const struct sum_dso *dso = sum_dso(maker->sum, mapping);
	size_t i;

	if (!(maker->keys & ROW_SYMBOL)) {
		add(maker, dso, NULL, prf_dso_ticks(mapping));
		return;
	}
	for (i = 0; i < mapping->nr; i++) {
		const struct prf_bucket *bucket = &mapping->buckets[i];
		uint64_t address = symbols_address(&dso->symbols, mapping,
						   bucket->offset);

		add(maker, dso, sum_piece(dso, address)->label, bucket->count);
	}
}

static void add_whole(struct maker *maker, enum sum_class class, uint64_t ticks)
{
	const struct sum_dso *dso = sum_whole(maker->sum, class);

	if (dso)
		add(maker, dso, maker->keys & ROW_SYMBOL ? dso->path : NULL,
		    ticks);
}

static void add_exec(struct maker *maker, const struct prf_exec *exec)
{
	size_t i;

	maker->exec = (struct row){
		.comm = maker->keys & ROW_COMM ? base_name(exec->name) : NULL,
		.pid = maker->keys & ROW_PID ? exec->pid : 0,
	};
	for (i = 0; i < exec->nr; i++)
		if (exec->dsos[i].nr)
			add_dso(maker, &exec->dsos[i]);
	add_whole(maker, SUM_KERNEL, exec->kernel_count + exec->left_out);
	add_whole(maker, SUM_OTHER, exec->outside);
}

static void merge(struct rows *rows)
{
	struct row *list = rows->list;
	size_t i, nr = 0;

	for (i = 0; i < rows->nr; i++) {
		if (nr && !by_keys(&list[nr - 1], &list[i])) {
			list[nr - 1].ticks += list[i].ticks;
			list[nr - 1].ns += list[i].ns;
			continue;
		}
		list[nr++] = list[i];
	}
	rows->nr = nr;
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
	struct maker maker = { .sum = sum, .keys = keys };
	size_t i, j;

	for (i = 0; i < nr; i++) {
		maker.period_ns = runs[i].period_ns;
		for (j = 0; j < runs[i].nr; j++)
			add_exec(&maker, &runs[i].execs[j]);
	}
	if (maker.rows.nr) {
		qsort(maker.rows.list, maker.rows.nr, sizeof(struct row),
		      by_keys);
		merge(&maker.rows);
		qsort(maker.rows.list, maker.rows.nr, sizeof(struct row),
		      more_first);
	}
	return maker.rows;
}
