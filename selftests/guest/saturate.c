// SPDX-License-Identifier: GPL-2.0-only
/*
 * saturate.c - counters at their maximum
 *
 * A full counter stays full, its neighbours do not change, and the status
 * reports the ticks that it could not take as clipped; a 64-bit counter carries
 * from its lower half into its upper one. And the System V rule: the whole
 * profile stops when a counter reaches 32767.
 */
#include <string.h>

#include "kselftest_harness.h"
#include "common.h"

#define SVR4_FULL	32767

/* Counters with neighbours of known values, in one aligned block. */
static union {
	uint16_t two[16];
	uint32_t four[8];
	uint64_t eight[4];
	unsigned char bytes[32];
} counters __attribute__((aligned(32)));

static unsigned char before[sizeof(counters)];

static void poison(void)
{
	size_t i;

	for (i = 0; i < sizeof(counters); i++)
		counters.bytes[i] = 0xa0 + i;
}

/* All bytes but the @width bytes at @counter are unchanged. */
static bool neighbours_are_the_same(const void *counter, size_t width)
{
	size_t start = (const unsigned char *)counter - counters.bytes;
	size_t i;

	for (i = 0; i < sizeof(counters); i++)
		if ((i < start || i >= start + width) &&
		    counters.bytes[i] != before[i])
			return false;
	return true;
}

/* Count every tick in @counter until @ticks have come. */
static struct profil_status count(struct __test_metadata *_metadata,
				  void *counter,
				  unsigned int width, uint64_t ticks)
{
	struct profil_region region = overflow_bin(counter, width);
	struct profil_status last = { .size = sizeof(last) };

	memcpy(before, &counters, sizeof(counters));
	ASSERT_EQ(0, set_regions(&region, 1, width, MS, 0));
	EXPECT_TRUE(burn_ticks(ticks));
	EXPECT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_EQ(0, last.counts.outside + last.counts.lost +
			     last.counts.left_out);
	EXPECT_EQ(last.counts.ticks, last.counts.counted + last.counts.clipped);
	EXPECT_LE(ticks, last.counts.ticks);
	EXPECT_TRUE(neighbours_are_the_same(counter, width));
	return last;
}

/* --- one counter */

/* More ticks than any test takes. */
#define ALWAYS	UINT64_MAX

FIXTURE(counter) {
};

/*
 * @index, @width: where the counter is; @value: its value at first; @room: how
 * many ticks it can take
 */
FIXTURE_VARIANT(counter) {
	unsigned int width;
	unsigned int index;
	uint64_t value;
	uint64_t room;
};

FIXTURE_SETUP(counter)
{
	poison();
}

FIXTURE_TEARDOWN(counter)
{
}

#define COUNTER(name, ...) \
	FIXTURE_VARIANT_ADD(counter, name) { __VA_ARGS__ }

/* In the lower and in the upper half of a word */
COUNTER(of_16_bits, 2, 4, UINT16_MAX - 5, 5);
COUNTER(of_16_bits_in_the_upper_half, 2, 5, UINT16_MAX - 5, 5);
COUNTER(of_16_bits_that_is_full_already, 2, 7, UINT16_MAX, 0);
/* Some systems have signed counters; by default 32767 is not full. */
COUNTER(of_16_bits_across_the_sign, 2, 1, SVR4_FULL - 2, ALWAYS);
COUNTER(of_32_bits, 4, 3, UINT32_MAX - 7, 7);
COUNTER(of_32_bits_across_16, 4, 3, UINT16_MAX - 3, ALWAYS);
COUNTER(of_64_bits, 8, 2, UINT64_MAX - 4, 4);
COUNTER(of_64_bits_that_is_full_already, 8, 2, UINT64_MAX, 0);
COUNTER(of_64_bits_carries, 8, 1, 0x5ffffffffULL - 3, ALWAYS);

TEST_F(counter, takes_the_ticks_that_it_has_room_for)
{
	unsigned char *at = &counters.bytes[variant->index * variant->width];
	struct profil_status last;
	uint64_t value = 0;

	memcpy(at, &variant->value, variant->width);
	last = count(_metadata, at, variant->width, 20);
	memcpy(&value, at, variant->width);
	EXPECT_EQ(variant->value + last.counts.counted, value);
	EXPECT_EQ(variant->room == ALWAYS ? last.counts.ticks : variant->room,
		  last.counts.counted);
}

TEST(counter_of_16_bits_beside_a_full_one)
{
	struct profil_status last;

	poison();
	counters.two[4] = UINT16_MAX;
	counters.two[5] = 0;
	last = count(_metadata, &counters.two[5], 2, 10);
	EXPECT_EQ(last.counts.counted, counters.two[5]);
	EXPECT_EQ(0, last.counts.clipped);

	counters.two[4] = 0;
	counters.two[5] = UINT16_MAX;
	last = count(_metadata, &counters.two[4], 2, 10);
	EXPECT_EQ(last.counts.counted, counters.two[4]);
	EXPECT_EQ(0, last.counts.clipped);
}

OWN_TEXT(turn) static void turn(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}

