// SPDX-License-Identifier: GPL-2.0-only
/*
 * behaviour_sprofil.c - sprofil() of each system that had one
 *
 * Every row about sprofil() in the table of systems in
 * Documentation/contract.rst is a test here, and every system is a variant.
 */
#include <errno.h>
#include <limits.h>

#include "kselftest_harness.h"
#include "common.h"

static unsigned int old, rest;
static unsigned short counters[2048];

typedef int sprofil_function(struct prof *profp, int profcnt,
			     struct timeval *tvp, unsigned int flags);

/* A profile that runs and has counted, by the default rules. */
FIXTURE(system) {
	struct prof text;
	struct prof overflow;
};

/*
 * @uint, @ushort, @fast: values of the flags
 * @none_stops: sprofil(NULL, 0) stops the profile, and is no error
 * @anywhere: the overflow bin may be at any index
 */
FIXTURE_VARIANT(system) {
	sprofil_function *sprofil;
	unsigned int ushort_flag;
	unsigned int uint_flag;
	unsigned int fast_flag;
	bool none_stops;
	bool anywhere;
};

FIXTURE_VARIANT_ADD(system, by_default) {
	.sprofil = sprofil,
	.ushort_flag = 0,
	.uint_flag = 1,
	.fast_flag = 2,
	.none_stops = true,
};

FIXTURE_VARIANT_ADD(system, irix) {
	.sprofil = sprofil_irix,
	.ushort_flag = 1,
	.uint_flag = 2,
	.fast_flag = 4,
};

FIXTURE_VARIANT_ADD(system, glibc) {
	.sprofil = sprofil_glibc,
	.ushort_flag = 0,
	.uint_flag = 1,
	.fast_flag = 2,
	.none_stops = true,
	.anywhere = true,
};

OWN_TEXT(hot) static void spin_in_hot_text(void)
{
	volatile unsigned int i;

	for (i = 0; i < 100000; i++)
		;
}

static const char *const hot[] = { START_OF(hot), END_OF(hot) };

FIXTURE_SETUP(system)
{
	struct prof prof = {
		.pr_base = &old, .pr_size = sizeof(old), .pr_scale = 2,
	};

	self->text.pr_base = counters;
	self->text.pr_size = hot[1] - hot[0];
	self->text.pr_off = (size_t)hot[0];
	self->text.pr_scale = 65536;
	self->overflow.pr_base = &rest;
	self->overflow.pr_size = sizeof(rest);
	self->overflow.pr_scale = 2;
	ASSERT_GE(sizeof(counters), self->text.pr_size);
	ASSERT_EQ(0, sprofil(&prof, 1, NULL, PROF_UINT | PROF_FAST));
	ASSERT_TRUE(burn_ticks(2));
}

FIXTURE_TEARDOWN(system)
{
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

static void goes_on(struct __test_metadata *_metadata)
{
	unsigned int before = old;

	EXPECT_EQ(MS, status_now().period_ns);
	EXPECT_TRUE(burn_ticks(1));
	EXPECT_LT(before, old);
}

/* Spend CPU time until the region has ten more ticks, or patience runs out. */
static void spend(unsigned int region, struct profil_region_status *each)
{
	struct profil_status status = { .size = sizeof(status) };
	int patience = 1000;
	uint64_t enough;

	profil_status(&status, each, 2);
	enough = each[region].counted + 10;
	do {
		spin_in_hot_text();
		profil_status(&status, each, 2);
	} while (each[region].counted < enough && --patience);
}

/* Spend CPU time until a tick has found that the region is not writable. */
static void spend_until_off(unsigned int region,
			    struct profil_region_status *each)
{
	struct profil_status status = { .size = sizeof(status) };
	int patience = 1000;

	do {
		spin_in_hot_text();
		profil_status(&status, each, 2);
	} while (each[region].state == PROFIL_REGION_ON && --patience);
}

TEST_F(system, no_regions)
{
	unsigned int ushort_flag = variant->ushort_flag;

	EXPECT_ERROR(E2BIG, variant->sprofil(&self->text, 0, NULL,
					     ushort_flag));
	EXPECT_ERROR(E2BIG, variant->sprofil(&self->text, -1, NULL,
					     ushort_flag));
	EXPECT_ERROR(E2BIG, variant->sprofil(NULL, INT_MIN, NULL,
					     ushort_flag));
	goes_on(_metadata);
	if (variant->none_stops) {
		EXPECT_EQ(0, variant->sprofil(NULL, 0, NULL, -1U));
		EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	} else {
		EXPECT_ERROR(E2BIG, variant->sprofil(NULL, 0, NULL, -1U));
		goes_on(_metadata);
	}
}

TEST_F(system, too_many_regions)
{
	struct profil_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, profil_info(&info));
	EXPECT_ERROR(E2BIG, variant->sprofil(&self->text, info.max_regions + 1,
					     NULL, variant->ushort_flag));
	EXPECT_ERROR(E2BIG, variant->sprofil(&self->text, INT_MAX, NULL,
					     variant->ushort_flag));
	goes_on(_metadata);
}

