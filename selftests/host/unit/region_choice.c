// SPDX-License-Identifier: GPL-2.0-only
/*
 * region_choice.c - which of several regions takes a tick
 *
 * The rules of IRIX sprofil(2): of the regions that contain the pc, the one
 * with the largest offset takes the tick; of equal offsets, the first listed;
 * and after the end of an inner region, the outer one continues.
 */
#include "kselftest_harness.h"

#include "chart.h"
#include "numbers.h"

#define NONE	((s32)PROFIL_NO_REGION)

/* A region of @length bytes of text, with a counter for every two bytes. */
#define SPAN(begin, length) \
	{ .offset = (begin), .size = (length), .scale = 0x10000 }

#define CHOICE(regions, pc) \
	choice(regions, ARRAY_SIZE(regions), pc)

static s32 choice(const struct profil_region *regions, u32 nr, u64 pc)
{
	struct chart chart;
	s32 found;

	chart_init(&chart, nr);
	if (chart_make(&chart, 0, 1, regions))
		abort();
	found = profil_map_find(&chart.map, pc);
	if (!chart_sound(&chart) || !chart_right_at(&chart, pc))
		found = -2;
	chart_free(&chart);
	return found;
}

TEST(pc_equal_to_the_offset_is_inside)
{
	static const struct profil_region regions[] = { SPAN(100, 10) };

	EXPECT_EQ(NONE, CHOICE(regions, 99));
	EXPECT_EQ(0, CHOICE(regions, 100));
	EXPECT_EQ(0, CHOICE(regions, 109));
	EXPECT_EQ(NONE, CHOICE(regions, 110));
}

TEST(largest_offset_wins)
{
	static const struct profil_region regions[] = {
		SPAN(200, 100), SPAN(100, 300), SPAN(250, 100)
	};

	EXPECT_EQ(1, CHOICE(regions, 199));
	EXPECT_EQ(0, CHOICE(regions, 200));
	EXPECT_EQ(0, CHOICE(regions, 249));
	EXPECT_EQ(2, CHOICE(regions, 250));
	EXPECT_EQ(2, CHOICE(regions, 299));
}

TEST(outer_region_resumes)
{
	static const struct profil_region regions[] = {
		SPAN(100, 300), SPAN(200, 50), SPAN(210, 10)
	};

	EXPECT_EQ(1, CHOICE(regions, 209));
	EXPECT_EQ(2, CHOICE(regions, 219));
	EXPECT_EQ(1, CHOICE(regions, 220));
	EXPECT_EQ(1, CHOICE(regions, 249));
	EXPECT_EQ(0, CHOICE(regions, 250));
	EXPECT_EQ(0, CHOICE(regions, 399));
	EXPECT_EQ(NONE, CHOICE(regions, 400));
}

TEST(equal_offsets_first_listed)
{
	static const struct profil_region regions[] = {
		SPAN(100, 20), SPAN(100, 10), SPAN(100, 40), SPAN(100, 30)
	};

	EXPECT_EQ(0, CHOICE(regions, 100));
	EXPECT_EQ(0, CHOICE(regions, 119));
	EXPECT_EQ(2, CHOICE(regions, 120));
	EXPECT_EQ(2, CHOICE(regions, 139));
	EXPECT_EQ(NONE, CHOICE(regions, 140));
}

/* Regions that end together, and one that begins where another ends. */
TEST(common_ends)
{
	static const struct profil_region regions[] = {
		SPAN(100, 100), SPAN(150, 50), SPAN(190, 10), SPAN(200, 10)
	};

	EXPECT_EQ(2, CHOICE(regions, 199));
	EXPECT_EQ(3, CHOICE(regions, 200));
	EXPECT_EQ(NONE, CHOICE(regions, 210));
}

/* Regions that are disabled, or have no counter, take no ticks. */
TEST(regions_that_are_off)
{
	static const struct profil_region regions[] = {
		SPAN(100, 100),
		{ .offset = 110, .size = 100, .scale = 0 },
		{ .offset = 110, .size = 100, .scale = 1 },
		{ .offset = 110, .size = 0, .scale = 0x10000 },
		{ .offset = 110, .size = 1, .scale = 0x10000 },
		{ .size = 100, .scale = 0 },
	};
	u64 pc;

	for (pc = 90; pc < 220; pc++)
		EXPECT_EQ(pc < 100 || pc >= 200 ? NONE : 0,
			  CHOICE(regions, pc));
}

/* The overflow bin is no region, although its arithmetic would make it one. */
TEST(overflow_bin)
{
	static const struct profil_region regions[] = {
		SPAN(100, 10), { .size = 2, .scale = 2 }
	};

	EXPECT_EQ(NONE, CHOICE(regions, 0));
	EXPECT_EQ(0, CHOICE(regions, 105));
	EXPECT_EQ(NONE, CHOICE(regions, 110));
	EXPECT_EQ(NONE, CHOICE(regions, U64_MAX));
}

