// SPDX-License-Identifier: GPL-2.0-only
/*
 * compat32.c - a 32-bit program on a 64-bit kernel
 *
 * Built with -m32, together with the library: tests its structures, its
 * conversion of struct prof, and the kernel's treatment of 32-bit addresses.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

static uint16_t counters[32768];
static uint32_t counter;
static uint64_t wide __attribute__((aligned(8)));

/*
 * On a 32-bit kernel there is nothing to convert; these tests need a 64-bit
 * one.
 */
TEST(structures_are_those_of_64_bits)
{
	EXPECT_EQ(4, sizeof(void *));
	EXPECT_EQ(32, sizeof(struct profil_region));
	EXPECT_EQ(48, sizeof(struct profil_set));
	EXPECT_EQ(40, sizeof(struct profil_region_status));
	EXPECT_EQ(120, sizeof(struct profil_status));
	EXPECT_EQ(64, sizeof(struct profil_info));
	EXPECT_EQ(64, sizeof(struct profil_watch));
	EXPECT_EQ(240, sizeof(struct profil_watch_status));
	EXPECT_EQ(24, sizeof(struct profil_watch_unwind));
	EXPECT_EQ(40, sizeof(struct profil_watch_bucket));
}

TEST(info)
{
	struct profil_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, profil_info(&info));
	EXPECT_EQ(0x7f, info.set_flags);
	EXPECT_EQ(10 * MS, info.default_period_ns);
	EXPECT_EQ(MS, info.fast_period_ns);
	EXPECT_EQ(SECOND, info.max_period_ns);
	EXPECT_LT(0, info.max_profiles);
}

TEST(profil_counts)
{
	size_t size = &etext - &__executable_start;
	struct profil_status last = { .size = sizeof(last) };

	/* Static, and so larger than the buffer: a counter for 32 bytes */
	ASSERT_EQ(0, profil(counters, sizeof(counters),
			    (uintptr_t)&__executable_start, 65536 / 16));
	EXPECT_GE(sizeof(counters) * 16, size);
	EXPECT_EQ(10 * MS, status_now().period_ns);
	burn_thread_ns(300 * MS);
	EXPECT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_LT(0, last.counts.counted);
	EXPECT_EQ(last.counts.counted, sum16(counters, 32768));
	EXPECT_CONSERVED(&last);
}

TEST(sprofil_counts)
{
	struct prof regions[3] = {
		{ counters, sizeof(counters), 0xfffff000, 65536 },
		{ NULL, 0, 0x1000, 65536 },
		{ &counter, sizeof(counter), 0, 2 },
	};
	struct timeval time = { 77, 77 };
	struct profil_region_status each[3];
	struct profil_status last = { .size = sizeof(last) };

	ASSERT_EQ(0, sprofil(regions, 3, &time, PROF_UINT | PROF_FAST));
	EXPECT_EQ(0, time.tv_sec);
	EXPECT_EQ(1000, time.tv_usec);
	EXPECT_TRUE(burn_ticks(10));
	EXPECT_EQ(0, profil_stop(&last, each, 3));
	EXPECT_EQ(3, last.nr_regions);
	EXPECT_EQ(last.counts.ticks, counter);
	EXPECT_EQ(0, each[0].counted);
	EXPECT_EQ(PROFIL_REGION_EMPTY, each[1].state);
	EXPECT_EQ(counter, each[2].counted);
}

TEST(sprofil_errors)
{
	struct prof prof = { &counter, sizeof(counter), 0, 2 };
	struct timeval time = { 77, 77 };
	struct profil_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, profil_info(&info));
	ASSERT_EQ(0, sprofil(&prof, 1, NULL, PROF_UINT | PROF_FAST));
	EXPECT_ERROR(E2BIG, sprofil(&prof, info.max_regions + 1, &time, 0));
	EXPECT_ERROR(E2BIG, sprofil(&prof, INT32_MAX, &time, 0));
	EXPECT_ERROR(E2BIG, sprofil(&prof, -1, &time, 0));
	EXPECT_ERROR(EINVAL, sprofil(&prof, 1, &time, 4));
	prof.pr_scale = 65536 * 2 + 1;
	EXPECT_ERROR(EINVAL, sprofil(&prof, 1, &time, 0));
	EXPECT_ERROR(EFAULT, sprofil(&prof, 1, (void *)8, PROF_UINT));
	EXPECT_ERROR(EFAULT, sprofil(&prof, 1, (void *)-8, PROF_UINT));
	EXPECT_EQ(77, time.tv_sec);
	EXPECT_EQ(77, time.tv_usec);
	EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
	EXPECT_TRUE(burn_ticks(2));
	EXPECT_EQ(0, sprofil(NULL, 0, NULL, 0));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
}

/*
 * Includes the last pages below 4 GiB, which a 64-bit kernel does not reserve.
 */
