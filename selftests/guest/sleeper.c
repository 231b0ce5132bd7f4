// SPDX-License-Identifier: GPL-2.0-only
/*
 * sleeper.c - short bursts between waits are counted like long ones
 *
 * Two processes pass a byte back and forth, and each works a moment while it
 * has the byte. A moment as long as the part q of a period gets a tick with the
 * probability q, so all moments together get the CPU time over the period, with
 * that as the largest variance. A context switch must neither lose nor add
 * ticks.
 */
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

FIXTURE(players) {
	int in, out;
	pid_t pid;
};

FIXTURE_VARIANT(players) {
	bool other_is_profiled;
	int other_processor;
	int rounds;
};

FIXTURE_VARIANT_ADD(players, both_profiled_on_one_processor) {
	.other_is_profiled = true,
	.other_processor = 0,
	.rounds = 4000,
};

FIXTURE_VARIANT_ADD(players, one_profiled_on_one_processor) {
	.other_is_profiled = false,
	.other_processor = 0,
	.rounds = 4000,
};

FIXTURE_VARIANT_ADD(players, both_profiled_on_two_processors) {
	.other_is_profiled = true,
	.other_processor = 1,
	.rounds = 1000,
};

FIXTURE_VARIANT_ADD(players, one_profiled_on_two_processors) {
	.other_is_profiled = false,
	.other_processor = 1,
	.rounds = 1000,
};

FIXTURE_SETUP(players)
{
	int there[2], back[2];

	if (variant->other_processor >= sysconf(_SC_NPROCESSORS_ONLN))
		return;
	ASSERT_EQ(0, pipe(there));
	ASSERT_EQ(0, pipe(back));
	self->pid = fork_child();
	ASSERT_LE(0, self->pid);
	if (self->pid) {
		ASSERT_EQ(0, pin_to(0));
		self->in = back[0];
		self->out = there[1];
		ASSERT_EQ(1, write(back[1], "", 1));
	} else {
		ASSERT_EQ(0, pin_to(variant->other_processor));
		self->in = there[0];
		self->out = back[1];
	}
}

FIXTURE_TEARDOWN(players)
{
}

/* Much more than a round of both takes, unless the host runs others. */
#define LONG_ROUND	(10 * MS)

/*
 * Returns the CPU time of all moments. @stalls_ns: receives by how much rounds were
 * long
 */
static uint64_t play(struct __test_metadata *_metadata,
		     FIXTURE_DATA(players) *self, int rounds,
		     uint64_t *stalls_ns)
{
	uint64_t sum = 0, begin, end = monotonic_ns();
	char byte;

	*stalls_ns = 0;
	for (int i = 0; i < rounds; i++) {
		uint64_t ns;

		ASSERT_EQ(1, read(self->in, &byte, 1));
		begin = end;
		end = monotonic_ns();
		if (end - begin > LONG_ROUND)
			*stalls_ns += end - begin - LONG_ROUND;
		ns = thread_cpu_ns();
		burn_thread_ns(100000);
		sum += thread_cpu_ns() - ns;
		ASSERT_EQ(1, write(self->out, &byte, 1));
	}
	return sum;
}

/*
 * The kernel charges to a process that it wakes the time that the CPU needs to
 * start running it; the module need not know how long that is. If the host runs
 * others meanwhile, one of them has that time and the other has not.
 */
static void play_profiled(struct __test_metadata *_metadata,
			  FIXTURE_DATA(players) *self, int rounds)
{
	static uint32_t counter;
	const struct profil_region all = overflow_bin(&counter, 4);
	struct moment zero = moment_zero(), from, to, stop;
	uint64_t moments_ns, stalls_ns;
	double covered_ns;

	ASSERT_EQ(0, set_regions(&all, 1, 4, MS, 0));
	from = moment_now();
	moments_ns = play(_metadata, self, rounds, &stalls_ns);
	to = moment_now();
	stop = moment_stop();
	EXPECT_TICKS(&zero, &stop);
	EXPECT_EQ(stop.status.counts.ticks, counter);
	covered_ns = to.status.cpu_time_ns - from.status.cpu_time_ns;
	TH_LOG("CPU time %.3f s, covered %.3f s, %.3f s in the moments, stalls of %.3f s",
	       (to.cpu_ns - from.cpu_ns) / 1e9, covered_ns / 1e9,
	       moments_ns / 1e9, stalls_ns / 1e9);
	EXPECT_GE(1.3 * (to.cpu_ns - from.cpu_ns) + stalls_ns, covered_ns);
	EXPECT_LE(0.9 * moments_ns, covered_ns + stalls_ns);
}

TEST_F(players, ping_pong)
{
	uint64_t stalls_ns;

	if (variant->other_processor >= sysconf(_SC_NPROCESSORS_ONLN))
		SKIP(return, "needs two CPUs");
	if (self->pid || variant->other_is_profiled)
		play_profiled(_metadata, self, variant->rounds);
	else
		play(_metadata, self, variant->rounds, &stalls_ns);
	if (!self->pid)
		_exit(__test_passed(_metadata) ? 0 : 1);
	EXPECT_EQ(0, wait_child(self->pid));
}

TEST_HARNESS_MAIN