/* Scale 2 at another offset, or offset 0 with another scale, is a region. */
TEST(almost_overflow_bins)
{
	static const struct profil_region regions[] = {
		{ .offset = 0, .size = 2, .scale = 3 },
		{ .offset = 1, .size = 2, .scale = 2 },
	};

	EXPECT_EQ(0, CHOICE(regions, 0));
	EXPECT_EQ(1, CHOICE(regions, 1));
	EXPECT_EQ(1, CHOICE(regions, 0x10000));
	EXPECT_EQ(NONE, CHOICE(regions, 0x10001));
}

TEST(whole_address_space)
{
	static const struct profil_region regions[] = {
		{ .offset = 0, .size = U64_MAX, .scale = 3 },
		SPAN(U64_MAX - 1, 10),
	};

	EXPECT_EQ(0, CHOICE(regions, 0));
	EXPECT_EQ(0, CHOICE(regions, U64_MAX - 2));
	EXPECT_EQ(1, CHOICE(regions, U64_MAX - 1));
	EXPECT_EQ(1, CHOICE(regions, U64_MAX));
}

TEST(no_region)
{
	struct chart chart;

	chart_init(&chart, 0);
	EXPECT_EQ(0, chart_make(&chart, 0, 1, NULL));
	EXPECT_EQ(1, chart.map.nr_segments);
	EXPECT_EQ(PROFIL_NO_REGION, profil_map_find(&chart.map, 0));
	EXPECT_EQ(PROFIL_NO_REGION, profil_map_find(&chart.map, U64_MAX));
	chart_free(&chart);
}

/* Each region begins and ends alone: the most segments that can exist. */
TEST(most_segments)
{
	struct profil_region regions[100];
	struct chart chart;
	u32 i;

	for (i = 0; i < 100; i++)
		regions[i] = (struct profil_region)SPAN(100 + 10 * i, 6);
	chart_init(&chart, 100);
	EXPECT_EQ(0, chart_make(&chart, 0, 1, regions));
	EXPECT_EQ(profil_map_max_segments(100), chart.map.nr_segments);
	chart_free(&chart);
}

#define DOMAIN	512

static void any_regions(struct profil_region *regions, u32 nr, u64 *state)
{
	u64 longest = 1 + number_below(state, DOMAIN);
	u32 i;

	for (i = 0; i < nr; i++) {
		regions[i].base = 8 * number_below(state, 1000);
		regions[i].offset = number_below(state, DOMAIN);
		regions[i].size = number_below(state, longest);
		regions[i].scale = number_below(state, 2) ? 0x10000 :
			number_below(state, 0x20001);
	}
}

/* Shift the regions, so that some sets touch the end of the address space. */
static void shift_regions(struct profil_region *regions, u32 nr, u64 offset)
{
	u32 i;

	for (i = 0; i < nr; i++)
		regions[i].offset += offset;
}

/* Check one set of regions at every pc of its domain and a little around it. */
static bool whole_domain_right(u32 nr, u32 flags, u32 shift, u64 *state)
{
	u64 first = number_below(state, 2) ? 0 : U64_MAX - DOMAIN + 1;
	struct profil_region *regions = malloc(nr * sizeof(*regions));
	struct chart chart;
	bool right;
	u64 i;

	any_regions(regions, nr, state);
	shift_regions(regions, nr, first);
	chart_init(&chart, nr);
	right = !chart_make(&chart, flags, shift, regions) &&
		chart_sound(&chart);
	for (i = 0; i < DOMAIN + 64 && right; i++)
		right = chart_right_at(&chart, first - 32 + i);
	chart_free(&chart);
	free(regions);
	return right;
}

FIXTURE(overlapping)
{
	u64 state;
};

FIXTURE_VARIANT(overlapping)
{
	u32 most;
	int rounds;
};

FIXTURE_VARIANT_ADD(overlapping, few) { .most = 6, .rounds = 8000 };
FIXTURE_VARIANT_ADD(overlapping, some) { .most = 40, .rounds = 1000 };
FIXTURE_VARIANT_ADD(overlapping, hundreds) { .most = 600, .rounds = 100 };

FIXTURE_SETUP(overlapping)
{
	self->state = 0x737072 + variant->most;
}

FIXTURE_TEARDOWN(overlapping)
{
}

TEST_F(overlapping, every_pc)
{
	u32 flags = PROFIL_SET_OVERFLOW_ANYWHERE;
	int i;

	for (i = 0; i < variant->rounds; i++) {
		u32 nr = 1 + number_below(&self->state, variant->most);
		u32 shift = 1 + i % 3;

		flags ^= i & 1 ? PROFIL_SET_SVR4_ARITH : PROFIL_SET_SCALE_ONE;
		ASSERT_TRUE(whole_domain_right(nr, flags, shift, &self->state));
	}
}

TEST_HARNESS_MAIN
