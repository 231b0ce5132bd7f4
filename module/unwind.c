// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * unwind.c - check a table that says where callers are
 *
 * Also compiled for user space, see unwind.h.
 */
#include <linux/sched.h>

#include "unwind.h"

/*
 * Return: whether the rows and functions of each block are in the table, no more
 * than a block can have. Their order is not looked at, as it only makes chains
 * right or wrong, nor are numbers of rules: see profil_unwind_rule().
 */
static bool profil_unwind_check_index(const struct profil_unwind_table *table,
				      u32 functions, u32 rows)
{
	const struct profil_unwind_index *index = table->index;
	const struct profil_unwind_index *end = index + table->blocks;

	if (index->row || index->function || end->row != rows ||
	    end->function != functions)
		return false;
	for (; index < end; index++) {
		if (index[1].row < index[0].row || index[1].row > rows ||
		    index[1].row - index[0].row > PROFIL_UNWIND_BLOCK ||
		    index[1].function < index[0].function ||
		    index[1].function > functions ||
		    index[1].function - index[0].function >
		    PROFIL_UNWIND_BLOCK)
			return false;
		cond_resched();
	}
	return true;
}

static bool profil_unwind_check_rules(const struct profil_unwind_table *table)
{
	u32 i;

	for (i = 0; i < table->nr_rules; i++)
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
		.nr_rules = head->rules,
		.index = blob + sizeof(*head),
		.functions = blob + functions,
		.rows = blob + rows,
		.rules = blob + rules,
	};
	return profil_unwind_check_index(table, head->functions, head->rows) &&
	       profil_unwind_check_rules(table);
}
