// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedule_chance.c - the place of a tick in its cell is random
 *
 * Statistics of module/schedule.h. The secrets are fixed, so every run has the
 * same result. A truly random schedule would exceed each bound with less than
 * the probability given, by default 10^-6.
 */
#include "kselftest_harness.h"

#include <linux/limits.h>
#include <math.h>

#include "numbers.h"
#include "schedule_at.h"

static const u64 secrets[][2] = {
	{ 0, 0 },
	{ 1, 0 },
	{ 0x243f6a8885a308d3, 0x13198a2e03707344 },
	{ U64_MAX, U64_MAX },
};

#define NR_SECRETS	ARRAY_SIZE(secrets)
#define NR_CELLS	200000

/* Time of the tick from the start of its cell, which is not the first cell. */
static u64 in_cell(const u64 secret[2], u32 cpu, u32 period, u64 cell)
{
	u64 begin = cell * period;

	return schedule_at(secret, cpu, period, begin - 1).next - begin;
}

/*
 * Pearson's test for equal probabilities of all @counters. The bounds use
 * Wilson and Hilferty's cube root: 4.892 standard deviations to either side are
 * 10^-6.
 */
static bool even(const u32 *counters, u32 nr, u64 total)
{
	double mean = (double)total / nr;
	double free = nr - 1;
	double sum = 0;
	double deviation;
	u32 i;

	for (i = 0; i < nr; i++)
		sum += (counters[i] - mean) * (counters[i] - mean) / mean;
	deviation = (cbrt(sum / free) - (1 - 2 / (9 * free))) /
		sqrt(2 / (9 * free));
	if (fabs(deviation) < 4.892)
		return true;
	fprintf(stderr, "# chi-square %f of %u counters, %f deviations\n", sum,
		nr,
	       deviation);
	return false;
}

FIXTURE(chance)
{
	u32 *counters;
};

FIXTURE_VARIANT(chance)
{
	u32 period;
	u32 nr_counters;
};

/* The number of counters divides the period, or is much smaller. */
FIXTURE_VARIANT_ADD(chance, p_97ns) { .period = 97, .nr_counters = 97 };
FIXTURE_VARIANT_ADD(chance, p_60us) { .period = 60000, .nr_counters = 1000 };
FIXTURE_VARIANT_ADD(chance, p_1ms) { .period = 1000000, .nr_counters = 1000 };
FIXTURE_VARIANT_ADD(chance, p_10ms) { .period = 10000000, .nr_counters = 1000 };
FIXTURE_VARIANT_ADD(chance, longest) { .period = U32_MAX, .nr_counters = 1000 };

FIXTURE_SETUP(chance)
{
	self->counters = calloc(variant->nr_counters, sizeof(*self->counters));
}

FIXTURE_TEARDOWN(chance)
{
	free(self->counters);
}

/* Every place in the cell is equally likely, on each CPU. */
TEST_F(chance, uniform)
{
	u32 nr = variant->nr_counters;
	unsigned int i;
	u32 cpu;
	u64 cell;

	for (i = 0; i < NR_SECRETS; i++) {
		for (cpu = 0; cpu < 3; cpu++) {
			memset(self->counters, 0, nr * sizeof(*self->counters));
			for (cell = 1; cell <= NR_CELLS; cell++)
				self->counters[in_cell(secrets[i], cpu,
						   variant->period, cell) *
					   nr / variant->period]++;
			ASSERT_TRUE(even(self->counters, nr, NR_CELLS));
		}
	}
}

/* Places of two ticks, each in one of 31 parts of its cell. */
#define PARTS	31

struct pairs {
	u32 counters[PARTS * PARTS];
	u64 total;
	u64 period;
};

static void pair(struct pairs *pairs, u64 a, u64 b)
{
	pairs->counters[a * PARTS / pairs->period * PARTS +
		    b * PARTS / pairs->period]++;
	pairs->total++;
}

static bool independent(const struct pairs *pairs)
{
	return even(pairs->counters, PARTS * PARTS, pairs->total);
}

/* 31 has to divide the period: a cell of 10 ms, nearly. */
#define PERIOD	(31 * 322580)

static bool cells_independent(const u64 secret[2], u64 lag)
{
	struct pairs pairs = { .period = PERIOD };
	u64 cell;

	for (cell = 1; cell <= NR_CELLS; cell++)
		pair(&pairs, in_cell(secret, 0, PERIOD, cell),
		     in_cell(secret, 0, PERIOD, cell + lag));
	return independent(&pairs);
}

TEST(neighbouring_cells)
{
	unsigned int i;
	u64 lag;

	for (i = 0; i < NR_SECRETS; i++)
		for (lag = 1; lag <= 16; lag *= 2)
			ASSERT_TRUE(cells_independent(secrets[i], lag));
}

static bool cpus_independent(const u64 secret[2], u32 a, u32 b)
{
	struct pairs pairs = { .period = PERIOD };
	u64 cell;

	for (cell = 1; cell <= NR_CELLS; cell++)
		pair(&pairs, in_cell(secret, a, PERIOD, cell),
		     in_cell(secret, b, PERIOD, cell));
	return independent(&pairs);
}

