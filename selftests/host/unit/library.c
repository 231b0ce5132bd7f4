// SPDX-License-Identifier: GPL-2.0-only
/*
 * library.c - requests of the library to the device
 *
 * Uses a fake device, which only records them; see fake.c.
 */
#include "kselftest_harness.h"

#include <limits.h>
#include <sys/syscall.h>

#include <profil.h>

#include "behaviour.h"
#include "fake.h"

#define UNTOUCHED	4711

/* <unistd.h> declares the buffer as never NULL, and the compiler may warn. */
static int (*profil_function)(unsigned short *buffer, size_t size,
			      size_t offset, unsigned int scale) = profil;

static unsigned short counters[8];

FIXTURE(library)
{
};

FIXTURE_SETUP(library)
{
	memset(&fake, 0, sizeof(fake));
	fake.max_regions = 4096;
	errno = UNTOUCHED;
}

/* The library has closed all descriptors, and opened them correctly. */
FIXTURE_TEARDOWN(library)
{
	EXPECT_EQ(fake.opened, fake.closed);
	if (fake.opened)
		EXPECT_TRUE(fake.open_right);
}

TEST_F(library, profil_asks_for_one_region)
{
	EXPECT_EQ(0, profil_function(counters, 15, (size_t)-16, 0x12345));
	EXPECT_EQ(UNTOUCHED, errno);
	EXPECT_EQ(1, fake.requests);
	EXPECT_EQ(PROFIL_IOC_SET, fake.request);
	EXPECT_EQ(sizeof(fake.set), fake.set.size);
	EXPECT_EQ(PROFIL_SET_CHECK, fake.set.flags);
	EXPECT_EQ(2, fake.set.width);
	EXPECT_EQ(1, fake.set.nr_regions);
	EXPECT_EQ(0, fake.set.period_ns);
	EXPECT_EQ(0, fake.set.timeval);
	EXPECT_EQ(0, fake.set.timeval_size);
	EXPECT_EQ(0, fake.set.reserved);
	EXPECT_EQ((uintptr_t)counters, fake.regions[0].base);
	EXPECT_EQ(15, fake.regions[0].size);
	EXPECT_EQ((size_t)-16, fake.regions[0].offset);
	EXPECT_EQ(0x12345, fake.regions[0].scale);
}

TEST_F(library, profil_with_size_0_replaces)
{
	EXPECT_EQ(0, profil_function(counters, 0, 0, 0x10000));
	EXPECT_EQ(PROFIL_IOC_SET, fake.request);
	EXPECT_EQ(0, fake.regions[0].size);
}

/* The library has no limit of its own; the device decides. */
TEST_F(library, profil_scale_is_passed_on)
{
	EXPECT_EQ(0, profil_function(counters, 2, 0, 2));
	EXPECT_EQ(2, fake.regions[0].scale);
	EXPECT_EQ(0, profil_function(counters, 2, 0, (unsigned int)-1));
	EXPECT_EQ((unsigned int)-1, fake.regions[0].scale);
}

static bool stopped(int result)
{
	bool right = !result && errno == UNTOUCHED && fake.requests == 1 &&
		fake.request == PROFIL_IOC_STOP && !fake.argument;

	fake.requests = 0;
	fake.request = 0;
	return right;
}

TEST_F(library, profil_stops)
{
	void *bad = (void *)1;

	EXPECT_TRUE(stopped(profil_function(counters, 16, 0, 0)));
	EXPECT_TRUE(stopped(profil_function(counters, 16, 0, 1)));
	EXPECT_TRUE(stopped(profil_function(NULL, 0, 0, 0)));
	EXPECT_TRUE(stopped(profil_function(NULL, 16, 16, 0x10000)));
	EXPECT_TRUE(stopped(profil_function(bad, (size_t)-1, 0, 0)));
}

TEST_F(library, sprofil_stops)
{
	struct timeval *bad = (void *)1;

	EXPECT_TRUE(stopped(sprofil(NULL, 0, NULL, 0)));
	EXPECT_TRUE(stopped(sprofil(NULL, 0, bad, 0xff)));
}

