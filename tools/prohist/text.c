// SPDX-License-Identifier: GPL-2.0-only
/*
 * text.c - print programs, DSOs and functions as text
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/report.h"

/* Share of the kernel, in percent, from which its callers may matter */
#define KERNEL_MUCH	20

static const enum column_id plain[] = {
	COLUMN_TICKS, COLUMN_PERCENT, COLUMN_BAR, COLUMN_NAME, COLUMN_END
};

static const struct {
	unsigned int key;
	const char *name;
} keys[] = {
	{ ROW_CGROUP, "cgroup" },
	{ ROW_COMM, "program" },
	{ ROW_PID, "process" },
	{ ROW_DSO, "DSO" },
	{ ROW_SYMBOL, "function" },
};

static void print_programs(const struct report *report)
{
	struct rows rows = rows_make(report->runs, report->nr, report->sum,
				     ROW_COMM);
	/* They may have ticks in any state */
	enum column_id with_states[NR_COLUMNS] = {
		COLUMN_TICKS, COLUMN_PERCENT
	};
	struct columns columns = {
		.term = report->term,
		.sum = report->sum,
		.ids = report->sum->wall ? with_states : plain,
		.name = "by program",
		.most = report->sum->placed_ns,
	};
	enum column_id *id = columns_states(with_states + 2, report->sum);
	size_t i;

	*id++ = COLUMN_NAME;
	*id = COLUMN_END;
	if (rows.nr > 1) {
		columns_heading(&columns, NULL);
		for (i = 0; i < rows.nr && i < report->top; i++) {
			columns_print(&columns, &rows.list[i]);
			term_name(rows.list[i].comm);
			putchar('\n');
		}
		columns_more(&columns, rows.nr - i);
	}
	free(rows.list);
}

static void print_dso(struct columns *columns, const struct sum_dso *dso)
{
	const struct row row = {
		.dso = dso, .ticks = dso->shown_ticks, .ns = dso->shown_ns,
	};

	columns_print(columns, &row);
	printf("  ");
	term_name(dso->path);
	putchar('\n');
	if (dso->symbols.problem)
		printf("%20s(%s)\n", "", dso->symbols.problem);
}

/* Is there more to say than one DSO, or a problem with it? */
static bool has_dsos(const struct sum *sum)
{
	return sum->nr_dsos > 1 ||
		(sum->nr_dsos && sum->dsos->symbols.problem);
}

static void print_dsos(const struct report *report)
{
	const struct sum *sum = report->sum;
	struct columns columns = {
		.term = report->term,
		.sum = sum,
		.ids = plain,
		.name = "by DSO",
		.most = sum->placed_ns,
	};
	enum sum_class class;
	size_t i = 0, nr;

	columns_heading(&columns, NULL);
	for (class = 0; class < SUM_CLASSES; class++) {
		const struct row row = {
			.ticks = sum->classes[class],
			.ns = sum->classes_ns[class],
		};

		/* DSOs of another class come next */
		for (; i < sum->nr_dsos && sum->dsos[i].class < class; i++)
			;
		if (!row.ticks)
			continue;
		columns_print(&columns, &row);
		printf("%s\n", sum_class_name(class));
		/* The rest is that of the class */
		columns.so_far = sum->placed - row.ticks;
		columns.so_far_ns = sum->placed_ns - row.ns;
		for (nr = 0; i < sum->nr_dsos && sum->dsos[i].class == class;
		     i++)
			if (sum->dsos[i].shown_ticks && nr++ < report->top)
				print_dso(&columns, &sum->dsos[i]);
		columns_more(&columns, nr > report->top ? nr - report->top : 0);
	}
}

/**
 * print_where() - print the DSO of a function behind its name
 *
 * It is "(libc.so.6)", or of a wait its state, "[blocked]".
 */
void print_where(const struct sum_dso *dso)
{
	bool waits = sum_state(dso->class) != PRF_ON_CPU;

	printf(waits ? " " : " (");
	term_name(base_name(dso->path));
	if (!waits)
		putchar(')');
}

