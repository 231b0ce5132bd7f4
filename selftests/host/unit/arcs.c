// SPDX-License-Identifier: GPL-2.0-only
/*
 * arcs.c - the table of calls loses no call
 *
 * Even if threads and signal handlers use it at the same time.
 */
#include "kselftest_harness.h"

#include <gmon.h>
#include <pthread.h>
#include <sys/time.h>

#define BITS	8
#define PLACES	(1u << BITS)
#define THREADS	4
#define ROUNDS	200000

static struct gmon_arc slots[PLACES];
static uint64_t dropped;

static const struct gmon_arcs arcs = {
	.slots = slots,
	.nr = PLACES,
	.bits = BITS,
	.dropped = &dropped,
};

FIXTURE(arcs)
{
};

FIXTURE_SETUP(arcs)
{
	memset(slots, 0, sizeof(slots));
	dropped = 0;
}

FIXTURE_TEARDOWN(arcs)
{
}

/* Sum over all entries with this key, of which there should be one. */
static uint64_t calls(uint32_t from, uint32_t self)
{
	uint64_t key = (uint64_t)from << 32 | self, sum = 0;

	for (unsigned int i = 0; i < PLACES; i++)
		if (slots[i].key == key)
			sum += slots[i].calls;
	return sum;
}

static unsigned int used(void)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < PLACES; i++)
		nr += !!slots[i].key;
	return nr;
}

static uint64_t all_calls(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < PLACES; i++)
		sum += slots[i].calls;
	return sum;
}

TEST_F(arcs, both_ends_tell_them_apart)
{
	gmon_arcs_count(&arcs, 5, 0);
	gmon_arcs_count(&arcs, 5, 7);
	gmon_arcs_count(&arcs, 7, 5);
	gmon_arcs_count(&arcs, 5, 7);
	gmon_arcs_count(&arcs, UINT32_MAX, UINT32_MAX);
	EXPECT_EQ(1, calls(5, 0));
	EXPECT_EQ(2, calls(5, 7));
	EXPECT_EQ(1, calls(7, 5));
	EXPECT_EQ(1, calls(UINT32_MAX, UINT32_MAX));
	EXPECT_EQ(4, used());
}

TEST_F(arcs, a_count_goes_on_above_32_bits)
{
	gmon_arcs_count(&arcs, 5, 7);
	for (unsigned int i = 0; i < PLACES; i++)
		if (slots[i].key)
			slots[i].calls = UINT32_MAX;
	gmon_arcs_count(&arcs, 5, 7);
	EXPECT_EQ(1ULL << 32, calls(5, 7));
}

/* Addresses like a compiler's: functions of some bytes, calls of five bytes. */
TEST_F(arcs, half_a_table_drops_none)
{
	for (unsigned int i = 1; i <= PLACES / 2; i++)
		gmon_arcs_count(&arcs, 5 * i, 16 * (i % 20));
	EXPECT_EQ(0, dropped);
	EXPECT_EQ(PLACES / 2, used());
}

TEST_F(arcs, a_full_table_says_how_many_are_missing)
{
	for (unsigned int i = 1; i <= 4 * PLACES; i++)
		gmon_arcs_count(&arcs, i, i);
	EXPECT_LT(2 * PLACES, dropped);
	EXPECT_EQ(4 * PLACES, dropped + all_calls());
	EXPECT_EQ(used(), all_calls());
}

TEST_F(arcs, text_has_places_for_its_calls)
{
	size_t text;

	for (text = 1; text < 32u << 20; text *= 3)
		EXPECT_LE(text / 8, (size_t)1 << gmon_arcs_bits(text));
	EXPECT_LE(8, gmon_arcs_bits(0));
	EXPECT_GE(22, gmon_arcs_bits(UINT32_MAX));
}

/* All threads count the same calls, and so compete to add each to the table. */
static void *count(void *start)
{
	pthread_barrier_wait(start);
	for (uint32_t i = 0; i < ROUNDS; i++)
		gmon_arcs_count(&arcs, 1 + i / 4000, i % 2);
	return NULL;
}

TEST_F(arcs, threads_lose_none)
{
	pthread_t threads[THREADS];
	pthread_barrier_t start;

	pthread_barrier_init(&start, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, count, &start));
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_join(threads[i], NULL));
	EXPECT_EQ(0, dropped);
	EXPECT_EQ(2 * ROUNDS / 4000, used());
	for (uint32_t from = 1; from <= ROUNDS / 4000; from++)
		for (uint32_t self = 0; self < 2; self++)
			EXPECT_EQ(THREADS * 2000, calls(from, self));
}

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
	signals++;
	gmon_arcs_count(&arcs, 1, 1);
	gmon_arcs_count(&arcs, 2 + signals % 100, 2);
}

TEST_F(arcs, signal_handlers_lose_none)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { 0 };
	uint64_t rounds = 0;

	signal(SIGALRM, on_signal);
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	while (signals < 2000 && rounds < 1000000000) {
		gmon_arcs_count(&arcs, 1, 1);
		rounds++;
	}
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	EXPECT_EQ(rounds + signals, calls(1, 1));
	EXPECT_EQ(rounds + 2 * signals, all_calls());
	EXPECT_EQ(101, used());
}

TEST_HARNESS_MAIN