TEST_F(library, stop_without_device)
{
	static const int missing[] = { ENOENT, ENODEV, ENXIO };
	int i;

	for (i = 0; i < 3; i++) {
		fake.open_errno = missing[i];
		EXPECT_EQ(0, profil_function(counters, 16, 0, 0));
		EXPECT_EQ(0, sprofil(NULL, 0, NULL, 0));
		EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
		EXPECT_EQ(UNTOUCHED, errno);
	}
	EXPECT_EQ(0, fake.requests);
}

/* The profile keeps the module loaded, so that there must be a device. */
TEST_F(library, stop_of_a_profile_without_device)
{
	static const int missing[] = { ENOENT, ENODEV, ENXIO };
	int i;

	EXPECT_EQ(0, profil_function(counters, 16, 0, 2));
	for (i = 0; i < 3; i++) {
		fake.open_errno = missing[i];
		EXPECT_EQ(-1, profil_function(counters, 16, 0, 0));
		EXPECT_EQ(missing[i], errno);
	}
	fake.open_errno = 0;
	EXPECT_EQ(0, profil_function(counters, 16, 0, 0));
	fake.open_errno = ENOENT;
	EXPECT_EQ(0, profil_function(counters, 16, 0, 0));
}

/* If the device cannot be opened, a profile may still be running. */
TEST_F(library, stop_without_descriptor)
{
	fake.open_errno = EMFILE;
	EXPECT_EQ(-1, profil_function(counters, 16, 0, 0));
	EXPECT_EQ(EMFILE, errno);
}

TEST_F(library, errors_of_open)
{
	static const int errors[] = { ENOENT, ENODEV, ENXIO, EMFILE, EACCES };
	struct prof prof = { .pr_scale = 2 };
	int i;

	for (i = 0; i < 5; i++) {
		fake.open_errno = errors[i];
		EXPECT_EQ(-1, profil_function(counters, 16, 0, 2));
		EXPECT_EQ(errors[i], errno);
		EXPECT_EQ(-1, sprofil(&prof, 1, NULL, 0));
		EXPECT_EQ(errors[i], errno);
	}
	EXPECT_EQ(0, fake.requests);
}

/* close() follows the request and must not hide its error. */
TEST_F(library, errors_of_requests)
{
	static const int errors[] = {
		E2BIG, EINVAL, EACCES, EFAULT, EAGAIN, ENOMEM, ENOTTY
	};
	struct prof prof = { .pr_scale = 2 };
	int i;

	for (i = 0; i < 7; i++) {
		fake.ioctl_errno = errors[i];
		EXPECT_EQ(-1, profil_function(counters, 16, 0, 2));
		EXPECT_EQ(errors[i], errno);
		EXPECT_EQ(-1, profil_function(counters, 16, 0, 0));
		EXPECT_EQ(errors[i], errno);
		EXPECT_EQ(-1, sprofil(&prof, 1, NULL, 0));
		EXPECT_EQ(errors[i], errno);
	}
}

TEST_F(library, sprofil_asks_for_regions)
{
	struct prof profs[3] = {
		{ counters, 4, 0x1000, 0x10000 },
		{ counters + 2, (size_t)-1, (size_t)-2, (unsigned long)-1 },
		{ counters + 4, 2, 0, 2 },
	};
	struct timeval tick;
	int i;

	EXPECT_EQ(0, sprofil(profs, 3, &tick, PROF_UINT | PROF_FAST));
	EXPECT_EQ(UNTOUCHED, errno);
	EXPECT_EQ(PROFIL_IOC_SET, fake.request);
	EXPECT_EQ(sizeof(fake.set), fake.set.size);
	EXPECT_EQ(0, fake.set.flags);
	EXPECT_EQ(4, fake.set.width);
	EXPECT_EQ(3, fake.set.nr_regions);
	EXPECT_EQ(1000000, fake.set.period_ns);
	EXPECT_EQ((uintptr_t)&tick, fake.set.timeval);
	EXPECT_EQ(sizeof(tick), fake.set.timeval_size);
	EXPECT_EQ(0, fake.set.reserved);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ((uintptr_t)profs[i].pr_base, fake.regions[i].base);
		EXPECT_EQ(profs[i].pr_size, fake.regions[i].size);
		EXPECT_EQ(profs[i].pr_off, fake.regions[i].offset);
		EXPECT_EQ(profs[i].pr_scale, fake.regions[i].scale);
	}
}

