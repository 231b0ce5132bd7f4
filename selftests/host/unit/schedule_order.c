// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedule_order.c - one tick in each cell, and the counts that follow
 *
 * Properties of module/schedule.h for every secret; schedule_chance.c tests the
 * probabilities.
 */
#include "kselftest_harness.h"

#include <linux/limits.h>

#include "numbers.h"
#include "schedule_at.h"

static const u64 secret[2] = { 0x6b65795f6f66, 0x7469636b73 };

static struct profil_schedule at(u32 cpu, u32 period, u64 time)
{
	return schedule_at(secret, cpu, period, time);
}

/* @passed is the number of ticks, counted nanosecond by nanosecond. */
static bool counts_right(u32 cpu, u32 period)
{
	struct profil_schedule last = at(cpu, period, 0);
	u64 count = last.passed;
	u64 time;

	if (count != (last.next >= period))
		return false;
	for (time = 1; time < 200ULL * period; time++) {
		struct profil_schedule now = at(cpu, period, time);

		count += time == last.next;
		if (now.passed != count || now.next <= time)
			return false;
		if (time != last.next && now.next != last.next)
			return false;
		if (time % period == period - 1 && count != time / period + 1)
			return false;
		last = now;
	}
	return true;
}

/* Advancing from every nanosecond across the next periods is also correct. */
static bool goes_on_right(u32 cpu, u32 period)
{
	u64 early, late;

	for (early = 0; early < 3ULL * period; early++) {
		struct profil_schedule known = at(cpu, period, early);

		for (late = early; late < early + 4ULL * period; late++) {
			struct profil_schedule said = at(cpu, period, late);

			if (!schedule_advances(known, &said, late))
				return false;
		}
	}
	return true;
}

TEST(what_was_true_earlier_does_not_matter)
{
	u32 cpu, period;

	for (cpu = 0; cpu < 4; cpu++)
		for (period = 1; period <= 64; period++)
			ASSERT_TRUE(goes_on_right(cpu, period));
}

TEST(every_nanosecond)
{
	u32 cpu, period;

	for (cpu = 0; cpu < 4; cpu++)
		for (period = 1; period <= 64; period++)
			ASSERT_TRUE(counts_right(cpu, period));
	ASSERT_TRUE(counts_right(7, 9973));
}

/* Walk from tick to tick: each is the first after the last, one cell later. */
static bool walks_right(u32 cpu, u32 period, u64 time, int steps)
{
	struct profil_schedule here = at(cpu, period, time);

	while (steps--) {
		struct profil_schedule tick = at(cpu, period, here.next);
		struct profil_schedule before = at(cpu, period, here.next - 1);
		u64 cell = here.next / period;

		if (tick.passed != here.passed + 1 || tick.passed != cell + 1)
			return false;
		if (before.passed != here.passed || before.next != here.next)
			return false;
		if (tick.next <= here.next || tick.next / period != cell + 1)
			return false;
		here = tick;
	}
	return true;
}

static const u32 periods[] = {
	1, 2, 3, 1000, 60000, 999999, 1000000, 10000000, 1U << 31, U32_MAX
};

#define NR_PERIODS	ARRAY_SIZE(periods)

TEST(every_period)
{
	unsigned int i;

	for (i = 0; i < NR_PERIODS; i++) {
		ASSERT_TRUE(walks_right(0, periods[i], 1, 3000));
		ASSERT_TRUE(walks_right(0, periods[i], 1ULL << 62, 3000));
		ASSERT_TRUE(walks_right(U32_MAX, periods[i], 12345, 3000));
	}
}

/* The kernel's time is a signed number of nanoseconds. */
TEST(end_of_time)
{
	unsigned int i;

	for (i = 0; i < NR_PERIODS; i++) {
		u64 period = periods[i];

		ASSERT_TRUE(walks_right(1, period, S64_MAX - 5 * period, 10));
		ASSERT_TRUE(walks_right(1, period, U64_MAX - 9 * period, 6));
		ASSERT_LT(U64_MAX - 2 * period,
			  at(1, period, U64_MAX - 2 * period).next);
	}
}

/* The number of ticks in any span differs from its length in cells by < 2. */
TEST(any_span)
{
	u64 state = 0x7370616e;
	int i;

	for (i = 0; i < 1000000; i++) {
		u32 period = 1 + number_below(&state, U32_MAX);
		u64 begin = number_of_any_size(&state) / 4;
		u64 length = number_of_any_size(&state) / 4;
		u64 ticks = at(3, period, begin + length).passed -
			at(3, period, begin).passed;
		u64 cells = length / period;

		ASSERT_LE(cells ? cells - 1 : 0, ticks);
		ASSERT_GE(cells + 2, ticks);
	}
}

/* Looking up the same time again has the same result. */
TEST(same_answer_again)
{
	u64 state = 0x616761696e;
	int i;

	for (i = 0; i < 100000; i++) {
		u64 time = number(&state) >> 1;
		struct profil_schedule a = at(1, 10000000, time);
		struct profil_schedule b = at(1, 10000000, time);

		ASSERT_EQ(a.next, b.next);
		ASSERT_EQ(a.passed, b.passed);
	}
}

TEST_HARNESS_MAIN
