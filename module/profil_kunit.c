// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_kunit.c - KUnit tests of region.c and schedule.h
 *
 * They test the code of profil.ko as compiled for the kernel, with the kernel's
 * sort_r(). selftests/host/unit has the same numbers, and the long tests
 * against a reference in 128-bit arithmetic.
 */
#include <kunit/test.h>
#include <linux/module.h>

/* A module cannot call functions that profil does not export. */
#ifdef MODULE
#include "region.c"
#endif
#include "region.h"
#include "schedule.h"
#include "vectors.h"

#define SVR4		PROFIL_SET_SVR4_ARITH
#define SCALE_ONE	PROFIL_SET_SCALE_ONE
#define NO_OVERFLOW	PROFIL_SET_NO_OVERFLOW
#define ANYWHERE	PROFIL_SET_OVERFLOW_ANYWHERE

#define MAX_REGIONS	4
#define NONE		PROFIL_NO_REGION
#define NO_INDEX	U64_MAX

struct made_map {
	struct profil_map map;
	struct profil_counters counters[MAX_REGIONS];
	struct profil_segment segments[2 * MAX_REGIONS + 1];
};

static int make_map(struct made_map *made, u32 flags, u32 width_shift,
		    const struct profil_region *regions, u32 nr)
{
	u32 order[MAX_REGIONS], stack[MAX_REGIONS];
	u32 i;
	int err;

	made->map = (struct profil_map) {
		.flags = flags,
		.width_shift = width_shift,
		.overflow = PROFIL_NO_REGION,
		.counters = made->counters,
		.segments = made->segments,
	};
	for (i = 0; i < nr; i++) {
		err = profil_map_add(&made->map, &regions[i], i + 1 == nr);
		if (err)
			return err;
	}
	profil_map_build(&made->map, order, stack);
	return 0;
}

/* The index of a pc in a single region, or NO_INDEX. */
static u64 index_of(u32 flags, u32 width_shift,
		    const struct profil_region *region, u64 pc)
{
	struct made_map made;

	if (make_map(&made, flags, width_shift, region, 1) ||
	    profil_map_find(&made.map, pc) == NONE)
		return NO_INDEX;
	return profil_map_index(&made.map, 0, pc);
}

static void contract_vectors(struct kunit *test)
{
	struct profil_region region = { .offset = 0x400000, .size = 1 << 20 };
	int v, d;

	for (v = 0; v < ARRAY_SIZE(vectors); v++) {
		region.scale = vectors[v].scale;
		for (d = 0; d < NR_DISTANCES; d++) {
			u64 pc = region.offset + distances[d];
			u64 bsd = index_of(0, 1, &region, pc);
			u64 svr4 = index_of(SVR4, 1, &region, pc);

			KUNIT_EXPECT_EQ_MSG(test, bsd, vectors[v].counters[d],
					    "vector %d, distance %d", v, d);
			KUNIT_EXPECT_EQ_MSG(test, svr4, vectors[v].svr4[d],
					    "vector %d, distance %d", v, d);
		}
	}
}

