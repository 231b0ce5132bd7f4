// SPDX-License-Identifier: GPL-2.0-only
/*
 * sprofil_call.c - sprofil() behaves as its manual page says
 *
 * Errors leave the running profile alone; a region whose counters are not
 * writable goes off at its first tick, with the reason in the status, while the
 * others go on; and of profil() and sprofil() the second call replaces the
 * first.
 */
#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

static unsigned int old, all;
static unsigned short half[4];

static struct prof prof_of(void *base, size_t size, size_t offset,
			   unsigned long scale)
{
	struct prof prof = {
		.pr_base = base,
		.pr_size = size,
		.pr_off = offset,
		.pr_scale = scale,
	};

	return prof;
}

#define OVERFLOW(counter)	prof_of(&(counter), sizeof(counter), 0, 2)

/* A profile that runs and has counted; arguments for a new one. */
FIXTURE(running) {
	uint64_t cpu_time_ns;
	struct prof prof;
	struct timeval time;
};

FIXTURE_SETUP(running)
{
	struct prof prof = OVERFLOW(old);

	ASSERT_EQ(0, sprofil(&prof, 1, NULL, PROF_UINT | PROF_FAST));
	ASSERT_TRUE(burn_ticks(2));
	self->cpu_time_ns = status_now().cpu_time_ns;
	self->prof = OVERFLOW(half);
	self->time.tv_sec = 77;
	self->time.tv_usec = 77;
}

FIXTURE_TEARDOWN(running)
{
	EXPECT_EQ(0, sprofil(NULL, 0, NULL, 0));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
}

static void refused(struct __test_metadata *_metadata,
		    FIXTURE_DATA(running) *self, int error, struct prof *profp,
		    int count, unsigned int flags)
{
	unsigned int before = old;
	struct profil_status now;

	EXPECT_ERROR(error, sprofil(profp, count, &self->time, flags));
	EXPECT_EQ(77, self->time.tv_sec);
	EXPECT_EQ(77, self->time.tv_usec);
	now = status_now();
	EXPECT_EQ(PROFIL_STATE_ON, now.state);
	EXPECT_EQ(4, now.width);
	EXPECT_EQ(MS, now.period_ns);
	EXPECT_LE(self->cpu_time_ns, now.cpu_time_ns);
	EXPECT_TRUE(burn_counted(1));
	EXPECT_LT(before, old);
	EXPECT_EQ(0, half[0]);
}

TEST_F(running, tells_the_true_period)
{
	EXPECT_EQ(0, sprofil(&self->prof, 1, &self->time, 0));
	EXPECT_EQ(0, self->time.tv_sec);
	EXPECT_EQ(10000, self->time.tv_usec);
	EXPECT_EQ(10 * MS, status_now().period_ns);
	EXPECT_EQ(0, sprofil(&self->prof, 1, &self->time, PROF_FAST));
	EXPECT_EQ(0, self->time.tv_sec);
	EXPECT_EQ(1000, self->time.tv_usec);
	EXPECT_EQ(MS, status_now().period_ns);
}

TEST_F(running, time_at_a_bad_address)
{
	struct timeval *time = mmap(NULL, PAGE, PROT_READ,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int before = old;

	EXPECT_ERROR(EFAULT, sprofil(&self->prof, 1, time, 0));
	EXPECT_ERROR(EFAULT, sprofil(&self->prof, 1, (void *)8, 0));
	EXPECT_ERROR(EFAULT, sprofil(&self->prof, 1, (void *)-8, 0));
	EXPECT_EQ(4, status_now().width);
	EXPECT_TRUE(burn_counted(1));
	EXPECT_LT(before, old);
	EXPECT_EQ(0, half[0]);
}

TEST_F(running, regions_at_a_bad_address)
{
	struct prof *cut = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap((char *)cut + PAGE, PAGE);
	cut += PAGE / sizeof(*cut) - 1;
	*cut = self->prof;
	refused(_metadata, self, EFAULT, NULL, 1, 0);
	refused(_metadata, self, EFAULT, (void *)8, 1, 0);
	refused(_metadata, self, EFAULT, cut, 2, 0);
	EXPECT_EQ(0, sprofil(cut, 1, NULL, 0));
}

TEST_F(running, number_of_regions)
{
	struct profil_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, profil_info(&info));
	refused(_metadata, self, E2BIG, &self->prof, 0, 0);
	refused(_metadata, self, E2BIG, &self->prof, -1, 0);
	refused(_metadata, self, E2BIG, NULL, -1, 0);
	refused(_metadata, self, E2BIG, &self->prof, INT_MIN, 0);
	refused(_metadata, self, E2BIG, &self->prof, INT_MAX, 0);
	refused(_metadata, self, E2BIG, &self->prof, info.max_regions + 1, 0);
}

TEST_F(running, no_regions_at_all_stop)
{
	unsigned int before;

	EXPECT_EQ(0, sprofil(NULL, 0, &self->time, -1U));
	EXPECT_EQ(77, self->time.tv_usec);
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	before = old;
	burn_thread_ns(20 * MS);
	EXPECT_EQ(before, old);
	EXPECT_EQ(0, sprofil(NULL, 0, NULL, 0));
}

