// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * unwind.c - check a table that says where callers are
 *
 * Also compiled for user space, see unwind.h.
 */
#include <linux/sched.h>

#include "unwind.h"

/* Anybody's table may be long. */
#define PROFIL_UNWIND_PAUSE	65536

/* Return: whether the rows and functions of each block ascend within it. */
static bool profil_unwind_check_block(const struct profil_unwind_table *table,
				      u32 block)
{
	const struct profil_unwind_index *index = &table->index[block];
	u32 start = block << PROFIL_UNWIND_SHIFT;
	u32 i;

	for (i = index[0].row; i < index[1].row; i++)
		if (table->rows[i].low >= PROFIL_UNWIND_BLOCK ||
		    (i > index[0].row &&
		     table->rows[i].low <= table->rows[i - 1].low))
			return false;
	for (i = index[0].function; i < index[1].function; i++)
		if (table->functions[i] - start >= PROFIL_UNWIND_BLOCK ||
		    (i > index[0].function &&
		     table->functions[i] <= table->functions[i - 1]))
			return false;
	return true;
}

static bool profil_unwind_check_index(const struct profil_unwind_table *table,
				      u32 functions, u32 rows)
{
	const struct profil_unwind_index *index = table->index;
	const struct profil_unwind_index *end = index + table->blocks;

	if (index->row || index->function || end->row != rows ||
	    end->function != functions)
		return false;
	for (; index < end; index++) {
		if (index[0].row > index[1].row || index[1].row > rows ||
		    index[0].function > index[1].function ||
		    index[1].function > functions ||
		    !profil_unwind_check_block(table, index - table->index))
			return false;
		cond_resched();
	}
	return true;
}

static bool profil_unwind_check_rules(const struct profil_unwind_table *table,
				      u32 rows, u32 rules)
{
	u32 i;

	for (i = 0; i < rows; i++) {
		if (table->rows[i].rule >= rules)
			return false;
		if (!(i % PROFIL_UNWIND_PAUSE))
			cond_resched();
	}
	for (i = 0; i < rules; i++)
		if (table->rules[i].cfa >= PROFIL_UNWIND_NR_CFA ||
		    table->rules[i].bx == PROFIL_UNWIND_CHAINED)
			return false;
	return true;
}

/**
 * profil_unwind_open() - check a table
 * @table: is set to it
 * @blob: what somebody has passed; must not change
 * @bytes: its size
 *
 * Context: process; may sleep.
 *
 * Return: whether it is one.
 */
bool profil_unwind_open(struct profil_unwind_table *table, const void *blob,
			u64 bytes)
{
	const struct profil_unwind_head *head = blob;
	u64 functions, rows, rules, end;

	if (bytes < sizeof(*head) || head->start % PROFIL_UNWIND_BLOCK ||
	    !head->blocks || head->blocks > 1u << (31 - PROFIL_UNWIND_SHIFT) ||
	    !head->rules || head->rules > 65536)
		return false;
	functions = sizeof(*head) + ((u64)head->blocks + 1) *
		    sizeof(struct profil_unwind_index);
	rows = functions + (u64)head->functions * sizeof(u32);
	rules = rows + (u64)head->rows * sizeof(struct profil_unwind_row);
	rules = (rules + 7) / 8 * 8;
	end = rules + (u64)head->rules * sizeof(struct profil_unwind_rule);
	if (end != bytes)
		return false;

	*table = (struct profil_unwind_table) {
		.start = head->start,
		.blocks = head->blocks,
		.index = blob + sizeof(*head),
		.functions = blob + functions,
		.rows = blob + rows,
		.rules = blob + rules,
	};
	return profil_unwind_check_index(table, head->functions, head->rows) &&
	       profil_unwind_check_rules(table, head->rows, head->rules);
}
