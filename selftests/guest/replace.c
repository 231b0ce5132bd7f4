// SPDX-License-Identifier: GPL-2.0-only
/*
 * replace.c - when a stop or a replacement returns, the old counters are free
 *
 * Stops or replaces thousands of times while other threads run. It uses the old
 * buffer for something else at once: a single late tick shows in it. The
 * shortest period makes late ticks likely.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

#define NR_THREADS	3
#define NR_SLOTS	16

/* On a busy host, where CPUs wait long for each other, fewer rounds will do. */
#define TIME_LIMIT	(2 * SECOND)

static atomic_bool quit;

static void *burn_until_quit(void *unused)
{
	while (!quit)
		burn_thread_ns(MS);
	return unused;
}

FIXTURE(replace) {
	pthread_t threads[NR_THREADS];
	uint64_t *slots[NR_SLOTS];
};

static uint64_t *map_at(void *at)
{
	return mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
}

FIXTURE_SETUP(replace)
{
	int i;

	for (i = 0; i < NR_SLOTS; i++)
		self->slots[i] = map_at(NULL);
	for (i = 0; i < NR_THREADS; i++)
		ASSERT_EQ(0, pthread_create(&self->threads[i], NULL,
					    burn_until_quit, NULL));
}

FIXTURE_TEARDOWN(replace)
{
	int i;

	quit = true;
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(self->threads[i], NULL);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

/* Every tick goes to the middle of the page. */
static int start(uint64_t *page)
{
	struct profil_region region = overflow_bin(&page[PAGE / 16], 4);
	struct profil_info info = { .size = sizeof(info) };

	if (profil_info(&info))
		return -1;
	return set_regions(&region, 1, 4, info.min_period_ns, 0);
}

static bool is_zero(const uint64_t *page)
{
	size_t i;

	for (i = 0; i < PAGE / sizeof(*page); i++)
		if (page[i])
			return false;
	return true;
}

/*
 * Round i uses slot i % NR_SLOTS as its buffer. Until the slot is used again it
 * must stay as it was left: zero and present.
 */
static void rounds(struct __test_metadata *_metadata,
		   FIXTURE_DATA(replace) *self, int nr, bool stop, bool unmap)
{
	uint64_t end = monotonic_ns() + TIME_LIMIT;
	int used = 0, i;

	for (i = 0; i < nr && (i < 100 || monotonic_ns() < end); i++) {
		uint64_t *slot = self->slots[i % NR_SLOTS];
		uint64_t *last = self->slots[(i + NR_SLOTS - 1) % NR_SLOTS];

		ASSERT_TRUE(is_zero(slot));
		ASSERT_EQ(0, start(slot));
		if (!stop) {
			used += !is_zero(last);
			if (unmap)
				ASSERT_EQ(last, map_at(last));
			memset(last, 0, PAGE);
		}
		if (i % 8 == 0)
			burn_thread_ns(MS / 10);
		if (stop) {
			ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
			used += !is_zero(slot);
			if (unmap)
				ASSERT_EQ(slot, map_at(slot));
			memset(slot, 0, PAGE);
		}
	}
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	/* Otherwise the test has shown nothing. */
	EXPECT_LT(i / 100, used);
	TH_LOG("%d times, %d with ticks", i, used);
	memset(self->slots[(i + NR_SLOTS - 1) % NR_SLOTS], 0, PAGE);
	burn_thread_ns(10 * MS);
	for (i = 0; i < NR_SLOTS; i++)
		EXPECT_TRUE(is_zero(self->slots[i]));
}

TEST_F(replace, buffer_is_reused_after_a_stop)
{
	rounds(_metadata, self, 1000, true, false);
}

TEST_F(replace, buffer_is_unmapped_after_a_stop)
{
	rounds(_metadata, self, 1000, true, true);
}

TEST_F(replace, buffer_is_reused_after_a_replacement)
{
	rounds(_metadata, self, 1000, false, false);
}

TEST_F(replace, buffer_is_unmapped_after_a_replacement)
{
	rounds(_metadata, self, 1000, false, true);
}

static atomic_int errors;

/* Start, replace and stop regardless of what the other threads do. */
static void *quarrel(void *page)
{
	struct profil_status status = { .size = sizeof(status) };
	uint64_t end = monotonic_ns() + TIME_LIMIT;
	int i;

	for (i = 0; i < 250 && monotonic_ns() < end; i++) {
		if (start(page))
			errors++;
		if (profil_status(&status, NULL, 0))
			errors++;
		if (i % 3 == 0 && profil_stop(NULL, NULL, 0))
			errors++;
	}
	return NULL;
}

TEST_F(replace, several_threads_at_a_time)
{
	pthread_t threads[4];
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, quarrel,
					    self->slots[i]));
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, errors);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	for (i = 0; i < 4; i++) {
		sum += !is_zero(self->slots[i]);
		memset(self->slots[i], 0, PAGE);
	}
	EXPECT_LT(0, sum);
	burn_thread_ns(10 * MS);
	for (i = 0; i < 4; i++)
		EXPECT_TRUE(is_zero(self->slots[i]));
}

/* Keep unmapping the anchor, wherever it is. */
static void *unmap_anchors(void *unused)
{
	while (!quit)
		unmap_anchor();
	return unused;
}

static void *fork_until_quit(void *unused)
{
	while (!quit) {
		pid_t child = fork_child();

		if (!child)
			_exit(profil_stop(NULL, NULL, 0) ? 1 : 0);
		if (child > 0 && wait_child(child))
			errors++;
	}
	return unused;
}

TEST_F(replace, while_others_fork_and_unmap)
{
	pthread_t forker, unmapper;

	ASSERT_EQ(0, pthread_create(&forker, NULL, fork_until_quit, NULL));
	ASSERT_EQ(0, pthread_create(&unmapper, NULL, unmap_anchors, NULL));
	quarrel(self->slots[0]);
	quit = true;
	pthread_join(forker, NULL);
	pthread_join(unmapper, NULL);
	EXPECT_EQ(0, errors);
}

TEST_HARNESS_MAIN