TEST_F(library, sprofil_flags)
{
	struct prof prof = { counters, 16, 0x1000, 0x10000 };

	EXPECT_EQ(0, sprofil(&prof, 1, NULL, PROF_USHORT));
	EXPECT_EQ(2, fake.set.width);
	EXPECT_EQ(0, fake.set.period_ns);
	EXPECT_EQ(0, fake.set.timeval);
	EXPECT_EQ(0, fake.set.timeval_size);
	EXPECT_EQ(0, sprofil(&prof, 1, NULL, PROF_FAST));
	EXPECT_EQ(2, fake.set.width);
	EXPECT_EQ(1000000, fake.set.period_ns);
	EXPECT_EQ(0, sprofil(&prof, 1, NULL, PROF_UINT));
	EXPECT_EQ(4, fake.set.width);
	EXPECT_EQ(0, fake.set.period_ns);
}

static int sprofil_error(struct prof *profp, int profcnt, unsigned int flags)
{
	errno = 0;
	if (sprofil(profp, profcnt, NULL, flags) != -1)
		return 0;
	return errno;
}

/* The library rejects these without the device, and changes nothing. */
TEST_F(library, sprofil_refuses)
{
	struct prof prof = { counters, 16, 0x1000, 0x10000 };
	int bit;

	EXPECT_EQ(E2BIG, sprofil_error(&prof, 0, 0));
	EXPECT_EQ(E2BIG, sprofil_error(&prof, -1, 0));
	EXPECT_EQ(E2BIG, sprofil_error(&prof, -0x7fffffff - 1, 0));
	EXPECT_EQ(E2BIG, sprofil_error(NULL, -1, 0));
	for (bit = 2; bit < 32; bit++)
		EXPECT_EQ(EINVAL, sprofil_error(&prof, 1, 1U << bit));
	EXPECT_EQ(0, fake.opened);
}

TEST_F(library, status_and_info)
{
	struct profil_region_status regions[2];
	struct profil_status status = { .size = sizeof(status) };
	struct profil_info info = { .size = sizeof(info) };

	EXPECT_EQ(0, profil_status(&status, regions, 2));
	EXPECT_EQ(PROFIL_IOC_STATUS, fake.request);
	EXPECT_TRUE(fake.argument == &status);
	EXPECT_EQ((uintptr_t)regions, status.regions);
	EXPECT_EQ(2, status.max_regions);
	EXPECT_EQ(0, profil_status(&status, NULL, 2));
	EXPECT_EQ(0, status.regions);
	EXPECT_EQ(0, status.max_regions);
	EXPECT_EQ(0, profil_info(&info));
	EXPECT_EQ(PROFIL_IOC_INFO, fake.request);
	EXPECT_TRUE(fake.argument == &info);
	EXPECT_EQ(UNTOUCHED, errno);
}

TEST_F(library, set_is_passed_on)
{
	struct profil_set set = { .size = sizeof(set), .width = 8 };

	EXPECT_EQ(0, profil_set(&set));
	EXPECT_EQ(PROFIL_IOC_SET, fake.request);
	EXPECT_TRUE(fake.argument == &set);
}

TEST_F(library, last_numbers)
{
	struct profil_region_status regions[2];
	struct profil_status last = { .size = sizeof(last) };

	EXPECT_EQ(0, profil_stop(&last, regions, 2));
	EXPECT_EQ(PROFIL_IOC_STOP, fake.request);
	EXPECT_TRUE(fake.argument == &last);
	EXPECT_EQ((uintptr_t)regions, last.regions);
	EXPECT_EQ(2, last.max_regions);
}

/* Without a device, there can be no ticks. */
TEST_F(library, last_numbers_without_device)
{
	struct profil_region_status regions[2];
	struct profil_status last, zero = {
		.size = sizeof(zero),
		.regions = (uintptr_t)regions,
		.max_regions = 2,
	};

	fake.open_errno = ENOENT;
	memset(&last, 0xaa, sizeof(last));
	last.size = sizeof(last);
	EXPECT_EQ(0, profil_stop(&last, regions, 2));
	EXPECT_EQ(0, memcmp(&last, &zero, sizeof(last)));
	EXPECT_EQ(UNTOUCHED, errno);
	last.size = 0;
	EXPECT_EQ(-1, profil_stop(&last, regions, 2));
	EXPECT_EQ(EINVAL, errno);
}

