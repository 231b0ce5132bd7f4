// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_files.c - the questions that tools/profil asks, and the files it
 * writes
 */
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "tool.h"
#include "tool_fixture.h"
#include "dos/dos_prf.h"

/* Count the occurrences of @what in @text. */
static int times(const char *text, const char *what)
{
	int nr = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		nr++;
	}
	return nr;
}

TEST_F(tool, machine_of_the_run)
{
	struct utsname names;
	struct prf prf;

	ASSERT_EQ(0, uname(&names));
	tool_run(&self->run, NO_OPTIONS, "workload", LIST("burn", "0"));
	ASSERT_EQ(0, tool_load(&self->run, "out.prf", &prf));
	EXPECT_STREQ(names.nodename, prf.host.name);
	EXPECT_STREQ(names.release, prf.host.release);
	EXPECT_STREQ(names.machine, prf.host.machine);
	EXPECT_EQ(get_nprocs_conf(), prf.host.cpus);
	EXPECT_EQ(get_nprocs(), prf.host.online);
	prf_free(&prf);
}

/* A process and its child, which spend the same time in the same places. */
TEST_F(tool, file_for_each_process)
{
	struct prf files[3];
	struct function both, of;
	int parent, child;

	tool_run(&self->run, LIST("-P"), "workload",
		 LIST("fork", "burn", "9"));
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
	ASSERT_EQ(2, tool_load_all(&self->run, files, 3));
	parent = files[1].execs[0].ppid == files[0].execs[0].pid ? 0 : 1;
	child = !parent;
	EXPECT_EQ(files[parent].execs[0].pid, files[child].execs[0].ppid);
	EXPECT_EQ(9, files[parent].exit_code);
	EXPECT_EQ(0, files[child].exit_code);
	both = function_of(self->run.said, "often", 0);
	of = function_of(self->run.said, "often", 1);
	EXPECT_DUE("in the parent", &files[parent].execs[0],
		   ticks_between(&files[parent].execs[0], self->run.program,
				 of.start, of.end),
		   of, files[0].period_ns);
	of.ns = both.ns - of.ns;
	of.least_ns = both.least_ns - of.least_ns;
	EXPECT_DUE("in the child", &files[child].execs[0],
		   ticks_between(&files[child].execs[0], self->run.program,
				 of.start, of.end),
		   of, files[0].period_ns);
	prf_free(&files[0]);
	prf_free(&files[1]);
}

/* A child that executes a program: its file has the exec before that, too. */
TEST_F(tool, file_for_each_process_and_its_programs)
{
	struct prf files[3];
	int child;

	tool_run(&self->run, LIST("-P"), "workload", LIST("exec", "0"));
	ASSERT_EQ(2, tool_load_all(&self->run, files, 3));
	child = files[1].execs[0].ppid == files[0].execs[0].pid;
	EXPECT_EQ(1, files[!child].nr);
	ASSERT_EQ(2, files[child].nr);
	EXPECT_EQ(files[child].execs[0].pid, files[child].execs[1].pid);
	self->run.prf.period_ns = files[child].period_ns;
	EXPECT_BOTH(&files[child].execs[1], 0);
	prf_free(&files[0]);
	prf_free(&files[1]);
}

static int load_dos(const struct tool *tool, struct dos_prf *dos)
{
	static uint8_t data[18 + 2 * 65535];
	struct prf_error error;
	char path[64];
	int size, fd;

	snprintf(path, sizeof(path), "%s/out.PRF", tool->directory);
	fd = open(path, O_RDONLY);
	size = read(fd, data, sizeof(data));
	close(fd);
	return dos_prf_read(data, size < 0 ? 0 : size, dos, &error);
}

/*
 * Each tick that is not lost is in one bucket or one of the three other
 * numbers; ticks in kernel mode are in that for I/O.
 */
TEST_F(tool, file_of_dos)
{
	struct dos_prf dos;
	uint64_t hits;
	int i;

	tool_run(&self->run, LIST("--dos"), "workload", LIST("burn", "0"));
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	ASSERT_EQ(0, load_dos(&self->run, &dos));
	EXPECT_EQ(1, dos.bucket_siz);
	EXPECT_GE(1, llabs((long long)self->run.prf.period_ns / 1000 -
			   dos.clock_grain));
	EXPECT_EQ(self->run.prf.execs[0].kernel, dos.hit_io);
	hits = dos.hit_io + dos.hit_dos + dos.hit_high;
	for (i = 0; i < dos.bucket_num; i++)
		hits += dos.buckets[i];
	EXPECT_EQ(self->run.prf.execs[0].ticks,
		  hits + self->run.prf.execs[0].lost);
	EXPECT_BOTH(&self->run.prf.execs[0], 0);
	free(dos.buckets);
}

