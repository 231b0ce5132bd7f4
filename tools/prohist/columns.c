// SPDX-License-Identifier: GPL-2.0-only
/*
 * columns.c - print the columns of text reports
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/columns.h"
#include "util/utf8.h"

/* Columns left for typical names, and for the space around bars. */
#define NAME_WIDTH	36

/* Longest padding of a name that is not the last column. */
#define PAD_MOST	40

/*
 * @name: argument of --fields, and field of CSV; @key: ROW_* of names; @width:
 * width of numbers, with the space before them.
 */
static const struct column {
	const char *name;
	const char *heading;
	unsigned int key;
	int width;
} known[NR_COLUMNS] = {
	[COLUMN_TICKS] = { "ticks", "ticks", 0, 10 },
	[COLUMN_PERCENT] = { "percent", "percent", 0, 8 },
	[COLUMN_ERROR] = { "error", "error", 0, 10 },
	[COLUMN_TOTAL] = { "total", "total", 0, 8 },
	[COLUMN_SO_FAR] = { "so-far", "so far", 0, 8 },
	[COLUMN_TIME] = { "time", "seconds", 0, 11 },
	[COLUMN_CPU] = { "cpu", "on CPU", 0, 9 },
	[COLUMN_RUNNABLE] = { "runnable", "runnable", 0, 10 },
	[COLUMN_BLOCKED] = { "blocked", "blocked", 0, 9 },
	[COLUMN_IDLE] = { "idle", "idle", 0, 9 },
	[COLUMN_BAR] = { "bar", "", 0, 0 },
	[COLUMN_CGROUP] = { "cgroup", "cgroup", ROW_CGROUP, 0 },
	[COLUMN_COMM] = { "comm", "program", ROW_COMM, 0 },
	[COLUMN_PID] = { "pid", "process", ROW_PID, 9 },
	[COLUMN_DSO] = { "dso", "DSO", ROW_DSO, 0 },
	[COLUMN_SYMBOL] = { "symbol", "function", ROW_SYMBOL, 0 },
};

/** column_of() - find a column by its name; COLUMN_END if there is none */
enum column_id column_of(const char *name)
{
	int id;

	for (id = COLUMN_TICKS; id < COLUMN_NAME; id++)
		if (!strcmp(known[id].name, name))
			return id;
	return COLUMN_END;
}

/** column_name() - name of a column in --fields and in CSV */
const char *column_name(enum column_id id)
{
	return known[id].name;
}

/** column_key() - the ROW_* that a column names; 0 for a number */
unsigned int column_key(enum column_id id)
{
	return known[id].key;
}

/** column_state_ns() - time of a row in the state that a column shows */
double column_state_ns(enum column_id id, const struct row *row)
{
	return row->states[PRF_ON_CPU + (id - COLUMN_CPU)];
}

/**
 * columns_states() - add the columns of states
 * @ids: where to put them
 * @sum: the sum; without waits, there are no such columns
 *
 * Return: the end of @ids.
 */
enum column_id *columns_states(enum column_id *ids, const struct sum *sum)
{
	if (!sum->wall)
		return ids;
	*ids++ = COLUMN_CPU;
	*ids++ = COLUMN_RUNNABLE;
	*ids++ = COLUMN_BLOCKED;
	if (sum->classes[SUM_IDLE])
		*ids++ = COLUMN_IDLE;
	return ids;
}

/** state_colour() - colour of what threads did at the ticks of a DSO */
enum term_colour state_colour(const struct sum_dso *dso)
{
	static const enum term_colour colours[PRF_STATES] = {
		[PRF_ON_CPU] = TERM_GREEN,
		[PRF_RUNNABLE] = TERM_YELLOW,
		[PRF_BLOCKED] = TERM_BLUE,
		[PRF_IDLE] = TERM_GREY,
	};

	return colours[sum_state(dso->class)];
}

static const char *text_of(enum column_id id, const struct row *row)
{
	switch (id) {
	case COLUMN_CGROUP:
		return row->cgroup;
	case COLUMN_COMM:
		return row->comm;
	case COLUMN_DSO:
		return base_name(row->dso->path);
	case COLUMN_SYMBOL:
		return row->symbol;
	default:
		return NULL;
	}
}

/* Characters of a name; a byte that is not UTF-8 is printed as one. */
static int length_of(const char *name)
{
	int length = 0;

	for (; *name; name += utf8_length(name) ?: 1)
		length++;
	return length;
}

static int widest(enum column_id id, const struct rows *rows)
{
	int width = strlen(known[id].heading);
	size_t i;

	for (i = 0; i < rows->nr; i++) {
		const char *text = text_of(id, &rows->list[i]);
		int length = text ? length_of(text) : 0;

		if (length > width)
			width = length;
	}
	return width < PAD_MOST ? width : PAD_MOST;
}

