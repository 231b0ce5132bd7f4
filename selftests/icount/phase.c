// SPDX-License-Identifier: GPL-2.0-only
/*
 * phase.c - the first tick of a profile comes at any time, like each later one
 *
 * A profile that stops after a quarter of a period has a tick with the
 * probability 1/4: a clock that began with a whole period, or with a tick,
 * would give it none or one each time. And in whatever part of its period a
 * tick falls, the next one falls in any part of its own.
 *
 * The number of rare events has its mean as its largest variance.
 */
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

#define PERIOD		MS
#define TRIALS		1000
#define PARTS		4

/* A microsecond if time counts instructions. */
static inline __attribute__((always_inline)) void spend_us(void)
{
	asm volatile(".rept 500\n\tnop\n\t.endr");
}

TEST(first_tick)
{
	static uint32_t counter;
	const struct profil_region all = overflow_bin(&counter, 4);
	uint64_t ticks = 0, covered_ns = 0;
	/* With sanitizers the two calls alone take most of a millisecond. */
	int longer = slack();
	uint64_t period_ns = longer * PERIOD;
	double share;

	for (int i = 0; i < TRIALS; i++) {
		struct profil_status last = { .size = sizeof(last) };

		ASSERT_EQ(0, set_regions(&all, 1, 4, period_ns, 0));
		for (int j = 0; j < 240 * longer; j++)
			spend_us();
		ASSERT_EQ(0, profil_stop(&last, NULL, 0));
		ticks += last.counts.ticks;
		covered_ns += last.cpu_time_ns;
		/*
		 * Start the next trial at another phase of everything periodic.
		 */
		usleep(100 + i * 7919 % 1000);
	}
	share = (double)covered_ns / TRIALS / period_ns;
	TH_LOG("%.3f of a period each", share);
	EXPECT_LT(0.2, share);
	EXPECT_GT(0.5, share);
	EXPECT_CHANCE("ticks", ticks, share * TRIALS, share * TRIALS);
}

/* The part of the period in which the counter grows, or PARTS if it does not */
static int part_of_tick(const volatile uint32_t *counter, uint64_t begin)
{
	uint32_t before = *counter;
	int part = PARTS;
	uint64_t now;

	do {
		spend_us();
		now = monotonic_ns() - begin;
		if (part == PARTS && *counter != before)
			part = now * PARTS / PERIOD;
	} while (now < PERIOD);
	return part < PARTS ? part : PARTS;
}

/*
 * Looks at successive periods of the kernel's clock: each pair of parts has the
 * probability 1/16.
 */
TEST(each_tick_is_independent_of_the_last)
{
	static uint32_t counter;
	const struct profil_region all = overflow_bin(&counter, 4);
	unsigned int pairs[PARTS][PARTS] = { { 0 } }, nr = 0;
	int last = PARTS;
	uint64_t begin;

	ASSERT_EQ(0, set_regions(&all, 1, 4, PERIOD, 0));
	begin = (monotonic_ns() / PERIOD + 1) * PERIOD;
	while (monotonic_ns() < begin)
		;
	for (int i = 0; i < TRIALS; i++, begin += PERIOD) {
		int part = part_of_tick(&counter, begin);

		if (last < PARTS && part < PARTS) {
			pairs[last][part]++;
			nr++;
		}
		last = part;
	}
	ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
	/*
	 * The loop sees a tick close to the end of a period only in the next
	 * one.
	 */
	TH_LOG("%u pairs", nr);
	EXPECT_LT(TRIALS * 0.8, nr);
	for (int i = 0; i < PARTS * PARTS; i++)
		EXPECT_CHANCE("pair", pairs[i / PARTS][i % PARTS],
			      nr / 16.0, nr / 16.0);
}

TEST_HARNESS_MAIN
