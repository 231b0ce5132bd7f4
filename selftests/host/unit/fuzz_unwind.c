// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_unwind.c - fuzz tables of callers, and stacks that lie
 *
 * Aborts if a step reads more than three words, goes down the stack except to
 * what a signal interrupted, or changes a frame without finding a caller; or if
 * a sanitizer finds an error.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwind.h"

/* A stack whose words are a part of the input */
struct stack {
	const uint8_t *bytes;
	size_t size;
	unsigned int reads;
};

static bool read_word(void *data, u64 address, u64 *word)
{
	struct stack *stack = data;

	if (++stack->reads > 3)
		abort();
	if (stack->size < sizeof(*word) ||
	    address > stack->size - sizeof(*word))
		return false;
	memcpy(word, stack->bytes + address, sizeof(*word));
	return true;
}

static void walk(const struct profil_unwind_table *table, struct stack *stack,
		 u64 pc)
{
	struct profil_unwind_frame frame = { .pc = pc, .bp = 16, .bx = 24 };
	unsigned int i;

	for (i = 0; i < 64; i++) {
		struct profil_unwind_frame before = frame;
		u64 at = frame.pc - frame.is_call;
		const struct profil_unwind_rule *rule =
			profil_unwind_rule(table, at);

		if (rule && profil_unwind_function(table, at) > at)
			abort();
		stack->reads = 0;
		if (profil_unwind_step(&frame, rule, read_word, stack)) {
			if (memcmp(&before, &frame, sizeof(frame)))
				abort();
			return;
		}
		if (frame.is_call && frame.sp < before.sp)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct profil_unwind_table table;
	struct stack stack;
	size_t half = size / 2 / 8 * 8;
	void *blob = malloc(half);
	u64 pc;

	memcpy(blob, bytes, half);
	stack.bytes = bytes + half;
	stack.size = size - half;
	if (profil_unwind_open(&table, blob, half))
		for (pc = 0; pc < 4096; pc += 7)
			walk(&table, &stack, table.start + pc);
	free(blob);
	return 0;
}
