// SPDX-License-Identifier: GPL-2.0-only
/*
 * absent.c - the library without the device
 *
 * Stopping a profile must succeed, so that programs that only switch profiling
 * off do not notice; starting one must fail. Skipped if the device exists.
 */
#include "kselftest_harness.h"

#include <dirent.h>
#include <profil.h>

#define UNTOUCHED	4711

static int (*profil_function)(unsigned short *buffer, size_t size,
			      size_t offset, unsigned int scale) = profil;

static unsigned short counters[8];

static bool device(void)
{
	int saved = errno;
	bool is_there = !access(PROFIL_DEVICE, F_OK);

	errno = saved;
	return is_there;
}

static int descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int nr = 0;

	if (!directory)
		return -1;
	while (readdir(directory))
		nr++;
	closedir(directory);
	return nr;
}

FIXTURE(absent)
{
	int descriptors;
};

FIXTURE_SETUP(absent)
{
	self->descriptors = descriptors();
	errno = UNTOUCHED;
}

FIXTURE_TEARDOWN(absent)
{
	EXPECT_EQ(self->descriptors, descriptors());
}

TEST_F(absent, profil_fails)
{
	if (device())
		SKIP(return, "there is a device");
	EXPECT_EQ(-1, profil_function(counters, sizeof(counters), 0, 2));
	EXPECT_EQ(ENOENT, errno);
}

TEST_F(absent, profil_off_succeeds)
{
	if (device())
		SKIP(return, "there is a device");
	EXPECT_EQ(0, profil_function(counters, sizeof(counters), 0, 0));
	EXPECT_EQ(0, profil_function(counters, sizeof(counters), 0, 1));
	EXPECT_EQ(0, profil_function(NULL, 0, 0, 0));
	EXPECT_EQ(0, profil_function(NULL, 16, 0, 0x10000));
	EXPECT_EQ(UNTOUCHED, errno);
}

TEST_F(absent, sprofil_fails)
{
	struct prof prof = { counters, sizeof(counters), 0x1000, 0x10000 };
	struct timeval tick = { UNTOUCHED, UNTOUCHED };

	if (device())
		SKIP(return, "there is a device");
	EXPECT_EQ(-1, sprofil(&prof, 1, &tick, PROF_FAST));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(UNTOUCHED, tick.tv_sec);
	EXPECT_EQ(UNTOUCHED, tick.tv_usec);
}

TEST_F(absent, sprofil_off_succeeds)
{
	if (device())
		SKIP(return, "there is a device");
	EXPECT_EQ(0, sprofil(NULL, 0, NULL, 0));
	EXPECT_EQ(UNTOUCHED, errno);
}

/* Arguments that the library itself rejects are also wrong without a device. */
TEST_F(absent, sprofil_refuses)
{
	struct prof prof = { counters, sizeof(counters), 0x1000, 0x10000 };

	if (device())
		SKIP(return, "there is a device");
	EXPECT_EQ(-1, sprofil(&prof, 0, NULL, 0));
	EXPECT_EQ(E2BIG, errno);
	EXPECT_EQ(-1, sprofil(&prof, -1, NULL, 0));
	EXPECT_EQ(E2BIG, errno);
	EXPECT_EQ(-1, sprofil(&prof, 1, NULL, 4));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(absent, status_and_info_fail)
{
	struct profil_status status = { .size = sizeof(status) };
	struct profil_info info = { .size = sizeof(info) };
	struct profil_set set = { .size = sizeof(set) };

	if (device())
		SKIP(return, "there is a device");
	EXPECT_EQ(-1, profil_status(&status, NULL, 0));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(-1, profil_info(&info));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(-1, profil_set(&set));
	EXPECT_EQ(ENOENT, errno);
}

TEST_F(absent, stop_succeeds)
{
	struct profil_status last = { .size = sizeof(last) };

	if (device())
		SKIP(return, "there is a device");
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_EQ(PROFIL_STATE_OFF, last.state);
	EXPECT_EQ(UNTOUCHED, errno);
}

/* Like the kernel, the library never writes beyond the caller's structure. */
TEST_F(absent, stop_checks_the_size)
{
	struct {
		struct profil_status last;
		unsigned char more[16];
	} longer = { .last.state = PROFIL_STATE_ON };

	if (device())
		SKIP(return, "there is a device");
	longer.last.size = 0;
	EXPECT_EQ(-1, profil_stop(&longer.last, NULL, 0));
	EXPECT_EQ(EINVAL, errno);
	longer.last.size = UINT32_MAX;
	EXPECT_EQ(-1, profil_stop(&longer.last, NULL, 0));
	EXPECT_EQ(E2BIG, errno);
	longer.last.size = sizeof(longer);
	longer.more[15] = 1;
	EXPECT_EQ(-1, profil_stop(&longer.last, NULL, 0));
	EXPECT_EQ(E2BIG, errno);
	EXPECT_EQ(PROFIL_STATE_ON, longer.last.state);
	longer.more[15] = 0;
	EXPECT_EQ(0, profil_stop(&longer.last, NULL, 0));
	EXPECT_EQ(PROFIL_STATE_OFF, longer.last.state);
}

TEST_HARNESS_MAIN
