// SPDX-License-Identifier: GPL-2.0-only
/*
 * bursts.c - short bursts between sleeps are counted like long ones
 *
 * A burst as long as the part q of a period gets a tick with the probability q,
 * so all bursts together get the CPU time over the period, with that as the
 * largest variance. A CPU that goes to sleep and wakes up must neither lose nor
 * add ticks.
 *
 * Not for an emulated CPU that runs in real time: its interrupts come late, but
 * a sleep does not end late if a tick fell in it whose interrupt was late
 * already. So the CPU would sleep less the more ticks it misses.
 */
#include <time.h>

#include "kselftest_harness.h"
#include "common.h"

static void spend_ns(uint64_t ns)
{
	uint64_t end = process_cpu_ns() + ns;

	/* Ten microseconds if time counts instructions. */
	while (process_cpu_ns() < end)
		for (int i = 0; i < 10; i++)
			asm volatile(".rept 500\n\tnop\n\t.endr");
}

static void bursts(struct __test_metadata *_metadata, int nr,
		   uint64_t burst_ns, uint64_t pause_ns, uint64_t period_ns)
{
	const struct timespec pause = { .tv_nsec = pause_ns };
	struct profil_status last = { .size = sizeof(last) };
	static uint32_t counter;
	const struct profil_region all = overflow_bin(&counter, 4);
	struct moment from, to;

	ASSERT_EQ(0, set_regions(&all, 1, 4, period_ns, 0));
	from = moment_now();
	for (int i = 0; i < nr; i++) {
		spend_ns(burst_ns);
		nanosleep(&pause, NULL);
	}
	to = moment_now();
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));

	/* The kernel counts the way out of its idle loop as CPU time. */
	EXPECT_TICKS(&from, &to);
	EXPECT_COVERED(&from, &to, 0.02);
	EXPECT_EQ(last.counts.ticks, counter);
	EXPECT_EQ(last.counts.ticks, last.counts.counted);
}

TEST(of_200_us_at_1_ms)
{
	bursts(_metadata, 5000, 200000, 100000, MS);
}

TEST(of_200_us_at_10_ms)
{
	bursts(_metadata, 5000, 200000, 700000, 10 * MS);
}

TEST(of_half_a_period)
{
	bursts(_metadata, 5000, 500000, 400000, MS);
}

TEST(of_2_ms_at_1_ms)
{
	bursts(_metadata, 2000, 2000000, 400000, MS);
}

TEST_HARNESS_MAIN
