// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_call.c - profil() behaves as its manual pages say
 *
 * What stops it, what replaces it, that it rejects a buffer that is not
 * writable and stops the running profile then, and that it accepts a buffer
 * whose pages are still missing.
 */
#include <alloca.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "common.h"

#define NR_BINS		(PAGE / sizeof(unsigned short))

/* One counter for 64 KiB of text; with offset 0, the overflow bin. */
#define ALL		2

static unsigned short old[2], fresh[NR_BINS];

/* The C library declares profil() with a buffer that is never NULL. */
static unsigned short *volatile null;

/* A profile that runs and has counted. */
FIXTURE(running) {
	uint64_t cpu_time_ns;
};

FIXTURE_SETUP(running)
{
	ASSERT_EQ(0, profil(old, sizeof(old), 0, ALL));
	ASSERT_TRUE(burn_ticks(2));
	self->cpu_time_ns = status_now().cpu_time_ns;
	ASSERT_NE(0, old[0]);
}

FIXTURE_TEARDOWN(running)
{
	EXPECT_EQ(0, profil(null, 0, 0, 0));
	EXPECT_EQ(0, old[1]);
}

static void goes_on(struct __test_metadata *_metadata,
		    FIXTURE_DATA(running) *self)
{
	unsigned short before = old[0];

	EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
	EXPECT_LE(self->cpu_time_ns, status_now().cpu_time_ns);
	EXPECT_TRUE(burn_counted(1));
	EXPECT_LT(before, old[0]);
}

static void has_stopped(struct __test_metadata *_metadata)
{
	unsigned short before = old[0];

	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	burn_thread_ns(50 * MS);
	EXPECT_EQ(before, old[0]);
}

/* The call rejects the buffer and stops the old profile. */
static void faults(struct __test_metadata *_metadata, const void *buffer,
		   size_t size)
{
	unsigned short *counters = (unsigned short *)buffer;

	ASSERT_EQ(0, profil(old, sizeof(old), 0, ALL));
	EXPECT_TRUE(burn_ticks(1));
	EXPECT_ERROR(EFAULT, profil(counters, size, 0, ALL));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
}

static char *map(size_t size, int protection)
{
	return mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
}

TEST_F(running, scale_0_stops)
{
	EXPECT_EQ(0, profil(fresh, sizeof(fresh), 0, 0));
	has_stopped(_metadata);
	EXPECT_EQ(0, profil(fresh, sizeof(fresh), 0, 0));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
}

TEST_F(running, scale_1_stops)
{
	EXPECT_EQ(0, profil(fresh, sizeof(fresh), 0, 1));
	has_stopped(_metadata);
}

TEST_F(running, stopping_looks_at_no_other_argument)
{
	EXPECT_EQ(0, profil((void *)1, -1, -1, 0));
	has_stopped(_metadata);
	ASSERT_EQ(0, profil(old, sizeof(old), 0, ALL));
	EXPECT_EQ(0, profil((void *)-1, 1, 0, 1));
	has_stopped(_metadata);
}

TEST_F(running, null_buffer_stops)
{
	EXPECT_EQ(0, profil(null, sizeof(fresh), 0, ALL));
	has_stopped(_metadata);
	ASSERT_EQ(0, profil(old, sizeof(old), 0, ALL));
	EXPECT_EQ(0, profil(null, 0, 0, 131073));
	has_stopped(_metadata);
}

TEST_F(running, a_second_call_replaces_the_first)
{
	unsigned short before;

	EXPECT_EQ(0, profil(fresh, sizeof(fresh), 0, ALL));
	before = old[0];
	EXPECT_TRUE(burn_counted(3));
	EXPECT_EQ(before, old[0]);
	EXPECT_LE(3, fresh[0]);
}

