// SPDX-License-Identifier: GPL-2.0-only
/*
 * lookup.c - a tick costs hardly more with a thousand times as many regions
 *
 * The cost of a tick is the CPU time that the same work takes longer with a
 * profile. A linear search through the regions would take tens of thousands of
 * instructions; a binary search takes ten more steps.
 */
#include <stdlib.h>

#include "kselftest_harness.h"
#include "common.h"

#define PERIOD		(100 * 1000)

static uint64_t work_ns(void)
{
	uint64_t begin = thread_cpu_ns();

	/* A fifth of a second if time counts instructions. */
	for (int i = 0; i < 200000; i++)
		asm volatile(".rept 500\n\tnop\n\t.endr");
	return thread_cpu_ns() - begin;
}

/* Regions all over the address space; the text is in the last one. */
static double tick_ns(struct __test_metadata *_metadata, unsigned int nr,
		      uint64_t plain_ns)
{
	struct profil_region *regions = calloc(nr, sizeof(*regions));
	struct profil_status last = { .size = sizeof(last) };
	static uint32_t counter;
	uint64_t ns;

	ASSERT_NE(NULL, regions);
	for (unsigned int i = 0; i < nr; i++) {
		regions[i] = counter_of(&__executable_start, &etext, &counter,
					4);
		regions[i].offset -= (nr - 1 - i) * 0x100000UL;
	}
	ASSERT_EQ(0, set_regions(regions, nr, 4, PERIOD, 0));
	ns = work_ns();
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));
	free(regions);
	EXPECT_LT(0.8 * plain_ns / PERIOD, last.counts.ticks);
	EXPECT_LT(0.9 * last.counts.ticks, last.counts.counted);
	TH_LOG("%u regions: %llu ticks, %.0f ns each", nr, last.counts.ticks,
	       (double)(ns - plain_ns) / last.counts.ticks);
	return (double)(ns - plain_ns) / last.counts.ticks;
}

TEST(takes_no_time_for_each_region)
{
	struct profil_info info = { .size = sizeof(info) };
	uint64_t plain_ns;
	double few, many;

	ASSERT_EQ(0, profil_info(&info));
	ASSERT_LE(4096, info.max_regions);
	plain_ns = work_ns();
	few = tick_ns(_metadata, 4, plain_ns);
	many = tick_ns(_metadata, 4096, plain_ns);
	EXPECT_LT(0, few);
	EXPECT_GT(2 * few, many);
}

TEST_HARNESS_MAIN