static const struct lookup {
	u32 flags;
	u32 width_shift;
	struct profil_region region;
	u64 pc;
	u64 index;
} lookups[] = {
#define REGION(o, s, c) { .offset = (o), .size = (s), .scale = (c) }
	/* The C library's formula, which converts to int, says 2048. */
	{ 0, 1, REGION(0x400000, 8192, 0x8000), 0x402000, 2048 },
	{ 0, 1, REGION(0x400000, 8192, 0x8000), 0x200402000, NO_INDEX },
	{ SVR4, 1, REGION(0x400000, 8192, 0x8000), 0x200402000, NO_INDEX },
	{ 0, 1, REGION(0x400000, 8192, 0x8000), 0x3fffff, NO_INDEX },
	/* gmon's scales are not powers of two. */
	{ 0, 1, REGION(0x401000, 0x100000, 0x81b4), 0x421000, 0x81b4 },
	{ 0, 1, REGION(0x401000, 0x100000, 0x81b4), 0x410fff, 16601 },
	{ 0, 1, REGION(0x401000, 0x100000, 0x8037), 0x421000, 0x8037 },
	{ 0, 1, REGION(0x401000, 0x100000, 0x8037), 0x410fff, 16410 },
	/* The Linux Test Project has a counter for each byte. */
	{ 0, 1, REGION(0x555555554000, 0x8000, 0x20000), 0x555555557fff,
	  16382 },
	{ 0, 1, REGION(0x555555554000, 0x8000, 0x20000), 0x555555558000,
	  NO_INDEX },
	/* An odd size loses its last byte. */
	{ 0, 1, REGION(0x1000, 7, 0x10000), 0x1005, 2 },
	{ 0, 1, REGION(0x1000, 7, 0x10000), 0x1006, NO_INDEX },
	{ 0, 2, REGION(0x1000, 7, 0x10000), 0x1003, 0 },
	{ 0, 2, REGION(0x1000, 7, 0x10000), 0x1004, NO_INDEX },
	{ 0, 1, REGION(0x1000, 1, 0x10000), 0x1000, NO_INDEX },
	/* 4.4BSD: a scale of 1 is a counter for 128 KiB. */
	{ 0, 1, REGION(64, 8, 1), 64, NO_INDEX },
	{ SCALE_ONE, 1, REGION(64, 8, 1), 64 + 0x1ffff, 0 },
	{ SCALE_ONE, 1, REGION(64, 8, 1), 64 + 0x7ffff, 3 },
	{ SCALE_ONE, 1, REGION(64, 8, 1), 64 + 0x80000, NO_INDEX },
	/* The largest scale of each width. */
	{ SVR4, 1, REGION(4096, 800, 0x20000), 4096 + 399, 399 },
	{ SVR4, 1, REGION(4096, 800, 0x20000), 4096 + 400, NO_INDEX },
	{ SVR4, 2, REGION(4096, 800, 0x40000), 4096 + 199, 199 },
	{ SVR4, 3, REGION(4096, 800, 0x80000), 4096 + 100, NO_INDEX },
	{ 0, 3, REGION(4096, 800, 0x80000), 4096 + 99, 96 },
	/* The ends of 64 bits. */
	{ SVR4, 1, REGION(0, U64_MAX, 0x20000), S64_MAX - 1, S64_MAX - 1 },
	{ 0, 1, REGION(0, U64_MAX, 3), U64_MAX, S64_MAX / 65536 * 3 + 2 },
	{ 0, 1, REGION(0, 1ULL << 51, 3), U64_MAX, S64_MAX / 65536 * 3 + 2 },
	{ 0, 1, REGION(0, (3ULL << 48) + 2, 3), U64_MAX,
	  S64_MAX / 65536 * 3 + 2 },
	{ 0, 1, REGION(U64_MAX, U64_MAX, 3), U64_MAX, 0 },
	{ 0, 1, REGION(U64_MAX, U64_MAX, 3), U64_MAX - 1, NO_INDEX },
	/* Elsewhere, this region is the overflow bin. */
	{ 0, 1, REGION(0, 16, 2), 0x30000, NO_INDEX },
	{ NO_OVERFLOW, 1, REGION(0, 16, 2), 0x30000, 3 },
	{ NO_OVERFLOW | SVR4, 1, REGION(0, 16, 2), 0x7ffff, 7 },
	{ NO_OVERFLOW, 1, REGION(0, 16, 2), 0x80000, NO_INDEX },
};

static void single_region(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(lookups); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    index_of(lookups[i].flags,
					     lookups[i].width_shift,
					     &lookups[i].region, lookups[i].pc),
				    lookups[i].index, "lookup %d", i);
}

static void bounds(struct kunit *test)
{
	static const struct {
		u32 width_shift;
		struct profil_region region;
		int err;
	} cases[] = {
		{ 1, REGION(0, 64, 0x20000), 0 },
		{ 1, REGION(0, 64, 0x20001), -EINVAL },
		{ 2, REGION(0, 64, 0x40000), 0 },
		{ 2, REGION(0, 64, 0x40001), -EINVAL },
		{ 3, REGION(0, 64, 0x80000), 0 },
		{ 3, REGION(0, 64, 0x80001), -EINVAL },
		{ 1, REGION(0, 64, 1ULL << 32), -EINVAL },
		{ 3, REGION(0, 64, (1ULL << 32) + 2), -EINVAL },
		{ 3, REGION(0, 64, U64_MAX), -EINVAL },
		{ 1, { .base = 0x7fff0001, .scale = 3 }, -EINVAL },
		{ 1, { .base = 0x7fff0002, .scale = 3 }, 0 },
		{ 2, { .base = 0x7fff0002, .scale = 3 }, -EINVAL },
		{ 3, { .base = 0x7fff0004, .scale = 3 }, -EINVAL },
		{ 3, { .base = 0x7fff0008, .scale = 3 }, 0 },
	};
	struct made_map made;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, make_map(&made, 0,
						   cases[i].width_shift,
						   &cases[i].region, 1),
				    cases[i].err, "case %d", i);
}

