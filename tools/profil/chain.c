// SPDX-License-Identifier: GPL-2.0-only
/*
 * chain.c - chains of callers of perf's samples
 *
 * A sample has a copy of the registers and of a part of the stack. With these,
 * and the tables of the files that are mapped, each frame leads to its caller,
 * as in the module. Then the copy is of no use any more.
 */
#include <string.h>

#include "profil/chain.h"

#ifdef __x86_64__
#include <asm/perf_regs.h>

#define REGISTERS	(1 << PERF_REG_X86_BX | 1 << PERF_REG_X86_DI | \
			 1 << PERF_REG_X86_BP | 1 << PERF_REG_X86_SP | \
			 1 << PERF_REG_X86_IP)
#else
/* There are no tables for others. */
#define REGISTERS	0
#endif

/* Executable memory without a file: nothing else lets anybody find callers. */
static const struct profil_unwind_rule by_base_pointer = {
	.cfa = PROFIL_UNWIND_FRAME,
	.bp = 2,
	.bx = PROFIL_UNWIND_LOST,
	.offset = 16,
};

/**
 * chain_ask() - have samples include what chains are found with
 * @attr: attributes of the events
 * @stack_bytes: how much of the stack; a multiple of 8
 *
 * Return: whether there can be chains on this machine.
 */
bool chain_ask(struct perf_event_attr *attr, uint32_t stack_bytes)
{
	if (!REGISTERS)
		return false;
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = REGISTERS;
	attr->sample_stack_user = stack_bytes;
	return true;
}

/**
 * chain_sample() - find that in a sample
 * @record: the sample
 * @at: where it begins, in bytes; it goes to the end of the sample
 */
struct chain_sample chain_sample(const struct perf_event_header *record,
				 size_t at)
{
	const uint64_t *word = (const void *)((const char *)record + at);
	const uint64_t *end = (const void *)((const char *)record +
					     record->size);
	struct chain_sample sample = { 0 };
	uint64_t abi, bytes;

	if (word == end)
		return sample;
	abi = *word++;
	if (abi != PERF_SAMPLE_REGS_ABI_NONE) {
		sample.is_32 = abi == PERF_SAMPLE_REGS_ABI_32;
		if (!sample.is_32)
			sample.registers = word;
		word += CHAIN_REGISTERS;
	}
	bytes = *word++;
	if (bytes) {
		sample.stack = (const char *)word;
		memcpy(&sample.bytes, sample.stack + bytes,
		       sizeof(sample.bytes));
	}
	return sample;
}

/* What profil_unwind_step() reads the stack with */
struct stack {
	uint64_t start;
	const struct chain_sample *sample;
};

static bool read_stack(void *reader, u64 address, u64 *word)
{
	const struct stack *stack = reader;
	uint64_t at = address - stack->start;

	if (at > stack->sample->bytes ||
	    stack->sample->bytes - at < sizeof(*word))
		return false;
	memcpy(word, stack->sample->stack + at, sizeof(*word));
	return true;
}

static enum profil_chain_end end_of(enum profil_unwind_end end)
{
	switch (end) {
	case PROFIL_UNWIND_COMPLETE:
		return PROFIL_CHAIN_COMPLETE;
	case PROFIL_UNWIND_ABSENT:
		return PROFIL_CHAIN_ABSENT;
	case PROFIL_UNWIND_ASTRAY:
		return PROFIL_CHAIN_ASTRAY;
	default:
		return PROFIL_CHAIN_NO_RULE;
	}
}

/* Where a frame's code is, and how to go on from there */
struct place {
	const struct mapping *mapping;
	uint64_t offset;
	const struct profil_unwind_table *table;
	const struct profil_unwind_rule *rule;
};

/* Return: whether its code is mapped. */
static bool find_place(const struct chain_walker *walker,
		       const struct space *space,
		       const struct profil_unwind_frame *frame,
		       struct place *place)
{
	uint64_t address = frame->pc - frame->is_call;

	*place = (struct place) { .mapping = space_find(space, address) };
	if (!place->mapping)
		return false;
	place->offset = address - place->mapping->start +
			place->mapping->offset;
	if (place->mapping->object == PROFIL_OBJECT_ANONYMOUS) {
		place->rule = &by_base_pointer;
		return true;
	}
	place->table = walker->table_of(walker->context,
					place->mapping->object);
	if (place->table)
		place->rule = profil_unwind_rule(place->table, place->offset);
	return true;
}

static void add_frame(const struct chain_walker *walker, struct chain *chain,
		      const struct place *place, bool is_leaf)
{
	uint64_t offset = place->offset;

	if (!is_leaf && !walker->call_sites && place->table && place->rule &&
	    place->rule->cfa != PROFIL_UNWIND_NO_CODE)
		offset = profil_unwind_function(place->table, offset);
	chain->frames[chain->nr++] = (struct chain_frame) {
		.object = place->mapping->object,
		.offset = offset,
	};
}

/**
 * chain_walk() - find the callers of a sample
 * @walker: what they are found with
 * @space: what the process has mapped
 * @sample: the sample
 * @is_leaf: the innermost frame has the tick; else the kernel has it, for which
 *	that frame is a caller
 * @chain: receives the chain
 */
void chain_walk(const struct chain_walker *walker, const struct space *space,
		const struct chain_sample *sample, bool is_leaf,
		struct chain *chain)
{
	const uint64_t *registers = sample->registers;
	enum profil_unwind_end end = PROFIL_UNWIND_CALLER;
	struct profil_unwind_frame frame;
	struct stack stack = { .sample = sample };
	struct place place;

	chain->nr = 0;
	chain->end = sample->is_32 ? PROFIL_CHAIN_NO_RULE :
				     PROFIL_CHAIN_NO_MEMORY;
	if (!registers)
		return;
	frame = (struct profil_unwind_frame) {
		.pc = registers[CHAIN_PC],
		.sp = registers[CHAIN_SP],
		.bp = registers[CHAIN_BP],
		.bx = registers[CHAIN_BX],
		.di = registers[CHAIN_DI],
	};
	stack.start = frame.sp;
	for (;;) {
		chain->end = PROFIL_CHAIN_UNMAPPED;
		if (!find_place(walker, space, &frame, &place))
			return;
		chain->end = PROFIL_CHAIN_DEEP;
		if (chain->nr == PROFIL_MAX_FRAMES)
			return;
		add_frame(walker, chain, &place, is_leaf && !chain->nr);
		chain->end = PROFIL_CHAIN_NO_TABLE;
		if (!place.table && !place.rule)
			return;
		end = profil_unwind_step(&frame, place.rule, read_stack,
					 &stack);
		if (end != PROFIL_UNWIND_CALLER)
			break;
	}
	chain->end = end_of(end);
}