static void remove_directory(const struct tool *tool, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", tool->directory, name);
	rmdir(path);
}

/* The tool finds out before it runs the program, and writes no other file. */
TEST_F(tool, file_of_dos_that_cannot_be_written)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/out.PRF", self->run.directory);
	ASSERT_EQ(0, mkdir(path, 0700));
	tool_run(&self->run, LIST("--dos"), "/bin/echo", LIST("ran"));
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_EQ(1, times(self->run.complained, "out.PRF: Is a directory"));
	EXPECT_STREQ("", self->run.said);
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
	remove_directory(&self->run, "out.PRF");
}

/* If writing fails only at the end, the other file exists. */
TEST_F(tool, file_of_dos_that_has_become_impossible)
{
	tool_run(&self->run, LIST("--dos"), "/bin/sh",
		 LIST("-c", "rm out.PRF; mkdir out.PRF; exit 3"));
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_EQ(1, times(self->run.complained, "out.PRF: Is a directory"));
	EXPECT_EQ(1, times(self->run.complained, " in out.prf"));
	EXPECT_EQ(3, self->run.prf.exit_code);
	EXPECT_EQ(3, self->run.prf.nr);
	remove_directory(&self->run, "out.PRF");
}

/* One file that cannot be written does not prevent the others. */
TEST_F(tool, file_for_each_process_but_one)
{
	struct prf file;
	char name[64];
	int pid;

	tool_run(&self->run, LIST("-P"), "/bin/sh",
		 LIST("-c", "mkdir out.$$.prf; echo $$; exit 3"));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	pid = atoi(self->run.said);
	snprintf(name, sizeof(name), "out.%d.prf", pid);
	remove_directory(&self->run, name);
	ASSERT_EQ(1, tool_load_all(&self->run, &file, 1));
	EXPECT_EQ(pid, file.execs[0].ppid);
	prf_free(&file);
}

/* If no program runs, no file remains. */
TEST_F(tool, no_files_of_no_program)
{
	tool_run(&self->run, LIST("--dos"), "/no/such/program", NO_OPTIONS);
	EXPECT_EQ(127, WEXITSTATUS(self->run.status));
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
	EXPECT_FALSE(tool_has_file(&self->run, "out.PRF"));
}

/*
 * The tool repeats a question after an invalid answer, and leaves the input
 * after the last answer to the program.
 */
TEST_F(tool, questions)
{
	static const char answers[] =
		"none\n0\n-1\n2 3\n3\n59\n1e3\n500\n\"copy\n'copy' \"7\"\nthe rest";
	struct dos_prf dos;
	int pipes[3];
	pid_t child = tool_start(&self->run, LIST("--interactive"), "workload",
				 NO_OPTIONS, pipes);

	EXPECT_EQ(sizeof(answers) - 1,
		  write(pipes[0], answers, sizeof(answers) - 1));
	tool_finish(&self->run, child, pipes);
	EXPECT_EXIT(7);
	EXPECT_STREQ("the rest", self->run.said);
	EXPECT_EQ(5, times(self->run.complained, "Paragraphs"));
	EXPECT_EQ(3, times(self->run.complained, "Clock interval"));
	EXPECT_EQ(2, times(self->run.complained, "Parameters"));
	EXPECT_EQ(1, times(self->run.complained,
			   "program terminated with status 7"));
	ASSERT_EQ(0, load_dos(&self->run, &dos));
	EXPECT_EQ(3, dos.bucket_siz);
	EXPECT_EQ(16, self->run.prf.execs[0].dsos[0].bucket_bytes);
	if (tool_has_module())
		EXPECT_EQ(500000, self->run.prf.period_ns);
	free(dos.buckets);
}

TEST_F(tool, questions_without_answers)
{
	int pipes[3];
	pid_t child = tool_start(&self->run, LIST("--interactive"), "workload",
				 NO_OPTIONS, pipes);

	EXPECT_EQ(2, write(pipes[0], "4\n", 2));
	tool_finish(&self->run, child, pipes);
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_EQ(1, times(self->run.complained, "no answer"));
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
}