/* A counter for each two bytes of text. */
#define SPAN(begin, length)	REGION(begin, length, 0x10000)

static void choice_of_region(struct kunit *test)
{
	static const struct profil_region overlapping[] = {
		SPAN(200, 100), SPAN(100, 300), SPAN(250, 100), SPAN(250, 60),
	};
	static const struct profil_region nested[] = {
		SPAN(100, 300), SPAN(200, 50), SPAN(210, 10),
	};
	static const struct profil_region off[] = {
		SPAN(100, 100), REGION(110, 100, 1), REGION(110, 1, 0x10000),
		REGION(0, 2, 2),
	};
	static const struct profil_region whole[] = {
		REGION(0, U64_MAX, 3), SPAN(U64_MAX - 1, 10),
	};
	static const struct {
		const struct profil_region *regions;
		u32 nr;
		u64 pc;
		u32 region;
	} choices[] = {
#define CHOICE(set, pc, region) { set, ARRAY_SIZE(set), pc, region }
		CHOICE(overlapping, 99, NONE), CHOICE(overlapping, 100, 1),
		CHOICE(overlapping, 199, 1), CHOICE(overlapping, 200, 0),
		CHOICE(overlapping, 249, 0), CHOICE(overlapping, 250, 2),
		CHOICE(overlapping, 349, 2), CHOICE(overlapping, 350, 1),
		CHOICE(overlapping, 399, 1), CHOICE(overlapping, 400, NONE),
		CHOICE(nested, 209, 1), CHOICE(nested, 219, 2),
		CHOICE(nested, 220, 1), CHOICE(nested, 249, 1),
		CHOICE(nested, 250, 0), CHOICE(nested, 400, NONE),
		CHOICE(off, 0, NONE), CHOICE(off, 110, 0), CHOICE(off, 199, 0),
		CHOICE(off, 200, NONE), CHOICE(off, U64_MAX, NONE),
		CHOICE(whole, 0, 0), CHOICE(whole, U64_MAX - 2, 0),
		CHOICE(whole, U64_MAX - 1, 1), CHOICE(whole, U64_MAX, 1),
		{ NULL, 0, 0, NONE }, { NULL, 0, U64_MAX, NONE },
	};
	struct made_map made;
	int i;

	for (i = 0; i < ARRAY_SIZE(choices); i++) {
		make_map(&made, 0, 1, choices[i].regions, choices[i].nr);
		KUNIT_EXPECT_EQ_MSG(test,
				    profil_map_find(&made.map, choices[i].pc),
				    choices[i].region, "choice %d", i);
	}
}

static void overflow_bin(struct kunit *test)
{
	static const struct profil_region regions[] = {
		REGION(0, 64, 2), REGION(1, 64, 3), REGION(0, 64, 2),
	};
	static const struct {
		u32 flags;
		u32 first;
		u32 nr;
		int err;
		u32 overflow;
	} cases[] = {
		{ 0, 0, 1, 0, 0 }, { 0, 1, 2, 0, 1 }, { 0, 1, 1, 0, NONE },
		{ 0, 0, 2, -EINVAL }, { 0, 0, 3, -EINVAL },
		{ ANYWHERE, 0, 3, 0, 0 }, { NO_OVERFLOW, 0, 3, 0, NONE },
	};
	struct made_map made;
	int i, err;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		err = make_map(&made, cases[i].flags, 1,
			       &regions[cases[i].first], cases[i].nr);
		KUNIT_EXPECT_EQ_MSG(test, err, cases[i].err, "case %d", i);
		if (!err)
			KUNIT_EXPECT_EQ_MSG(test, made.map.overflow,
					    cases[i].overflow, "case %d", i);
	}
}

