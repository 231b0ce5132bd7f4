// SPDX-License-Identifier: GPL-2.0-only
/*
 * lockstep.c - a program whose rhythm is that of the tick is measured right
 *
 * Two functions take turns in every period, locked to the clock by which the
 * periods are cut: the rhythm that misled the profilers of old most (McCanne
 * and Torek, 1993). One tick falls into each period, anywhere with equal
 * chance, so of N ticks the function with the share p of the time gets a
 * binomial number: mean Np, variance Np(1 - p).
 */
#include "kselftest_harness.h"
#include "common.h"

#define RUNS	10
#define TICKS	1000

/* The clock is looked at this often in each period. */
#define LOOKS	200

static uint64_t period_ns;
static uint64_t turn_ns;

/* Most of the time is in the function that this becomes a part of. */
static inline __attribute__((always_inline)) void spend_ns(uint64_t ns)
{
	/* Where time counts instructions these are half a microsecond. */
	for (; ns >= 500; ns -= 500)
		asm volatile(".rept 250\n\tnop\n\t.endr");
}

OWN_TEXT(first) uint64_t first(void)
{
	uint64_t now;

	do {
		spend_ns(period_ns / LOOKS);
		now = monotonic_ns();
	} while (now % period_ns < turn_ns);
	return now;
}

OWN_TEXT(second) uint64_t second(void)
{
	uint64_t now;

	do {
		spend_ns(period_ns / LOOKS);
		now = monotonic_ns();
	} while (now % period_ns >= turn_ns);
	return now;
}

/* What each function has got: time, and ticks. */
struct turns {
	uint64_t time_ns[2];
	uint64_t ticks[2];
};

static void take_turns(struct turns *turns)
{
	uint64_t last = second();
	uint64_t end = last + TICKS * period_ns;

	while (last < end) {
		uint64_t middle = first();

		turns->time_ns[0] += middle - last;
		last = second();
		turns->time_ns[1] += last - middle;
	}
}

static struct turns run(struct __test_metadata *_metadata)
{
	static uint32_t bins[2][4096];
	struct profil_region regions[] = {
		region_of(TEXT_OF(first), bins[0], 4),
		region_of(TEXT_OF(second), bins[1], 4),
	};
	struct turns turns = { 0 };

	memset(bins, 0, sizeof(bins));
	ASSERT_LE(regions[0].size, sizeof(bins[0]));
	ASSERT_LE(regions[1].size, sizeof(bins[1]));
	ASSERT_EQ(0, set_regions(regions, 2, 4, period_ns, 0));
	take_turns(&turns);
	ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
	turns.ticks[0] = sum32(bins[0], 4096);
	turns.ticks[1] = sum32(bins[1], 4096);
	return turns;
}

/* Ticks while the clock was read belong to neither function. */
static void check(struct __test_metadata *_metadata, const char *what,
		  const struct turns *turns)
{
	double ticks = turns->ticks[0] + turns->ticks[1];
	double share = (double)turns->time_ns[0] /
		       (turns->time_ns[0] + turns->time_ns[1]);

	EXPECT_LE(0.9 * (turns->time_ns[0] + turns->time_ns[1]) / period_ns,
		  ticks);
	EXPECT_CHANCE(what, turns->ticks[0], share * ticks,
		      share * (1 - share) * ticks);
}

static void lockstep(struct __test_metadata *_metadata, uint64_t period,
		     unsigned int percent)
{
	struct turns all = { 0 };

	period_ns = period;
	turn_ns = period * percent / 100;
	for (int i = 0; i < RUNS; i++) {
		struct turns turns = run(_metadata);

		check(_metadata, "first function", &turns);
		for (int f = 0; f < 2; f++) {
			all.time_ns[f] += turns.time_ns[f];
			all.ticks[f] += turns.ticks[f];
		}
	}
	check(_metadata, "in all", &all);
}

TEST(half_and_half_at_1_ms)
{
	lockstep(_metadata, MS, 50);
}

TEST(ninety_to_ten_at_1_ms)
{
	lockstep(_metadata, MS, 90);
}

TEST(half_and_half_at_10_ms)
{
	lockstep(_metadata, 10 * MS, 50);
}

TEST(ninety_to_ten_at_10_ms)
{
	lockstep(_metadata, 10 * MS, 90);
}

#define MAX_SAMPLE_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"

/* What perf makes of a rate is perf's; returns the rate before, or 0. */
static int limit_perf(int rate)
{
	FILE *file = fopen(MAX_SAMPLE_RATE, "r+");
	int before = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%d", &before) != 1)
		before = 0;
	rewind(file);
	fprintf(file, "%d", rate);
	return fclose(file) ? 0 : before;
}

/*
 * A counter that perf has stopped goes on at the kernel's next clock tick, in
 * step with that: the perf clock gives the first function 55 to 63 % here.
 */
TEST(half_and_half_while_perf_is_throttled)
{
	struct profil_info info = { .size = sizeof(info) };
	int rate;

	ASSERT_EQ(0, profil_info(&info));
	if (info.clock == PROFIL_CLOCK_PERF)
		SKIP(return, "perf's counters are what is throttled");
	rate = limit_perf(250);
	if (!rate)
		SKIP(return, "cannot change " MAX_SAMPLE_RATE);
	lockstep(_metadata, MS, 50);
	EXPECT_EQ(250, limit_perf(rate));
}

TEST_HARNESS_MAIN