/* The descriptor of a watch stays open, and is the caller's. */
TEST_F(library, watch)
{
	struct profil_watch watch = { .size = sizeof(watch) };
	struct profil_watch_status status = { .size = sizeof(status) };
	int fd = profil_watch_open(&watch);

	EXPECT_LE(0, fd);
	EXPECT_EQ(PROFIL_IOC_WATCH, fake.request);
	EXPECT_TRUE(fake.argument == &watch);
	EXPECT_EQ(1, fake.opened);
	EXPECT_EQ(0, profil_watch_status(fd, &status));
	EXPECT_EQ(PROFIL_IOC_WATCH_STATUS, fake.request);
	EXPECT_TRUE(fake.argument == &status);
	EXPECT_EQ(0, profil_watch_stop(fd, &status));
	EXPECT_EQ(PROFIL_IOC_WATCH_STOP, fake.request);
	EXPECT_TRUE(fake.argument == &status);
	EXPECT_EQ(0, profil_watch_stop(fd, NULL));
	EXPECT_TRUE(!fake.argument);
	EXPECT_EQ(0, profil_watch_unwind(fd, -1, &watch, 7));
	EXPECT_EQ(PROFIL_IOC_WATCH_UNWIND, fake.request);
	EXPECT_EQ(0, profil_watch_collect(fd, &status));
	EXPECT_EQ(PROFIL_IOC_WATCH_COLLECT, fake.request);
	EXPECT_TRUE(fake.argument == &status);
	EXPECT_EQ(6, fake.requests);
	EXPECT_EQ(1, fake.opened);
	EXPECT_EQ(0, fake.closed);
	EXPECT_EQ(UNTOUCHED, errno);
	syscall(SYS_close, fd);
}

TEST_F(library, watch_that_is_refused)
{
	struct profil_watch watch = { .size = sizeof(watch) };

	fake.ioctl_errno = EBUSY;
	EXPECT_EQ(-1, profil_watch_open(&watch));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(1, fake.closed);
	fake.open_errno = ENOENT;
	EXPECT_EQ(-1, profil_watch_open(&watch));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(1, fake.requests);
}

TEST_F(library, watch_of_another_descriptor)
{
	struct profil_watch_status status = { .size = sizeof(status) };

	EXPECT_EQ(-1, profil_watch_status(-1, &status));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(-1, profil_watch_stop(-1, NULL));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(-1, profil_watch_unwind(-1, -1, NULL, 0));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(-1, profil_watch_collect(-1, NULL));
	EXPECT_EQ(EBADF, errno);
}

/* profil() of System V, with the result of the others: 0. */
static int svr4(unsigned short *buffer, size_t size, size_t offset,
		unsigned int scale)
{
	errno = UNTOUCHED;
	profil_svr4(buffer, size, offset, scale);
	return errno == UNTOUCHED ? 0 : -1;
}

