// SPDX-License-Identifier: GPL-2.0-only
/*
 * chain.c - callers of samples, on stacks that the test makes
 */
#include <asm/perf_regs.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "profil/chain.h"

/* Objects of the address space; each is mapped from offset 0 on. */
enum {
	FILE_WITH_TABLE = PROFIL_OBJECT_FILES,
	FILE_WITHOUT_TABLE,
};

#define CODE		0x400000
#define OTHER_CODE	0x500000
#define JIT		0x600000
#define STACK		0x7ffe0000

/*
 * The file has functions of 256 bytes: the first has no caller, and each other
 * one has a frame of as many words as its number, with the return address. In
 * the last quarter of each, nothing is known. Besides, there are a signal frame and
 * one whose caller is in a register, code of no function, and a frame that does not
 * know its caller's base pointer.
 */
#define SIGNAL_FRAME	128
#define IN_REGISTER	160
#define NO_CODE		736
#define WITHOUT_BP	992

static struct {
	struct profil_unwind_head head;
	struct profil_unwind_index index[2];
	uint32_t functions[4];
	struct profil_unwind_row rows[12];
	struct profil_unwind_rule rules[9];
} made = {
	.head = { .blocks = 1, .functions = 4, .rows = 12, .rules = 9 },
	.index = { { 0, 0 }, { 12, 4 } },
	.functions = { 0, 256, 512, 768 },
	.rows = { { 0, 1 }, { SIGNAL_FRAME, 6 }, { IN_REGISTER, 7 },
		  { 192, 0 }, { 256, 2 }, { 448, 0 }, { 512, 3 },
		  { 704, 0 }, { NO_CODE, 5 }, { 768, 4 }, { 960, 0 },
		  { WITHOUT_BP, 8 } },
	.rules = {
		{ .cfa = PROFIL_UNWIND_NO_RULE },
		{ .cfa = PROFIL_UNWIND_OUTERMOST },
		{ .cfa = PROFIL_UNWIND_SP, .offset = 8 },
		{ .cfa = PROFIL_UNWIND_SP, .offset = 16 },
		{ .cfa = PROFIL_UNWIND_SP, .offset = 24 },
		{ .cfa = PROFIL_UNWIND_NO_CODE },
		{ .cfa = PROFIL_UNWIND_SIGNAL },
		{ .cfa = PROFIL_UNWIND_REGISTER, .offset = 8 },
		{ .cfa = PROFIL_UNWIND_SP, .offset = 8,
		  .bp = PROFIL_UNWIND_LOST },
	},
};

FIXTURE(chain)
{
	struct profil_unwind_table table;
	struct chain_walker walker;
	struct space *space;
	uint64_t stack[512];
	uint64_t registers[CHAIN_REGISTERS];
	struct chain_sample sample;
	struct chain chain;
};

static const struct profil_unwind_table *table_of(void *context,
						  uint32_t object)
{
	return object == FILE_WITH_TABLE ? context : NULL;
}

static int map(struct space **space, uint64_t start, uint32_t object)
{
	return space_map(space, &(struct mapping) {
		.start = start,
		.end = start + 1024,
		.object = object,
		.offset = object == PROFIL_OBJECT_ANONYMOUS ? start : 0,
	});
}

FIXTURE_SETUP(chain)
{
	ASSERT_TRUE(profil_unwind_open(&self->table, &made, sizeof(made)));
	self->walker.table_of = table_of;
	self->walker.context = &self->table;
	ASSERT_EQ(0, map(&self->space, CODE, FILE_WITH_TABLE));
	ASSERT_EQ(0, map(&self->space, OTHER_CODE, FILE_WITHOUT_TABLE));
	ASSERT_EQ(0, map(&self->space, JIT, PROFIL_OBJECT_ANONYMOUS));
	self->registers[CHAIN_SP] = STACK;
	self->sample.registers = self->registers;
	self->sample.stack = (const char *)self->stack;
	self->sample.bytes = sizeof(self->stack);
}

FIXTURE_TEARDOWN(chain)
{
	space_put(self->space);
}

/* Where the chain ends, and the offset of a frame, or 0 if there is none */
static enum profil_chain_end walk(FIXTURE_DATA(chain) *self, uint64_t pc)
{
	self->registers[CHAIN_PC] = pc;
	chain_walk(&self->walker, self->space, &self->sample, true,
		   &self->chain);
	return self->chain.end;
}

static uint64_t frame(FIXTURE_DATA(chain) *self, unsigned int index)
{
	return index < self->chain.nr ? self->chain.frames[index].offset : 0;
}

TEST_F(chain, leads_to_the_outermost_frame)
{
	self->stack[1] = CODE + 256 + 100;
	self->stack[2] = CODE + 50;
	EXPECT_EQ(PROFIL_CHAIN_COMPLETE, walk(self, CODE + 512 + 7));
	ASSERT_EQ(3, self->chain.nr);
	EXPECT_EQ(FILE_WITH_TABLE, self->chain.frames[0].object);
	EXPECT_EQ(512 + 7, frame(self, 0));
	EXPECT_EQ(256, frame(self, 1));
	EXPECT_EQ(0, self->chain.frames[2].offset);
}

