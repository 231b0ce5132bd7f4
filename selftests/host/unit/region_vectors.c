// SPDX-License-Identifier: GPL-2.0-only
/*
 * region_vectors.c - the counters that the documents and the callers expect
 *
 * Written by hand, not computed: module/region.c and the reference must both
 * agree with these.
 */
#include "kselftest_harness.h"

#include "chart.h"
#include "vectors.h"

#define SVR4	PROFIL_SET_SVR4_ARITH
#define NONE	(-1)

/* Bin of @pc in a single region, or NONE. */
static s64 counter_of(u32 flags, u32 shift, const struct profil_region *region,
		  u64 pc)
{
	struct chart chart;
	s64 counter = NONE;
	u32 found;

	chart_init(&chart, 1);
	if (chart_make(&chart, flags, shift, region))
		abort();
	found = profil_map_find(&chart.map, pc);
	if (found == 0)
		counter = profil_map_index(&chart.map, 0, pc);
	if (!chart_right_at(&chart, pc))
		counter = -2;
	chart_free(&chart);
	return counter;
}

TEST(table)
{
	struct profil_region region = { .offset = 0x400000, .size = 1 << 20 };
	unsigned int v, d;

	for (v = 0; v < ARRAY_SIZE(vectors); v++) {
		region.scale = vectors[v].scale;
		for (d = 0; d < NR_DISTANCES; d++) {
			u64 pc = region.offset + distances[d];

			EXPECT_EQ(vectors[v].counters[d],
				  counter_of(0, 1, &region, pc));
			EXPECT_EQ(vectors[v].svr4[d],
				  counter_of(SVR4, 1, &region, pc));
		}
	}
}

/* The first byte of the text is in the first counter at any scale. */
TEST(first_byte)
{
	struct profil_region region = { .offset = 0x400000, .size = 2 };

	for (region.scale = 2; region.scale <= 0x20000; region.scale++) {
		ASSERT_EQ(0, counter_of(0, 1, &region, 0x400000));
		ASSERT_EQ(NONE, counter_of(0, 1, &region, 0x3fffff));
	}
}

/*
 * The formula of the C library and of older kernels converts to int on the way,
 * and so counts a pc 8 GiB above the text in counter 2048.
 */
TEST(far_above)
{
	struct profil_region region = {
		.offset = 0x400000, .size = 4096 * 2, .scale = 0x8000
	};
	u64 far = region.offset + (8ULL << 30) + 8192;

	EXPECT_EQ(2048, counter_of(0, 1, &region, region.offset + 8192));
	EXPECT_EQ(NONE, counter_of(0, 1, &region, far));
	EXPECT_EQ(NONE, counter_of(SVR4, 1, &region, far));
	EXPECT_EQ(NONE, counter_of(0, 1, &region, far - 8192));
	EXPECT_EQ(NONE, counter_of(0, 1, &region, far - 1));
	EXPECT_EQ(NONE, counter_of(0, 1, &region, U64_MAX));
}

/*
 * gmon computes its scale from the sizes of the text and of the buffer, so it
 * need not be a power of two.
 */
TEST(gmon_scales)
{
	struct profil_region region = { .offset = 0x401000, .size = 0x100000 };

	region.scale = 0x81b4;
	EXPECT_EQ(0, counter_of(0, 1, &region, 0x401000 + 3));
	EXPECT_EQ(1, counter_of(0, 1, &region, 0x401000 + 4));
	EXPECT_EQ(0x81b4, counter_of(0, 1, &region, 0x401000 + 0x20000));
	EXPECT_EQ(16601, counter_of(0, 1, &region, 0x401000 + 0xffff));
	region.scale = 0x8037;
	EXPECT_EQ(0, counter_of(0, 1, &region, 0x401000 + 3));
	EXPECT_EQ(1, counter_of(0, 1, &region, 0x401000 + 4));
	EXPECT_EQ(0x8037, counter_of(0, 1, &region, 0x401000 + 0x20000));
	EXPECT_EQ(16410, counter_of(0, 1, &region, 0x401000 + 0xffff));
}

/* The Linux Test Project: two counters for two bytes, a buffer on the stack. */
TEST(ltp_scale)
{
	struct profil_region region = {
		.base = 0x7ffffffde000, .offset = 0x555555554000,
		.size = 32 * 1024, .scale = 0x20000
	};

	EXPECT_EQ(16382, counter_of(0, 1, &region, 0x555555554000 + 0x3fff));
	EXPECT_EQ(NONE, counter_of(0, 1, &region, 0x555555554000 + 0x4000));
}