TEST_F(system, flag_numbers)
{
	unsigned int fast = variant->fast_flag;
	unsigned int flags;

	for (flags = 0; flags < 32; flags++) {
		unsigned int counter = flags & ~fast;
		struct timeval tick = { 77, 77 };
		unsigned int us = flags & fast ? 1000 : 10000;

		if (counter != variant->ushort_flag &&
		    counter != variant->uint_flag) {
			EXPECT_ERROR(EINVAL, variant->sprofil(&self->overflow,
							1, &tick, flags));
			EXPECT_EQ(77, tick.tv_usec);
			continue;
		}
		EXPECT_EQ(0, variant->sprofil(&self->overflow, 1, &tick,
					      flags));
		EXPECT_EQ(counter == variant->uint_flag ? 4 : 2,
			  status_now().width);
		EXPECT_EQ(us * 1000, status_now().period_ns);
		EXPECT_EQ(0, tick.tv_sec);
		EXPECT_EQ(us, tick.tv_usec);
	}
}

TEST_F(system, wrong_flags_change_nothing)
{
	unsigned int both = variant->ushort_flag | variant->uint_flag;

	EXPECT_ERROR(EINVAL, variant->sprofil(&self->overflow, 1, NULL,
					      8 | both));
	EXPECT_ERROR(EINVAL, variant->sprofil(&self->overflow, 1, NULL, -1U));
	goes_on(_metadata);
	EXPECT_EQ(0, rest);
}

TEST_F(system, overflow_bin_in_the_first_place)
{
	struct prof regions[2] = { self->overflow, self->text };
	unsigned int flags = variant->uint_flag | variant->fast_flag;
	struct profil_region_status each[2];

	if (!variant->anywhere) {
		EXPECT_ERROR(EINVAL, variant->sprofil(regions, 2, NULL, flags));
		goes_on(_metadata);
		return;
	}
	ASSERT_EQ(0, variant->sprofil(regions, 2, NULL, flags));
	spend(1, each);
	EXPECT_LE(10, each[1].counted);
	EXPECT_TRUE(burn_ticks(10));
	EXPECT_EQ(0, variant->sprofil(NULL, 0, NULL, 0));
	EXPECT_LE(10, rest);
	EXPECT_LE(10, sum16(counters, 2048));
}

TEST_F(system, overflow_bin_in_the_last_place)
{
	struct prof regions[2] = { self->text, self->overflow };
	struct profil_status last = { .size = sizeof(last) };
	struct profil_region_status each[2];

	ASSERT_EQ(0, variant->sprofil(regions, 2, NULL, variant->ushort_flag |
				      variant->fast_flag));
	spend(0, each);
	EXPECT_TRUE(burn_ticks(10));
	EXPECT_EQ(0, profil_stop(&last, each, 2));
	EXPECT_LE(10, each[0].counted);
	EXPECT_EQ(each[0].counted, sum16(counters, 2048));
	EXPECT_LE(10, each[1].counted);
	EXPECT_EQ(each[1].counted, rest);
	EXPECT_EQ(last.counts.ticks, last.counts.counted);
}

/* All systems: scale 0, scale 1, and counters that are not writable. */
TEST_F(system, regions_that_are_off)
{
	struct prof regions[2] = { self->text, self->overflow };
	struct profil_region_status each[2];
	int i;

	for (i = 0; i < 3; i++) {
		regions[0].pr_scale = i < 2 ? i : 65536;
		regions[0].pr_base = i < 2 ? counters : NULL;
		ASSERT_EQ(0, variant->sprofil(regions, 2, NULL,
					      variant->uint_flag |
					      variant->fast_flag));
		spend_until_off(0, each);
		spend(1, each);
		EXPECT_EQ(i < 2 ? PROFIL_REGION_DISABLED :
				  PROFIL_REGION_UNMAPPED, each[0].state);
		EXPECT_EQ(0, each[0].counted);
		EXPECT_EQ(PROFIL_REGION_ON, each[1].state);
		EXPECT_LE(10, each[1].counted);
	}
	EXPECT_EQ(0, sum16(counters, 2048));
}

/* The way to stop a profile on a system where a count of 0 is an error. */
TEST_F(system, a_region_that_is_not_enabled_replaces)
{
	unsigned int before;

	self->overflow.pr_scale = 0;
	EXPECT_EQ(0, variant->sprofil(&self->overflow, 1, NULL,
				      variant->uint_flag));
	before = old;
	EXPECT_TRUE(burn_ticks(2));
	EXPECT_EQ(before, old);
	EXPECT_EQ(0, rest);
	EXPECT_EQ(0, status_now().counts.counted);
}

TEST_F(system, regions_or_time_at_a_bad_address)
{
	EXPECT_ERROR(EFAULT, variant->sprofil((void *)8, 1, NULL,
					      variant->uint_flag));
	EXPECT_ERROR(EFAULT, variant->sprofil(&self->text, 1, (void *)8,
					      variant->ushort_flag));
	goes_on(_metadata);
}

TEST_HARNESS_MAIN
