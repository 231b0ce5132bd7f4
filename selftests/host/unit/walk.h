/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * walk.h - the module's walk of a stack, in user space
 */
#ifndef UNIT_WALK_H
#define UNIT_WALK_H

#include <linux/types.h>

struct profil_unwind_table;

/**
 * struct walk_mapping - a mapping of the process that is walked
 * @start: its first address
 * @end: its end
 * @offset: in the file
 * @is_code: can be executed
 * @is_data: can be written
 * @table: of its file; the same one for all mappings of that; or NULL
 */
struct walk_mapping {
	u64 start;
	u64 end;
	u64 offset;
	bool is_code;
	bool is_data;
	const struct profil_unwind_table *table;
};

struct walk_registers {
	u64 pc;
	u64 sp;
	u64 bp;
	u64 bx;
	u64 di;
};

/**
 * struct walk - what a walk has found
 * @node: of its innermost frame: the same number for the same chain
 * @end: enum profil_chain_end
 * @sections: how often it has begun to read the stack
 */
struct walk {
	u32 node;
	u32 end;
	u64 sections;
};

/* What the walk needs to know; unwind.c has it. */
bool walk_find(u64 address, struct walk_mapping *mapping);
bool walk_read(u64 address, u64 *word);

#define WALK_CPUS	4

/* Walk with the last chain of a CPU; without one; and forget all of them. */
struct walk walk_with_last(int cpu, const struct walk_registers *registers);
struct walk walk_afresh(const struct walk_registers *registers);
void walk_forget(void);

#endif /* UNIT_WALK_H */