/* Requests of each system's profil(); the tests above cover common fields. */
TEST_F(library, profil_of_each_system)
{
	static const struct {
		int (*profil)(unsigned short *buffer, size_t size,
			      size_t offset, unsigned int scale);
		unsigned int flags;
		unsigned int least;
		unsigned int largest;
	} systems[] = {
		{ profil, PROFIL_SET_CHECK, 2, UINT_MAX },
		{ svr4, PROFIL_SET_SVR4_ARITH | PROFIL_SET_SVR4_STOP |
			PROFIL_SET_NO_OVERFLOW, 2, UINT_MAX },
		{ profil_bsd, PROFIL_SET_CHECK | PROFIL_SET_SCALE_ONE |
			      PROFIL_SET_NO_OVERFLOW, 1, 65536 },
		{ profil_irix, 0, 2, UINT_MAX },
	};
	int i;

	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, systems[i].profil(counters, 15, (size_t)-16,
					       systems[i].largest));
		EXPECT_EQ(PROFIL_IOC_SET, fake.request);
		EXPECT_EQ(systems[i].flags, fake.set.flags);
		EXPECT_EQ(2, fake.set.width);
		EXPECT_EQ(1, fake.set.nr_regions);
		EXPECT_EQ(0, fake.set.period_ns);
		EXPECT_EQ(0, fake.set.timeval);
		EXPECT_EQ((uintptr_t)counters, fake.regions[0].base);
		EXPECT_EQ(15, fake.regions[0].size);
		EXPECT_EQ((size_t)-16, fake.regions[0].offset);
		EXPECT_EQ(systems[i].largest, fake.regions[0].scale);

		EXPECT_EQ(0, systems[i].profil(counters, 2, 0,
					       systems[i].least));
		EXPECT_EQ(PROFIL_IOC_SET, fake.request);
		fake.requests = 0;
		EXPECT_TRUE(stopped(systems[i].profil(counters, 2, 0,
						systems[i].least - 1)));
		EXPECT_TRUE(stopped(systems[i].profil((void *)1, 2, 0, 0)));
		EXPECT_TRUE(stopped(systems[i].profil(NULL, 0, 0, 0)));

		fake.ioctl_errno = EAGAIN;
		EXPECT_EQ(-1, systems[i].profil(counters, 2, 0, 2));
		EXPECT_EQ(EAGAIN, errno);
		fake.ioctl_errno = 0;
		errno = UNTOUCHED;
	}
}

TEST_F(library, profil_bsd_above_its_largest_scale)
{
	EXPECT_EQ(-1, profil_bsd(counters, 16, 0, 65537));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, profil_bsd(NULL, 16, 0, (unsigned int)-1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, fake.opened);
}

/* 4.4BSD fails, and stops profiling. */
TEST_F(library, profil_bsd_without_a_buffer)
{
	size_t size;

	for (size = 0; size < 16; size += 2) {
		EXPECT_EQ(-1, profil_bsd(NULL, size, 0, 1));
		EXPECT_EQ(EFAULT, errno);
		EXPECT_EQ(PROFIL_IOC_STOP, fake.request);
		EXPECT_EQ(size / 2 + 1, fake.requests);
	}
	fake.open_errno = EMFILE;
	EXPECT_EQ(-1, profil_bsd(NULL, 16, 0, 2));
	EXPECT_EQ(EMFILE, errno);
}

/* To these systems, NULL is an address like any other. */
TEST_F(library, profil_svr4_and_irix_without_a_buffer)
{
	EXPECT_EQ(0, svr4(NULL, 16, 0, 2));
	EXPECT_EQ(PROFIL_IOC_SET, fake.request);
	EXPECT_EQ(0, fake.regions[0].base);
	EXPECT_EQ(16, fake.regions[0].size);
	EXPECT_EQ(0, profil_irix(NULL, 16, 0, 2));
	EXPECT_EQ(2, fake.requests);
	EXPECT_EQ(PROFIL_IOC_SET, fake.request);
	EXPECT_EQ(UNTOUCHED, errno);
}

/* A size of 0 stops, and nothing fails. */
TEST_F(library, profil_linux099)
{
	EXPECT_EQ(0, profil_linux099(counters, 15, (size_t)-16, UINT_MAX));
	EXPECT_EQ(PROFIL_IOC_SET, fake.request);
	EXPECT_EQ(PROFIL_SET_SVR4_ARITH | PROFIL_SET_NO_OVERFLOW |
		  PROFIL_SET_USER_ONLY, fake.set.flags);
	EXPECT_EQ(2, fake.set.width);
	EXPECT_EQ(0, fake.set.period_ns);
	EXPECT_EQ(15, fake.regions[0].size);
	fake.requests = 0;
	EXPECT_TRUE(stopped(profil_linux099(counters, 0, 0, 0x10000)));
	EXPECT_TRUE(stopped(profil_linux099(counters, 2, 0, 1)));
	EXPECT_EQ(0, profil_linux099(NULL, 2, 0, 2));
	EXPECT_EQ(PROFIL_IOC_SET, fake.request);
	fake.ioctl_errno = EINVAL;
	EXPECT_EQ(0, profil_linux099(counters, 2, 0, 2));
	fake.open_errno = EMFILE;
	EXPECT_EQ(0, profil_linux099(counters, 0, 0, 0));
}

