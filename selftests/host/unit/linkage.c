// SPDX-License-Identifier: GPL-2.0-only
/*
 * linkage.c - programs call the library's profil() and sprofil()
 *
 * Built against the C library alone, and run with libprofil or with
 * libprofil-preload preloaded; linked with the shared library, also with
 * libprofil-preload preloaded; linked with the static one. With or without a device, our library rejects arguments that the
 * C library accepts.
 */
#include "kselftest_harness.h"

#include <dlfcn.h>
#include <sys/profil.h>

/* Not in the C library */
extern int profil_stop(void *last, void *regions, unsigned int max)
	__attribute__((weak));

static unsigned short counters[8];

TEST(profil_is_the_library_s)
{
	EXPECT_EQ(-1, profil(counters, sizeof(counters), 0, 0xffffffff));
}

TEST(sprofil_is_the_library_s)
{
	struct prof prof = { counters, sizeof(counters), 0x1000, 0x10000 };

	EXPECT_EQ(-1, sprofil(&prof, 1, NULL, 0x80));
	EXPECT_EQ(EINVAL, errno);
}

/* A pointer points to the same function. */
TEST(address_is_the_library_s)
{
	int (*volatile function)(unsigned short *buffer, size_t size,
				 size_t offset, unsigned int scale) = profil;

	EXPECT_EQ(-1, function(counters, sizeof(counters), 0, 0xffffffff));
}

static const char *library_of(const void *function)
{
	Dl_info info = {};

	return dladdr(function, &info) ? info.dli_fname : NULL;
}

/* There is one profile of a process, so all functions are of one library. */
TEST(all_functions_are_of_one_library)
{
	const void *volatile stop = profil_stop;

	if (!stop)
		SKIP(return, "built against the C library alone");
	EXPECT_STREQ(library_of(stop), library_of(profil));
	EXPECT_STREQ(library_of(stop), library_of(sprofil));
}

/* Code for programs compiled with -pg is not linked into others. */
extern const char gmon_counting[] __attribute__((weak));

TEST(nothing_for_gprof_comes_along)
{
	const char *volatile counting = gmon_counting;

	EXPECT_EQ(NULL, counting);
}

TEST_HARNESS_MAIN