static void find_widths(struct columns *columns, const struct rows *rows)
{
	const enum column_id *id;
	int taken = NAME_WIDTH;

	for (id = columns->ids; *id != COLUMN_END; id++) {
		columns->width[*id] = known[*id].width;
		if (rows && known[*id].key && !known[*id].width)
			columns->width[*id] = widest(*id, rows);
		taken += columns->width[*id];
	}
	columns->width[COLUMN_BAR] = term_bar_width(columns->term, taken);
}

/**
 * columns_heading() - find the widths of the columns, and print their heading
 * @columns: the layout
 * @rows: the rows to print, if their names are columns
 */
void columns_heading(struct columns *columns, const struct rows *rows)
{
	const enum column_id *id;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		err(2, NULL);
	find_widths(columns, rows);
	for (id = columns->ids; *id != COLUMN_END; id++) {
		const char *heading = known[*id].heading;

		if (*id == COLUMN_NAME)
			fprintf(stream, "  %s", columns->name);
		else if (known[*id].width)
			fprintf(stream, "%*s", known[*id].width, heading);
		else if (*id != COLUMN_BAR)
			fprintf(stream, "  %-*s", id[1] == COLUMN_END ? 0 :
				columns->width[*id], heading);
		else if (id[1] != COLUMN_NAME && id[1] != COLUMN_END)
			fprintf(stream, "  %*s", columns->width[*id], "");
	}
	if (fclose(stream))
		err(2, NULL);
	term_heading(columns->term, text);
	free(text);
}

static void print_number(const struct columns *columns, enum column_id id,
			 const struct row *row)
{
	const struct sum *sum = columns->sum;
	int width = known[id].width;

	switch (id) {
	case COLUMN_TICKS:
		printf("%*" PRIu64, width, row->ticks);
		break;
	case COLUMN_PERCENT:
		printf("%*.1f %%", width - 2, sum_percent(sum, row->ns));
		break;
	case COLUMN_ERROR:
		printf(" +-%*.1f %%", width - 5, sum_error(sum, row->ns));
		break;
	case COLUMN_TOTAL:
		printf("%*.1f %%", width - 2, sum_percent(sum, row->total_ns));
		break;
	case COLUMN_SO_FAR:
		printf("%*.1f %%", width - 2,
		       sum_percent(sum, columns->so_far_ns));
		break;
	case COLUMN_TIME:
		printf("%*.3f", width, row->ns / 1e9);
		break;
	case COLUMN_CPU:
	case COLUMN_RUNNABLE:
	case COLUMN_BLOCKED:
	case COLUMN_IDLE:
		printf("%*.1f %%", width - 2,
		       sum_percent(sum, column_state_ns(id, row)));
		break;
	case COLUMN_PID:
		printf("%*" PRIu32, width, row->pid);
		break;
	default:
		break;
	}
}

static void put_name(const struct columns *columns, enum column_id id,
		     const struct row *row, bool last)
{
	const char *text = text_of(id, row);
	int pad = columns->width[id] - length_of(text);

	printf("  ");
	term_name(text);
	if (!last && pad > 0)
		printf("%*s", pad, "");
}

/**
 * columns_print() - print the columns of a row
 * @columns: the layout
 * @row: the row
 *
 * Ends the line, unless the last column is COLUMN_NAME.
 */
void columns_print(struct columns *columns, const struct row *row)
{
	const enum column_id *id;
	int width;

	columns->so_far += row->ticks;
	columns->so_far_ns += row->ns;
	for (id = columns->ids; *id != COLUMN_END; id++) {
		if (*id == COLUMN_NAME) {
			printf(id > columns->ids && id[-1] == COLUMN_BAR ?
			       " " : "  ");
			return;
		}
		if (*id == COLUMN_BAR) {
			printf("  ");
			width = term_bar(columns->term, columns->width[*id],
					 row->ns, columns->most,
					 row->dso ? state_colour(row->dso) :
						    TERM_GREEN);
			printf("%*s", width, "");
		} else if (known[*id].width) {
			print_number(columns, *id, row);
		} else {
			put_name(columns, *id, row, id[1] == COLUMN_END);
		}
	}
	putchar('\n');
}

/**
 * columns_more() - print the number of ticks in rows beyond --top
 * @columns: the layout
 * @nr: number of rows not printed; if 0, prints nothing
 */
void columns_more(const struct columns *columns, size_t nr)
{
	const struct row rest = {
		.ticks = columns->sum->placed - columns->so_far,
		.ns = columns->sum->placed_ns - columns->so_far_ns,
	};

	if (!nr)
		return;
	print_number(columns, COLUMN_TICKS, &rest);
	print_number(columns, COLUMN_PERCENT, &rest);
	printf("  (%zu more)\n", nr);
}