/* Without -o, the name is that of the program that the process ran last. */
TEST_F(tool, names_files_after_what_each_process_executes)
{
	char command[8192], pattern[64];
	glob_t found;

	snprintf(command, sizeof(command),
		 "cd %s && %s -P sh -c '(exec sleep 0); exec true' 2> said",
		 self->run.directory, self->run.tool);
	ASSERT_EQ(0, system(command));
	snprintf(pattern, sizeof(pattern), "%s/sleep.[0-9]*.prf",
		 self->run.directory);
	EXPECT_EQ(0, glob(pattern, 0, NULL, &found));
	globfree(&found);
	snprintf(pattern, sizeof(pattern), "%s/true.[0-9]*.prf",
		 self->run.directory);
	EXPECT_EQ(0, glob(pattern, 0, NULL, &found));
	globfree(&found);
}

TEST_F(tool, leaves_standard_output_to_the_program)
{
	tool_run(&self->run, LIST("-o", "-"), "workload", LIST("0"));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_EQ(1, times(self->run.complained,
			   "standard output belongs to PROGRAM"));
	EXPECT_FALSE(tool_has_file(&self->run, "-"));
}

TEST_F(tool, prints_no_control_characters_of_names)
{
	RUN("/nonexistent/\033[2J\n", "");
	EXPECT_EQ(127, WEXITSTATUS(self->run.status));
	EXPECT_EQ(1, times(self->run.complained, "/nonexistent/?[2J?: No such"));
}

TEST_F(tool, says_that_a_directory_is_no_program)
{
	RUN("/tmp", "");
	EXPECT_EQ(126, WEXITSTATUS(self->run.status));
	EXPECT_EQ(1, times(self->run.complained, "/tmp: Is a directory"));
}

TEST_F(tool, says_how_it_ended)
{
	RUN("workload", "0");
	EXPECT_EQ(1, times(self->run.complained,
			   "program terminated normally"));
	ASSERT_EQ(1, self->run.prf.nr);
	/* With sanitizers the program may take long enough */
	EXPECT_EQ(self->run.prf.execs[0].ticks < 100,
		  times(self->run.complained,
			"a shorter --interval gives more"));
	RUN("workload", "crash");
	EXPECT_EQ(1, times(self->run.complained,
			   "program terminated by signal 11 (Segmentation fault)"));
}

/* The file has the module's final stats. */
TEST_F(tool, numbers_of_the_kernel)
{
	const struct prf_exec *exec;
	struct function system;
	double due;

	if (!tool_has_module())
		SKIP(return, "these are the module's");
	tool_run(&self->run, LIST("--kernel=none"), "workload",
		 LIST("system", "burn", "0"));
	ASSERT_EQ(1, self->run.prf.nr);
	exec = &self->run.prf.execs[0];
	EXPECT_SUM(exec);
	EXPECT_EQ(exec->kernel, exec->left_out);
	EXPECT_EQ(0, exec->lost);
	system = function_of(self->run.said, "system", 0);
	due = system.least_ns / self->run.prf.period_ns;
	TH_LOG("in the kernel %llu, in system calls %.0f",
	       (unsigned long long)exec->kernel, due);
	/*
	 * There are other calls, and the time of entering the kernel is in user
	 * mode
	 */
	EXPECT_LT(0.8 * due - SIGMAS * 20, exec->kernel);
	EXPECT_BOTH(exec, 0);
}

static uint64_t in_functions(const struct prf_exec *exec)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < exec->nr; i++)
		if (exec->dsos[i].kind == PRF_KERNEL_TEXT)
			ticks += prf_dso_ticks(&exec->dsos[i]);
	return ticks;
}

static bool has_function(const struct prf_exec *exec, const char *path,
			 const char *name)
{
	size_t i, j;

	for (i = 0; i < exec->nr; i++)
		for (j = 0; j < exec->dsos[i].nr_symbols; j++)
			if (!strcmp(exec->dsos[i].path, path) &&
			    !strcmp(exec->dsos[i].symbols[j].name, name))
				return true;
	return false;
}

/*
 * Ticks in kernel mode have a number of their own; root can have the functions,
 * too.
 * No address of the kernel is in the file.
 */
TEST_F(tool, functions_of_the_kernel)
{
	const struct prf_exec *exec;
	size_t i;

	if (!tool_has_module() || getuid())
		SKIP(return, "this needs the module, and root");
	tool_run(&self->run, LIST("--kernel=functions"), "workload",
		 LIST("system", "burn", "0"));
	ASSERT_EQ(0, tool_load(&self->run, "out.prf", &self->run.prf));
	ASSERT_EQ(1, self->run.prf.nr);
	exec = &self->run.prf.execs[0];
	EXPECT_SUM(exec);
	EXPECT_LT(0, exec->kernel);
	EXPECT_EQ(exec->kernel, exec->kernel_count + in_functions(exec));
	EXPECT_LT(exec->kernel / 2, in_functions(exec));
	EXPECT_EQ(0, exec->left_out);
	EXPECT_BOTH(exec, 0);
	for (i = 0; i < exec->nr; i++) {
		if (exec->dsos[i].kind != PRF_KERNEL_TEXT)
			continue;
		EXPECT_LT(0, exec->dsos[i].nr_symbols);
		EXPECT_EQ(0, exec->dsos[i].pgoff);
		EXPECT_GT(1ULL << 40, exec->dsos[i].end);
	}
}

