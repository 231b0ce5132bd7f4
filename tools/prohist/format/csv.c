// SPDX-License-Identifier: GPL-2.0-only
/*
 * csv.c - print comma-separated values (RFC 4180), for spreadsheets
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/report.h"
#include "util/utf8.h"

/*
 * Control characters become "?", and bytes that are not UTF-8 U+FFFD. Spreadsheets
 * take what begins with some characters for a formula, unless "'" comes first.
 */
static void put_quoted(const char *text)
{
	int length;

	putchar('"');
	if (*text && strchr("=+-@", *text))
		putchar('\'');
	for (; *text; text += length ?: 1) {
		length = utf8_text(text);
		if (*text == '"')
			putchar('"');
		if (!utf8_length(text))
			printf("\xef\xbf\xbd");
		else if (length)
			printf("%.*s", length, text);
		else
			putchar('?');
	}
	putchar('"');
}

static void put_field(const struct sum *sum, enum column_id id,
		      const struct row *row, double so_far)
{
	switch (id) {
	case COLUMN_TICKS:
		printf("%" PRIu64, row->ticks);
		break;
	case COLUMN_PERCENT:
		printf("%.4f", sum_percent(sum, row->ns));
		break;
	case COLUMN_ERROR:
		printf("%.4f", sum_error(sum, row->ns));
		break;
	case COLUMN_TOTAL:
		printf("%.4f", sum_percent(sum, row->total_ns));
		break;
	case COLUMN_SO_FAR:
		printf("%.4f", sum_percent(sum, so_far));
		break;
	case COLUMN_TIME:
		printf("%.9f", row->ns / 1e9);
		break;
	case COLUMN_CPU:
	case COLUMN_RUNNABLE:
	case COLUMN_BLOCKED:
	case COLUMN_IDLE:
		printf("%.4f", sum_percent(sum, column_state_ns(id, row)));
		break;
	case COLUMN_CGROUP:
		put_quoted(row->cgroup);
		break;
	case COLUMN_COMM:
		put_quoted(row->comm);
		break;
	case COLUMN_PID:
		printf("%" PRIu32, row->pid);
		break;
	case COLUMN_DSO:
		put_quoted(row->dso->path);
		break;
	case COLUMN_SYMBOL:
		put_quoted(row->symbol);
		break;
	default:
		break;
	}
}

/* Without --fields: the names, and all numbers of a row by itself */
static void choose_fields(const struct sum *sum, unsigned int by,
			  enum column_id *ids)
{
	static const enum column_id all[] = {
		COLUMN_CGROUP, COLUMN_COMM, COLUMN_PID, COLUMN_DSO,
		COLUMN_SYMBOL, COLUMN_TICKS, COLUMN_PERCENT, COLUMN_ERROR,
		COLUMN_TIME,
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!column_key(all[i]) || column_key(all[i]) & by)
			*ids++ = all[i];
	if (rows_have_totals(sum, by))
		*ids++ = COLUMN_TOTAL;
	*columns_states(ids, sum) = COLUMN_END;
}

/** print_csv() - print ticks by function, or by what --sort names */
int print_csv(const struct report *report)
{
	unsigned int by = report->keys ?: ROW_SYMBOL | ROW_DSO;
	struct rows rows = rows_make(report->runs, report->nr, report->sum, by);
	enum column_id chosen[NR_COLUMNS];
	const enum column_id *ids = report->fields ?: chosen, *id;
	double so_far = 0;
	size_t i;

	choose_fields(report->sum, by, chosen);
	for (id = ids; *id != COLUMN_END; id++)
		printf("%s%s", id == ids ? "" : ",", column_name(*id));
	printf("\r\n");
	for (i = 0; i < rows.nr; i++) {
		so_far += rows.list[i].ns;
		for (id = ids; *id != COLUMN_END; id++) {
			if (id != ids)
				putchar(',');
			put_field(report->sum, *id, &rows.list[i], so_far);
		}
		printf("\r\n");
	}
	free(rows.list);
	return 0;
}