/* One counter is full from the start, and the other one goes on counting. */
TEST(full_counter_does_not_stop_others)
{
	struct profil_region regions[2] = {
		counter_of(START_OF(turn), END_OF(turn), &counters.two[4], 2),
		overflow_bin(&counters.two[6], 2),
	};
	struct profil_status last = { .size = sizeof(last) };
	struct profil_region_status each[2];
	int patience = 1000;

	counters.two[4] = UINT16_MAX;
	counters.two[6] = 0;
	ASSERT_EQ(0, set_regions(regions, 2, 2, MS, 0));
	do {
		turn();
		burn_thread_ns(MS);
		EXPECT_EQ(0, profil_status(&last, each, 2));
	} while ((each[0].clipped < 5 || each[1].counted < 5) && --patience);
	EXPECT_EQ(PROFIL_STATE_ON, last.state);
	EXPECT_EQ(0, profil_stop(&last, each, 2));
	EXPECT_LE(5, each[0].clipped);
	EXPECT_LE(5, each[1].counted);
	EXPECT_EQ(last.counts.clipped, each[0].clipped);
	EXPECT_EQ(UINT16_MAX, counters.two[4]);
	EXPECT_EQ(each[1].counted, counters.two[6]);
	EXPECT_CONSERVED(&last);
}

/*
 * Spend time until System V's rule stops the profile. A tick in kernel mode just
 * before that may still be pending.
 */
static struct profil_status until_full(void)
{
	struct profil_status status;
	int patience = 1000;

	do {
		burn_thread_ns(2 * MS);
		status = status_now();
	} while ((status.state == PROFIL_STATE_ON || status.pending) &&
		 --patience);
	return status;
}

static struct profil_status svr4(struct __test_metadata *_metadata)
{
	struct profil_region region = overflow_bin(&counters.two[4], 2);

	ASSERT_EQ(0, set_regions(&region, 1, 2, MS, PROFIL_SET_SVR4_STOP));
	return until_full();
}

TEST(svr4_stops_at_32767)
{
	struct profil_status status, later;

	poison();
	counters.two[4] = SVR4_FULL - 7;
	memcpy(before, &counters, sizeof(counters));
	status = svr4(_metadata);
	EXPECT_EQ(PROFIL_STATE_FULL, status.state);
	EXPECT_EQ(PROFIL_SET_SVR4_STOP, status.flags);
	EXPECT_EQ(SVR4_FULL, counters.two[4]);
	EXPECT_EQ(7, status.counts.counted);
	EXPECT_EQ(0, status.pending);
	EXPECT_CONSERVED(&status);

	burn_thread_ns(30 * MS);
	later = status_now();
	EXPECT_EQ(0, memcmp(&status, &later, sizeof(status)));
	EXPECT_EQ(SVR4_FULL, counters.two[4]);
	EXPECT_TRUE(neighbours_are_the_same(&counters.two[4], 2));

	/* Stopping or replacing it returns its last stats. */
	EXPECT_EQ(0, profil_stop(&later, NULL, 0));
	EXPECT_EQ(0, memcmp(&status, &later, sizeof(status)));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
}

TEST(svr4_starts_again)
{
	struct profil_region region = overflow_bin(&counters.two[6], 2);
	struct profil_status status;

	counters.two[4] = SVR4_FULL - 1;
	status = svr4(_metadata);
	ASSERT_EQ(PROFIL_STATE_FULL, status.state);
	counters.two[6] = 0;
	ASSERT_EQ(0, set_regions(&region, 1, 2, MS, PROFIL_SET_SVR4_STOP));
	EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
	EXPECT_TRUE(burn_ticks(3));
	EXPECT_LE(3, counters.two[6]);
	EXPECT_EQ(SVR4_FULL, counters.two[4]);
}

/* The kernel does not reduce a value that the program itself has written. */
TEST(svr4_counter_beyond_its_end)
{
	struct profil_status status;

	counters.two[4] = SVR4_FULL + 1000;
	status = svr4(_metadata);
	EXPECT_EQ(PROFIL_STATE_FULL, status.state);
	EXPECT_EQ(SVR4_FULL + 1000, counters.two[4]);
	EXPECT_EQ(0, status.counts.counted);
	EXPECT_EQ(status.counts.ticks, status.counts.clipped);
}

/* One full counter stops the profile of all regions. */
TEST(svr4_stops_every_region)
{
	uint16_t text[32768] = { 0 };
	struct profil_region regions[2] = {
		region_of(&__executable_start, &etext, text, 2),
		overflow_bin(&counters.two[4], 2),
	};
	size_t nr = regions[0].size / 2;
	size_t i;

	ASSERT_GE(sizeof(text), regions[0].size);
	for (i = 0; i < nr; i++)
		text[i] = SVR4_FULL - 1;
	ASSERT_EQ(0, set_regions(regions, 2, 2, MS, PROFIL_SET_SVR4_STOP));
	EXPECT_EQ(PROFIL_STATE_FULL, until_full().state);
	for (i = 0; i < nr; i++)
		EXPECT_GE(SVR4_FULL, text[i]);
	counters.two[4] = 7;
	memset(text, 0, sizeof(text));
	burn_thread_ns(20 * MS);
	EXPECT_EQ(0, sum16(text, nr));
	EXPECT_EQ(7, counters.two[4]);
}

TEST_HARNESS_MAIN
