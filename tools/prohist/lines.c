// SPDX-License-Identifier: GPL-2.0-only
/*
 * lines.c - print ticks by source line
 *
 * sum_place() chooses the line of a bucket. Buckets without a line are one
 * entry for each DSO.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/report.h"
#include "util/xalloc.h"

/* A source line; @file is NULL for all code of @dso without a line. */
struct line {
	const struct sum_dso *dso;
	const char *file;
	int number;
	uint64_t ticks;
	double ns;
};

/* @shared: ticks in buckets that extend over several lines. */
struct lines {
	size_t nr;
	struct line *list;
	uint64_t shared;
	double shared_ns;
};

static int by_file(const void *a, const void *b)
{
	const struct line *l = a, *m = b;
	int order;

	if (l->dso != m->dso)
		return l->dso < m->dso ? -1 : 1;
	if (!l->file || !m->file)
		return !!l->file - !!m->file;
	order = strcmp(l->file, m->file);
	return order ? order : l->number - m->number;
}

static int more_first(const void *a, const void *b)
{
	const struct line *l = a, *m = b;

	if (l->ns != m->ns)
		return l->ns < m->ns ? 1 : -1;
	return by_file(a, b);
}

static bool same(const struct place *a, const struct place *b)
{
	return a->line == b->line &&
		(a->file == b->file ||
		 (a->file && b->file && !strcmp(a->file, b->file)));
}

/* Add a line to one that is the same; returns whether it is. */
static bool merge(struct line *to, const struct line *line)
{
	if (by_file(to, line))
		return false;
	to->ticks += line->ticks;
	to->ns += line->ns;
	return true;
}

/* Many buckets in a row may have the same line, or none. */
static void add_line(struct lines *lines, const struct line *line)
{
	if (lines->nr && merge(&lines->list[lines->nr - 1], line))
		return;
	lines->list = one_more(lines->list, lines->nr, sizeof(*line));
	lines->list[lines->nr++] = *line;
}

static void add_bucket(struct lines *lines, const struct sum_dso *dso,
		       const struct sum_piece *piece,
		       const struct sum_bucket *bucket)
{
	struct place first, last;

	symbols_place(&dso->symbols, bucket->address, &first);
	sum_place(dso, piece, bucket, &last);
	if (!same(&first, &last)) {
		lines->shared += bucket->ticks;
		lines->shared_ns += bucket->ns;
	}
	add_line(lines, &(struct line){
		dso, last.file, last.line, bucket->ticks, bucket->ns
	});
}

static void add_dso(struct lines *lines, const struct sum_dso *dso)
{
	size_t i, j;

	for (i = 0; i < dso->nr_pieces; i++) {
		const struct sum_piece *piece = &dso->pieces[i];

		for (j = piece->first; j < piece->first + piece->nr; j++)
			add_bucket(lines, dso, piece,
				   &dso->buckets[j]);
	}
}

static void merge_all(struct lines *lines)
{
	struct line *list = lines->list;
	size_t i, nr = 0;

	for (i = 0; i < lines->nr; i++)
		if (!nr || !merge(&list[nr - 1], &list[i]))
			list[nr++] = list[i];
	lines->nr = nr;
}

static void find(struct lines *lines, const struct sum *sum)
{
	size_t i;

	for (i = 0; i < sum->nr_dsos; i++)
		add_dso(lines, &sum->dsos[i]);
	if (!lines->nr)
		return;
	qsort(lines->list, lines->nr, sizeof(*lines->list), by_file);
	merge_all(lines);
	qsort(lines->list, lines->nr, sizeof(*lines->list), more_first);
}

static void print_place(const struct line *line)
{
	if (line->file) {
		term_name(line->file);
		printf(":%d (", line->number);
	} else {
		fputs("no line is known (", stdout);
	}
	term_name(base_name(line->dso->path));
	putchar(')');
}

/** print_lines() - print the summary and the lines with most ticks */
int print_lines(const struct report *report)
{
	static const enum column_id ids[] = {
		COLUMN_TICKS, COLUMN_PERCENT, COLUMN_ERROR, COLUMN_SO_FAR,
		COLUMN_BAR, COLUMN_NAME, COLUMN_END
	};
	struct lines lines = {};
	struct columns columns = {
		.term = report->term,
		.sum = report->sum,
		.ids = ids,
		.name = "by source line",
	};
	size_t i;

	find(&lines, report->sum);
	if (lines.nr)
		columns.most = lines.list[0].ns;
	print_summary(report->term, report->sum, report->stats);
	columns_heading(&columns, NULL);
	if (lines.shared)
		printf("%" PRIu64 " ticks (%.1f %%) are in buckets shared by several lines; use profil --bucket=1 to separate them\n",
		       lines.shared, sum_percent(report->sum, lines.shared_ns));
	for (i = 0; i < lines.nr && i < report->top; i++) {
		const struct row row = {
			.ticks = lines.list[i].ticks,
			.ns = lines.list[i].ns,
		};

		columns_print(&columns, &row);
		print_place(&lines.list[i]);
		putchar('\n');
	}
	columns_more(&columns, lines.nr - i);
	free(lines.list);
	return 0;
}
