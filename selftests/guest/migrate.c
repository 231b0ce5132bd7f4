// SPDX-License-Identifier: GPL-2.0-only
/*
 * migrate.c - ticks of a thread that changes its CPU all the time
 *
 * Each CPU has a schedule of its own, so in one period the thread may get a
 * tick on both CPUs or on none, but the sum is the CPU time over the period,
 * with that as the largest variance. And a status read at any moment shows
 * exactly one outcome for every tick.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"

NEEDS_TWO_CPUS;

FIXTURE(traveller) {
	pthread_t thread;
	atomic_bool stop;
	unsigned long moves;
	atomic_ullong stayed_ns;
};

static void *travel(void *argument)
{
	FIXTURE_DATA(traveller) *self = argument;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	while (!self->stop) {
		uint64_t ns;

		pin_to(self->moves++ % processors);
		ns = thread_cpu_ns();
		burn_thread_ns(200000);
		self->stayed_ns += thread_cpu_ns() - ns;
	}
	return NULL;
}

FIXTURE_SETUP(traveller)
{
	self->stop = false;
	self->moves = 0;
	self->stayed_ns = 0;
}

FIXTURE_TEARDOWN(traveller)
{
}

static void set_off(struct __test_metadata *_metadata,
		    FIXTURE_DATA(traveller) *self, uint32_t *counter,
		    uint64_t period_ns)
{
	const struct profil_region all = overflow_bin(counter, 4);

	ASSERT_EQ(0, set_regions(&all, 1, 4, period_ns, 0));
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, travel, self));
}

static struct moment arrive(struct __test_metadata *_metadata,
			    FIXTURE_DATA(traveller) *self,
				    const uint32_t *counter)
{
	struct moment stop;

	self->stop = true;
	ASSERT_EQ(0, pthread_join(self->thread, NULL));
	stop = moment_stop();
	TH_LOG("%lu moves, %llu ticks", self->moves, stop.status.counts.ticks);
	EXPECT_CONSERVED(&stop.status);
	EXPECT_EQ(stop.status.counts.ticks, *counter);
	return stop;
}

/*
 * The kernel charges to a thread that was moved to an idle CPU the time that
 * this needs to wake up; the module need not know how long that was.
 */
TEST_F(traveller, is_counted)
{
	static uint32_t counter;
	struct moment zero = moment_zero(), from, to, stop;
	double covered_ns, cpu_ns, stayed_ns;
	bool is_covered = false;

	set_off(_metadata, self, &counter, MS);
	/* The host may stop a CPU between the kernel's clock and the module's */
	TRY_UNTIL(is_covered && self->moves > 100) {
		stayed_ns = self->stayed_ns;
		from = moment_now();
		sleep(3);
		to = moment_now();
		stayed_ns = self->stayed_ns - stayed_ns;
		cpu_ns = to.cpu_ns - from.cpu_ns;
		covered_ns = to.status.cpu_time_ns - from.status.cpu_time_ns;
		TH_LOG("CPU time %.3f s, covered %.3f s, between moves %.3f s",
		       cpu_ns / 1e9, covered_ns / 1e9, stayed_ns / 1e9);
		is_covered = 1.3 * cpu_ns >= covered_ns &&
			     0.9 * stayed_ns <= covered_ns;
	}
	stop = arrive(_metadata, self, &counter);
	EXPECT_TICKS(&zero, &stop);
	EXPECT_TRUE(is_covered);
	EXPECT_LT(100, self->moves);
}

TEST_F(traveller, is_in_the_books_at_any_moment)
{
	struct profil_status now, before = { 0 };
	static uint32_t counter;
	int moved = 0, nr;

	set_off(_metadata, self, &counter, 100000);
	/* On a busy host, many are there before the thread runs */
	for (nr = 0; nr < 5000 || moved <= 100; nr++) {
		struct profil_region_status region;

		now.size = sizeof(now);
		ASSERT_EQ(0, profil_status(&now, &region, 1));
		EXPECT_CONSERVED(&now);
		EXPECT_EQ(now.counts.counted, region.counted);
		EXPECT_LE(before.counts.ticks, now.counts.ticks);
		EXPECT_LE(before.cpu_time_ns, now.cpu_time_ns);
		EXPECT_GE(now.counts.ticks, now.counts.kernel - now.pending);
		moved += now.counts.ticks > before.counts.ticks;
		before = now;
	}
	arrive(_metadata, self, &counter);
	TH_LOG("%d of %d readings found new ticks", moved, nr);
}

TEST_HARNESS_MAIN
