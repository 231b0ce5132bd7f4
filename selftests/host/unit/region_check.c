// SPDX-License-Identifier: GPL-2.0-only
/*
 * region_check.c - regions that are rejected, and regions that are off
 */
#include "kselftest_harness.h"

#include "chart.h"

#define SIZE	64

/* Add a single region. Return: 0 and its state in @state, or the error. */
static int added(u32 flags, u32 shift, struct profil_region region, u32 *state)
{
	struct chart chart;
	int err;

	chart_init(&chart, 1);
	err = chart_make(&chart, flags, shift, &region);
	if (!err)
		*state = chart.map.counters[0].state;
	chart_free(&chart);
	return err;
}

static int add_scale(u32 shift, u64 scale)
{
	struct profil_region region = { .size = SIZE, .scale = scale };
	u32 state;

	return added(0, shift, region, &state);
}

static int add_base(u32 shift, u64 base)
{
	struct profil_region region = {
		.base = base, .size = SIZE, .scale = 0x10000
	};
	u32 state;

	return added(0, shift, region, &state);
}

static u32 state_of(u32 flags, u32 shift, u64 size, u64 scale)
{
	struct profil_region region = {
		.offset = 1, .size = size, .scale = scale
	};
	u32 state = U32_MAX;

	return added(flags, shift, region, &state) ? U32_MAX : state;
}

TEST(scale_too_large)
{
	u32 shift;

	for (shift = 1; shift <= 3; shift++) {
		EXPECT_EQ(0, add_scale(shift, 65536ULL << shift));
		EXPECT_EQ(-EINVAL, add_scale(shift, (65536ULL << shift) + 1));
		EXPECT_EQ(-EINVAL, add_scale(shift, U32_MAX));
		EXPECT_EQ(-EINVAL, add_scale(shift, 1ULL << 32));
		EXPECT_EQ(-EINVAL, add_scale(shift, (1ULL << 32) + 2));
		EXPECT_EQ(-EINVAL, add_scale(shift, U64_MAX));
	}
}

TEST(base_not_aligned)
{
	u32 shift;
	u64 i;

	for (shift = 1; shift <= 3; shift++)
		for (i = 0; i < 16; i++)
			EXPECT_EQ(i % (1 << shift) ? -EINVAL : 0,
				  add_base(shift, 0x7fff0000 + i));
}

TEST(state_by_scale)
{
	u32 one = PROFIL_SET_SCALE_ONE;

	EXPECT_EQ(PROFIL_REGION_DISABLED, state_of(0, 1, SIZE, 0));
	EXPECT_EQ(PROFIL_REGION_DISABLED, state_of(0, 1, SIZE, 1));
	EXPECT_EQ(PROFIL_REGION_ON, state_of(0, 1, SIZE, 2));
	EXPECT_EQ(PROFIL_REGION_DISABLED, state_of(one, 1, SIZE, 0));
	EXPECT_EQ(PROFIL_REGION_ON, state_of(one, 1, SIZE, 1));
}

TEST(state_by_size)
{
	u32 shift;

	for (shift = 1; shift <= 3; shift++) {
		u64 width = 1 << shift;

		EXPECT_EQ(PROFIL_REGION_EMPTY, state_of(0, shift, 0, 3));
		EXPECT_EQ(PROFIL_REGION_EMPTY,
			  state_of(0, shift, width - 1, 3));
		EXPECT_EQ(PROFIL_REGION_ON, state_of(0, shift, width, 3));
	}
	EXPECT_EQ(PROFIL_REGION_DISABLED, state_of(0, 1, 0, 0));
}

static const struct profil_region overflow_first[] = {
	{ .size = SIZE, .scale = 2 },
	{ .offset = 1, .size = SIZE, .scale = 3 },
	{ .size = SIZE, .scale = 2 },
};

/* Return: the index of the overflow bin, or a negative error number. */
static int overflow_of(u32 flags, const struct profil_region *regions, u32 nr)
{
	struct chart chart;
	int result;

	chart_init(&chart, nr);
	result = chart_make(&chart, flags, 1, regions);
	if (!result)
		result = chart.map.overflow;
	chart_free(&chart);
	return result;
}

TEST(overflow_last)
{
	EXPECT_EQ(0, overflow_of(0, overflow_first, 1));
	EXPECT_EQ(-EINVAL, overflow_of(0, overflow_first, 2));
	EXPECT_EQ(-EINVAL, overflow_of(0, overflow_first, 3));
	EXPECT_EQ((int)PROFIL_NO_REGION,
		  overflow_of(0, overflow_first + 1, 1));
	EXPECT_EQ(1, overflow_of(0, overflow_first + 1, 2));
}

/* The C library's overflow bin may be anywhere; the first one counts. */
TEST(overflow_anywhere)
{
	u32 flags = PROFIL_SET_OVERFLOW_ANYWHERE;

	EXPECT_EQ(0, overflow_of(flags, overflow_first, 2));
	EXPECT_EQ(0, overflow_of(flags, overflow_first, 3));
	EXPECT_EQ(1, overflow_of(flags, overflow_first + 1, 2));
}

/* In System V and 4.4BSD, these are ordinary regions, anywhere in the list. */
TEST(overflow_is_none)
{
	u32 flags = PROFIL_SET_NO_OVERFLOW;
	u32 i;

	for (i = 0; i < 2; i++) {
		EXPECT_EQ((int)PROFIL_NO_REGION,
			  overflow_of(flags, overflow_first, 1));
		EXPECT_EQ((int)PROFIL_NO_REGION,
			  overflow_of(flags, overflow_first, 3));
		flags |= PROFIL_SET_OVERFLOW_ANYWHERE;
	}
}

/* Without room for a counter, it is still the overflow bin, but off. */
TEST(overflow_without_counter)
{
	struct profil_region region = { .size = 1, .scale = 2 };
	u32 state;

	EXPECT_EQ(0, overflow_of(0, &region, 1));
	EXPECT_EQ(0, added(0, 1, region, &state));
	EXPECT_EQ(PROFIL_REGION_EMPTY, state);
}

TEST_HARNESS_MAIN