static struct kunit_case region_cases[] = {
	KUNIT_CASE(contract_vectors),
	KUNIT_CASE(single_region),
	KUNIT_CASE(bounds),
	KUNIT_CASE(choice_of_region),
	KUNIT_CASE(overflow_bin),
	{}
};

static const u64 secret[2] = { 0x6b65795f6f66, 0x7469636b73 };

static const u32 periods[] = {
	1, 2, 3, 1000, 60000, 999999, 10000000, 1U << 31, U32_MAX
};

/* Advance to a time; starting there has the same result. Return: the ticks. */
static u64 advance(struct kunit *test, struct profil_schedule *schedule,
		   u64 time)
{
	u64 passed = schedule->passed;
	u64 ticks = profil_schedule_advance(schedule, time);
	struct profil_schedule fresh;

	profil_schedule_start(&fresh, secret, 0, schedule->period_ns, time);
	KUNIT_EXPECT_EQ(test, schedule->passed, fresh.passed);
	KUNIT_EXPECT_EQ(test, schedule->next, fresh.next);
	KUNIT_EXPECT_EQ(test, ticks, fresh.passed - passed);
	KUNIT_EXPECT_GT(test, schedule->next, time);
	return ticks;
}

/* Walk from tick to tick, each in the cell after that of the last. */
static void walk(struct kunit *test, u32 period, u64 time, int steps)
{
	struct profil_schedule schedule;
	u64 cell;

	profil_schedule_start(&schedule, secret, 0, period, time);
	for (cell = schedule.passed; steps--; cell++) {
		KUNIT_EXPECT_EQ(test, schedule.next / period, cell);
		KUNIT_EXPECT_EQ(test, advance(test, &schedule,
					      schedule.next - 1), 0ULL);
		KUNIT_EXPECT_EQ(test, advance(test, &schedule, schedule.next),
				1ULL);
	}
}

static void one_tick_in_each_cell(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		walk(test, periods[i], 1, 200);
		walk(test, periods[i], 1ULL << 62, 200);
	}
}

/* Five standard deviations of 1000 tosses of a coin are 79. */
static void both_halves_of_a_cell(struct kunit *test)
{
	struct profil_schedule schedule;
	u64 begin, first = 0;
	u32 period = 10000000;
	int i;

	for (i = 1; i <= 1000; i++) {
		begin = (u64)i * period;
		profil_schedule_start(&schedule, secret, 0, period, begin - 1);
		first += schedule.next - begin < period / 2;
	}
	KUNIT_EXPECT_GE(test, first, 421ULL);
	KUNIT_EXPECT_LE(test, first, 579ULL);
}

/* Late by parts of a period, and by up to some 10^9 of them. */
static void late(struct kunit *test)
{
	struct profil_schedule schedule;
	u64 time, delay;
	int i;

	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		time = 12345;
		profil_schedule_start(&schedule, secret, 0, periods[i], time);
		for (delay = 1; delay >> 30 < periods[i]; delay *= 3) {
			u64 cells = delay / periods[i];
			u64 ticks;

			time += delay;
			ticks = advance(test, &schedule, time);
			KUNIT_EXPECT_GE(test, ticks + 1, cells);
			KUNIT_EXPECT_LE(test, ticks, cells + 2);
		}
	}
}

static void end_of_time(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		struct profil_schedule schedule;
		u64 period = periods[i];

		walk(test, period, S64_MAX - 5 * period, 10);
		walk(test, period, U64_MAX - 9 * period, 6);
		profil_schedule_start(&schedule, secret, 0, period, 0);
		advance(test, &schedule, U64_MAX - 2 * period);
	}
}

static struct kunit_case schedule_cases[] = {
	KUNIT_CASE(one_tick_in_each_cell),
	KUNIT_CASE(both_halves_of_a_cell),
	KUNIT_CASE(late),
	KUNIT_CASE(end_of_time),
	{}
};

static struct kunit_suite region_suite = {
	.name = "profil_region",
	.test_cases = region_cases,
};

static struct kunit_suite schedule_suite = {
	.name = "profil_schedule",
	.test_cases = schedule_cases,
};

kunit_test_suites(&region_suite, &schedule_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of profil");
