// SPDX-License-Identifier: GPL-2.0-only
/*
 * region_exact.c - one region at every scale, compared with the reference
 *
 * No case is too large for the arithmetic of module/region.c. Tests all scales
 * at small distances and at the end of the region, then distances, offsets and
 * sizes of every magnitude.
 */
#include "kselftest_harness.h"

#include "chart.h"
#include "numbers.h"

FIXTURE(exact)
{
	struct chart chart;
	const struct profil_counters *counters;
};

FIXTURE_VARIANT(exact)
{
	u32 flags;
	u32 shift;
};

#define VARIANT(name, f, s) \
	FIXTURE_VARIANT_ADD(exact, name) { .flags = (f), .shift = (s) }

VARIANT(bsd_16_bit, 0, 1);
VARIANT(bsd_32_bit, 0, 2);
VARIANT(bsd_64_bit, 0, 3);
VARIANT(bsd_scale_one, PROFIL_SET_SCALE_ONE, 1);
VARIANT(svr4_16_bit, PROFIL_SET_SVR4_ARITH, 1);
VARIANT(svr4_32_bit, PROFIL_SET_SVR4_ARITH, 2);
VARIANT(svr4_64_bit, PROFIL_SET_SVR4_ARITH, 3);

FIXTURE_SETUP(exact)
{
	chart_init(&self->chart, 1);
	self->counters = self->chart.map.counters;
}

FIXTURE_TEARDOWN(exact)
{
	chart_free(&self->chart);
}

static u64 largest_scale(u32 shift)
{
	return 65536ULL << shift;
}

/* Every scale, and every distance within the first counter or two. */
TEST_F(exact, every_scale)
{
	struct profil_region region = { .offset = 0x400000, .size = 1 << 20 };
	u64 distance;

	for (region.scale = 0; region.scale <= largest_scale(variant->shift);
	     region.scale++) {
		ASSERT_EQ(0, chart_make(&self->chart, variant->flags,
					variant->shift, &region));
		ASSERT_TRUE(chart_right_at(&self->chart, region.offset - 1));
		for (distance = 0; distance < 40; distance++)
			ASSERT_TRUE(chart_right_at(&self->chart,
						   region.offset + distance));
	}
}

/* Every scale, around the last pc of the region, with several buffer sizes. */
TEST_F(exact, every_end)
{
	static const u64 sizes[] = { 8, 17, 256, 65535, 1ULL << 40 };
	struct profil_region region = { .offset = 0x400000 };
	u64 i = 0;

	for (region.scale = 2; region.scale <= largest_scale(variant->shift);
	     region.scale++) {
		region.size = sizes[i++ % 5];
		ASSERT_EQ(0, chart_make(&self->chart, variant->flags,
					variant->shift, &region));
		ASSERT_TRUE(chart_right_around(&self->chart,
				reference_last(&self->chart.question, 0)));
	}
}

/* With small scales, regions end close to 2^64 or beyond. */
TEST_F(exact, far_ends)
{
	struct profil_region region = { .offset = 1 };
	u32 bit;

	for (region.scale = 1; region.scale < 1000; region.scale++) {
		for (bit = 3; bit < 64; bit++) {
			region.size = U64_MAX >> (63 - bit);
			ASSERT_EQ(0, chart_make(&self->chart, variant->flags,
						variant->shift, &region));
			ASSERT_TRUE(chart_right_around(&self->chart, 0));
			if (self->counters->state != PROFIL_REGION_ON)
				continue;
			ASSERT_TRUE(chart_right_around(&self->chart,
				reference_last(&self->chart.question, 0)));
		}
	}
}

static u64 any_scale(u64 *state, u32 shift)
{
	u64 largest = largest_scale(shift);

	switch (number_below(state, 4)) {
	case 0:
		return number_below(state, 8);
	case 1:
		return largest - number_below(state, 8);
	case 2:
		return (1ULL << number_below(state, 17)) +
			number_below(state, 3);
	default:
		return number_below(state, largest + 1);
	}
}

static u64 any_address(u64 *state)
{
	switch (number_below(state, 3)) {
	case 0:
		return U64_MAX - number_of_any_size(state);
	case 1:
		return number_of_any_size(state);
	default:
		return number(state);
	}
}

TEST_F(exact, large_numbers)
{
	u64 state = 0x70726f66696c;
	int i, j;

	for (i = 0; i < 100000; i++) {
		struct profil_region region = {
			.size = any_address(&state),
			.offset = any_address(&state),
			.scale = any_scale(&state, variant->shift),
		};

		ASSERT_EQ(0, chart_make(&self->chart, variant->flags,
					variant->shift, &region));
		ASSERT_TRUE(chart_right_around(&self->chart, region.offset));
		ASSERT_TRUE(chart_right_at(&self->chart, U64_MAX));
		for (j = 0; j < 4; j++)
			ASSERT_TRUE(chart_right_at(&self->chart,
						   any_address(&state)));
		if (self->counters->state != PROFIL_REGION_ON)
			continue;
		ASSERT_TRUE(chart_right_around(&self->chart,
				reference_last(&self->chart.question, 0)));
	}
}

TEST_HARNESS_MAIN
