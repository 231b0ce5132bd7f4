// SPDX-License-Identifier: GPL-2.0-only
/*
 * children.c - profiles measure children correctly
 *
 * Forked children go on counting, here into one counter that they share with
 * their parent, and get ticks for the CPU time that they used, however little.
 * Each tick comes independently with some probability, and these probabilities
 * add up to the CPU time over the period: that is the mean of the number of
 * ticks, and an upper bound of its variance. The program that a child of
 * vfork() executes does not count.
 *
 * The kernel charges to a child the time that an idle CPU needs to wake up for
 * it. That may be long on an emulated CPU, so the test takes only bounds from
 * the kernel's clock.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

/*
 * Memory that parent and children share: CPU time of the children by the
 * kernel's clock, and what their loops took at least.
 */
struct shared {
	uint64_t cpu_ns;
	uint64_t loop_ns;
	uint32_t ticks;
	uint32_t unused;
};

FIXTURE(family) {
	int fd;
	struct shared *shared;
};

FIXTURE_SETUP(family)
{
	struct profil_region all;

	self->shared = mmap(NULL, sizeof(struct shared),
			    PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	all = overflow_bin(&self->shared->ticks, 4);
	self->fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, set_region_by(self->fd, &all, 4, 10 * MS, 0));
}

FIXTURE_TEARDOWN(family)
{
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	munmap(self->shared, sizeof(struct shared));
	close(self->fd);
}

static void add(uint64_t *sum, uint64_t ns)
{
	__atomic_fetch_add(sum, ns, __ATOMIC_RELAXED);
}

static void child(struct shared *shared, uint64_t ns)
{
	burn_process_ns(ns);
	/* Its CPU time has what the kernel charges it for when the host stalls */
	add(&shared->loop_ns, ns);
	add(&shared->cpu_ns, process_cpu_ns());
	_exit(0);
}

/* Run @nr children, @at_once of them at a time. */
static void run_children(struct __test_metadata *_metadata,
			 struct shared *shared, int nr, int at_once,
			 uint64_t ns)
{
	for (int i = 0; i < nr + at_once; i++) {
		int status = 0;
		pid_t pid;

		if (i >= at_once)
			ASSERT_LT(0, wait(&status));
		ASSERT_EQ(0, status);
		if (i >= nr)
			continue;
		pid = fork_child();
		ASSERT_LE(0, pid);
		if (!pid)
			child(shared, ns);
	}
}

/* CPU time of the children that have ended, and of theirs, to the end */
static uint64_t all_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return usage_ns(&usage);
}

/*
 * All children have ended, and the parent stops: check the ticks of them all.
 */
static void check(struct __test_metadata *_metadata, int fd,
		  struct shared *shared)
{
	struct profil_status parent = { .size = sizeof(parent) };
	struct profil_account all;
	uint64_t covered_ns;
	double due;

	ASSERT_EQ(0, profil_stop(&parent, NULL, 0));
	all = account_after(fd, 0);
	covered_ns = all.cpu_time_ns - parent.cpu_time_ns;
	due = covered_ns / 10e6;
	TH_LOG("CPU time %.3f s before exit, covered %.3f s, %.3f s in loops; the parent's own ticks: %llu",
	       shared->cpu_ns / 1e9, covered_ns / 1e9, shared->loop_ns / 1e9,
	       parent.counts.counted);
	EXPECT_EQ(0, all.running);
	EXPECT_EQ(0, all.unfollowed);
	EXPECT_CONSERVED(&parent);
	EXPECT_CONSERVED(&all);
	EXPECT_EQ(0, all.counts.lost);
	EXPECT_EQ(shared->ticks, all.counts.counted);
	EXPECT_CHANCE("children's ticks",
		      all.counts.ticks - parent.counts.ticks, due, due);
	EXPECT_LE(0.9 * shared->loop_ns, covered_ns);
	EXPECT_GE(1.1 * all_cpu_ns(), covered_ns);
}

TEST_F(family, of_300_children_of_4_ms_none_is_missed)
{
	run_children(_metadata, self->shared, 300, 2, 4 * MS);
	check(_metadata, self->fd, self->shared);
}

TEST_F(family, crowds_of_children)
{
	run_children(_metadata, self->shared, 320, 32, 4 * MS);
	check(_metadata, self->fd, self->shared);
}

/* Long enough for the test to notice if the program's ticks counted. */
static void execute_loop(void)
{
	execl("/bin/sh", "sh", "-c",
	      "i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done", NULL);
	_exit(127);
}

TEST_F(family, what_vfork_and_exec_run_is_not_counted)
{
	struct profil_status last = { .size = sizeof(last) };
	struct profil_status before = status_now(), after;
	uint64_t cpu_ns = process_cpu_ns();
	struct rusage usage;
	double child_s;
	int status;
	pid_t pid;

	pid = vfork();
	ASSERT_LE(0, pid);
	if (!pid)
		execute_loop();
	ASSERT_EQ(pid, wait4(pid, &status, 0, &usage));
	ASSERT_EQ(0, status);
	cpu_ns = process_cpu_ns() - cpu_ns;
	after = status_now();

	child_s = usage_ns(&usage) / 1e9;
	TH_LOG("the child ran %.3f s, the parent %.3f s; covered %.3f s",
	       child_s, cpu_ns / 1e9,
	       (after.cpu_time_ns - before.cpu_time_ns) / 1e9);
	EXPECT_LT(0.1, child_s);
	EXPECT_GT(cpu_ns / 1e9 + child_s / 2,
		  (after.cpu_time_ns - before.cpu_time_ns) / 1e9);
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_EQ(last.counts.counted, self->shared->ticks);
}

TEST_HARNESS_MAIN