/* The call is the last instruction of its function. */
TEST_F(chain, callers_are_where_they_call)
{
	self->stack[0] = CODE + 512;
	EXPECT_EQ(PROFIL_CHAIN_NO_RULE, walk(self, CODE + 256));
	EXPECT_EQ(2, self->chain.nr);
	EXPECT_EQ(256, frame(self, 1));
	self->walker.call_sites = true;
	self->stack[0] = CODE + 128;
	EXPECT_EQ(PROFIL_CHAIN_COMPLETE, walk(self, CODE + 256));
	EXPECT_EQ(127, frame(self, 1));
}

/* What the kernel does is called by the frame of which it has the registers. */
TEST_F(chain, of_the_kernel)
{
	self->stack[0] = CODE + 50;
	self->registers[CHAIN_PC] = CODE + 256 + 9;
	chain_walk(&self->walker, self->space, &self->sample, false,
		   &self->chain);
	ASSERT_EQ(2, self->chain.nr);
	EXPECT_EQ(256, frame(self, 0));
}

TEST_F(chain, ends_where_nothing_is_known)
{
	self->stack[0] = CODE + 200;
	EXPECT_EQ(PROFIL_CHAIN_NO_RULE, walk(self, CODE + 256));
	EXPECT_EQ(2, self->chain.nr);
	self->stack[0] = OTHER_CODE + 100;
	EXPECT_EQ(PROFIL_CHAIN_NO_TABLE, walk(self, CODE + 256));
	ASSERT_EQ(2, self->chain.nr);
	EXPECT_EQ(FILE_WITHOUT_TABLE, self->chain.frames[1].object);
	EXPECT_EQ(99, frame(self, 1));
	self->stack[0] = 0x1234;
	EXPECT_EQ(PROFIL_CHAIN_UNMAPPED, walk(self, CODE + 256));
	EXPECT_EQ(1, self->chain.nr);
	EXPECT_EQ(PROFIL_CHAIN_UNMAPPED, walk(self, 0x1234));
	EXPECT_EQ(0, self->chain.nr);
}

/* Nothing says in which function it is: not in the one before. */
TEST_F(chain, callers_without_a_function_are_where_they_call)
{
	self->stack[0] = CODE + NO_CODE + 10;
	EXPECT_EQ(PROFIL_CHAIN_NO_RULE, walk(self, CODE + 256));
	ASSERT_EQ(2, self->chain.nr);
	EXPECT_EQ(NO_CODE + 9, frame(self, 1));
}

/* That is not known to be the outermost frame. */
TEST_F(chain, ends_where_the_base_pointer_is_not_known)
{
	self->stack[0] = JIT + 20;
	EXPECT_EQ(PROFIL_CHAIN_ASTRAY, walk(self, CODE + WITHOUT_BP));
	ASSERT_EQ(2, self->chain.nr);
	EXPECT_EQ(JIT + 19, frame(self, 1));
}

/* The register of what a signal has interrupted is not the handler's. */
TEST_F(chain, ends_behind_a_signal_where_the_caller_is_in_a_register)
{
	self->registers[CHAIN_DI] = CODE + 50;
	EXPECT_EQ(PROFIL_CHAIN_COMPLETE, walk(self, CODE + IN_REGISTER));
	EXPECT_EQ(2, self->chain.nr);
	self->stack[160 / 8] = STACK + 1024;
	self->stack[168 / 8] = CODE + IN_REGISTER;
	EXPECT_EQ(PROFIL_CHAIN_UNMAPPED, walk(self, CODE + SIGNAL_FRAME));
	EXPECT_EQ(2, self->chain.nr);
}

TEST_F(chain, ends_where_the_copy_ends)
{
	self->sample.bytes = 8;
	self->stack[0] = CODE + 768 + 1;
	EXPECT_EQ(PROFIL_CHAIN_ABSENT, walk(self, CODE + 256));
	EXPECT_EQ(2, self->chain.nr);
	self->sample.bytes = 31;
	EXPECT_EQ(PROFIL_CHAIN_ABSENT, walk(self, CODE + 256));
	self->sample.bytes = 32;
	self->stack[3] = CODE + 1;
	EXPECT_EQ(PROFIL_CHAIN_COMPLETE, walk(self, CODE + 256));
	self->sample.bytes = 0;
	EXPECT_EQ(PROFIL_CHAIN_ABSENT, walk(self, CODE + 256));
	EXPECT_EQ(1, self->chain.nr);
}

TEST_F(chain, ends_after_the_most_frames)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(self->stack); i++)
		self->stack[i] = CODE + 256 + 1;
	self->stack[PROFIL_MAX_FRAMES - 2] = CODE + 1;
	EXPECT_EQ(PROFIL_CHAIN_COMPLETE, walk(self, CODE + 256));
	EXPECT_EQ(PROFIL_MAX_FRAMES, self->chain.nr);
	self->stack[PROFIL_MAX_FRAMES - 2] = CODE + 256 + 1;
	self->stack[PROFIL_MAX_FRAMES - 1] = CODE + 1;
	EXPECT_EQ(PROFIL_CHAIN_DEEP, walk(self, CODE + 256));
	EXPECT_EQ(PROFIL_MAX_FRAMES, self->chain.nr);
}