/* By default there is one number. */
TEST_F(tool, kernel_apart)
{
	const struct prf_exec *exec;

	if (!tool_has_module() || tool_become_nobody(&self->run))
		SKIP(return, "this needs the module, and root");
	RUN("workload", "system", "burn", "0");
	ASSERT_EQ(1, self->run.prf.nr);
	exec = &self->run.prf.execs[0];
	EXPECT_SUM(exec);
	EXPECT_LT(0, exec->kernel);
	EXPECT_EQ(exec->kernel, exec->kernel_count);
	EXPECT_EQ(0, in_functions(exec));
	EXPECT_EQ(0, exec->left_out);
	EXPECT_BOTH(exec, 0);
}

TEST_F(tool, names_are_kept)
{
	/* Of functions that have a tick */
	RUN_UNTIL(has_name(&self->run.prf, "often") &&
		  has_name(&self->run.prf, "seldom"),
		  RUN("workload", "burn", "0"));
	EXPECT_EXIT(0);
	EXPECT_FALSE(has_name(&self->run.prf, "first"));
}

TEST_F(tool, names_are_left_out)
{
	tool_run(&self->run, LIST("--no-names"), "workload", LIST("burn", "0"));
	EXPECT_EXIT(0);
	EXPECT_EQ(0, self->run.prf.nr_blocks);
}

/* Code made at run time has the names that its maker lists. */
TEST_F(tool, code_made_at_run_time)
{
	const struct prf_exec *exec;
	struct function code;
	char path[64];
	size_t i;

	if (!tool_has_module() || !tool_has_helper("jit"))
		SKIP(return, "this needs the module");
	RUN("jit", "list");
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	exec = &self->run.prf.execs[0];
	EXPECT_SUM(exec);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", exec->pid);
	unlink(path);
	EXPECT_TRUE(has_function(exec, path, "made at run time"));
	EXPECT_FALSE(has_function(exec, path, "without ticks"));
	code = function_of(self->run.said, "code", 0);
	for (i = 0; i < exec->nr && exec->dsos[i].kind != PRF_ANONYMOUS; i++)
		;
	ASSERT_LT(i, exec->nr);
	EXPECT_DUE("code", exec, prf_dso_ticks(&exec->dsos[i]),
		   code, self->run.prf.period_ns);
}

/* A list that somebody else may have written does not count. */
TEST_F(tool, list_of_somebody_else)
{
	const struct prf_exec *exec;
	char path[64];

	if (!tool_has_module() || !tool_has_helper("jit"))
		SKIP(return, "this needs the module");
	RUN("jit", "link");
	EXPECT_EXIT(0);
	ASSERT_EQ(1, self->run.prf.nr);
	exec = &self->run.prf.execs[0];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", exec->pid);
	EXPECT_EQ(0, unlink(path));
	EXPECT_FALSE(has_function(exec, path, "made at run time"));
	EXPECT_LT(0, ticks_between(exec, "[anonymous]", 0, UINT64_MAX));
}

/*
 * The profile has the time of processes that the program leaves running, up to
 * its end; the kernel's accounting has not.
 */
TEST_F(tool, time_of_what_is_left_running)
{
	static const char script[] =
		"(i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done; echo > go; "
		"while [ $i -lt 30000 ]; do i=$((i + 1)); done) > /dev/null 2>&1 & "
		"read x < go";
	const struct prf_exec *exec;
	char path[64];

	if (!tool_has_module())
		SKIP(return, "of the module's watches");
	snprintf(path, sizeof(path), "%s/go", self->run.directory);
	ASSERT_EQ(0, mkfifo(path, 0600));
	RUN_UNTIL(1.2 * self->run.prf.cpu_ns < exec->covered_ns, {
		tool_run(&self->run, NO_OPTIONS, "/bin/sh",
			 LIST("-c", script));
		ASSERT_EQ(1, self->run.prf.nr);
		exec = &self->run.prf.execs[0];
		EXPECT_SUM(exec);
		TH_LOG("CPU time %.3f s, covered %.3f s",
		       self->run.prf.cpu_ns / 1e9, exec->covered_ns / 1e9);
	});
}

