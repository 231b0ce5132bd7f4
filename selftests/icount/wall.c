// SPDX-License-Identifier: GPL-2.0-only
/*
 * wall.c - what a watch of wall-clock time costs
 *
 * More than one of CPU time, in instructions: time counts these, 2 ns each, and
 * there is one CPU.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "watch.h"
#include "chains.h"

#define US		1000ULL

#define CALLED()	__asm__ volatile("" : : : "memory")

/* --- switches without a tick */

#define SWITCHES	20000

static int pipes[2][2];

/* Pass a byte on, again and again: @which: the pipe to read */
static void *take_turns(void *which)
{
	uintptr_t mine = (uintptr_t)which;
	char byte;

	for (int i = 0; i < SWITCHES / 2; i++)
		if (read(pipes[mine][0], &byte, 1) != 1 ||
		    write(pipes[!mine][1], "", 1) != 1)
			break;
	return NULL;
}

/* Two threads take turns. Return: nanoseconds for a switch. */
static double switch_ns(void)
{
	uint64_t begin;
	pthread_t other;

	if (pipe(pipes[0]) || pipe(pipes[1]) || write(pipes[0][1], "", 1) != 1)
		return -1;
	begin = monotonic_ns();
	if (pthread_create(&other, NULL, take_turns, (void *)1))
		return -1;
	take_turns(NULL);
	pthread_join(other, NULL);
	begin = monotonic_ns() - begin;
	for (int i = 0; i < 4; i++)
		close(pipes[i / 2][i % 2]);
	return (double)begin / SWITCHES;
}

/* @pid: whom to watch. Return: as switch_ns(). */
static double watched_switch_ns(struct __test_metadata *_metadata, pid_t pid,
				uint32_t flags)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS, pid,
						    flags);
	struct watch watch;
	double ns;

	request.period_ns = SECOND;
	ASSERT_EQ(0, watch_begin(&watch, &request));
	switch_ns();
	ns = switch_ns();
	watch_end(&watch);
	return ns;
}

static int wait_here(void *unused __attribute__((unused)))
{
	return 0;
}

/* Return: instructions more for a switch, of the process or of another one. */
static double switch_cost(struct __test_metadata *_metadata, pid_t pid,
			  const char *what)
{
	double plain = watched_switch_ns(_metadata, pid, 0);
	double wall = watched_switch_ns(_metadata, pid, PROFIL_WATCH_WALL);

	TH_LOG("%s: %.0f instructions, %+.0f", what, plain / 2,
	       (wall - plain) / 2);
	return (wall - plain) / 2;
}

TEST(a_switch_without_a_tick)
{
	struct child other = child_begin(wait_here, NULL);

	EXPECT_GT(20, switch_cost(_metadata, other.pid, "a switch of others"));
	EXPECT_GT(200 * slack(),
		  switch_cost(_metadata, getpid(), "a switch of two threads"));
	EXPECT_EQ(0, child_end(&other));
}

/* --- waits that have a tick */

#define WAITS	1000

/* Never inline, and never the last thing that its caller does. */
static __attribute__((noinline)) void wait_often(int depth)
{
	struct timespec span = { 0, 500 * US };

	if (depth)
		wait_often(depth - 1);
	for (int i = 0; !depth && i < WAITS; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
	CALLED();
}

/* Return: nanoseconds of CPU time of a wait. */
static double wait_ns(struct __test_metadata *_metadata, int depth,
		      uint32_t flags)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(), flags);
	struct profil_watch_status status;
	struct watch watch;
	uint64_t ns;

	request.period_ns = 100 * US;
	ASSERT_EQ(0, watch_begin(&watch, &request));
	if (flags & PROFIL_WATCH_CHAINS)
		ASSERT_EQ(0, load_own_callers(&watch));
	/* So that all buckets are there */
	wait_often(depth);
	ns = thread_cpu_ns();
	wait_often(depth);
	ns = thread_cpu_ns() - ns;
	status = watch_stop(&watch);
	EXPECT_SOUND(&watch, &status);
	if (flags & PROFIL_WATCH_WALL)
		EXPECT_LE(2 * WAITS * 4, status.blocked);
	watch_end(&watch);
	return (double)ns / WAITS;
}

