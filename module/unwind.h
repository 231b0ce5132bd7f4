/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * unwind.h - from a frame of a stack to its caller
 *
 * What .eh_frame says about a file, made small in user space: for each range of
 * its text a rule that finds the caller's registers. A wrong table finds wrong
 * callers; it reads nothing but what its reader lets it read.
 *
 * <linux/profil.h> describes the table.
 *
 * Context: any; no locks, no memory of its own. The same source is compiled for
 * user space, where it is stepped beside libunwind.
 */
#ifndef PROFIL_UNWIND_H
#define PROFIL_UNWIND_H

#include <linux/nospec.h>
#include <linux/types.h>

#include <linux/profil.h>

/**
 * struct profil_unwind_table - a table that was checked
 * @start: as in &struct profil_unwind_head
 * @blocks: as in &struct profil_unwind_head
 * @nr_rules: the same
 * @index: of the blocks, and the end of the last one
 * @functions: where they begin
 * @rows: their rows
 * @rules: of the rows
 */
struct profil_unwind_table {
	u64 start;
	u32 blocks;
	u32 nr_rules;
	const struct profil_unwind_index *index;
	const u32 *functions;
	const struct profil_unwind_row *rows;
	const struct profil_unwind_rule *rules;
};

/**
 * struct profil_unwind_frame - registers in a frame
 * @pc: program counter
 * @sp: stack pointer
 * @bp: base pointer
 * @bx: register rbx, if @bx_at is 0
 * @bx_at: address at which it is stored, or 0; rarely needed, so rarely read
 * @di: register rdi, of the first frame, as no other rule needs it
 * @is_call: @pc is behind a call, as in each frame but the first one and those
 *	that a signal interrupted; the call may be the last instruction of its
 *	function
 */
struct profil_unwind_frame {
	u64 pc;
	u64 sp;
	u64 bp;
	u64 bx;
	u64 bx_at;
	u64 di;
	bool is_call;
};

/**
 * enum profil_unwind_end - what a step has found
 * @PROFIL_UNWIND_CALLER: a caller
 * @PROFIL_UNWIND_COMPLETE: that there is none
 * @PROFIL_UNWIND_UNKNOWN_CODE: code without a row
 * @PROFIL_UNWIND_UNKNOWN_RULE: code whose rows cannot say where the caller is
 * @PROFIL_UNWIND_ABSENT: memory that cannot be read
 * @PROFIL_UNWIND_ASTRAY: a caller that would not be above in the stack
 */
enum profil_unwind_end {
	PROFIL_UNWIND_CALLER,
	PROFIL_UNWIND_COMPLETE,
	PROFIL_UNWIND_UNKNOWN_CODE,
	PROFIL_UNWIND_UNKNOWN_RULE,
	PROFIL_UNWIND_ABSENT,
	PROFIL_UNWIND_ASTRAY
};

/* Reads the word at an address. Return: whether it could. */
typedef bool (*profil_unwind_read)(void *reader, u64 address, u64 *word);

bool profil_unwind_open(struct profil_unwind_table *table, const void *blob,
			u64 bytes);

/**
 * profil_unwind_rule() - find the rule of an instruction
 * @table: of its file
 * @offset: of the instruction in the file
 *
 * Return: the rule; NULL if the table does not go there.
 */
static inline const struct profil_unwind_rule *
profil_unwind_rule(const struct profil_unwind_table *table, u64 offset)
{
	u64 block = (offset - table->start) >> PROFIL_UNWIND_SHIFT;
	u32 low = offset & (PROFIL_UNWIND_BLOCK - 1);
	u32 begin, end, rule;

	if (offset < table->start || block >= table->blocks)
		return NULL;
	/* Anybody chooses offsets and tables, and CPUs speculate */
	block = array_index_nospec(block, table->blocks);
	begin = table->index[block].row;
	end = table->index[block + 1].row;
	while (begin < end) {
		u32 middle = begin + (end - begin) / 2;

		if (table->rows[middle].low <= low)
			begin = middle + 1;
		else
			end = middle;
	}
	if (!begin)
		return NULL;
	rule = table->rows[begin - 1].rule;
	return &table->rules[array_index_nospec(rule, table->nr_rules)];
}

/**
 * profil_unwind_function() - find where a function begins
 * @table: of its file
 * @offset: of an instruction in the file, with a rule in @table
 *
 * Return: the offset in the file of the function's first instruction.
 */
static inline u64
profil_unwind_function(const struct profil_unwind_table *table, u64 offset)
{
	u32 at = offset - table->start;
	u32 block = array_index_nospec(at >> PROFIL_UNWIND_SHIFT,
				       table->blocks);
	u32 begin = table->index[block].function;
	u32 end = table->index[block + 1].function;

	while (begin < end) {
		u32 middle = begin + (end - begin) / 2;

		if (table->functions[middle] <= at)
			begin = middle + 1;
		else
			end = middle;
	}
	/* Only its owner knows whether they ascend */
	return begin && table->functions[begin - 1] <= at ?
	       table->start + table->functions[begin - 1] : offset;
}

/* Offsets of registers in struct ucontext, which a handler returns to */
#define PROFIL_UNWIND_UC_BP	120
#define PROFIL_UNWIND_UC_BX	128
#define PROFIL_UNWIND_UC_SP	160
#define PROFIL_UNWIND_UC_PC	168

