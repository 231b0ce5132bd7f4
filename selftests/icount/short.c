// SPDX-License-Identifier: GPL-2.0-only
/*
 * short.c - processes that live a part of a period get their part of a tick
 *
 * A child that lives a tenth of a period gets a tick with the probability 1/10;
 * all children count into one counter in shared memory. Each tick comes
 * independently with some probability, and these probabilities add up to the
 * CPU time over the period: that is the mean of the number of ticks, and an
 * upper bound of its variance.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

/* Memory that the processes share. */
struct shared {
	uint32_t ticks;
	uint32_t unused;
	uint64_t cpu_ns;
};

static struct shared *share(void)
{
	void *shared = mmap(NULL, sizeof(struct shared),
			    PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return shared == MAP_FAILED ? NULL : shared;
}

static void child(struct shared *shared, uint64_t ns)
{
	while (process_cpu_ns() < ns)
		for (int i = 0; i < 10; i++)
			asm volatile(".rept 500\n\tnop\n\t.endr");
	shared->cpu_ns += process_cpu_ns();
	_exit(0);
}

/* One after the other, at all phases of the period. */
static void run_children(struct __test_metadata *_metadata,
			 struct shared *shared, int nr, uint64_t ns)
{
	for (int i = 0; i < nr; i++) {
		pid_t pid = fork_child();

		ASSERT_LE(0, pid);
		if (!pid)
			child(shared, ns);
		ASSERT_EQ(0, wait_child(pid));
		usleep(100 + i * 7919 % 10000);
	}
	/* The last child's ticks may still be pending. */
	usleep(100000);
}

static void live(struct __test_metadata *_metadata, int nr, uint64_t ns,
		 uint64_t period_ns)
{
	struct profil_status parent = { .size = sizeof(parent) };
	struct shared *shared = share();
	struct profil_region all;
	double due;

	ASSERT_NE(NULL, shared);
	all = overflow_bin(&shared->ticks, 4);
	ASSERT_EQ(0, set_regions(&all, 1, 4, period_ns, 0));
	run_children(_metadata, shared, nr, ns);
	ASSERT_EQ(0, profil_stop(&parent, NULL, 0));

	due = (double)shared->cpu_ns / period_ns;
	TH_LOG("%d children of %.2f ms; the parent's own ticks: %llu", nr,
	       shared->cpu_ns / 1e6 / nr, parent.counts.counted);
	EXPECT_EQ(0, parent.unfollowed);
	EXPECT_CHANCE("ticks", shared->ticks - parent.counts.counted, due, due);
}

TEST(a_tenth_of_10_ms)
{
	live(_metadata, 500, MS, 10 * MS);
}

TEST(half_of_10_ms)
{
	live(_metadata, 500, 5 * MS, 10 * MS);
}

TEST_HARNESS_MAIN
