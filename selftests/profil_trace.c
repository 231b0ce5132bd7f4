// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_trace.c - tools/profil follows programs without doing them harm
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "tool/tool.h"
#include "tool/fixture.h"

#define NOBODY		65534
#define LIBRARY		"library/first.so"

static const char *library(void)
{
	static char path[4096];

	helper_path(path, sizeof(path), LIBRARY);
	return path;
}

/* What is known of the one is not held to be true of the other. */
TEST_F(tool, number_used_again)
{
	RUN("forker", "reuse", "200", library());
	EXPECT_EXIT(0);
	if (!strcmp(self->run.said, "no numbers\n"))
		SKIP(return, "numbers of processes cannot be chosen");
	EXPECT_STREQ("killed 0\n", self->run.said);
}

/* A child that is its brother's, and has its breakpoints. */
TEST_F(tool, child_given_to_its_parents_parent)
{
	RUN("forker", "parent", "50", library());
	EXPECT_EXIT(0);
	EXPECT_STREQ("killed 0\n", self->run.said);
}

/* The child goes on, of whom its parent could not tell any more. */
TEST_F(tool, killed_while_it_forks)
{
	RUN("forker", "kill", "300");
	EXPECT_EXIT(0);
	EXPECT_STREQ("done\n", self->run.said);
}

/* Neither calls that are the tool's. */
TEST_F(tool, children_that_may_not_call)
{
	tool_run(&self->run, LIST("-p"), "forker", LIST("filter", "5"));
	EXPECT_EXIT(0);
	EXPECT_STREQ("killed 0\n", self->run.said);
}

/* A program that forbids others to read it; root may nevertheless. */
TEST_F(tool, opens_what_is_not_to_be_read)
{
	if (!getuid() &&
	    (chown(self->run.directory, NOBODY, NOBODY) ||
	     setresgid(NOBODY, NOBODY, NOBODY) ||
	     setresuid(NOBODY, NOBODY, NOBODY)))
		SKIP(return, "root cannot become another");
	if (!tool_has_clock())
		SKIP(return, "perf_event_open is for root alone");
	RUN("opener", "hide", "open", library(), "close", "open", library());
	EXPECT_EXIT(0);
	EXPECT_TRUE(strstr(self->run.complained, "not readable"));
}

TEST_HARNESS_MAIN