/* Code that was made at run time has a base pointer, or none is found. */
TEST_F(chain, of_code_without_a_file)
{
	self->registers[CHAIN_BP] = STACK + 16;
	self->stack[2] = STACK + 32;
	self->stack[3] = JIT + 20;
	self->stack[4] = 0;
	self->stack[5] = CODE + 1;
	EXPECT_EQ(PROFIL_CHAIN_COMPLETE, walk(self, JIT + 10));
	ASSERT_EQ(3, self->chain.nr);
	EXPECT_EQ(JIT + 10, frame(self, 0));
	EXPECT_EQ(JIT + 19, frame(self, 1));
	EXPECT_EQ(FILE_WITH_TABLE, self->chain.frames[2].object);
	self->stack[2] = STACK;
	EXPECT_EQ(PROFIL_CHAIN_ASTRAY, walk(self, JIT + 10));
	EXPECT_EQ(2, self->chain.nr);
}

/* --- what a sample consists of */

struct record {
	struct perf_event_header header;
	uint64_t words[16];
};

TEST(samples_are_taken_apart)
{
	struct record record = {
		.header.size = sizeof(record),
		.words = { PERF_SAMPLE_REGS_ABI_64, 11, 12, 13, 14, 15, 64,
			   100, 101 },
	};
	struct chain_sample sample;

	record.words[15] = 16;
	sample = chain_sample(&record.header, sizeof(record.header));
	ASSERT_NE(NULL, sample.registers);
	EXPECT_EQ(11, sample.registers[CHAIN_BX]);
	EXPECT_EQ(15, sample.registers[CHAIN_PC]);
	EXPECT_EQ(16, sample.bytes);
	EXPECT_EQ(0, memcmp(sample.stack, &record.words[7], 16));
}

/* The kernel copies what there is below the end of the address space. */
TEST(stacks_may_end_between_two_words)
{
	struct record record = {
		.header.size = sizeof(record),
		.words = { PERF_SAMPLE_REGS_ABI_64, 11, 12, 13, 14, 15, 20 },
	};
	struct chain_sample sample;
	uint64_t bytes = 12;

	memset(&record.words[7], 0xff, 20);
	memcpy((char *)&record.words[7] + 20, &bytes, sizeof(bytes));
	sample = chain_sample(&record.header, sizeof(record.header));
	EXPECT_EQ(12, sample.bytes);
}

TEST(samples_may_have_no_stack)
{
	struct record record = {
		.words = { PERF_SAMPLE_REGS_ABI_NONE, 0 },
	};
	struct chain_sample sample;
	struct chain_walker walker = { 0 };
	struct chain chain;

	record.header.size = sizeof(record.header) + 16;
	sample = chain_sample(&record.header, sizeof(record.header));
	EXPECT_EQ(NULL, sample.registers);
	EXPECT_EQ(0, sample.bytes);
	chain_walk(&walker, NULL, &sample, true, &chain);
	EXPECT_EQ(PROFIL_CHAIN_NO_MEMORY, chain.end);
	EXPECT_EQ(0, chain.nr);
	record.words[0] = PERF_SAMPLE_REGS_ABI_32;
	record.words[CHAIN_REGISTERS + 1] = 0;
	record.header.size = sizeof(record.header) + 56;
	sample = chain_sample(&record.header, sizeof(record.header));
	chain_walk(&walker, NULL, &sample, true, &chain);
	EXPECT_EQ(PROFIL_CHAIN_NO_RULE, chain.end);
	record.header.size = sizeof(record.header);
	sample = chain_sample(&record.header, sizeof(record.header));
	EXPECT_EQ(NULL, sample.registers);
}

/* In the order of struct chain_sample */
TEST(registers_come_in_order)
{
	struct perf_event_attr attr = { 0 };
	static const int order[CHAIN_REGISTERS] = {
		[CHAIN_BX] = PERF_REG_X86_BX, [CHAIN_DI] = PERF_REG_X86_DI,
		[CHAIN_BP] = PERF_REG_X86_BP, [CHAIN_SP] = PERF_REG_X86_SP,
		[CHAIN_PC] = PERF_REG_X86_IP,
	};
	unsigned int i;

	ASSERT_TRUE(chain_ask(&attr, 4096));
	EXPECT_EQ(4096, attr.sample_stack_user);
	for (i = 0; i < CHAIN_REGISTERS; i++) {
		EXPECT_EQ(order[i], __builtin_ctzll(attr.sample_regs_user));
		attr.sample_regs_user &= attr.sample_regs_user - 1;
	}
	EXPECT_EQ(0, attr.sample_regs_user);
}

TEST_HARNESS_MAIN
