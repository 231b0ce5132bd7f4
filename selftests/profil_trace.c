// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_trace.c - tools/profil follows programs without doing them harm
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "tool/tool.h"
#include "tool/fixture.h"

#define NOBODY		65534
#define LIBRARY		"library/first.so"
#define RACER		"library/racer.so"

/* Stops of a program that opens a library, at least. */
#define STOPS		4

static const char *library(const char *name)
{
	static char path[4096];

	helper_path(path, sizeof(path), name);
	return path;
}

/* What is known of the one is not held to be true of the other. */
TEST_F(tool, number_used_again)
{
	RUN("forker", "reuse", "200", library(LIBRARY));
	EXPECT_EXIT(0);
	if (!strcmp(self->run.said, "no numbers\n"))
		SKIP(return, "numbers of processes cannot be chosen");
	EXPECT_STREQ("killed 0\n", self->run.said);
}

/* A child that is its brother's, and has its breakpoints. */
TEST_F(tool, child_given_to_its_parents_parent)
{
	RUN("forker", "parent", "50", library(LIBRARY));
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
	RUN("opener", "hide", "open", library(LIBRARY), "close", "open", library(LIBRARY));
	EXPECT_EXIT(0);
	EXPECT_TRUE(strstr(self->run.complained, "not readable"));
}

/* Killed between two looks at one stop: it is known that it has ended. */
TEST_F(tool, killed_while_it_is_looked_at)
{
	char at[16];
	int i;

	setenv("LD_PRELOAD", library(RACER), 1);
	for (i = 1; i <= STOPS; i++) {
		snprintf(at, sizeof(at), "%d", i);
		setenv("RACE_AT", at, 1);
		self->run.said[0] = '\0';
		prf_free(&self->run.prf);
		RUN("opener", "open", library(LIBRARY));
		EXPECT_TRUE(WIFSIGNALED(self->run.status));
		EXPECT_EQ(SIGKILL, WTERMSIG(self->run.status));
	}
}

TEST_HARNESS_MAIN
