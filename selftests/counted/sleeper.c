// SPDX-License-Identifier: GPL-2.0-only
/*
 * sleeper.c - short bursts between sleeps are counted like long ones
 *
 * A burst of a part q of a period gets a tick with the chance q, so all of
 * them get the CPU time over the period, with that as the greatest variance.
 * Nothing may be lost or won where the processor goes to sleep and wakes up.
 *
 * Not on an emulated processor whose time is real: its interrupts come late,
 * but a sleep in which a tick fell, whose interrupt was late already, is not
 * late to end. So it would sleep the less the more ticks it missed.
 */
#include <time.h>

#include "kselftest_harness.h"
#include "common.h"

static void spend_ns(uint64_t ns)
{
	uint64_t end = process_cpu_ns() + ns;

	/* Where time counts instructions this is ten microseconds. */
	while (process_cpu_ns() < end)
		for (int i = 0; i < 10; i++)
			asm volatile(".rept 500\n\tnop\n\t.endr");
}

static void bursts(struct __test_metadata *_metadata, int nr,
		   uint64_t burst_ns, uint64_t pause_ns, uint64_t period_ns)
{
	const struct timespec pause = { .tv_nsec = pause_ns };
	struct profil_status last = { .size = sizeof(last) };
	static uint32_t bin;
	const struct profil_region all = overflow_bin(&bin, 4);
	struct moment from, to;

	ASSERT_EQ(0, set_regions(&all, 1, 4, period_ns, 0));
	from = moment_now();
	for (int i = 0; i < nr; i++) {
		spend_ns(burst_ns);
		nanosleep(&pause, NULL);
	}
	to = moment_now();
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));

	/* The kernel counts as CPU time the way out of its idle loop. */
	EXPECT_TICKS(&from, &to);
	EXPECT_COVERED(&from, &to, 0.02);
	EXPECT_EQ(last.ticks, bin);
	EXPECT_EQ(last.ticks, last.counted);
}

TEST(of_200_us_at_1_ms)
{
	bursts(_metadata, 10000, 200000, 100000, MS);
}

TEST(of_200_us_at_10_ms)
{
	bursts(_metadata, 10000, 200000, 700000, 10 * MS);
}

TEST(of_half_a_period)
{
	bursts(_metadata, 10000, 500000, 400000, MS);
}

TEST(of_2_ms_at_1_ms)
{
	bursts(_metadata, 2000, 2000000, 400000, MS);
}

TEST_HARNESS_MAIN
