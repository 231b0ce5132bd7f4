// SPDX-License-Identifier: GPL-2.0-only
/*
 * idle.c - a CPU that runs nothing profiled gets no additional interrupts
 *
 * Counts the interrupts of each CPU in some windows before the profile and in
 * some with it. Other tasks come and go, so the limit is the busiest window
 * without the profile, and the test looks for a window with it that is as
 * quiet. The profiles tick at 1 ms: their ticks would show as a thousand, in
 * every window.
 */
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"

NEEDS_TWO_CPUS;

/* Windows before the profile, and at most with it. */
#define BEFORE		2
#define WITH		8

/*
 * Additional interrupts per second that the test allows: a profile that ticks would
 * add 1000, and one that does so with the kernel's ticks 100 or more. The kernel's
 * own come in bursts where the host stops a CPU, and a worker on any idle CPU brings
 * in missing pages.
 */
#define ALLOWANCE	50

/*
 * Interrupts per second on each of two CPUs: those of timers and devices, and
 * those by which other CPUs wake this one.
 */
struct rates {
	double of[2];
};

static struct rates window(void)
{
	uint64_t time_ns = monotonic_ns();
	struct rates rates;

	for (int i = 0; i < 2; i++)
		rates.of[i] = -interrupts(i, "");
	sleep(1);
	time_ns = monotonic_ns() - time_ns;
	for (int i = 0; i < 2; i++)
		rates.of[i] = (rates.of[i] + interrupts(i, "")) /
			      (time_ns / 1e9);
	return rates;
}

/* Limits with the profile, computed from windows without it. */
static struct rates allowed(void)
{
	struct rates most = window();

	for (int i = 1; i < BEFORE; i++) {
		struct rates now = window();

		for (int j = 0; j < 2; j++)
			most.of[j] = fmax(most.of[j], now.of[j]);
	}
	for (int j = 0; j < 2; j++)
		most.of[j] += ALLOWANCE;
	return most;
}

static struct rates quietest(const struct rates *enough)
{
	struct rates least = window();

	for (int i = 1; i < WITH && (least.of[0] > enough->of[0] ||
				     least.of[1] > enough->of[1]); i++) {
		struct rates now = window();

		for (int j = 0; j < 2; j++)
			least.of[j] = fmin(least.of[j], now.of[j]);
	}
	return least;
}

static void profile(struct __test_metadata *_metadata, uint32_t *counter)
{
	const struct profil_region all = overflow_bin(counter, 4);

	ASSERT_EQ(0, set_regions(&all, 1, 4, MS, 0));
}

/*
 * A child that burns CPU time until it is killed, profiled if there is
 * @counter.
 */
static pid_t burn_on(struct __test_metadata *_metadata, int processor,
		     uint32_t *counter)
{
	pid_t pid = fork_child();

	ASSERT_LE(0, pid);
	if (pid) {
		/* Keep the child's start out of the windows. */
		usleep(300000);
		return pid;
	}
	ASSERT_EQ(0, pin_to(processor));
	if (counter)
		profile(_metadata, counter);
	for (;;)
		burn_process_ns(SECOND);
}

static void end(struct __test_metadata *_metadata, pid_t pid)
{
	kill(pid, SIGKILL);
	EXPECT_EQ(-SIGKILL, wait_child(pid));
}

FIXTURE(quiet) {
	uint32_t *counter;
};

/* Waits until an earlier profile causes no more interrupts. */
FIXTURE_SETUP(quiet)
{
	ASSERT_LT(0, interrupts(0, ""));
	self->counter = mmap(NULL, sizeof(*self->counter),
			     PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->counter);
	ASSERT_EQ(0, pin_to(0));
	usleep(1200000);
}

FIXTURE_TEARDOWN(quiet)
{
	munmap(self->counter, sizeof(*self->counter));
}

static void check(struct __test_metadata *_metadata, const char *what,
		  double enough, double with)
{
	TH_LOG("%s: %.1f interrupts in a second with a profile, allowed: %.1f",
	       what, with, enough);
	EXPECT_GE(enough, with);
}

/*
 * Neither CPU has anything else to run than the program. What the host runs may begin
 * with the profile, but not each time.
 */
TEST_F(quiet, while_a_profiled_process_sleeps)
{
	struct rates enough = { { 0 } }, with = { { 1, 1 } };

	TRY_UNTIL(with.of[0] <= enough.of[0] && with.of[1] <= enough.of[1]) {
		enough = allowed();
		profile(_metadata, self->counter);
		with = quietest(&enough);
		profil_stop(NULL, NULL, 0);
	}
	check(_metadata, "its own processor", enough.of[0], with.of[0]);
	check(_metadata, "another processor", enough.of[1], with.of[1]);
}

TEST_F(quiet, while_another_processor_ticks)
{
	struct rates enough = { { 0 } }, with = { { 1, 1 } };
	pid_t pid;

	TRY_UNTIL(with.of[1] <= enough.of[1]) {
		pid = burn_on(_metadata, 0, NULL);
		enough = allowed();
		enough.of[0] = INFINITY;
		end(_metadata, pid);
		pid = burn_on(_metadata, 0, self->counter);
		with = quietest(&enough);
		end(_metadata, pid);
	}
	check(_metadata, "idle processor", enough.of[1], with.of[1]);
	EXPECT_LT(100, *self->counter);
}

/* An emulated CPU sometimes misses ticks of the kernel. */
TEST_F(quiet, while_it_runs_something_else)
{
	struct rates enough = { { 0 } }, with = { { 1, 1 } };
	struct timespec tick;
	pid_t pid;

	ASSERT_EQ(0, clock_getres(CLOCK_MONOTONIC_COARSE, &tick));
	pid = burn_on(_metadata, 1, NULL);
	TRY_UNTIL(with.of[1] <= enough.of[1]) {
		enough = allowed();
		enough.of[0] = INFINITY;
		enough.of[1] = fmax(enough.of[1],
				    1e9 / tick.tv_nsec + ALLOWANCE);
		profile(_metadata, self->counter);
		with = quietest(&enough);
		profil_stop(NULL, NULL, 0);
	}
	end(_metadata, pid);
	check(_metadata, "busy processor", enough.of[1], with.of[1]);
}

TEST_HARNESS_MAIN
