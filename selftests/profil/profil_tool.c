// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_tool.c - tools/profil runs programs unchanged, with a true profile
 *
 * Without the module the same tests use perf_event_open(), if it is permitted.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "tool.h"
#include "tool_fixture.h"

TEST_F(tool, position_independent)
{
	RUN("workload", "burn", "7");
	EXPECT_EXIT(7);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_STREQ(self->run.program, self->run.prf.execs[0].name);
	EXPECT_BOTH(&self->run.prf.execs[0], 0);
	EXPECT_SUM(&self->run.prf.execs[0]);
}

TEST_F(tool, static_program)
{
	RUN("workload-static", "burn", "0");
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_BOTH(&self->run.prf.execs[0], 0);
	EXPECT_SUM(&self->run.prf.execs[0]);
}

TEST_F(tool, musl)
{
	if (!tool_has_helper("workload-musl"))
		SKIP(return, "no musl-gcc");
	RUN("workload-musl", "threads", "0");
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_BOTH(&self->run.prf.execs[0], 0);
	EXPECT_SUM(&self->run.prf.execs[0]);
}

TEST_F(tool, static_musl)
{
	if (!tool_has_helper("workload-musl-static"))
		SKIP(return, "no musl-gcc");
	RUN("workload-musl-static", "threads", "0");
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_BOTH(&self->run.prf.execs[0], 0);
	EXPECT_SUM(&self->run.prf.execs[0]);
}

/* Another language, with stacks, system calls and signals of its own. */
TEST_F(tool, goroutines)
{
	struct function all;
	double due, ticks;

	if (!tool_has_helper("goroutines"))
		SKIP(return, "no go");
	/* Nearly all the time is in the program's text, or in the kernel */
	RUN_UNTIL(0.8 * due < ticks, {
		RUN("goroutines", "");
		EXPECT_EXIT(4);
		ASSERT_EQ(1, self->run.prf.nr);
		all = function_of(self->run.said, "all", 0);
		due = all.ns / self->run.prf.period_ns;
		EXPECT_SUM(&self->run.prf.execs[0]);
		ticks = ticks_between(&self->run.prf.execs[0],
				      self->run.program, 0, UINT64_MAX) +
			self->run.prf.execs[0].kernel;
	});
	EXPECT_LT(50, due);
}

TEST_F(tool, threads)
{
	RUN("workload", "threads", "_exit");
	EXPECT_EXIT(3);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_BOTH(&self->run.prf.execs[0], 0);
	EXPECT_SUM(&self->run.prf.execs[0]);
}

/* A forked child belongs to its parent's exec. */
TEST_F(tool, children)
{
	RUN("workload", "fork", "burn", "0");
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_BOTH(&self->run.prf.execs[0], 0);
}

/* Processes that execute the same program share an exec. */
TEST_F(tool, programs)
{
	const struct prf_exec *exec;
	struct function one, other;

	RUN("workload", "burn", "exec", "1");
	EXPECT_EXIT(1);
	ASSERT_EQ(1, self->run.prf.nr);
	exec = &self->run.prf.execs[0];
	EXPECT_STREQ(self->run.program, exec->name);
	EXPECT_LT(1, exec->processes);
	EXPECT_SUM(exec);
	one = function_of(self->run.said, "often", 0);
	other = function_of(self->run.said, "often", 1);
	EXPECT_EQ(one.start, other.start);
	one.ns += other.ns;
	one.least_ns += other.least_ns;
	EXPECT_DUE("often", exec,
		   ticks_between(exec, self->run.program, one.start, one.end),
		   one, self->run.prf.period_ns);
}

/* Another program has an exec of its own. */
TEST_F(tool, another_program)
{
	char path[4096];

	helper_path(path, sizeof(path), "workload");
	RUN("/bin/sh", "-c", "\"$0\" burn; exit 1", path);
	EXPECT_EXIT(1);
	ASSERT_EQ(2, self->run.prf.nr);
	EXPECT_EQ(self->run.prf.execs[0].pid, self->run.prf.execs[1].ppid);
	EXPECT_STREQ(path, self->run.prf.execs[1].name);
	snprintf(self->run.program, sizeof(self->run.program), "%s", path);
	EXPECT_BOTH(&self->run.prf.execs[1], 0);
}

