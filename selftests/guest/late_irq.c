// SPDX-License-Identifier: GPL-2.0-only
/*
 * late_irq.c - overdue ticks are counted when their interrupt comes late
 *
 * An emulated CPU is late all the time if a tick is due every 60 us. The
 * program watches the counter of its own text: when it grows by more than one
 * at a time, ticks were overdue, and the kernel counted them at the pc that it
 * found. The number of ticks must still be the CPU time over the period.
 */

#include "kselftest_harness.h"
#include "common.h"

#define ROUNDS	20
#define JUMPS	10

struct jumps {
	unsigned int nr;
	unsigned int largest;
};

/* Never reads the clock: all of its time is in user mode, and in this text. */
OWN_TEXT(watch) void watch(const volatile uint32_t *counter,
			   struct jumps *jumps)
{
	uint32_t last = *counter;

	for (int i = 0; i < 5000000; i++) {
		uint32_t now = *counter;

		if (now - last > 1)
			jumps->nr++;
		if (now - last > jumps->largest)
			jumps->largest = now - last;
		last = now;
	}
}

TEST(owed_ticks_are_counted)
{
	struct profil_info info = { .size = sizeof(info) };
	static uint32_t counters[2];
	struct profil_region regions[] = {
		counter_of(START_OF(watch), END_OF(watch), &counters[0], 4),
		overflow_bin(&counters[1], 4),
	};
	struct jumps jumps = { 0, 0 };
	struct moment zero, stop;

	ASSERT_EQ(0, profil_info(&info));
	zero = moment_zero();
	ASSERT_EQ(0, set_regions(regions, 2, 4, info.min_period_ns, 0));
	for (int i = 0; i < ROUNDS && jumps.nr < JUMPS; i++)
		watch(&counters[0], &jumps);
	stop = moment_stop();
	if (!jumps.nr)
		SKIP(return, "no tick was late");
	TH_LOG("%llu ticks; %u times more than one at once, up to %u",
	       stop.status.counts.ticks, jumps.nr, jumps.largest);
	EXPECT_TICKS(&zero, &stop);
	EXPECT_EQ(stop.status.counts.ticks, counters[0] + counters[1]);
}

TEST_HARNESS_MAIN
