// SPDX-License-Identifier: GPL-2.0-only
/*
 * remedy.c - what a 32-bit profil says when there is no device
 *
 * Built with -m32, and with a uname() that names any kernel.
 */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "kselftest_harness.h"
#include "profil/remedy.h"

static const char *machine;

int __wrap_uname(struct utsname *name)
{
	memset(name, 0, sizeof(*name));
	strcpy(name->release, "6.1.0-none");
	strcpy(name->machine, machine);
	return 0;
}

/* Return: does the remedy ask for a 64-bit kernel? */
static bool says_64_bit(const char *kernel)
{
	machine = kernel;
	return strstr(device_remedy(ENOENT), "needs a 64-bit kernel");
}

TEST(of_a_32_bit_kernel)
{
	EXPECT_TRUE(says_64_bit("i686"));
	EXPECT_NE(NULL, strstr(device_remedy(ENOENT), "for i686"));
	EXPECT_TRUE(says_64_bit("armv7l"));
}

TEST(of_a_64_bit_kernel_that_runs_32_bit_programs)
{
	EXPECT_FALSE(says_64_bit("x86_64"));
	EXPECT_FALSE(says_64_bit("aarch64"));
	EXPECT_FALSE(says_64_bit("armv8l"));
}

TEST_HARNESS_MAIN