TEST_F(running, unknown_flags)
{
	unsigned int bit;

	for (bit = 2; bit < 32; bit++)
		refused(_metadata, self, EINVAL, &self->prof, 1, 1u << bit);
}

/* The C library's values, with which programs have been compiled. */
TEST_F(running, numbers_of_the_flags)
{
	static const struct {
		unsigned int width;
		uint64_t period_ns;
	} means[] = { { 2, 10 * MS }, { 4, 10 * MS }, { 2, MS }, { 4, MS } };
	unsigned int flags;

	for (flags = 0; flags < 4; flags++) {
		EXPECT_EQ(0, sprofil(&self->prof, 1, NULL, flags));
		EXPECT_EQ(means[flags].width, status_now().width);
		EXPECT_EQ(means[flags].period_ns, status_now().period_ns);
	}
}

TEST_F(running, overflow_bin_not_last)
{
	struct prof regions[2] = { self->prof, self->prof };

	refused(_metadata, self, EINVAL, regions, 2, 0);
	regions[0].pr_off = 0x1000;
	EXPECT_EQ(0, sprofil(regions, 2, NULL, 0));
}

TEST_F(running, counters_not_aligned)
{
	struct prof prof = self->prof;

	prof.pr_base = (char *)half + 2;
	ASSERT_EQ(2, (uintptr_t)prof.pr_base & 2);
	refused(_metadata, self, EINVAL, &prof, 1, PROF_UINT);
	EXPECT_EQ(0, sprofil(&prof, 1, NULL, 0));
	prof.pr_base = (char *)half + 1;
	EXPECT_ERROR(EINVAL, sprofil(&prof, 1, NULL, 0));
}

TEST_F(running, scale_too_large)
{
	struct prof prof = self->prof;

	prof.pr_scale = 131073;
	refused(_metadata, self, EINVAL, &prof, 1, 0);
	prof.pr_scale = -1;
	refused(_metadata, self, EINVAL, &prof, 1, PROF_UINT);
	prof.pr_scale = 262144;
	EXPECT_EQ(0, sprofil(&prof, 1, NULL, PROF_UINT));
}

/*
 * The C library's second call only stops the first, and its third one aborts.
 */
TEST_F(running, each_call_replaces_the_one_before)
{
	struct prof a = OVERFLOW(all), b = self->prof;
	unsigned int before;
	int i;

	for (i = 0; i < 3; i++) {
		before = all;
		EXPECT_EQ(0, sprofil(&a, 1, NULL, PROF_UINT | PROF_FAST));
		EXPECT_TRUE(burn_counted(2));
		EXPECT_LE(before + 2, all);

		before = all;
		half[0] = 0;
		EXPECT_EQ(0, sprofil(&b, 1, NULL, PROF_USHORT | PROF_FAST));
		before = all;
		EXPECT_TRUE(burn_counted(2));
		EXPECT_EQ(before, all);
		EXPECT_LE(2, half[0]);
	}
}

TEST_F(running, profil_replaces_it_and_it_replaces_profil)
{
	struct prof prof = OVERFLOW(all);
	unsigned int before;

	ASSERT_EQ(0, profil(half, sizeof(half), 0, 2));
	before = old;
	EXPECT_TRUE(burn_counted(2));
	EXPECT_EQ(before, old);
	EXPECT_LE(2, half[0]);

	ASSERT_EQ(0, sprofil(&prof, 1, NULL, PROF_UINT | PROF_FAST));
	before = half[0];
	EXPECT_TRUE(burn_counted(2));
	EXPECT_EQ(before, half[0]);
	EXPECT_LE(2, all);

	/* Each of profil() and sprofil() stops the other's profile, too. */
	EXPECT_EQ(0, profil(half, 0, 0, 0));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	ASSERT_EQ(0, profil(half, sizeof(half), 0, 2));
	EXPECT_EQ(0, sprofil(NULL, 0, NULL, 0));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
}

OWN_TEXT(first) static void spin_in_first(void)
{
	volatile unsigned int i;

	for (i = 0; i < 100000; i++)
		;
}

OWN_TEXT(second) static void spin_in_second(void)
{
	volatile unsigned int i;

	for (i = 0; i < 100000; i++)
		;
}

/*
 * Spend CPU time in one function until @region has more than ten ticks. A fixed
 * CPU time would not do: if the host takes the CPU away meanwhile, all ticks of
 * that time count wherever the program happens to be, which may be elsewhere.
 */
static bool spend(void (*spin)(void), unsigned int region)
{
	struct profil_status status = { .size = sizeof(status) };
	struct profil_region_status each[3] = { { .counted = 0 } };
	int patience = 1000;

	do {
		spin();
		spin();
		if (profil_status(&status, each, 3))
			return false;
	} while (each[region].counted <= 10 && --patience);
	return each[region].counted > 10;
}

/* The same until a tick has found that the first region is bad. */
static bool spend_in_first_until_off(void)
{
	struct profil_status status = { .size = sizeof(status) };
	struct profil_region_status first;
	int patience = 1000;

	do {
		spin_in_first();
		if (profil_status(&status, &first, 1))
			return false;
	} while (first.state == PROFIL_REGION_ON && --patience);
	return first.state != PROFIL_REGION_ON;
}