TEST_F(running, size_0_replaces_and_counts_nothing)
{
	struct profil_region_status region;
	struct profil_status status = { .size = sizeof(status) };
	unsigned short before;
	size_t size;

	for (size = 0; size < 2; size++) {
		ASSERT_EQ(0, profil(old, sizeof(old), 0, ALL));
		ASSERT_EQ(0, profil(fresh, size, 0, ALL));
		before = old[0];
		EXPECT_TRUE(burn_ticks(3));
		EXPECT_EQ(before, old[0]);
		EXPECT_EQ(0, fresh[0]);
		EXPECT_EQ(0, profil_status(&status, &region, 1));
		EXPECT_EQ(PROFIL_STATE_ON, status.state);
		EXPECT_EQ(PROFIL_REGION_EMPTY, region.state);
		EXPECT_EQ(status.counts.ticks, status.counts.outside);
	}
	/* With a size of 0 no counter is at the bad address. */
	EXPECT_EQ(0, profil((void *)2, 0, 0, ALL));
}

/* The counters belong to the program; nothing clears them. */
TEST_F(running, counters_are_added_to)
{
	struct profil_status last = { .size = sizeof(last) };

	fresh[0] = 1000;
	ASSERT_EQ(0, profil(fresh, sizeof(fresh), 0, ALL));
	EXPECT_TRUE(burn_ticks(2));
	EXPECT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_EQ(1000 + last.counts.counted, fresh[0]);
}

/* With any other offset a scale of 2 is arithmetic as usual. */
TEST_F(running, scale_2_with_an_offset)
{
	uintptr_t text = (uintptr_t)&__executable_start;
	struct profil_status last = { .size = sizeof(last) };

	ASSERT_GT(0x10000, &etext - &__executable_start);
	ASSERT_EQ(0, profil(fresh, 16, text - 0x30000, 2));
	EXPECT_TRUE(burn_counted(5));
	EXPECT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_LT(0, fresh[3]);
	EXPECT_EQ(last.counts.counted, fresh[3]);
	EXPECT_EQ(last.counts.counted, sum16(fresh, 8));
}

TEST_F(running, odd_size_loses_its_last_byte)
{
	char *page = map(PAGE, PROT_READ | PROT_WRITE);
	struct profil_status last = { .size = sizeof(last) };
	unsigned short *counters = (unsigned short *)(page + PAGE - 4);

	/* Its third byte would be in the second counter. */
	ASSERT_EQ(0, profil(counters, 3, (uintptr_t)&__executable_start, 2));
	EXPECT_TRUE(burn_ticks(3));
	ASSERT_EQ(0, profil(counters, 3, (uintptr_t)&__executable_start -
			    0x10000,
			    2));
	EXPECT_TRUE(burn_ticks(3));
	EXPECT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_EQ(0, last.counts.counted);
	EXPECT_EQ(0, counters[1]);
}

TEST_F(running, scale_above_the_largest)
{
	EXPECT_ERROR(EINVAL, profil(fresh, sizeof(fresh), 0, 131073));
	goes_on(_metadata, self);
	EXPECT_ERROR(EINVAL, profil(fresh, sizeof(fresh), 0, -1U));
	goes_on(_metadata, self);
	EXPECT_EQ(0, fresh[0]);
	EXPECT_EQ(0, profil(fresh, sizeof(fresh), 0, 131072));
}

TEST_F(running, buffer_at_an_odd_address)
{
	EXPECT_ERROR(EINVAL, profil((void *)((char *)fresh + 1), 8, 0, ALL));
	goes_on(_metadata, self);
}

TEST_F(running, buffer_that_is_readonly)
{
	char *page = map(PAGE, PROT_READ);

	faults(_metadata, page, PAGE);
	EXPECT_EQ(0, page[0]);
	/* Constant data of the program, and its text */
	faults(_metadata, (void *)(((uintptr_t)"text" + 1) & ~1UL), 2);
	faults(_metadata, &__executable_start, 2);
}

TEST_F(running, buffer_that_is_inaccessible)
{
	faults(_metadata, map(PAGE, PROT_NONE), PAGE);
}

TEST_F(running, buffer_that_is_unmapped)
{
	char *page = map(PAGE, PROT_READ | PROT_WRITE);

	munmap(page, PAGE);
	faults(_metadata, page, PAGE);
	faults(_metadata, page, 2);
	faults(_metadata, (void *)2, 2);
}

