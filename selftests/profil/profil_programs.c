// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_programs.c - tools/profil reaches programs of every kind, and leaves
 * them as they are
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "tool.h"
#include "tool_fixture.h"

#define LIBRARY		"first.so"
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

/* A new process has the number of an old one. */
TEST_F(tool, number_used_again)
{
	RUN("forker", "reuse", "8", library(LIBRARY));
	EXPECT_EXIT(0);
	if (!strcmp(self->run.said, "no numbers\n"))
		SKIP(return, "numbers of processes cannot be chosen");
	EXPECT_STREQ("killed 0\n", self->run.said);
}

/* The new child is a sibling of the process that made it. */
TEST_F(tool, child_given_to_its_parents_parent)
{
	RUN("forker", "parent", "50", library(LIBRARY));
	EXPECT_EXIT(0);
	EXPECT_STREQ("killed 0\n", self->run.said);
}

TEST_F(tool, killed_while_it_forks)
{
	RUN("forker", "kill", "100");
	EXPECT_EXIT(0);
	EXPECT_STREQ("done\n", self->run.said);
}

/* A filter of system calls does not matter: nothing calls for the program. */
TEST_F(tool, children_that_may_not_call)
{
	tool_run(&self->run, LIST("-P"), "forker", LIST("filter", "5"));
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(0, WEXITSTATUS(self->run.status));
	EXPECT_STREQ("killed 0\n", self->run.said);
}

TEST_F(tool, filtered)
{
	RUN("forker", "filtered", "1");
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_SUM(&self->run.prf.execs[0]);
	EXPECT_FUNCTION(&self->run.prf.execs[0], "in_filter", 0);
}

TEST_F(tool, of_32_bits)
{
	if (!tool_has_helper("workload-32"))
		SKIP(return, "the compiler makes no 32-bit programs");
	RUN("workload-32", "threads", "4");
	EXPECT_EXIT(4);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_BOTH(&self->run.prf.execs[0], 0);
	EXPECT_SUM(&self->run.prf.execs[0]);
}

/* The program is not dumpable, which root may read nevertheless. */
TEST_F(tool, opens_what_is_not_to_be_read)
{
	struct function of;

	if (tool_become_nobody(&self->run))
		SKIP(return, "this needs root");
	RUN("opener", "hide", "open", library(LIBRARY), "close", "open", library(LIBRARY));
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_SUM(&self->run.prf.execs[0]);
	of = function_of(self->run.said, "first", 0);
	EXPECT_DUE("first", &self->run.prf.execs[0],
		   ticks_between(&self->run.prf.execs[0], LIBRARY, 0,
				 UINT64_MAX),
		   of, self->run.prf.period_ns);
}

/*
 * A program that its caller may not inspect runs as ever, with its rights, but
 * has no ticks, and the file says so.
 */
TEST_F(tool, set_user_id)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/copy", self->run.directory);
	if (copy_file("/usr/bin/id", path, 04755) ||
	    tool_become_nobody(&self->run))
		SKIP(return, "this needs root");
	RUN("/bin/sh", "-c", "exec \"$0\" -u", path);
	EXPECT_EXIT(0);
	EXPECT_STREQ("0\n", self->run.said);
	EXPECT_EQ(1, self->run.prf.withheld);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_FALSE(strstr(self->run.prf.execs[0].name, path));
}

TEST_F(tool, unreadable)
{
	char path[64], helper[4096];

	helper_path(helper, sizeof(helper), "workload");
	snprintf(path, sizeof(path), "%s/copy", self->run.directory);
	if (copy_file(helper, path, 0711) || tool_become_nobody(&self->run))
		SKIP(return, "this needs root");
	RUN("/bin/sh", "-c", "exec \"$0\" burn 3", path);
	EXPECT_EXIT(3);
	EXPECT_EQ(1, self->run.prf.withheld);
}

