// SPDX-License-Identifier: GPL-2.0-only
/*
 * conservation.c - the stats add up at any moment, with every outcome in them
 *
 * Threads have ticks counted, clipped, outside, lost and left out, all at the
 * same time, while the test reads the status again and again: each reading adds
 * up exactly, in total and by region, and no number ever decreases.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"

NEEDS_ROOT;

static atomic_bool quit;

static inline __attribute__((always_inline)) void *burn_here(void)
{
	while (!quit)
		for (volatile int i = 0; i < 10000; i++)
			;
	return NULL;
}

OWN_TEXT(counted) void *counted(void *unused)
{
	(void)unused;
	return burn_here();
}

OWN_TEXT(clipped) void *clipped(void *unused)
{
	(void)unused;
	return burn_here();
}

OWN_TEXT(lost) void *lost(void *unused)
{
	(void)unused;
	return burn_here();
}

OWN_TEXT(outside) void *outside(void *unused)
{
	(void)unused;
	return burn_here();
}

static void *left_out(void *unused)
{
	while (!quit)
		syscall(SYS_getppid);
	return unused;
}

static void *(*const outcomes[])(void *unused) = {
	counted, clipped, lost, outside, left_out,
};

#define NR_OUTCOMES	(sizeof(outcomes) / sizeof(outcomes[0]))

FIXTURE(conservation) {
	pthread_t threads[NR_OUTCOMES];
	uint16_t counters[2];
	struct profil_region regions[3];
};

FIXTURE_SETUP(conservation)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	/* Nothing ever serves this page. */
	if (userfault(page, 0) < 0)
		SKIP(return, "userfaultfd: %s", strerror(errno));
	self->counters[0] = 0;
	self->counters[1] = UINT16_MAX;
	self->regions[0] = counter_of(START_OF(counted), END_OF(counted),
				      &self->counters[0], 2);
	self->regions[1] = counter_of(START_OF(clipped), END_OF(clipped),
				      &self->counters[1], 2);
	self->regions[2] = counter_of(START_OF(lost), END_OF(lost), page, 2);
	ASSERT_EQ(0, set_regions(self->regions, 3, 2, MS,
				 PROFIL_SET_USER_ONLY));
	quit = false;
	for (size_t i = 0; i < NR_OUTCOMES; i++)
		ASSERT_EQ(0, pthread_create(&self->threads[i], NULL,
					    outcomes[i],
					    NULL));
}

FIXTURE_TEARDOWN(conservation)
{
	quit = true;
	for (size_t i = 0; i < NR_OUTCOMES; i++)
		EXPECT_EQ(0, pthread_join(self->threads[i], NULL));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

struct reading {
	struct profil_status all;
	struct profil_region_status each[3];
};

static void adds_up(struct __test_metadata *_metadata,
		    const struct reading *now)
{
	const struct profil_region_status *each = now->each;

	EXPECT_CONSERVED(&now->all);
	EXPECT_EQ(now->all.counts.counted,
		  each[0].counted + each[1].counted + each[2].counted);
	EXPECT_EQ(now->all.counts.clipped,
		  each[0].clipped + each[1].clipped + each[2].clipped);
	EXPECT_EQ(now->all.counts.lost,
		  each[0].lost + each[1].lost + each[2].lost);
	EXPECT_LE(now->all.counts.left_out +
		  each[0].kernel + each[1].kernel + each[2].kernel,
		  now->all.counts.kernel);
}

static void goes_on(struct __test_metadata *_metadata,
		    const struct reading *before, const struct reading *now)
{
	EXPECT_LE(before->all.counts.ticks, now->all.counts.ticks);
	EXPECT_LE(before->all.counts.counted, now->all.counts.counted);
	EXPECT_LE(before->all.counts.clipped, now->all.counts.clipped);
	EXPECT_LE(before->all.counts.outside, now->all.counts.outside);
	EXPECT_LE(before->all.counts.lost, now->all.counts.lost);
	EXPECT_LE(before->all.counts.left_out, now->all.counts.left_out);
	EXPECT_LE(before->all.counts.kernel, now->all.counts.kernel);
	EXPECT_LE(before->all.cpu_time_ns, now->all.cpu_time_ns);
}

static bool every_outcome(const struct profil_status *all)
{
	return all->counts.counted && all->counts.clipped &&
	       all->counts.outside && all->counts.lost && all->counts.left_out;
}

/* The kernel gives up a tick whose page does not come within a second. */
TEST_F(conservation, add_up_at_any_moment)
{
	struct reading now = { .all.size = sizeof(now.all) }, before = now;
	uint64_t end = monotonic_ns() + 60 * SECOND;
	int nr;

	for (nr = 0; nr < 1000 || (!every_outcome(&now.all) &&
				   monotonic_ns() < end); nr++) {
		ASSERT_EQ(0, profil_status(&now.all, now.each, 3));
		adds_up(_metadata, &now);
		goes_on(_metadata, &before, &now);
		ASSERT_TRUE(__test_passed(_metadata));
		before = now;
	}
	TH_LOG("%d readings; counted %llu, clipped %llu, outside %llu, lost %llu, left out %llu of %llu ticks",
	       nr, now.all.counts.counted, now.all.counts.clipped,
	       now.all.counts.outside, now.all.counts.lost,
	       now.all.counts.left_out, now.all.counts.ticks);
	EXPECT_TRUE(every_outcome(&now.all));
	EXPECT_EQ(UINT16_MAX, self->counters[1]);
	/* The counter has exactly the ticks that the stats call counted. */
	EXPECT_EQ(0, profil_stop(&now.all, now.each, 3));
	adds_up(_metadata, &now);
	EXPECT_EQ(now.each[0].counted, self->counters[0]);
	EXPECT_EQ(0, now.all.pending);
}

/* Every number of a status, for the profile and for each region. */
TEST_F(conservation, tell_everything)
{
	struct reading now = { .all.size = sizeof(now.all) };
	int patience = 200;

	do {
		burn_thread_ns(50 * MS);
		ASSERT_EQ(0, profil_status(&now.all, now.each, 3));
	} while (!every_outcome(&now.all) && --patience);
	EXPECT_EQ(PROFIL_STATE_ON, now.all.state);
	EXPECT_EQ(MS, now.all.period_ns);
	EXPECT_EQ(2, now.all.width);
	EXPECT_EQ(3, now.all.nr_regions);
	EXPECT_EQ(PROFIL_SET_USER_ONLY, now.all.flags);
	EXPECT_LT(50 * MS, now.all.cpu_time_ns);
	EXPECT_LT(0, now.all.counts.kernel);
	EXPECT_LT(0, now.each[0].counted);
	EXPECT_EQ(0, now.each[0].clipped + now.each[0].lost);
	EXPECT_LT(0, now.each[1].clipped);
	EXPECT_EQ(0, now.each[1].counted + now.each[1].lost);
	EXPECT_LT(0, now.each[2].lost);
	EXPECT_EQ(0, now.each[2].counted + now.each[2].clipped);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(PROFIL_REGION_ON, now.each[i].state);
}

TEST_HARNESS_MAIN
