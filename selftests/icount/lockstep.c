// SPDX-License-Identifier: GPL-2.0-only
/*
 * lockstep.c - a program in step with the tick is measured correctly
 *
 * Two functions take turns in every cycle, locked to the clock that divides
 * time into periods: the rhythm that misled the profilers of old most (McCanne
 * and Torek, 1993). One tick falls in each period, uniformly distributed. So of
 * N ticks the function with the share p of the time gets Np on average, with
 * the variance of a binomial number, Np(1 - p), if the turns divide all periods
 * alike, and with less otherwise.
 */
#include <inttypes.h>

#include "kselftest_harness.h"
#include "common.h"
#include "turns.h"

#define RUNS	3

static struct turns run(struct __test_metadata *_metadata, uint64_t period_ns,
			uint64_t length_ns)
{
	static uint32_t counters[2][4096];
	struct profil_region regions[] = {
		region_of(START_OF(first), END_OF(first), counters[0], 4),
		region_of(START_OF(second), END_OF(second), counters[1], 4),
	};
	struct turns turns = { .length_ns = length_ns };

	memset(counters, 0, sizeof(counters));
	ASSERT_LE(regions[0].size, sizeof(counters[0]));
	ASSERT_LE(regions[1].size, sizeof(counters[1]));
	ASSERT_EQ(0, set_regions(regions, 2, 4, period_ns, 0));
	take_turns(&turns);
	ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
	turns.ticks[0] = sum32(counters[0], 4096);
	turns.ticks[1] = sum32(counters[1], 4096);
	return turns;
}

/*
 * Ticks that fall while the program reads the clock belong to neither function.
 */
static void check(struct __test_metadata *_metadata, const char *what,
		  const struct turns *turns, uint64_t period_ns)
{
	double ticks = turns->ticks[0] + turns->ticks[1];
	double share = share_of_first(turns);

	EXPECT_LE(0.9 * (turns->time_ns[0] + turns->time_ns[1]) / period_ns,
		  ticks);
	EXPECT_CHANCE(what, turns->ticks[0], share * ticks,
		      share * (1 - share) * ticks);
}

/* Even the shorter turns of a run get 40 ticks: see SIGMAS. */
static void lockstep(struct __test_metadata *_metadata, uint64_t period,
		     unsigned int percent, unsigned int ticks)
{
	struct turns all = { 0 };

	cycle_ns = period;
	turn_ns = period * percent / 100;
	for (int i = 0; i < RUNS; i++) {
		struct turns turns = run(_metadata, period, ticks * period);

		check(_metadata, "first function", &turns, period);
		for (int f = 0; f < 2; f++) {
			all.time_ns[f] += turns.time_ns[f];
			all.ticks[f] += turns.ticks[f];
		}
	}
	check(_metadata, "in all", &all, period);
}

TEST(half_and_half_at_1_ms)
{
	lockstep(_metadata, MS, 50, 1000);
}

TEST(ninety_to_ten_at_1_ms)
{
	lockstep(_metadata, MS, 90, 1000);
}

TEST(half_and_half_at_10_ms)
{
	lockstep(_metadata, 10 * MS, 50, 200);
}

TEST(ninety_to_ten_at_10_ms)
{
	lockstep(_metadata, 10 * MS, 90, 400);
}

#define MAX_SAMPLE_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"

/* perf may adjust the rate. Returns the rate before, or 0. */
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
 * perf stops a counter that overflows more often between two ticks of the
 * kernel than the rate allows, and starts it again at the next one: interrupts
 * would come late and in step with the kernel, and with the turns.
 */
FIXTURE(rate) {
	int before;
};

FIXTURE_VARIANT(rate) {
	int limit;
	uint64_t period_ns;
	uint64_t length_ns;
};

FIXTURE_VARIANT_ADD(rate, limit_250_at_1_ms) {
	.limit = 250, .period_ns = MS, .length_ns = SECOND
};

FIXTURE_VARIANT_ADD(rate, limit_500_at_1_ms) {
	.limit = 500, .period_ns = MS, .length_ns = SECOND
};

FIXTURE_VARIANT_ADD(rate, limit_100000_at_1_ms) {
	.limit = 100000, .period_ns = MS, .length_ns = SECOND
};

FIXTURE_VARIANT_ADD(rate, limit_250_at_100_us) {
	.limit = 250, .period_ns = MS / 10, .length_ns = SECOND / 2
};

FIXTURE_VARIANT_ADD(rate, limit_500_at_100_us) {
	.limit = 500, .period_ns = MS / 10, .length_ns = SECOND / 2
};

FIXTURE_VARIANT_ADD(rate, limit_100000_at_100_us) {
	.limit = 100000, .period_ns = MS / 10, .length_ns = SECOND / 2
};

FIXTURE_SETUP(rate)
{
	self->before = limit_perf(variant->limit);
	if (!self->before)
		SKIP(return, "cannot change " MAX_SAMPLE_RATE);
}

FIXTURE_TEARDOWN(rate)
{
	if (self->before)
		EXPECT_EQ(variant->limit, limit_perf(self->before));
}

/* Half of the tick of a kernel with HZ=250, and a quarter of it */
static const unsigned int turns_ms[] = { 2, 1 };

TEST_F(rate, does_not_change_the_shares)
{
	struct profil_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, profil_info(&info));
	TH_LOG("clock %s, perf's rate was %d",
	       info.clock == PROFIL_CLOCK_PERF ? "perf" : "hrtimer",
	       self->before);
	for (int i = 0; i < 2; i++) {
		struct turns turns;

		turn_ns = turns_ms[i] * MS;
		cycle_ns = 2 * turn_ns;
		turns = run(_metadata, variant->period_ns, variant->length_ns);
		TH_LOG("turns of %u ms: %" PRIu64 " and %" PRIu64 " ticks",
		       turns_ms[i], turns.ticks[0], turns.ticks[1]);
		check(_metadata, "first function", &turns, variant->period_ns);
	}
}

TEST_HARNESS_MAIN