/* A tracer works inside, and what it traces has its ticks. */
static void run_traced(struct __test_metadata *_metadata, struct tool *run,
		       const char *tracer)
{
	char path[4096], script[8192];

	helper_path(path, sizeof(path), "workload");
	snprintf(script, sizeof(script), tracer, path);
	tool_run(run, NO_OPTIONS, "/bin/sh", LIST("-c", script));
	snprintf(run->program, sizeof(run->program), "%s", path);
	EXPECT_TRUE(WIFEXITED(run->status));
	EXPECT_EQ(0, WEXITSTATUS(run->status));
}

static const struct prf_exec *find_exec(const struct prf *prf,
					const char *name)
{
	size_t i;

	for (i = 0; i < prf->nr; i++)
		if (!strcmp(prf->execs[i].name, name))
			return &prf->execs[i];
	return NULL;
}

/* strace stops no other calls: each stop takes more time than the function. */
TEST_F(tool, under_strace)
{
	const struct prf_exec *exec;

	if (system("command -v strace > /dev/null"))
		SKIP(return, "no strace");
	run_traced(_metadata, &self->run,
		   "strace -f --seccomp-bpf -e trace=execve -o /dev/null -- %s burn 0");
	exec = find_exec(&self->run.prf, self->run.program);
	ASSERT_TRUE(exec);
	EXPECT_BOTH(exec, 0);
}

TEST_F(tool, under_gdb)
{
	const struct prf_exec *exec;

	if (system("command -v gdb > /dev/null"))
		SKIP(return, "no gdb");
	run_traced(_metadata, &self->run,
		   "gdb -nx -batch -ex 'break _exit' -ex 'run burn 0' -ex continue %s 2>&1");
	EXPECT_TRUE(strstr(self->run.said, "exited normally"));
	exec = find_exec(&self->run.prf, self->run.program);
	ASSERT_TRUE(exec);
	EXPECT_BOTH(exec, 0);
}

/* Ctrl-Z stops both the tool and the program; the shell waits for the tool. */
static void stop_and_go_on(struct __test_metadata *_metadata, struct tool *tool,
			   const char *action)
{
	const char *const actions[] = { action, NULL };
	int pipes[3], status = 0, i;
	pid_t child;

	child = tool_start(tool, NO_OPTIONS, "stopper", actions, pipes);
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

/* Does the process rest within QUIET_TIMES tries? */
static bool rests(pid_t pid)
{
	uint64_t before;
	int i;

	for (i = 0; i < QUIET_TIMES; i++) {
		before = cpu_ns_of(pid);
		usleep(QUIET_US);
		if (cpu_ns_of(pid) == before)
			return true;
	}
	return false;
}

/* What others stop is theirs to continue: the tool does not stop. */
TEST_F(tool, stopped_while_it_opens)
{
	const char *const actions[] = { "loop", library(LIBRARY), NULL };
	int pipes[3], i, program = 0;
	char line[32] = "";
	pid_t child;

	child = tool_start(&self->run, NO_OPTIONS, "opener", actions, pipes);
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

/* The threads are not processes: each would have a file of its own. */
TEST_F(tool, threads_without_main_thread)
{
	struct prf files[4] = { 0 };
	int i, nr;

	tool_run(&self->run, LIST("-P"), "forker", LIST("threads", "40"));
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
	const char *const actions[] = { "ignores", "0", NULL };
	int pipes[3];
	pid_t child;

	signal(SIGCHLD, SIG_IGN);
	child = tool_start(&self->run, NO_OPTIONS, "forker", actions, pipes);
	EXPECT_LT(0, read(pipes[1], self->run.said, 8));
	signal(SIGCHLD, SIG_DFL);
	tool_finish(&self->run, child, pipes);
	EXPECT_EXIT(0);
	EXPECT_EQ(0, strncmp(self->run.said, "ignored\n", 8));
}

TEST_HARNESS_MAIN