TEST(buffers_that_are_no_good)
{
	static const uintptr_t bad[] = {
		2, 0xffffe000, 0xfffffffe, 0xfffff000,
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ASSERT_EQ(0, profil(counters, sizeof(counters), 0, 2));
		EXPECT_ERROR(EFAULT, profil((void *)bad[i], PAGE, 0, 2));
		EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	}
	EXPECT_ERROR(EFAULT, profil(counters, SIZE_MAX, 0, 2));
	EXPECT_ERROR(EFAULT, profil(counters, -(uintptr_t)counters, 0, 2));
	EXPECT_ERROR(EFAULT, profil(counters, 2 - (uintptr_t)counters, 0, 2));
}

/* The kernel uses all 64 bits of sizes and offsets. */
TEST(regions_beyond_32_bits)
{
	struct profil_region_status each[3];
	struct profil_status last = { .size = sizeof(last) };
	struct profil_region regions[3] = {
		overflow_bin(&wide, 8), overflow_bin(&wide, 8),
		overflow_bin(&wide, 8),
	};

	/* Text, then counters, at addresses beyond those of a 32-bit program */
	regions[0].offset = 1ULL << 32 | (uintptr_t)&__executable_start;
	regions[0].size = 1 << 20;
	regions[1].base += 1ULL << 32;
	regions[1].offset = (uintptr_t)&__executable_start;
	regions[1].size = 1 << 20;
	ASSERT_EQ(0, set_regions(regions, 3, 8, MS, 0));
	EXPECT_TRUE(burn_counted(11));
	EXPECT_EQ(0, profil_stop(&last, each, 3));
	EXPECT_EQ(0, each[0].counted);
	EXPECT_EQ(PROFIL_REGION_ON, each[0].state);
	EXPECT_EQ(0, each[1].counted);
	EXPECT_EQ(PROFIL_REGION_UNMAPPED, each[1].state);
	EXPECT_EQ(wide, each[2].counted);
	EXPECT_LT(10, wide);
}

static uint64_t ticks_in(const struct profil_watch_table *table,
			 uint64_t offset)
{
	const char *buckets = (const char *)table + table->buckets;
	uint64_t ticks = 0;
	uint32_t i;

	for (i = 0; i < table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			(const void *)(buckets + i * table->bucket_size);

		if (bucket->object == PROFIL_OBJECT_BLOCKED &&
		    (bucket->offset & ~PROFIL_WAIT_LONG) == offset)
			ticks += bucket->count;
	}
	return ticks;
}

/* Reader and what it reads of have 32 bits, and that call is 29 there. */
TEST(waits_are_counted)
{
	struct profil_watch watch = {
		.size = sizeof(watch),
		.flags = PROFIL_WATCH_WALL,
		.period_ns = MS,
	};
	struct profil_watch_status status = { .size = sizeof(status) };
	const struct profil_watch_table *table;
	pid_t child = fork_child();
	int fd;

	while (!child)
		pause();
	watch.id = child;
	fd = profil_watch_open(&watch);
	ASSERT_LE(0, fd);
	table = mmap(NULL, watch.map_size, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, table);
	usleep(200000);
	/* The child may have begun to wait late */
	for (int tries = 1000; status.asleep_blocked < 100 && tries; tries--) {
		ASSERT_EQ(0, ioctl(fd, PROFIL_IOC_WATCH_STATUS, &status));
		usleep(10000);
	}
	ASSERT_EQ(0, ioctl(fd, PROFIL_IOC_WATCH_COLLECT, &status));
	EXPECT_EQ(1, status.threads);
	EXPECT_LE(200 - 2, status.blocked + status.runnable + status.ticks);
	EXPECT_LE(100, status.blocked);
	EXPECT_LE(status.blocked / 2,
		  ticks_in(table, PROFIL_WAIT_SYSCALL + PROFIL_WAIT_COMPAT +
			   29));
	usleep(50000);
	ASSERT_EQ(0, ioctl(fd, PROFIL_IOC_WATCH_STOP, &status));
	EXPECT_LE(250 - 2, status.blocked + status.runnable + status.ticks);
	EXPECT_EQ(0, status.asleep_blocked);
	kill(child, SIGKILL);
	EXPECT_EQ(-SIGKILL, wait_child(child));
	close(fd);
}

TEST(children_inherit)
{
	struct profil_region region = overflow_bin(&wide, 8);
	pid_t child;

	ASSERT_EQ(0, set_regions(&region, 1, 8, MS, PROFIL_SET_CHECK));
	child = fork_child();
	ASSERT_LE(0, child);
	if (!child)
		_exit(!burn_ticks(5));
	EXPECT_EQ(0, wait_child(child));
	EXPECT_TRUE(burn_ticks(5));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

TEST_HARNESS_MAIN