/*
 * If nothing reads its messages the tool goes on; the program does not inherit
 * an ignored SIGPIPE.
 */
TEST_F(tool, nobody_listens)
{
	static const char script[] =
		"(exit 5); echo; (trap - PIPE; exec cat /proc/self/status); exit 3";
	unsigned long long ignored;
	struct prf files[4];
	int pipes[3], nr;
	const char *line;
	pid_t child;

	child = tool_start(&self->run, LIST("-P"), "/bin/sh",
			   LIST("-c", script), pipes);
	close(pipes[2]);
	pipes[2] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	tool_finish(&self->run, child, pipes);
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(3, WEXITSTATUS(self->run.status));
	line = strstr(self->run.said, "SigIgn:");
	ASSERT_TRUE(line);
	ignored = strtoull(line + strlen("SigIgn:"), NULL, 16);
	/* Not 32 and 33, the C library's: perl starts tests ignoring these */
	EXPECT_EQ(0, ignored & 0x7fffffff);
	nr = tool_load_all(&self->run, files, 4);
	EXPECT_EQ(3, nr);
	while (nr)
		prf_free(&files[--nr]);
}

/*
 * Limit the size of files that may be written; each test is a process of its
 * own.
 */
static int limit_size(rlim_t now, rlim_t most)
{
	const struct rlimit limit = { now, most };

	return setrlimit(RLIMIT_FSIZE, &limit);
}

/* The limit of the program is the user's. */
TEST_F(tool, limit_of_file_size)
{
	ASSERT_EQ(0, limit_size(16384, RLIM_INFINITY));
	RUN("/bin/sh", "-c", "ulimit -f; exit 3");
	EXPECT_EXIT(3);
	EXPECT_STREQ("32\n", self->run.said);
}

/* The user's limit applies to the profile's file. */
TEST_F(tool, file_size_of_the_profile)
{
	ASSERT_EQ(0, limit_size(256, RLIM_INFINITY));
	RUN("workload", "0");
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_EQ(1, times(self->run.complained, "out.prf: File too large"));
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
}

/* The tool recognises the program by any name. */
TEST_F(tool, name_with_a_newline)
{
	static const char script[] =
		"cp \"$0\" 'a\n\nb' && \"./a\n\nb\" burn 3";
	const struct prf_exec *exec;
	char path[4096];
	size_t i;

	helper_path(path, sizeof(path), "workload");
	RUN("/bin/sh", "-c", script, path);
	EXPECT_EXIT(3);
	ASSERT_LT(0, self->run.prf.nr);
	exec = &self->run.prf.execs[self->run.prf.nr - 1];
	EXPECT_TRUE(strstr(exec->name, "/a\n\nb"));
	for (i = 0; i < exec->nr && exec->dsos[i].kind != PRF_PROGRAM; i++)
		;
	ASSERT_LT(i, exec->nr);
	EXPECT_STREQ(exec->name, exec->dsos[i].path);
	EXPECT_LT(0, exec->dsos[i].build_id_len);
}

#define CORE_PATTERN	"/proc/sys/kernel/core_pattern"

static int read_core_pattern(char *pattern, size_t size)
{
	FILE *file = fopen(CORE_PATTERN, "r");
	const char *got = file ? fgets(pattern, size, file) : NULL;

	if (file)
		fclose(file);
	return got ? 0 : -1;
}

/* For all programs of the machine. */
static int write_core_pattern(const char *pattern)
{
	FILE *file = fopen(CORE_PATTERN, "w");
	int failed = !file || fputs(pattern, file) < 0;

	if (file && fclose(file))
		failed = -1;
	return failed;
}

/* Only the program dumps core, even where the core goes into a pipe. */
TEST_F(tool, one_core)
{
	char before[256], pipe[256];

	if (!tool_has_module() || getuid())
		SKIP(return, "this changes where the cores of all programs go");
	snprintf(pipe, sizeof(pipe), "|/usr/bin/tee %s/core.%%e",
		 self->run.directory);
	ASSERT_EQ(0, read_core_pattern(before, sizeof(before)));
	ASSERT_EQ(0, write_core_pattern(pipe));
	RUN("workload", "crash");
	EXPECT_EQ(0, write_core_pattern(before));
	EXPECT_SIGNAL(SIGSEGV);
	EXPECT_TRUE(tool_has_file(&self->run, "core.workload"));
	EXPECT_FALSE(tool_has_file(&self->run, "core.profil"));
}

TEST_HARNESS_MAIN