/* Return: instructions more for a wait with ticks. */
static double wait_cost(struct __test_metadata *_metadata, int depth,
			uint32_t flags)
{
	double plain = wait_ns(_metadata, depth, flags);
	double wall = wait_ns(_metadata, depth, flags | PROFIL_WATCH_WALL);

	TH_LOG("a wait, depth %d, flags %#x: %.0f instructions, %+.0f", depth,
	       flags, plain / 2, (wall - plain) / 2);
	return (wall - plain) / 2;
}

TEST(a_wait_with_ticks)
{
	EXPECT_GT(1200 * slack(), wait_cost(_metadata, 5, 0));
}

TEST(a_wait_with_ticks_and_its_chain)
{
	EXPECT_GT(3600 * slack(),
		  wait_cost(_metadata, 8, PROFIL_WATCH_CHAINS));
	EXPECT_GT(5000 * slack(),
		  wait_cost(_metadata, 21, PROFIL_WATCH_CHAINS));
}

/* --- threads */

#define THREADS	500

static void *do_nothing(void *unused __attribute__((unused)))
{
	return NULL;
}

/* Return: nanoseconds of a thread that is created, ends, and is joined. */
static double thread_ns(struct __test_metadata *_metadata, uint32_t flags)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(), flags);
	struct watch watch;
	uint64_t begin = 0;
	pthread_t thread;

	request.period_ns = SECOND;
	ASSERT_EQ(0, watch_begin(&watch, &request));
	/* The first half is not like the second */
	for (int i = 0; i < 2 * THREADS; i++) {
		if (i == THREADS)
			begin = monotonic_ns();
		ASSERT_EQ(0, pthread_create(&thread, NULL, do_nothing, NULL));
		pthread_join(thread, NULL);
	}
	begin = monotonic_ns() - begin;
	watch_end(&watch);
	return (double)begin / THREADS;
}

TEST(a_thread)
{
	double plain = thread_ns(_metadata, 0);
	double wall = thread_ns(_metadata, PROFIL_WATCH_WALL);

	TH_LOG("a thread: %.0f instructions, %+.0f", plain / 2,
	       (wall - plain) / 2);
	EXPECT_GT(1500 * slack(), (wall - plain) / 2);
}

/* --- sleepers */

#define SLEEPERS	2000

static void *sleep_forever(void *unused __attribute__((unused)))
{
	for (;;)
		pause();
	return NULL;
}

TEST(threads_that_sleep)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(),
						    PROFIL_WATCH_WALL);
	struct profil_watch_status status;
	uint64_t begin, read_ns, stop_ns;
	pthread_attr_t small;
	pthread_t thread;
	struct watch watch;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < SLEEPERS; i++)
		ASSERT_EQ(0, pthread_create(&thread, &small, sleep_forever,
					    NULL));
	request.flags |= PROFIL_WATCH_CHAINS;
	ASSERT_EQ(0, watch_begin(&watch, &request));
	usleep(20000);
	begin = monotonic_ns();
	status = watch_status(&watch);
	read_ns = monotonic_ns() - begin;
	EXPECT_EQ(SLEEPERS + 1, status.threads);
	begin = monotonic_ns();
	ASSERT_EQ(0, ioctl(watch.fd, PROFIL_IOC_WATCH_STOP, NULL));
	stop_ns = monotonic_ns() - begin;
	status = watch_status(&watch);
	TH_LOG("of %u sleepers: a status takes %.0f instructions for each, a stop %.0f",
	       SLEEPERS, (double)read_ns / SLEEPERS / 2,
	       (double)stop_ns / SLEEPERS / 2);
	EXPECT_SOUND(&watch, &status);
	EXPECT_LE(SLEEPERS * 18, status.blocked);
	/* 2 ms for 10,000, and 10 us for each, if 2.5 instructions take 1 ns */
	EXPECT_GT(500, read_ns / SLEEPERS / 2);
	EXPECT_GT(12500, stop_ns / SLEEPERS / 2);
	watch_end(&watch);
}

TEST_HARNESS_MAIN