/* Print what a row is grouped by, as far as no column shows it */
static void print_name(const struct term *term, const struct row *row)
{
	bool waits = row->dso && sum_state(row->dso->class) != PRF_ON_CPU;

	if (waits)
		term_colour(term, state_colour(row->dso));
	if (row->symbol)
		term_name(row->symbol);
	else if (row->dso)
		term_name(row->dso->path);
	else if (row->comm)
		term_name(row->comm);
	else if (row->cgroup)
		term_name(row->cgroup);
	else
		printf("%" PRIu32, row->pid);
	if (row->symbol && row->dso && strcmp(row->symbol, row->dso->path))
		print_where(row->dso);
	if (waits)
		term_colour(term, TERM_PLAIN);
	putchar('\n');
}

/*
 * The columns without --fields: numbers, names, a bar, and the last name. Where
 * there are columns of states, these are more than 80 with errors and bars
 */
static void choose_columns(const struct sum *sum, unsigned int by,
			   enum column_id *ids)
{
	bool function = by & (ROW_DSO | ROW_SYMBOL);

	*ids++ = COLUMN_TICKS;
	*ids++ = COLUMN_PERCENT;
	if (!sum->wall)
		*ids++ = COLUMN_ERROR;
	*ids++ = rows_have_totals(sum, by) ? COLUMN_TOTAL : COLUMN_SO_FAR;
	ids = columns_states(ids, sum);
	if (by & ROW_CGROUP && by & ~(ROW_CGROUP | ROW_PID))
		*ids++ = COLUMN_CGROUP;
	if (by & ROW_PID && by != ROW_PID)
		*ids++ = COLUMN_PID;
	if (by & ROW_COMM && function)
		*ids++ = COLUMN_COMM;
	if (!sum->wall)
		*ids++ = COLUMN_BAR;
	*ids++ = COLUMN_NAME;
	*ids = COLUMN_END;
}

/* A function is printed with its DSO */
static void make_name(char *name, size_t size, unsigned int by)
{
	const char *comma = "by ";
	size_t length = 0, i;

	if (by & ROW_SYMBOL)
		by &= ~ROW_DSO;
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!(by & keys[i].key))
			continue;
		length += snprintf(name + length, size - length, "%s%s", comma,
				   keys[i].name);
		comma = ", ";
	}
}

static void print_rows(const struct report *report, unsigned int by)
{
	struct rows rows = rows_make(report->runs, report->nr, report->sum, by);
	enum column_id ids[NR_COLUMNS];
	char name[100];
	struct columns columns = {
		.term = report->term,
		.sum = report->sum,
		.ids = report->fields ?: ids,
		.name = name,
		.most = rows.nr ? rows.list[0].ns : 0,
	};
	size_t i;

	choose_columns(report->sum, by, ids);
	make_name(name, sizeof(name), by);
	columns_heading(&columns, &rows);
	for (i = 0; i < rows.nr && i < report->top; i++) {
		columns_print(&columns, &rows.list[i]);
		if (!report->fields)
			print_name(report->term, &rows.list[i]);
	}
	columns_more(&columns, rows.nr - i);
	free(rows.list);
}

/* Ticks in the kernel that have no function */
static void print_hint(const struct sum *sum)
{
	const struct sum_dso *kernel = sum_whole(sum, SUM_KERNEL);

	if (kernel && !sum->user_only &&
	    sum_percent(sum, kernel->ns) >= KERNEL_MUCH)
		printf("\nprofil --kernel=functions names the functions of the kernel\n");
}

/** print_text() - print summary, functions, programs and DSOs */
int print_text(const struct report *report)
{
	print_summary(report->term, report->sum, report->stats);
	print_rows(report, report->keys ?: ROW_SYMBOL | ROW_DSO);
	if (!report->keys) {
		print_programs(report);
		if (report->stats || has_dsos(report->sum))
			print_dsos(report);
	}
	print_hint(report->sum);
	return 0;
}
