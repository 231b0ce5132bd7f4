// SPDX-License-Identifier: GPL-2.0-only
/*
 * loop.c - every tick of a busy loop is counted, at every period and width
 *
 * A loop of known CPU time, alone on the CPU: there is one tick in each period,
 * so only the first and the last period, which are cut, and the time of other
 * tasks leave anything to chance. The loops are so long that this is less than
 * one in a thousand.
 */
#include <math.h>
#include <stdlib.h>

#include "kselftest_harness.h"
#include "common.h"

/* A microsecond if time counts instructions. */
static void spend_us(void)
{
	asm volatile(".rept 500\n\tnop\n\t.endr");
}

/* Reads the clock only once in 50 us: the rest is user mode. */
static void in_user_mode(uint64_t ns)
{
	uint64_t end = process_cpu_ns() + ns;

	while (process_cpu_ns() < end)
		for (int i = 0; i < 50; i++)
			spend_us();
}

static void in_system_calls(uint64_t ns)
{
	uint64_t end = process_cpu_ns() + ns;

	while (process_cpu_ns() < end)
		;
}

static uint64_t sum(const void *counters, size_t size, unsigned int width)
{
	switch (width) {
	case 2:
		return sum16(counters, size / 2);
	case 4:
		return sum32(counters, size / 4);
	default:
		return sum64(counters, size / 8);
	}
}

/* Counters for all text of the program, and one for the rest. */
struct counters {
	size_t size;
	void *counters;
	struct profil_region regions[2];
};

static struct counters counters_for_all(unsigned int width)
{
	struct counters c = { 0 };
	char *end;

	c.size = &etext - &__executable_start + 2 * width;
	c.counters = calloc(1, c.size);
	if (!c.counters)
		exit(KSFT_FAIL);
	c.regions[0] = region_of(&__executable_start, &etext, c.counters,
				 width);
	end = (char *)c.counters + c.regions[0].size;
	c.regions[1] = overflow_bin(end, width);
	return c;
}

static void check(struct __test_metadata *_metadata,
		  const struct moment *from, const struct moment *to)
{
	double cpu_ns = to->cpu_ns - from->cpu_ns;

	TH_LOG("%llu ticks in kernel mode, %.1f ms of others",
	       to->status.counts.kernel,
	       (to->time_ns - from->time_ns - cpu_ns) / 1e6);
	EXPECT_TICKS(from, to);
	EXPECT_COVERED(from, to, 0.001);
	EXPECT_EQ(to->status.counts.ticks, to->status.counts.counted);
	/* With sanitizers the request takes long enough for a tick or more. */
	EXPECT_GE(slack() - 1, to->status.pending);
}

/*
 * Within one in a thousand by the kernel's clock; that is more than six sigma.
 */
static void check_parts(struct __test_metadata *_metadata,
			const struct moment *from, const struct moment *to)
{
	double ticks = to->status.counts.ticks - from->status.counts.ticks;
	double due = (double)(to->cpu_ns - from->cpu_ns) /
		     to->status.period_ns;

	EXPECT_GE(slack() * due / 1000, fabs(ticks - due));
}

static void loop(struct __test_metadata *_metadata, void (*work)(uint64_t),
		 uint64_t period_ns, uint64_t length_ns, unsigned int width)
{
	struct counters c = counters_for_all(width);
	struct profil_status last = { .size = sizeof(last) };
	struct moment from, to;

	ASSERT_EQ(0, set_regions(c.regions, 2, width, period_ns, 0));
	from = moment_now();
	work(length_ns);
	to = moment_now();
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));

	EXPECT_EQ(period_ns, last.period_ns);
	check(_metadata, &from, &to);
	if (work == in_user_mode)
		check_parts(_metadata, &from, &to);
	EXPECT_EQ(last.counts.counted, sum(c.counters, c.size, width));
	free(c.counters);
}

TEST(every_tick_of_1_ms_in_16_bits)
{
	loop(_metadata, in_user_mode, MS, 5 * SECOND, 2);
}

TEST(every_tick_of_1_ms_in_32_bits)
{
	loop(_metadata, in_user_mode, MS, 5 * SECOND, 4);
}

TEST(every_tick_of_1_ms_in_64_bits)
{
	loop(_metadata, in_user_mode, MS, 5 * SECOND, 8);
}

TEST(every_tick_of_10_ms_in_16_bits)
{
	loop(_metadata, in_user_mode, 10 * MS, 30 * SECOND, 2);
}

TEST(every_tick_of_100_us)
{
	loop(_metadata, in_user_mode, 100 * US, SECOND, 4);
}

TEST(every_tick_of_60_us)
{
	loop(_metadata, in_user_mode, 60 * US, SECOND, 2);
}

/*
 * A flush takes time from other tasks, but does not change when ticks are due.
 */
TEST(every_tick_of_100_us_in_kernel_mode)
{
	loop(_metadata, in_system_calls, 100 * US, SECOND, 4);
}

TEST_HARNESS_MAIN