TEST_F(library, sprofil_glibc_is_sprofil_but_for_the_overflow_bin)
{
	struct prof profs[2] = {
		{ counters, 2, 0, 2 }, { counters + 2, 4, 0x1000, 0x10000 },
	};
	struct timeval tick;

	EXPECT_EQ(0, sprofil_glibc(profs, 2, &tick, PROF_UINT | PROF_FAST));
	EXPECT_EQ(PROFIL_IOC_SET, fake.request);
	EXPECT_EQ(PROFIL_SET_OVERFLOW_ANYWHERE, fake.set.flags);
	EXPECT_EQ(4, fake.set.width);
	EXPECT_EQ(2, fake.set.nr_regions);
	EXPECT_EQ(1000000, fake.set.period_ns);
	EXPECT_EQ((uintptr_t)&tick, fake.set.timeval);
	EXPECT_EQ(2, fake.regions[0].scale);
	EXPECT_EQ(0, sprofil_glibc(profs, 1, NULL, PROF_USHORT));
	EXPECT_EQ(2, fake.set.width);
	EXPECT_EQ(-1, sprofil_glibc(profs, 1, NULL, 4));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, sprofil_glibc(profs, 0, NULL, 0));
	EXPECT_EQ(E2BIG, errno);
	fake.requests = 0;
	errno = UNTOUCHED;
	EXPECT_TRUE(stopped(sprofil_glibc(NULL, 0, NULL, 0xff)));
}

/* IRIX's flags: either 1 or 2, and optionally 4. */
TEST_F(library, sprofil_irix_flags)
{
	struct prof prof = { counters, 16, 0x1000, 0x10000 };
	unsigned int flags;

	for (flags = 0; flags < 16; flags++) {
		unsigned int counter = flags & 3;
		bool right = flags < 8 && (counter == 1 || counter == 2);

		fake.requests = 0;
		errno = 0;
		EXPECT_EQ(right ? 0 : -1, sprofil_irix(&prof, 1, NULL, flags));
		EXPECT_EQ(right ? 0 : EINVAL, errno);
		EXPECT_EQ(right, fake.requests > 0);
		if (!right)
			continue;
		EXPECT_EQ(0, fake.set.flags);
		EXPECT_EQ(2 * counter, fake.set.width);
		EXPECT_EQ(flags & 4 ? 1000000 : 0, fake.set.period_ns);
	}
	EXPECT_EQ(1, PROFIL_IRIX_USHORT);
	EXPECT_EQ(2, PROFIL_IRIX_UINT);
	EXPECT_EQ(4, PROFIL_IRIX_FAST);
}

/* IRIX has no call to stop a profile, and checks the count before the flags. */
TEST_F(library, sprofil_irix_without_regions)
{
	static const int counts[] = { 0, -1, -0x7fffffff - 1 };
	struct prof prof = { counters, 16, 0x1000, 0x10000 };
	unsigned int flags;
	int i;

	for (i = 0; i < 3; i++) {
		for (flags = 0; flags < 4; flags++) {
			EXPECT_EQ(-1, sprofil_irix(NULL, counts[i], NULL,
						   flags));
			EXPECT_EQ(E2BIG, errno);
			EXPECT_EQ(-1, sprofil_irix(&prof, counts[i], NULL,
						   flags));
			EXPECT_EQ(E2BIG, errno);
		}
	}
	EXPECT_EQ(0, fake.opened);
}

TEST_F(library, behaviours_by_name)
{
	const struct profil_behaviour *all = profil_behaviours;

	EXPECT_TRUE(profil_behaviour_named(NULL) == &all[PROFIL_DEFAULT]);
	EXPECT_TRUE(profil_behaviour_named("") == &all[PROFIL_DEFAULT]);
	EXPECT_TRUE(profil_behaviour_named("svr4") == &all[PROFIL_SVR4]);
	EXPECT_TRUE(profil_behaviour_named("bsd") == &all[PROFIL_BSD]);
	EXPECT_TRUE(profil_behaviour_named("irix") == &all[PROFIL_IRIX]);
	EXPECT_TRUE(profil_behaviour_named("glibc") == &all[PROFIL_GLIBC]);
	EXPECT_TRUE(!profil_behaviour_named("BSD"));
	EXPECT_TRUE(!profil_behaviour_named("bsd "));
	EXPECT_TRUE(!profil_behaviour_named("linux"));
}

