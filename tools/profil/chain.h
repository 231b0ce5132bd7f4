/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chain.h - chains of callers of perf's samples
 */
#ifndef CHAIN_H
#define CHAIN_H

#include <linux/perf_event.h>
#include <linux/profil.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profil/perf_space.h"
#include "unwind.h"

/* Registers of a sample, in the order of their numbers */
enum { CHAIN_BX, CHAIN_DI, CHAIN_BP, CHAIN_SP, CHAIN_PC, CHAIN_REGISTERS };

/**
 * struct chain_sample - what a sample has of its thread
 * @registers: registers in user mode; NULL if it has none, or is a 32-bit one
 * @is_32: it is a 32-bit one
 * @stack: copy of the stack from its pointer on
 * @bytes: size of @stack
 */
struct chain_sample {
	const uint64_t *registers;
	bool is_32;
	const char *stack;
	size_t bytes;
};

/**
 * struct chain_frame - a frame
 * @object: object of the table
 * @offset: offset in it of the program counter or, of a caller, of what stands
 *	for it: its function or its call
 */
struct chain_frame {
	uint32_t object;
	uint64_t offset;
};

/**
 * struct chain - a chain of callers
 * @nr: number of frames; 0 if the code of the first one is not mapped
 * @frames: the frames, the innermost one first
 * @end: how it ends
 */
struct chain {
	unsigned int nr;
	struct chain_frame frames[PROFIL_MAX_FRAMES];
	enum profil_chain_end end;
};

/**
 * struct chain_walker - what chains are found with
 * @call_sites: callers are known by their calls, not by their functions
 * @table_of: finds the table of an object, or NULL
 * @context: passed to it
 */
struct chain_walker {
	bool call_sites;
	const struct profil_unwind_table *(*table_of)(void *context,
						      uint32_t object);
	void *context;
};

bool chain_ask(struct perf_event_attr *attr, uint32_t stack_bytes);
struct chain_sample chain_sample(const struct perf_event_header *record,
				 size_t at);
void chain_walk(const struct chain_walker *walker, const struct space *space,
		const struct chain_sample *sample, bool is_leaf,
		struct chain *chain);

#endif /* CHAIN_H */