static struct prof prof_of_text(void *counters, const char *start,
				const char *end)
{
	return prof_of(counters, end - start, (uintptr_t)start, 65536);
}

static unsigned short counters[2048];

static void goes_off(struct __test_metadata *_metadata, void *bad,
		     enum profil_region_state why)
{
	struct prof regions[3] = {
		prof_of_text(bad, START_OF(first), END_OF(first)),
		prof_of_text(counters, START_OF(second), END_OF(second)),
		OVERFLOW(half),
	};
	struct profil_status status = { .size = sizeof(status) };
	struct profil_region_status each[3];

	memset(counters, 0, sizeof(counters));
	half[0] = 0;
	ASSERT_GE(sizeof(counters), regions[1].pr_size);
	ASSERT_EQ(0, sprofil(regions, 3, NULL, PROF_FAST));
	EXPECT_TRUE(spend_in_first_until_off());
	/* From then on its ticks go to the overflow bin. */
	EXPECT_TRUE(spend(spin_in_first, 2));
	EXPECT_EQ(0, profil_status(&status, each, 3));
	EXPECT_EQ(PROFIL_STATE_ON, status.state);
	EXPECT_EQ(why, each[0].state);
	EXPECT_EQ(0, each[0].counted);
	EXPECT_EQ(PROFIL_REGION_ON, each[1].state);
	EXPECT_EQ(PROFIL_REGION_ON, each[2].state);

	EXPECT_TRUE(spend(spin_in_second, 1));
	EXPECT_EQ(0, profil_stop(&status, each, 3));
	EXPECT_EQ(each[1].counted, sum16(counters, 2048));
	EXPECT_EQ(each[2].counted, half[0]);
	EXPECT_EQ(why, each[0].state);
	EXPECT_CONSERVED(&status);
}

TEST_F(running, region_in_unmapped_memory_goes_off)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(page, PAGE);
	goes_off(_metadata, page, PROFIL_REGION_UNMAPPED);
	goes_off(_metadata, NULL, PROFIL_REGION_UNMAPPED);
	goes_off(_metadata, (void *)0xffff888000000000,
		 PROFIL_REGION_UNMAPPED);
	goes_off(_metadata, (void *)-8, PROFIL_REGION_UNMAPPED);
}

TEST_F(running, region_in_readonly_memory_goes_off)
{
	void *page = mmap(NULL, PAGE, PROT_READ,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	goes_off(_metadata, page, PROFIL_REGION_READONLY);
	goes_off(_metadata, (void *)&__executable_start,
		 PROFIL_REGION_READONLY);
}

TEST_F(running, region_may_be_mended_before_its_first_tick)
{
	char *page = mmap(NULL, PAGE, PROT_READ,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct prof regions[2] = {
		prof_of_text(page, START_OF(first), END_OF(first)),
		OVERFLOW(half),
	};
	struct profil_region_status each[2];
	struct profil_status status = { .size = sizeof(status) };

	ASSERT_EQ(0, sprofil(regions, 2, NULL, PROF_FAST));
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	EXPECT_TRUE(spend(spin_in_first, 0));
	EXPECT_EQ(0, profil_stop(&status, each, 2));
	EXPECT_EQ(PROFIL_REGION_ON, each[0].state);
}

TEST_F(running, region_with_scale_0_or_1_is_not_enabled)
{
	struct prof regions[2] = {
		prof_of_text(counters, START_OF(first), END_OF(first)),
		OVERFLOW(half),
	};
	struct profil_region_status each[2];
	struct profil_status status = { .size = sizeof(status) };
	int scale;

	for (scale = 0; scale < 2; scale++) {
		regions[0].pr_scale = scale;
		ASSERT_EQ(0, sprofil(regions, 2, NULL, PROF_FAST));
		EXPECT_TRUE(spend(spin_in_first, 1));
		EXPECT_EQ(0, profil_stop(&status, each, 2));
		EXPECT_EQ(PROFIL_REGION_DISABLED, each[0].state);
		EXPECT_EQ(0, each[0].counted + each[0].lost);
		EXPECT_EQ(status.counts.ticks, each[1].counted);
		EXPECT_EQ(0, sum16(counters, 2048));
	}
}

/* The C library credits these to some region, or crashes. */
TEST_F(running, ticks_in_no_region)
{
	struct prof regions[2] = {
		prof_of_text(counters, START_OF(second), END_OF(second)),
		prof_of_text(counters, START_OF(second), END_OF(second)),
	};
	struct profil_status last = { .size = sizeof(last) };

	regions[1].pr_off = -PAGE;
	ASSERT_EQ(0, sprofil(regions, 2, NULL, PROF_FAST));
	EXPECT_TRUE(burn_ticks(10));
	EXPECT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_LT(0, last.counts.outside);
	EXPECT_EQ(last.counts.ticks, last.counts.outside);
	EXPECT_EQ(0, sum16(counters, 2048));
}

TEST_HARNESS_MAIN