TEST(neighbouring_processors)
{
	unsigned int i;
	u32 cpu;

	for (i = 0; i < NR_SECRETS; i++) {
		for (cpu = 1; cpu <= 4; cpu++)
			ASSERT_TRUE(cpus_independent(secrets[i], 0, cpu));
		ASSERT_TRUE(cpus_independent(secrets[i], 0, 4095));
	}
}

/* Two profiles with different periods on one CPU. */
static bool periods_independent(u32 other, u64 lag)
{
	struct pairs pairs = { .period = PERIOD };
	u64 cell;

	for (cell = 1; cell <= NR_CELLS; cell++)
		pair(&pairs, in_cell(secrets[0], 0, PERIOD, cell + lag),
		     in_cell(secrets[0], 0, other, cell) * PERIOD / other);
	return independent(&pairs);
}

TEST(different_periods)
{
	u64 lag;

	for (lag = 0; lag < 3; lag++) {
		ASSERT_TRUE(periods_independent(2 * PERIOD, lag));
		ASSERT_TRUE(periods_independent(PERIOD + 1, lag));
		ASSERT_TRUE(periods_independent(PERIOD / 10, lag));
	}
}

/* Flipping one bit of the secret makes another, independent schedule. */
static bool bit_matters(int bit)
{
	u64 other[2] = { secrets[2][0], secrets[2][1] };
	struct pairs pairs = { .period = PERIOD };
	u64 cell;

	other[bit / 64] ^= 1ULL << bit % 64;
	for (cell = 1; cell <= 40000; cell++)
		pair(&pairs, in_cell(secrets[2], 0, PERIOD, cell),
		     in_cell(other, 0, PERIOD, cell));
	return independent(&pairs);
}

TEST(every_bit_of_the_secret)
{
	int bit;

	for (bit = 0; bit < 128; bit++)
		EXPECT_TRUE(bit_matters(bit));
}

/* Ticks in [@begin, @end). */
static u64 ticks(const u64 secret[2], u64 begin, u64 end)
{
	return schedule_at(secret, 0, PERIOD, end - 1).passed -
		schedule_at(secret, 0, PERIOD, begin - 1).passed;
}

/* Ticks in the first half of each of @nr waves of @length. */
static u64 ticks_in_wave(const u64 secret[2], u64 phase, u64 length, u64 nr)
{
	u64 count = 0;
	u64 i;

	for (i = 1; i <= nr; i++) {
		u64 begin = i * length + phase;

		count += ticks(secret, begin, begin + length / 2);
	}
	return count;
}

/*
 * McCanne and Torek's program in lockstep with the clock, which spends half of
 * its time in each of two places. Of N ticks, half are due in either place,
 * with at most the standard deviation of N tosses of a coin. The bound is three
 * of these, which one secret in 370 may exceed.
 */
FIXTURE(lockstep)
{
};

FIXTURE_VARIANT(lockstep)
{
	u64 wave;
};

FIXTURE_VARIANT_ADD(lockstep, same_period) { .wave = PERIOD };
FIXTURE_VARIANT_ADD(lockstep, half_period) { .wave = PERIOD / 2 };
FIXTURE_VARIANT_ADD(lockstep, double_period) { .wave = 2 * PERIOD };
FIXTURE_VARIANT_ADD(lockstep, nearly_same) { .wave = PERIOD + PERIOD / 1000 };

FIXTURE_SETUP(lockstep)
{
}

FIXTURE_TEARDOWN(lockstep)
{
}

TEST_F(lockstep, half_of_the_ticks)
{
	u64 nr = NR_CELLS * (u64)PERIOD / variant->wave;
	double due = (double)nr * variant->wave / PERIOD / 2;
	double sigma = sqrt(2 * due) / 2;
	unsigned int i;
	u64 phase;

	for (i = 0; i < NR_SECRETS; i++) {
		for (phase = 0; phase < PERIOD; phase += PERIOD / 4) {
			double count = ticks_in_wave(secrets[i], phase,
						     variant->wave, nr);

			EXPECT_GT(3 * sigma, fabs(count - due));
		}
	}
}

/*
 * One of ten processes that live for a tenth of a period, at any time, has a
 * tick. Five standard deviations are 6 * 10^-7.
 */
TEST(short_lives)
{
	u64 state = 0x6c696665;
	double sigma = sqrt(NR_CELLS * 0.1 * 0.9);
	unsigned int i;
	u64 n, count;

	for (i = 0; i < NR_SECRETS; i++) {
		count = 0;
		for (n = 0; n < NR_CELLS; n++) {
			u64 birth = PERIOD + number_below(&state, 1ULL << 60);

			count += ticks(secrets[i], birth, birth + PERIOD / 10);
		}
		EXPECT_GT(5 * sigma, fabs(count - NR_CELLS * 0.1));
	}
}

TEST_HARNESS_MAIN
