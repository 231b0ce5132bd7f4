// SPDX-License-Identifier: GPL-2.0-only
/*
 * hotplug.c - CPUs go offline and come back while profiled threads run
 *
 * The ticks of all threads together are their CPU time over the period, with
 * the variance from due_variance(): the stats keep what a CPU counted before it
 * went offline, and a CPU that comes online counts from its first moment.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"

NEEDS_ROOT;
NEEDS_TWO_CPUS;

#define THREADS	4
#define ROUNDS	8

/*
 * The kernel's clocks and ours differ in the time that a context switch takes, and that
 * is when an emulated CPU may stall: then a test is done again.
 */
#define PART	0.2

static const char online[] = "/sys/devices/system/cpu/cpu1/online";

FIXTURE(processors) {
	int fd;
	pthread_t threads[THREADS];
	atomic_bool stop;
};

FIXTURE_SETUP(processors)
{
	self->fd = open(online, O_WRONLY);
	if (self->fd < 0)
		SKIP(return, "cannot write %s", online);
}

FIXTURE_TEARDOWN(processors)
{
	if (self->fd < 0)
		return;
	EXPECT_EQ(1, pwrite(self->fd, "1", 1, 0));
	close(self->fd);
}

static void *burn(void *argument)
{
	FIXTURE_DATA(processors) *self = argument;

	while (!self->stop)
		burn_thread_ns(5 * MS);
	return NULL;
}

static void start_threads(struct __test_metadata *_metadata,
			  FIXTURE_DATA(processors) *self)
{
	self->stop = false;
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&self->threads[i], NULL, burn,
					    self));
}

static void join_threads(struct __test_metadata *_metadata,
			 FIXTURE_DATA(processors) *self)
{
	self->stop = true;
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_join(self->threads[i], NULL));
}

/* Take CPU 1 offline and back online while all threads run. */
static void go_and_come(struct __test_metadata *_metadata,
			FIXTURE_DATA(processors) *self)
{
	for (int i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(1, pwrite(self->fd, "0", 1, 0));
		usleep(100000);
		ASSERT_EQ(1, pwrite(self->fd, "1", 1, 0));
		usleep(100000);
	}
}

TEST_F(processors, that_go_and_come_lose_no_ticks)
{
	static uint32_t counter;
	const struct profil_region all = overflow_bin(&counter, 4);
	struct moment zero, from, to, stop;

	RUN_UNTIL(IS_COVERED(&from, &to, PART), {
		counter = 0;
		zero = moment_zero();
		ASSERT_EQ(0, set_regions(&all, 1, 4, MS, 0));
		start_threads(_metadata, self);
		from = moment_now();
		go_and_come(_metadata, self);
		to = moment_now();
		stop = moment_stop();
		join_threads(_metadata, self);
		EXPECT_TICKS(&zero, &stop);
		EXPECT_EQ(stop.status.counts.ticks, counter);
		EXPECT_EQ(0, stop.status.counts.lost);
	});
}

/* Stop a profile after half a second; whether it covers that. @zero: its beginning */
static bool covers_half_a_second(struct __test_metadata *_metadata,
				 FIXTURE_DATA(processors) *self,
				 const struct moment *zero)
{
	struct moment from = moment_now(), to, stop;

	usleep(500000);
	to = moment_now();
	stop = moment_stop();
	join_threads(_metadata, self);
	EXPECT_TICKS(zero, &stop);
	TH_LOG("processors used: %.2f", 1.0 * (to.cpu_ns - from.cpu_ns) /
	       (to.time_ns - from.time_ns));
	return IS_COVERED(&from, &to, PART);
}

/* The CPU comes online long after the profile has started. */
TEST_F(processors, that_come_later_count)
{
	static uint32_t counter;
	const struct profil_region all = overflow_bin(&counter, 4);
	struct moment zero;

	RUN_UNTIL(covers_half_a_second(_metadata, self, &zero), {
		ASSERT_EQ(1, pwrite(self->fd, "0", 1, 0));
		zero = moment_zero();
		ASSERT_EQ(0, set_regions(&all, 1, 4, MS, 0));
		start_threads(_metadata, self);
		ASSERT_EQ(1, pwrite(self->fd, "1", 1, 0));
	});
}

/*
 * The CPU goes offline between two profiles, before context switches are
 * watched no longer.
 */
TEST_F(processors, that_went_while_nobody_ticked)
{
	static uint32_t counter;
	const struct profil_region all = overflow_bin(&counter, 4);
	struct moment zero;

	RUN_UNTIL(covers_half_a_second(_metadata, self, &zero), {
		ASSERT_EQ(0, set_regions(&all, 1, 4, MS, 0));
		ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
		ASSERT_EQ(1, pwrite(self->fd, "0", 1, 0));
		sleep(2);
		ASSERT_EQ(1, pwrite(self->fd, "1", 1, 0));
		zero = moment_zero();
		ASSERT_EQ(0, set_regions(&all, 1, 4, MS, 0));
		start_threads(_metadata, self);
	});
}

TEST_HARNESS_MAIN