/*
 * A program in step with every clock that has a period of a millisecond. A few
 * successive ticks have the same period, and may fall in one place.
 * icount/lockstep tests this for the module, where no tick comes late.
 */
TEST_F(tool, in_step)
{
	struct function first, second;
	double share, ticks[2], in_a_row = 4;

	if (tool_has_module())
		SKIP(return, "this is about perf_event_open");
	RUN("workload", "beat");
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	first = function_of(self->run.said, "first", 0);
	second = function_of(self->run.said, "second", 0);
	ASSERT_LT(0, first.ns);
	share = first.ns / (first.ns + second.ns);
	ticks[0] = ticks_between(&self->run.prf.execs[0], self->run.program,
				 first.start, first.end);
	ticks[1] = ticks_between(&self->run.prf.execs[0], self->run.program,
				 second.start, second.end);
	EXPECT_CHANCE("first", ticks[0], (ticks[0] + ticks[1]) * share,
		      (ticks[0] + ticks[1]) * share * (1 - share) * in_a_row);
}

TEST_F(tool, crash)
{
	RUN("workload", "burn", "crash");
	EXPECT_SIGNAL(SIGSEGV);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_BOTH(&self->run.prf.execs[0], 0);
}

TEST_F(tool, killed)
{
	RUN("workload", "burn", "kill");
	EXPECT_SIGNAL(SIGKILL);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_BOTH(&self->run.prf.execs[0], 0);
}

/* From the note that the linker has put into the vDSO. */
static const uint8_t *vdso_build_id(void)
{
	static const uint8_t note[] = "\4\0\0\0\24\0\0\0\3\0\0\0GNU";
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	const uint8_t *found = vdso ? memmem(vdso, 4096, note, sizeof(note)) :
				      NULL;

	return found ? found + sizeof(note) : NULL;
}

/* The program spends its time in reading the clock. */
TEST_F(tool, build_id_of_vdso)
{
	const uint8_t *wanted = vdso_build_id();
	const struct prf_exec *exec;
	size_t i, found = 0;

	ASSERT_TRUE(wanted);
	TRY_UNTIL(found) {
		RUN("workload", "beat");
		ASSERT_EQ(1, self->run.prf.nr);
		exec = &self->run.prf.execs[0];
		for (i = 0; i < exec->nr; i++) {
			if (exec->dsos[i].kind != PRF_VDSO)
				continue;
			found++;
			EXPECT_STREQ("[vdso]", exec->dsos[i].path);
			EXPECT_EQ(20, exec->dsos[i].build_id_len);
			EXPECT_EQ(0, memcmp(exec->dsos[i].build_id, wanted,
					    20));
		}
	}
	EXPECT_EQ(1, found);
}

TEST_F(tool, standard_streams)
{
	static const char *const actions[] = { "copy", NULL };
	int pipes[3];
	pid_t child = tool_start(&self->run, NO_OPTIONS, "workload",
				 actions, pipes);

	EXPECT_EQ(9, write(pipes[0], "\1\2\n three", 9));
	tool_finish(&self->run, child, pipes);
	EXPECT_EXIT(0);
	EXPECT_STREQ("\1\2\n three", self->run.said);
	EXPECT_TRUE(strstr(self->run.complained, "profil: "));
}

/* The tool forwards SIGINT, and writes the file after it. */
TEST_F(tool, interrupted)
{
	static const char *const actions[] = { "interrupt", "5", NULL };
	int pipes[3];
	pid_t child = tool_start(&self->run, NO_OPTIONS, "workload",
				 actions, pipes);

	if (read(pipes[1], self->run.said, 6) == 6)
		kill(child, SIGINT);
	tool_finish(&self->run, child, pipes);
	EXPECT_EXIT(5);
	EXPECT_STREQ("ready\ninterrupts 1\n", self->run.said);
}

/* Every tick is in user mode, or left out. */
TEST_F(tool, user_only)
{
	tool_run(&self->run, LIST("--kernel=none"), "workload", LIST("burn"));
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_TRUE(self->run.prf.flags & PRF_FLAG_USER_ONLY);
	EXPECT_FUNCTION(&self->run.prf.execs[0], "seldom", 0);
}

TEST_F(tool, no_such_program)
{
	RUN("no-such-program", "0");
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(127, WEXITSTATUS(self->run.status));
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
}

TEST_HARNESS_MAIN
