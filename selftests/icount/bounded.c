// SPDX-License-Identifier: GPL-2.0-only
/*
 * bounded.c - pending ticks take a bounded amount of memory
 *
 * All counters are in a page that nothing ever serves, and the program spreads
 * its ticks over more of them than the pending list has room for. The others
 * must be lost at once, long before the kernel gives up the page after a
 * second.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "common.h"

#define TICKS		2000
#define PERIOD		(200 * 1000)

/* The pending list has room for 32 counters. */
#define WAITING		32

#ifdef __x86_64__
#define NOP_BYTES	1
#define NOP		"nop"
#else
#define NOP_BYTES	4
#define NOP		".balign 4\n\tnop"
#endif

/* An instruction for each of 2000 counters, nearly all that the page holds. */
OWN_TEXT(sled) static void sled(void)
{
	asm volatile(".rept 2000\n\t" NOP "\n\t.endr");
}

TEST(only_so_many_ticks_wait)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct profil_status now = { .size = sizeof(now) };
	struct profil_region region;
	double share;

	ASSERT_NE(MAP_FAILED, page);
	if (userfault(page, 0) < 0)
		SKIP(return, "userfaultfd: %s", strerror(errno));
	region = region_of(START_OF(sled), END_OF(sled), page, 2);
	region.scale = 2 * 65536 / NOP_BYTES;
	region.size = PAGE;
	ASSERT_EQ(0, set_regions(&region, 1, 2, PERIOD,
				 PROFIL_SET_SVR4_ARITH));
	for (uint64_t end = thread_cpu_ns() + TICKS * PERIOD;
	     thread_cpu_ns() < end;)
		for (int i = 0; i < 1000; i++)
			sled();
	ASSERT_EQ(0, profil_status(&now, NULL, 0));
	TH_LOG("%llu ticks: %llu lost, %llu wait, %llu outside",
	       now.counts.ticks, now.counts.lost, now.pending,
	       now.counts.outside);
	EXPECT_EQ(0, now.counts.counted);
	/*
	 * Ticks of the first 32 of 2000 counters stay pending, one after the
	 * other.
	 */
	share = WAITING / 2000.0;
	EXPECT_LE(WAITING, now.pending);
	EXPECT_GT(WAITING + 2 * share * TICKS, now.pending);
	EXPECT_LT((1 - 2 * share) * TICKS - 2 * WAITING, now.counts.lost);
	EXPECT_EQ(0, profil_stop(&now, NULL, 0));
	EXPECT_CONSERVED(&now);
	EXPECT_EQ(0, now.pending);
}

TEST_HARNESS_MAIN