/* A base pointer that is not known: no frame can be there. 0 is the outermost one's. */
#define PROFIL_UNWIND_NOWHERE	1

/* Not above in the stack: the handler may have one of its own. */
static __always_inline enum profil_unwind_end
profil_unwind_signal(struct profil_unwind_frame *frame,
		     profil_unwind_read read, void *reader)
{
	u64 context = frame->sp;
	u64 pc, sp, bp;

	if (!read(reader, context + PROFIL_UNWIND_UC_PC, &pc) ||
	    !read(reader, context + PROFIL_UNWIND_UC_SP, &sp) ||
	    !read(reader, context + PROFIL_UNWIND_UC_BP, &bp))
		return PROFIL_UNWIND_ABSENT;
	frame->pc = pc;
	frame->sp = sp;
	frame->bp = bp;
	frame->bx_at = context + PROFIL_UNWIND_UC_BX;
	frame->di = 0;
	frame->is_call = false;
	return PROFIL_UNWIND_CALLER;
}

/* Of vfork(), which calls nobody */
static __always_inline enum profil_unwind_end
profil_unwind_register(struct profil_unwind_frame *frame,
		       const struct profil_unwind_rule *rule)
{
	if (frame->is_call)
		return PROFIL_UNWIND_UNKNOWN_RULE;
	frame->pc = frame->di;
	frame->sp += (u32)rule->offset;
	frame->is_call = true;
	return PROFIL_UNWIND_CALLER;
}

/**
 * profil_unwind_step() - go from a frame to its caller
 * @frame: the frame, and then its caller; unchanged if there is none
 * @rule: of its program counter, or NULL; of the byte before if @is_call
 * @read: reads a word of the stack; is called with any address, at most three
 *	times
 * @reader: passed to it
 *
 * Return: what was found.
 */
static __always_inline enum profil_unwind_end
profil_unwind_step(struct profil_unwind_frame *frame,
		   const struct profil_unwind_rule *rule,
		   profil_unwind_read read, void *reader)
{
	u64 cfa = 0, pc, bp = frame->bp, bx = frame->bx;

	if (!rule)
		return PROFIL_UNWIND_UNKNOWN_CODE;
	switch (rule->cfa) {
	case PROFIL_UNWIND_NO_CODE:
		return PROFIL_UNWIND_UNKNOWN_CODE;
	case PROFIL_UNWIND_OUTERMOST:
		return PROFIL_UNWIND_COMPLETE;
	case PROFIL_UNWIND_SP:
		cfa = frame->sp + rule->offset;
		break;
	case PROFIL_UNWIND_BP:
		cfa = bp + rule->offset;
		break;
	case PROFIL_UNWIND_BX:
		if (frame->bx_at && !read(reader, frame->bx_at, &bx))
			return PROFIL_UNWIND_ABSENT;
		cfa = bx + rule->offset;
		break;
	case PROFIL_UNWIND_AT_SP:
		if (!read(reader, frame->sp + rule->offset, &cfa))
			return PROFIL_UNWIND_ABSENT;
		cfa += rule->add * sizeof(u64);
		break;
	case PROFIL_UNWIND_AT_BP:
		if (!read(reader, bp + rule->offset, &cfa))
			return PROFIL_UNWIND_ABSENT;
		cfa += rule->add * sizeof(u64);
		break;
	case PROFIL_UNWIND_PLT:
		cfa = frame->sp + sizeof(u64);
		if ((frame->pc & 15) >= (u32)rule->offset)
			cfa += sizeof(u64);
		break;
	case PROFIL_UNWIND_SIGNAL:
		return profil_unwind_signal(frame, read, reader);
	case PROFIL_UNWIND_REGISTER:
		return profil_unwind_register(frame, rule);
	case PROFIL_UNWIND_FRAME:
		if (!bp)
			return PROFIL_UNWIND_COMPLETE;
		cfa = bp + rule->offset;
		break;
	default:
		return PROFIL_UNWIND_UNKNOWN_RULE;
	}

	if (cfa <= frame->sp || cfa % sizeof(u64))
		return PROFIL_UNWIND_ASTRAY;
	if (!read(reader, cfa - sizeof(u64), &pc))
		return PROFIL_UNWIND_ABSENT;
	/* It may be absent where no caller needs it. */
	if (rule->bp == PROFIL_UNWIND_LOST ||
	    (rule->bp != PROFIL_UNWIND_SAME &&
	     !read(reader, rule->bp == PROFIL_UNWIND_CHAINED ? bp :
		   cfa - rule->bp * sizeof(u64), &bp)))
		bp = PROFIL_UNWIND_NOWHERE;
	if (rule->bx == PROFIL_UNWIND_LOST) {
		frame->bx = 0;
		frame->bx_at = 0;
	} else if (rule->bx != PROFIL_UNWIND_SAME) {
		frame->bx_at = cfa - rule->bx * sizeof(u64);
	}
	frame->pc = pc;
	frame->sp = cfa;
	frame->bp = bp;
	frame->is_call = true;
	return PROFIL_UNWIND_CALLER;
}

#endif /* PROFIL_UNWIND_H */
