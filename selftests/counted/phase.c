// SPDX-License-Identifier: GPL-2.0-only
/*
 * phase.c - the first tick of a profile comes at any time, and so does each
 *
 * A profile that is stopped after a quarter of a period has a tick with the
 * chance of a quarter: a clock that began with a whole period, or with a tick,
 * would give it none or one each time. And whatever part of its period a tick
 * falls into, the next one falls into any part of its own.
 *
 * A number of rare events has its mean as its greatest variance.
 */
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

#define PERIOD		MS
#define TRIALS		1000
#define PARTS		4

/* Where time counts instructions this is a microsecond. */
static inline __attribute__((always_inline)) void spend_us(void)
{
	asm volatile(".rept 500\n\tnop\n\t.endr");
}

TEST(first_tick)
{
	static uint32_t bin;
	const struct profil_region all = overflow_bin(&bin, 4);
	uint64_t ticks = 0, covered_ns = 0;
	/* Sanitizers take most of a millisecond for the two calls alone. */
	int longer = slack();
	uint64_t period_ns = longer * PERIOD;
	double share;

	for (int i = 0; i < TRIALS; i++) {
		struct profil_status last = { .size = sizeof(last) };

		ASSERT_EQ(0, set_regions(&all, 1, 4, period_ns, 0));
		for (int j = 0; j < 240 * longer; j++)
			spend_us();
		ASSERT_EQ(0, profil_stop(&last, NULL, 0));
		ticks += last.ticks;
		covered_ns += last.cpu_time_ns;
		/* At all phases of whatever else there is. */
		usleep(100 + i * 7919 % 1000);
	}
	share = (double)covered_ns / TRIALS / period_ns;
	TH_LOG("%.3f of a period each", share);
	EXPECT_LT(0.2, share);
	EXPECT_GT(0.5, share);
	EXPECT_CHANCE("ticks", ticks, share * TRIALS, share * TRIALS);
}

/* The part of the period in which the counter grows, or PARTS if it does not */
static int part_of_tick(const volatile uint32_t *bin, uint64_t begin)
{
	uint32_t before = *bin;
	int part = PARTS;
	uint64_t now;

	do {
		spend_us();
		now = monotonic_ns() - begin;
		if (part == PARTS && *bin != before)
			part = now * PARTS / PERIOD;
	} while (now < PERIOD);
	return part < PARTS ? part : PARTS;
}

/*
 * In periods of the kernel's clock, one after the other: a pair of parts has
 * one chance in sixteen.
 */
TEST(each_tick_is_independent_of_the_last)
{
	static uint32_t bin;
	const struct profil_region all = overflow_bin(&bin, 4);
	unsigned int pairs[PARTS][PARTS] = { { 0 } }, nr = 0;
	int last = PARTS;
	uint64_t begin;

	ASSERT_EQ(0, set_regions(&all, 1, 4, PERIOD, 0));
	begin = (monotonic_ns() / PERIOD + 1) * PERIOD;
	while (monotonic_ns() < begin)
		;
	for (int i = 0; i < TRIALS; i++, begin += PERIOD) {
		int part = part_of_tick(&bin, begin);

		if (last < PARTS && part < PARTS) {
			pairs[last][part]++;
			nr++;
		}
		last = part;
	}
	ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
	/* One that falls close to the end of its period is seen in the next. */
	TH_LOG("%u pairs", nr);
	EXPECT_LT(TRIALS * 0.8, nr);
	for (int i = 0; i < PARTS * PARTS; i++)
		EXPECT_CHANCE("pair", pairs[i / PARTS][i % PARTS],
			      nr / 16.0, nr / 16.0);
}

TEST_HARNESS_MAIN