/* System V and 4.4BSD had no sprofil(); they get the default one. */
TEST_F(library, sprofil_where_there_was_none)
{
	static const enum profil_system systems[] = { PROFIL_SVR4, PROFIL_BSD };
	struct prof prof = { counters, 16, 0x1000, 0x10000 };
	int i;

	for (i = 0; i < 2; i++) {
		const struct profil_behaviour *how =
			&profil_behaviours[systems[i]];

		EXPECT_EQ(0, sprofil_by(how, &prof, 1, NULL, PROF_UINT));
		EXPECT_EQ(0, fake.set.flags);
		EXPECT_EQ(4, fake.set.width);
		EXPECT_EQ(0, sprofil_by(how, NULL, 0, NULL, 0));
		EXPECT_EQ(PROFIL_IOC_STOP, fake.request);
	}
}

/* The C library's profil() is the default one. */
TEST_F(library, profil_of_the_c_library)
{
	const struct profil_behaviour *how = &profil_behaviours[PROFIL_GLIBC];

	EXPECT_EQ(0, profil_by(how, counters, 16, 0, (unsigned int)-1));
	EXPECT_EQ(PROFIL_SET_CHECK, fake.set.flags);
	fake.requests = 0;
	EXPECT_TRUE(stopped(profil_by(how, NULL, 16, 0, 2)));
	EXPECT_TRUE(stopped(profil_by(how, counters, 16, 0, 1)));
}

static bool tells_why(const char *words)
{
	const char *why = strstr(words, ": ");

	return why && why[2];
}

static bool tells_of_ignorance(const char *words)
{
	return strstr(words, "not know");
}

/* The string of every state but "on" gives a reason. */
TEST_F(library, reasons)
{
	unsigned int i;

	for (i = PROFIL_REGION_ON + 1; i <= PROFIL_REGION_FILE; i++)
		EXPECT_TRUE(tells_why(profil_region_state_string(i)));
	EXPECT_TRUE(tells_why(profil_state_string(PROFIL_STATE_FULL)));
	for (i = PROFIL_REGION_ON; i <= PROFIL_REGION_FILE; i++)
		EXPECT_FALSE(tells_of_ignorance(profil_region_state_string(i)));
	EXPECT_TRUE(tells_of_ignorance(profil_region_state_string(i)));
	for (i = PROFIL_STATE_OFF; i <= PROFIL_STATE_FULL; i++)
		EXPECT_FALSE(tells_of_ignorance(profil_state_string(i)));
	EXPECT_TRUE(tells_of_ignorance(profil_state_string(i)));
}

/* Each state has a string of its own; all unknown states share another one. */
TEST_F(library, strings)
{
	unsigned int i, j;

	EXPECT_STREQ("off", profil_state_string(PROFIL_STATE_OFF));
	EXPECT_STREQ("on", profil_state_string(PROFIL_STATE_ON));
	EXPECT_STREQ("on", profil_region_state_string(PROFIL_REGION_ON));
	for (i = 0; i <= PROFIL_REGION_FILE + 1; i++)
		for (j = 0; j < i; j++)
			EXPECT_STRNE(profil_region_state_string(i),
				     profil_region_state_string(j));
	for (i = 0; i <= PROFIL_STATE_FULL + 1; i++)
		for (j = 0; j < i; j++)
			EXPECT_STRNE(profil_state_string(i),
				     profil_state_string(j));
	EXPECT_STREQ(profil_region_state_string(1000),
		     profil_region_state_string((unsigned int)-1));
}

/* In 32 bits, the library converts regions, and must check their number. */
TEST_F(library, too_many_regions)
{
	struct prof prof = { counters, 16, 0x1000, 0x10000 };

	if (sizeof(prof) == sizeof(struct profil_region))
		SKIP(return, "struct prof needs no conversion");
	EXPECT_EQ(E2BIG, sprofil_error(&prof, 4097, 0));
	EXPECT_EQ(E2BIG, sprofil_error(&prof, 0x7fffffff, 0));
	EXPECT_EQ(PROFIL_IOC_INFO, fake.request);
}

TEST_HARNESS_MAIN
