// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_libraries.c - tools/profil follows libraries that come and go
 */
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "tool.h"
#include "tool_fixture.h"

/* Two libraries of one size. */
#define LIBRARY_1	"first.so"
#define LIBRARY_2	"second.so"

static const char *library(const char *name)
{
	static char paths[2][4096];
	static int which;

	which = !which;
	helper_path(paths[which], sizeof(paths[which]), name);
	return paths[which];
}

TEST_F(tool, opened_while_it_runs)
{
	RUN("opener", "open", library(LIBRARY_1));
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_FUNCTION_IN(&self->run.prf.execs[0], LIBRARY_1, "first", 0);
	EXPECT_SUM(&self->run.prf.execs[0]);
}

/* Ticks of other threads while the mappings change */
TEST_F(tool, opened_while_threads_run)
{
	RUN("opener", "busy", library(LIBRARY_1));
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_FUNCTION_IN(&self->run.prf.execs[0], LIBRARY_1, "first", 0);
	EXPECT_FUNCTION(&self->run.prf.execs[0], "thread", 0);
}

/* Two libraries at one address in one exec: each has its own ticks. */
#define EXPECT_ONE_PLACE() do { \
	const struct prf_exec *exec = &self->run.prf.execs[0]; \
	EXPECT_EXIT(0); \
	ASSERT_EQ(1, self->run.prf.nr); \
	EXPECT_EQ(function_of(self->run.said, "first", 0).address, \
		  function_of(self->run.said, "second", 0).address); \
	EXPECT_FUNCTION_IN(exec, LIBRARY_1, "first", 0); \
	EXPECT_FUNCTION_IN(exec, LIBRARY_2, "second", 0); \
} while (0)

TEST_F(tool, opened_by_parent_and_child)
{
	RUN("opener", "fork", library(LIBRARY_1), library(LIBRARY_2));
	EXPECT_ONE_PLACE();
}

TEST_F(tool, closed_and_another_in_its_place)
{
	RUN("opener", "open", library(LIBRARY_1), "close", "open", library(LIBRARY_2));
	EXPECT_ONE_PLACE();
}

TEST_F(tool, closed_and_opened_again)
{
	RUN("opener", "open", library(LIBRARY_1), "close", "open", library(LIBRARY_1));
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_FUNCTION_IN(&self->run.prf.execs[0], LIBRARY_1, "first", 0);
}

TEST_F(tool, opened_by_musl)
{
	if (!tool_has_helper("opener-musl"))
		SKIP(return, "no musl-gcc");
	RUN("opener-musl", "open", library("musl.so"));
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_FUNCTION_IN(&self->run.prf.execs[0], "musl.so", "musl", 0);
}

/* Includes DSOs whose files are gone when the tool writes the profile. */
TEST_F(tool, many)
{
	struct function copies;

	RUN("opener", "copies", "20", library(LIBRARY_1));
	EXPECT_EXIT(0);
	ASSERT_LE(1, self->run.prf.nr);
	copies = function_of(self->run.said, "copies", 0);
	EXPECT_DUE("in copies", &self->run.prf.execs[0],
		   ticks_between(&self->run.prf.execs[0], "profil_copy.", 0,
				 UINT64_MAX),
		   copies, self->run.prf.period_ns);
}

/* What is left running goes on. */
TEST_F(tool, left_behind)
{
	RUN("opener", "leave", library(LIBRARY_1), library(LIBRARY_2));
	EXPECT_EXIT(0);
	EXPECT_STREQ("survived\n", self->run.said);
}

TEST_HARNESS_MAIN
