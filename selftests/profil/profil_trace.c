// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_trace.c - tools/profil follows programs without harming them
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "tool.h"
#include "tool_fixture.h"

#define NOBODY		65534
#define LIBRARY		"first.so"
#define RACER		"racer.so"

/* The least number of stops of a program that opens a library. */
#define STOPS		4
#define TIMES		20
#define STOPPED_TIMES	100

/*
 * A process rests if it uses no CPU time for QUIET_US; if it does not in
 * QUIET_TIMES tries, it never will.
 */
#define QUIET_US	20000
#define QUIET_TIMES	250

static const char *library(const char *name)
{
	static char path[4096];

	helper_path(path, sizeof(path), name);
	return path;
}

/* A new process has the number of an old one; the tool must not mix them up. */
TEST_F(tool, number_used_again)
{
	RUN("forker", "reuse", "20", library(LIBRARY));
	EXPECT_EXIT(0);
	if (!strcmp(self->run.said, "no numbers\n"))
		SKIP(return, "numbers of processes cannot be chosen");
	EXPECT_STREQ("killed 0\n", self->run.said);
}

/*
 * The new child is a sibling of the process that made it, and has a copy of its
 * breakpoints.
 */
TEST_F(tool, child_given_to_its_parents_parent)
{
	RUN("forker", "parent", "50", library(LIBRARY));
	EXPECT_EXIT(0);
	EXPECT_STREQ("killed 0\n", self->run.said);
}

/* The parent dies before it can report its child, which must go on. */
TEST_F(tool, killed_while_it_forks)
{
	RUN("forker", "kill", "300");
	EXPECT_EXIT(0);
	EXPECT_STREQ("done\n", self->run.said);
}

/* The tool must not inject a call into a child whose filter forbids it. */
TEST_F(tool, children_that_may_not_call)
{
	tool_run(&self->run, LIST("-p"), "forker", LIST("filter", "5"));
	EXPECT_EXIT(0);
	EXPECT_STREQ("killed 0\n", self->run.said);
}

/*
 * The program is not dumpable; root may read it nevertheless, so run as another
 * user.
 */
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
	EXPECT_TRUE(strstr(self->run.complained, "cannot read its memory"));
}

/* Killed between two looks at one stop: the tool must notice the end. */
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

/* Ctrl-Z stops both the tool and the program; the shell waits for the tool. */
static void stop_and_go_on(struct __test_metadata *_metadata, struct tool *tool,
			   const char *deed)
{
	const char *const deeds[] = { deed, NULL };
	int pipes[3], status = 0, i;
	pid_t child;

	child = tool_start(tool, NO_OPTIONS, "stopper", deeds, pipes);
	ASSERT_EQ(6, read(pipes[1], tool->said, 6));
	for (i = 0; i < TIMES; i++) {
		kill(-child, SIGTSTP);
		ASSERT_EQ(child, waitpid(child, &status, WUNTRACED));
		ASSERT_TRUE(WIFSTOPPED(status));
		kill(-child, SIGCONT);
	}
	tool_finish(tool, child, pipes);
}

TEST_F(tool, stops_itself)
{
	stop_and_go_on(_metadata, &self->run, "itself");
	EXPECT_EXIT(0);
}

TEST_F(tool, stops_without_main_thread)
{
	stop_and_go_on(_metadata, &self->run, "thread");
	EXPECT_EXIT(0);
}

static uint64_t cpu_ns(pid_t pid)
{
	struct timespec time = { 0 };
	clockid_t clock;

	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

/* Does the process rest within QUIET_TIMES tries? */
static bool rests(pid_t pid)
{
	uint64_t before;
	int i;

	for (i = 0; i < QUIET_TIMES; i++) {
		before = cpu_ns(pid);
		usleep(QUIET_US);
		if (cpu_ns(pid) == before)
			return true;
	}
	return false;
}

/* This also stops threads into which the tool is injecting a call. */
TEST_F(tool, stopped_while_it_opens)
{
	const char *const deeds[] = { "loop", library(LIBRARY), NULL };
	int pipes[3], i, program = 0;
	char line[32] = "";
	pid_t child;

	child = tool_start(&self->run, NO_OPTIONS, "opener", deeds, pipes);
	ASSERT_LT(0, read(pipes[1], line, sizeof(line) - 1));
	program = atoi(line + strlen("process "));
	ASSERT_LT(1, program);
	for (i = 0; i < STOPPED_TIMES; i++) {
		usleep(QUIET_US / 20 * (i % 20));
		kill(program, SIGSTOP);
		EXPECT_TRUE(rests(program));
		kill(program, SIGCONT);
	}
	tool_finish(&self->run, child, pipes);
	EXPECT_EXIT(0);
}

/* The tool must not take the SIGCONT for the start of a new thread. */
TEST_F(tool, continued)
{
	int before = -1, after = -1, nr;

	RUN("stopper", "count");
	EXPECT_EXIT(0);
	nr = sscanf(self->run.said, "before %d\nafter %d\n", &before, &after);
	ASSERT_EQ(2, nr);
	EXPECT_LE(0, before);
	EXPECT_EQ(before, after);
}

/* The threads are not processes: each would have a file of its own. */
TEST_F(tool, threads_without_main_thread)
{
	struct prf files[4] = { 0 };
	int i, nr;

	tool_run(&self->run, LIST("-p"), "forker", LIST("threads", "40"));
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(0, WEXITSTATUS(self->run.status));
	nr = tool_load_all(&self->run, files, 4);
	EXPECT_EQ(1, nr);
	for (i = 0; i < nr; i++)
		prf_free(&files[i]);
}

/* The program inherits the tool's disposition of SIGCHLD. */
TEST_F(tool, child_signal_ignored)
{
	const char *const deeds[] = { "ignores", "0", NULL };
	int pipes[3];
	pid_t child;

	signal(SIGCHLD, SIG_IGN);
	child = tool_start(&self->run, NO_OPTIONS, "forker", deeds, pipes);
	EXPECT_LT(0, read(pipes[1], self->run.said, 8));
	signal(SIGCHLD, SIG_DFL);
	tool_finish(&self->run, child, pipes);
	EXPECT_EXIT(0);
	EXPECT_EQ(0, strncmp(self->run.said, "ignored\n", 8));
}

TEST_HARNESS_MAIN
