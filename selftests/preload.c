// SPDX-License-Identifier: GPL-2.0-only
/*
 * preload.c - programs that were never told of this library
 *
 * They are linked with the C library alone and use its profil() and sprofil().
 * With LD_PRELOAD=libprofil.so these are ours; that it makes a difference is
 * shown by the same program without.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

/* The exit status of the program beside this one. */
static int run(const char *preload, const char *function)
{
	char path[4096];
	pid_t child;

	helper_path(path, sizeof(path), "unmodified");
	child = fork_child();
	if (!child) {
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		execl(path, path, function, NULL);
		_exit(127);
	}
	return wait_child(child);
}

TEST(profil_by_the_c_library)
{
	/* 2: its timer runs */
	EXPECT_EQ(2, run(NULL, "profil"));
}

TEST(profil_preloaded)
{
	EXPECT_EQ(0, run("libprofil.so.0", "profil"));
	EXPECT_EQ(0, run("libprofil.so", "profil"));
}

TEST(sprofil_preloaded)
{
	EXPECT_EQ(0, run("libprofil.so.0", "sprofil"));
}

TEST_HARNESS_MAIN