TEST_F(running, buffer_that_is_good_only_in_part)
{
	char *pages = map(3 * PAGE, PROT_READ | PROT_WRITE);

	munmap(pages + PAGE, PAGE);
	faults(_metadata, pages, PAGE + 2);
	faults(_metadata, pages, 3 * PAGE);
	faults(_metadata, pages + PAGE, 2 * PAGE);
	mprotect(pages + 2 * PAGE, PAGE, PROT_READ);
	mmap(pages + PAGE, PAGE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	faults(_metadata, pages, 3 * PAGE);
	EXPECT_EQ(0, profil((void *)pages, 2 * PAGE, 0, ALL));
	/* The kernel never writes the odd byte beyond. */
	EXPECT_EQ(0, profil((void *)pages, 2 * PAGE + 1, 0, ALL));
}

TEST_F(running, buffer_that_is_not_the_programs)
{
	faults(_metadata, (void *)0x7ffffffff000, 2);
	faults(_metadata, (void *)0x800000000000, 2);
	faults(_metadata, (void *)0xffff888000000000, PAGE);
	faults(_metadata, (void *)0xffffffff81000000, PAGE);
	faults(_metadata, (void *)0xffffffffff600000, PAGE);
}

TEST_F(running, buffer_that_wraps_around)
{
	faults(_metadata, fresh, -(size_t)fresh);
	faults(_metadata, fresh, SIZE_MAX);
	faults(_metadata, fresh, SIZE_MAX - (size_t)fresh + 2);
	faults(_metadata, (void *)-2, 2);
	faults(_metadata, (void *)-2, 4);
	faults(_metadata, (void *)-PAGE, SIZE_MAX);
}

TEST_F(running, buffer_that_was_never_touched)
{
	size_t size = 64 << 20;
	unsigned short *counters = (void *)map(size, PROT_READ | PROT_WRITE);

	ASSERT_EQ(0, profil(counters, size, 0, ALL));
	EXPECT_TRUE(burn_ticks(3));
	EXPECT_EQ(0, profil(null, 0, 0, 0));
	EXPECT_LE(3, counters[0]);
}

/* Does a line of the process's map contain @addr? */
static bool mapped(const void *addr)
{
	uintptr_t start, end;
	bool found = false;
	char line[400];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (!found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%lx-%lx", &start, &end) == 2 &&
			(uintptr_t)addr >= start && (uintptr_t)addr < end;
	fclose(maps);
	return found;
}

TEST_F(running, buffer_on_a_stack_that_has_to_grow)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	unsigned short *counters = (void *)((here - (2 << 20)) & ~1UL);

	if (in_user_space())
		SKIP(return, "only the kernel grows the stack without a fault");
	ASSERT_FALSE(mapped(counters));
	ASSERT_EQ(0, profil(counters, 1 << 20, 0, ALL));
	EXPECT_TRUE(mapped(counters));
	EXPECT_TRUE(burn_ticks(3));
	EXPECT_EQ(0, profil(null, 0, 0, 0));
	EXPECT_LE(3, counters[0]);
	EXPECT_EQ(0, counters[1]);
}

/* The Linux Test Project does this. */
TEST_F(running, buffer_by_alloca)
{
	size_t size = 1 << 20;
	unsigned short *counters = alloca(size);
	struct profil_status last = { .size = sizeof(last) };
	uint64_t sum;

	ASSERT_EQ(0, profil(counters, size, (uintptr_t)&__executable_start,
			    0x20000));
	memset(counters, 0, size);
	EXPECT_TRUE(burn_counted(5));
	EXPECT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_LT(0, last.counts.counted);
	EXPECT_EQ(0, last.counts.lost);
	sum = sum16(counters, size / sizeof(*counters));
	EXPECT_LT(0, sum);
	EXPECT_GE(last.counts.counted, sum);
}

/* Beyond its limit the stack does not grow, and no process dies. */
TEST_F(running, buffer_below_the_stacks_limit)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	faults(_metadata, (void *)((here - (64 << 20)) & ~1UL), 2);
}

TEST_HARNESS_MAIN