/* An odd size loses its last byte, and no counter is beyond the buffer. */
TEST(odd_size)
{
	struct profil_region region = { .offset = 0x1000, .scale = 0x10000 };

	region.size = 7;
	EXPECT_EQ(2, counter_of(0, 1, &region, 0x1000 + 5));
	EXPECT_EQ(NONE, counter_of(0, 1, &region, 0x1000 + 6));
	EXPECT_EQ(0, counter_of(0, 2, &region, 0x1000 + 3));
	EXPECT_EQ(NONE, counter_of(0, 2, &region, 0x1000 + 4));
	region.size = 1;
	EXPECT_EQ(NONE, counter_of(0, 1, &region, 0x1000));
}

/* IRIX: 0x8000 with 16 bits and 0x10000 with 32 make a counter for 4 bytes. */
TEST(irix_one_to_one)
{
	struct profil_region region = { .offset = 0x10000, .size = 0x1000 };
	s64 i;

	for (i = 0; i < 256; i++) {
		region.scale = 0x8000;
		EXPECT_EQ(i, counter_of(0, 1, &region, 0x10000 + 4 * i));
		EXPECT_EQ(i, counter_of(0, 1, &region, 0x10000 + 4 * i + 3));
		region.scale = 0x10000;
		EXPECT_EQ(i, counter_of(0, 2, &region, 0x10000 + 4 * i));
		EXPECT_EQ(i, counter_of(0, 2, &region, 0x10000 + 4 * i + 3));
	}
}

/* 4.4BSD: a scale of 1 has one 16-bit counter for 128 KiB. */
TEST(bsd_scale_one)
{
	struct profil_region region = { .offset = 64, .size = 8, .scale = 1 };
	u32 flags = PROFIL_SET_SCALE_ONE;

	EXPECT_EQ(NONE, counter_of(0, 1, &region, 64));
	EXPECT_EQ(0, counter_of(flags, 1, &region, 64 + 0x1ffff));
	EXPECT_EQ(1, counter_of(flags, 1, &region, 64 + 0x20000));
	EXPECT_EQ(3, counter_of(flags, 1, &region, 64 + 0x7ffff));
	EXPECT_EQ(NONE, counter_of(flags, 1, &region, 64 + 0x80000));
}

/* One counter for a byte of text: the largest scale of each width. */
TEST(largest_scale)
{
	struct profil_region region = { .offset = 4096, .size = 800 };
	u32 shift;

	for (shift = 1; shift <= 3; shift++) {
		u32 width = 1 << shift;
		s64 last = 800 / width - 1;

		region.scale = 65536 * width;
		EXPECT_EQ(last, counter_of(SVR4, shift, &region, 4096 + last));
		EXPECT_EQ(NONE, counter_of(SVR4, shift, &region, 4097 + last));
		EXPECT_EQ(last & -width, counter_of(0, shift, &region,
						4096 + last));
	}
}

/* The largest program counter has a counter, too. */
TEST(end_of_the_address_space)
{
	struct profil_region region = { .size = U64_MAX, .scale = 0x20000 };

	EXPECT_EQ(0, counter_of(SVR4, 1, &region, 0));
	EXPECT_EQ(S64_MAX - 1, counter_of(SVR4, 1, &region, S64_MAX - 1));
	region.scale = 3;
	EXPECT_EQ(S64_MAX / 65536 * 3 + 2, counter_of(0, 1, &region, U64_MAX));
	region.offset = U64_MAX;
	EXPECT_EQ(0, counter_of(0, 1, &region, U64_MAX));
	EXPECT_EQ(NONE, counter_of(0, 1, &region, U64_MAX - 1));
}

/* The overflow bin of other systems is a region in 4.4BSD and System V. */
TEST(scale_2_at_0_without_overflow_bin)
{
	static const struct profil_region region = { .size = 16, .scale = 2 };
	u32 flags = PROFIL_SET_NO_OVERFLOW;
	int i;

	EXPECT_EQ(NONE, counter_of(0, 1, &region, 0x30000));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, counter_of(flags, 1, &region, 0));
		EXPECT_EQ(0, counter_of(flags, 1, &region, 0xffff));
		EXPECT_EQ(1, counter_of(flags, 1, &region, 0x10000));
		EXPECT_EQ(7, counter_of(flags, 1, &region, 0x7ffff));
		EXPECT_EQ(NONE, counter_of(flags, 1, &region, 0x80000));
		flags |= SVR4;
	}
}

TEST_HARNESS_MAIN
