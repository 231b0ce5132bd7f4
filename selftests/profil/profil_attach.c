// SPDX-License-Identifier: GPL-2.0-only
/*
 * profil_attach.c - tools/profil profiles what runs already
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "tool.h"
#include "tool_fixture.h"

/*
 * Execute a program in the background until stop_program(), or for ever. Returns its
 * PID once it has been executed.
 */
static pid_t start(void (*execute)(const char *path, const char *argument),
		   const char *path, const char *argument)
{
	int closed_by_exec[2];
	pid_t child;
	char byte;

	if (pipe2(closed_by_exec, O_CLOEXEC))
		return -1;
	child = fork();
	if (!child) {
		setpgid(0, 0);
		execute(path, argument);
		_exit(99);
	}
	close(closed_by_exec[1]);
	if (read(closed_by_exec[0], &byte, 1))
		kill(child, SIGKILL);
	close(closed_by_exec[0]);
	return child;
}

static void execute_shell(const char *path, const char *script)
{
	execl(path, "sh", "-c", script, NULL);
}

static pid_t start_program(const char *script)
{
	return start(execute_shell, "/bin/sh", script);
}

static void stop_program(pid_t child)
{
	kill(-child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* At most as long as the test: as another user, it cannot stop the program. */
#define LOOP		"while kill -0 $PPID; do :; done 2> /dev/null"

/* Run the tool on running processes: the options have them. */
#define ATTACH(...) \
	tool_run(&self->run, LIST(__VA_ARGS__), NULL, NO_OPTIONS)

static char *text_of(pid_t pid)
{
	static char texts[2][16];
	static int which;

	which = !which;
	snprintf(texts[which], sizeof(texts[which]), "%d", pid);
	return texts[which];
}

static const struct prf_exec *exec_of(const struct prf *prf, pid_t pid)
{
	size_t i;

	for (i = 0; i < prf->nr; i++)
		if (prf->execs[i].pid == pid)
			return &prf->execs[i];
	return NULL;
}

/*
 * Has an exec CPU time, and no more than its process used in between? If the host stops
 * the CPU while the kernel switches, the time is charged to the next process.
 */
static bool is_used(const struct prf_exec *exec, uint64_t used_ns)
{
	return exec && exec->ticks && exec->cpu_ns <= used_ns + 400 * MS;
}

/* Run the tool for a second, until it says that of the exec of a process. */
#define EXPECT_USED(pid, ...) do { \
	uint64_t used_ns; \
	RUN_UNTIL(is_used(exec_of(&self->run.prf, (pid)), used_ns), \
		  used_ns = cpu_ns_of(pid); \
		  ATTACH(__VA_ARGS__, "--duration=1"); \
		  used_ns = cpu_ns_of(pid) - used_ns); \
	EXPECT_EQ(0, WEXITSTATUS(self->run.status)); \
	for (size_t i = 0; i < self->run.prf.nr; i++) \
		EXPECT_SUM(&self->run.prf.execs[i]); \
} while (0)

/* Start the tool on a running process, and wait until it has mapped a table. */
static pid_t start_watching(struct tool *run, pid_t pid, int pipes[3])
{
	pid_t tool = tool_start(run, LIST("-p", text_of(pid)), NULL, NO_OPTIONS,
				pipes);
	char command[100];

	snprintf(command, sizeof(command),
		 "grep -q " PROFIL_DEVICE " /proc/%d/maps", tool);
	for (int i = 0; i < 6000 && system(command); i++)
		usleep(10000);
	return tool;
}

/* All tests need the module's watches. */
#define NEED_MODULE() do { \
	if (!tool_has_module()) \
		SKIP(return, "no module"); \
} while (0)

TEST_F(tool, process_for_a_time)
{
	pid_t child;

	NEED_MODULE();
	child = start_program(LOOP);
	EXPECT_USED(child, "-p", text_of(child));
	stop_program(child);
	EXPECT_EQ(PRF_RUNNING, self->run.prf.exit_kind);
	EXPECT_TRUE(strstr(self->run.complained, "ticks of"));
	EXPECT_FALSE(strstr(self->run.complained, "terminated"));
	ASSERT_EQ(1, self->run.prf.nr);
	EXPECT_EQ(child, self->run.prf.execs[0].pid);
	EXPECT_TRUE(strstr(self->run.prf.execs[0].name, "sh"));
}

/*
 * One has a child already, and the other executes a program later on: again and
 * again, as nobody knows when the tool attaches on a busy host.
 */
TEST_F(tool, processes_and_what_they_start)
{
	char path[4096], script[8192];
	const struct prf_exec *exec;
	pid_t first, second;
	size_t i, found = 0;
	double seconds = 0;

	NEED_MODULE();
	helper_path(path, sizeof(path), "workload");
	snprintf(script, sizeof(script),
		 "while sleep 0.1; do %s burn 0 > /dev/null; done", path);
	/* There it may not execute that for long enough in three seconds */
	TRY_UNTIL(seconds > 0.3) {
		first = start_program(LOOP);
		second = start_program(script);
		ATTACH("-p", text_of(first), "--duration=3", text_of(second));
		stop_program(first);
		stop_program(second);
		EXPECT_EQ(0, WEXITSTATUS(self->run.status));
		found = 0;
		for (i = 0; i < self->run.prf.nr; i++) {
			exec = &self->run.prf.execs[i];
			EXPECT_SUM(exec);
			if (strcmp(exec->name, path))
				continue;
			EXPECT_EQ(second, exec->ppid);
			seconds = exec->ticks * (self->run.prf.period_ns / 1e9);
			found++;
		}
	}
	EXPECT_EQ(1, found);
	EXPECT_LT(0.3, seconds);
}

/* Without a time, it ends when the processes have ended. */
TEST_F(tool, until_the_processes_end)
{
	pid_t child, tool;
	int pipes[3];

	NEED_MODULE();
	child = start_program("trap 'exit 3' TERM; " LOOP);
	tool = start_watching(&self->run, child, pipes);
	kill(child, SIGTERM);
	tool_finish(&self->run, tool, pipes);
	waitpid(child, NULL, 0);
	EXPECT_TRUE(WIFEXITED(self->run.status));
	EXPECT_EQ(0, WEXITSTATUS(self->run.status));
	EXPECT_TRUE(tool_has_file(&self->run, "out.prf"));
}

TEST_F(tool, until_it_is_interrupted)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	int pipes[3], i;
	pid_t child, tool;
	uint64_t used_ns;

	NEED_MODULE();
	child = start_program(LOOP);
	for (i = 0; i < 3; i++) {
		tool = start_watching(&self->run, child, pipes);
		used_ns = cpu_ns_of(child);
		while (cpu_ns_of(child) < used_ns + 100 * MS)
			usleep(1000);
		kill(tool, signals[i]);
		tool_finish(&self->run, tool, pipes);
		EXPECT_TRUE(WIFEXITED(self->run.status));
		EXPECT_EQ(0, WEXITSTATUS(self->run.status));
		EXPECT_EQ(1, self->run.prf.nr);
	}
	stop_program(child);
}

static int unshare_mounts(void)
{
	return unshare(CLONE_NEWNS) ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ? -1 : 0;
}

/* The workload does something again and again. */
static void execute_workload(const char *path, const char *action)
{
	const char *actions[200] = {};
	int i;

	for (i = 0; i < 199; i++)
		actions[i] = action;
	execv(path, (char *const *)actions);
}

/* The same in a mount namespace of its own, with the files that ours has. */
static void execute_sandboxed(const char *path, const char *action)
{
	if (!unshare_mounts())
		execute_workload(path, action);
}

/* A copy of a program burns at @path, which in our mount namespace is another file. */
static void execute_elsewhere(const char *path, const char *program)
{
	char directory[64];
	struct stat file;

	snprintf(directory, sizeof(directory), "%s", path);
	*strrchr(directory, '/') = '\0';
	if (!unshare_mounts() && !mount("none", directory, "tmpfs", 0, NULL) &&
	    !stat(program, &file) &&
	    !copy_file(program, path, file.st_mode & 0777))
		execute_workload(path, "burn");
}

/* Profile a program for a second; longer, if it has hardly run in that. */
static void attach_until_it_has_burnt(FIXTURE_DATA(tool) *self, pid_t child)
{
	int i;

	for (i = 0; i < 30; i++) {
		ATTACH("-p", text_of(child), "--duration=1");
		if (self->run.prf.nr && self->run.prf.execs[0].counted > 100)
			break;
	}
}

/* Profile it, as in a container; @here is the helper that is at the path here. */
#define ATTACH_ELSEWHERE(here) do { \
	char directory_[48], path_[64], helper_[4096]; \
	pid_t child_; \
	snprintf(directory_, sizeof(directory_), "%s/in", \
		 self->run.directory); \
	snprintf(path_, sizeof(path_), "%s/program", directory_); \
	helper_path(helper_, sizeof(helper_), here); \
	ASSERT_EQ(0, chmod(self->run.directory, 0755)); \
	ASSERT_EQ(0, mkdir(directory_, 0755)); \
	ASSERT_EQ(0, copy_file(helper_, path_, 0755)); \
	child_ = start(execute_elsewhere, path_, program); \
	attach_until_it_has_burnt(self, child_); \
	stop_program(child_); \
	EXPECT_EQ(0, WEXITSTATUS(self->run.status)); \
	ASSERT_EQ(1, self->run.prf.nr); \
	EXPECT_STREQ(path_, self->run.prf.execs[0].name); \
	EXPECT_SUM(&self->run.prf.execs[0]); \
} while (0)

TEST_F(tool, names_in_another_mount_namespace)
{
	char program[4096];

	NEED_MODULE();
	if (getuid())
		SKIP(return, "this needs root");
	helper_path(program, sizeof(program), "workload");
	ATTACH_ELSEWHERE("waiter");
	EXPECT_TRUE(has_name(&self->run.prf, "often"));
}

/* Its root may give it any owner, who must not be the one that parses it. */
TEST_F(tool, another_mount_namespace_is_read_as_nobody)
{
	char program[4096], workload[4096];

	NEED_MODULE();
	if (getuid())
		SKIP(return, "this needs root");
	snprintf(program, sizeof(program), "%s/private", self->run.directory);
	helper_path(workload, sizeof(workload), "workload");
	ASSERT_EQ(0, copy_file(workload, program, 0700));
	ATTACH_ELSEWHERE("waiter");
	EXPECT_FALSE(has_name(&self->run.prf, "often"));
	EXPECT_FALSE(strstr(self->run.complained, "names of"));
}

/* Most sandboxes have the files of the host: it is read as its owner, as there. */
TEST_F(tool, files_of_a_sandbox_are_those_of_the_host)
{
	char program[80], workload[4096];
	pid_t child;

	NEED_MODULE();
	if (getuid())
		SKIP(return, "this needs root");
	snprintf(program, sizeof(program), "%s/owned", self->run.directory);
	helper_path(workload, sizeof(workload), "workload");
	ASSERT_EQ(0, chmod(self->run.directory, 0755));
	ASSERT_EQ(0, copy_file(workload, program, 0700));
	ASSERT_EQ(0, chown(program, 12345, 12345));
	child = start(execute_sandboxed, program, "burn");
	attach_until_it_has_burnt(self, child);
	stop_program(child);
	EXPECT_EQ(0, WEXITSTATUS(self->run.status));
	EXPECT_TRUE(has_name(&self->run.prf, "often"));
}

/* The names of a file of ours are those that it has. */
TEST_F(tool, forged_names_in_another_mount_namespace)
{
	char program[4096], workload[4096], command[9000];

	NEED_MODULE();
	if (getuid())
		SKIP(return, "this needs root");
	snprintf(program, sizeof(program), "%s/forged", self->run.directory);
	helper_path(workload, sizeof(workload), "workload");
	snprintf(command, sizeof(command),
		 "objcopy --redefine-sym often=forged %s %s", workload, program);
	if (system(command))
		SKIP(return, "no objcopy");
	ATTACH_ELSEWHERE("workload");
	EXPECT_TRUE(has_name(&self->run.prf, "often"));
	EXPECT_FALSE(has_name(&self->run.prf, "forged"));
}

/* Execs are told apart by name: other shells may be alive. */
TEST_F(tool, whole_machine)
{
	char path[64];
	pid_t child;

	NEED_MODULE();
	if (getuid())
		SKIP(return, "this needs root");
	snprintf(path, sizeof(path), "%s/whole", self->run.directory);
	ASSERT_EQ(0, symlink("/bin/sh", path));
	child = start(execute_shell, path, LOOP);
	ATTACH("-a", "-P", "--duration=1");
	EXPECT_EQ(0, WEXITSTATUS(self->run.status));
	EXPECT_USED(child, "-a");
	stop_program(child);
}

/* An ordinary user has no others in it. */
TEST_F(tool, own_processes)
{
	pid_t other, child;
	size_t i, found = 0;

	NEED_MODULE();
	other = start_program(LOOP);
	if (tool_become_nobody(&self->run)) {
		stop_program(other);
		SKIP(return, "this needs root");
	}
	child = start_program(LOOP);
	ATTACH("--user", "--duration=1");
	stop_program(child);
	EXPECT_EQ(0, WEXITSTATUS(self->run.status));
	for (i = 0; i < self->run.prf.nr; i++) {
		EXPECT_NE(other, self->run.prf.execs[i].pid);
		found += self->run.prf.execs[i].pid == child;
	}
	EXPECT_EQ(1, found);
}

/* Root's processes, and the machine, are not for everybody. */
TEST_F(tool, not_permitted)
{
	pid_t other;

	NEED_MODULE();
	other = start_program(LOOP);
	if (tool_become_nobody(&self->run)) {
		stop_program(other);
		SKIP(return, "this needs root");
	}
	ATTACH("-p", text_of(other));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_TRUE(strstr(self->run.complained, "Operation not permitted; "));
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
	ATTACH("-a");
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_TRUE(strstr(self->run.complained, "CAP_PERFMON"));
	ATTACH("--user=root");
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_TRUE(strstr(self->run.complained, "other users"));
}

#define CGROUPS		"/sys/fs/cgroup"

/* Those in the cgroup and below it, with its path. */
TEST_F(tool, cgroup)
{
	const struct prf_exec *exec;
	char command[8192];
	pid_t inside, outside;

	NEED_MODULE();
	if (getuid() || (mkdir(CGROUPS "/profil_test", 0755)) ||
	    mkdir(CGROUPS "/profil_test/below", 0755))
		SKIP(return, "this makes cgroups of version 2");
	outside = start_program(LOOP);
	inside = start_program(LOOP);
	EXPECT_EQ(0, enter_cgroup(inside, CGROUPS "/profil_test/below"));
	EXPECT_USED(inside, "--cgroup=" CGROUPS "/profil_test");
	/* As a shell completes it */
	snprintf(command, sizeof(command), "cd %s && %s --duration=1 --cgroup="
		 CGROUPS "/profil_test/ 2> said", self->run.directory,
		 self->run.tool);
	EXPECT_EQ(0, system(command));
	EXPECT_TRUE(tool_has_file(&self->run, "profil_test.prf"));
	stop_program(outside);
	stop_program(inside);
	EXPECT_EQ(0, remove_cgroup(CGROUPS "/profil_test/below"));
	EXPECT_EQ(0, remove_cgroup(CGROUPS "/profil_test"));
	EXPECT_EQ(NULL, exec_of(&self->run.prf, outside));
	exec = exec_of(&self->run.prf, inside);
	ASSERT_NE(NULL, exec);
	EXPECT_STREQ("/profil_test/below", exec->cgroup);
	ATTACH("--cgroup=/tmp");
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_TRUE(strstr(self->run.complained, "no directory of a cgroup"));
}

TEST_F(tool, no_such_process)
{
	NEED_MODULE();
	ATTACH("-p", "2147483647");
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_TRUE(strstr(self->run.complained, "no such process"));
	EXPECT_FALSE(tool_has_file(&self->run, "out.prf"));
}

/* -p was --per-process once. */
TEST_F(tool, process_that_is_a_program)
{
	ATTACH("-p", "sleep", "1");
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_TRUE(strstr(self->run.complained, "--per-process (-P)"));
}

TEST_F(tool, one_target)
{
	ATTACH("-a", "-p", "1");
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_TRUE(strstr(self->run.complained, "choose one of"));
	tool_run(&self->run, LIST("-a"), "/bin/echo", LIST("ran"));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	tool_run(&self->run, LIST("--duration=1"), "/bin/echo", LIST("ran"));
	EXPECT_EQ(125, WEXITSTATUS(self->run.status));
	EXPECT_STREQ("", self->run.said);
}

/* Seconds of all blocks of the live view */
static double seconds_of(const char *text)
{
	double sum = 0;

	while ((text = strstr(text, " ms in "))) {
		text += strlen(" ms in ");
		sum += atof(text);
	}
	return sum;
}

/* With chains, it has the ticks below a function, too. */
#ifdef __x86_64__
#define TOP_HEADING	"percent    ticks     total  function"
#else
#define TOP_HEADING	"percent    ticks  function"
#endif

/* Run a command, which has to succeed and to print something. */
static int text_from(const char *command, char *text, size_t size)
{
	FILE *file = popen(command, "r");
	size_t length = file ? fread(text, 1, size - 1, file) : 0;

	text[length] = '\0';
	return !file || pclose(file) || !length;
}

/*
 * The live view: a block of text for each second, to the last, with the hottest
 * function. On a busy host, names may take longer than the view has for them.
 */
TEST_F(tool, top)
{
	char command[8192], text[4096], path[4096];
	pid_t child;

	NEED_MODULE();
	helper_path(path, sizeof(path), "workload");
	snprintf(command, sizeof(command),
		 "while %s burn 0 > /dev/null; do :; done", path);
	child = start_program(command);
	snprintf(command, sizeof(command),
		 "%s top -p %d --duration=4 --top=2", self->run.tool, child);
	RUN_UNTIL(strstr(text, "often (workload)") && seconds_of(text) > 3.5,
		  EXPECT_EQ(0, text_from(command, text, sizeof(text))));
	stop_program(child);
	TH_LOG("%.300s", text);
	EXPECT_TRUE(strstr(text, TOP_HEADING));
	EXPECT_FALSE(strchr(text, '\033'));
}

/*
 * They are shown to their end, not to the last whole second before it. On a busy
 * host, the tool may take a while to begin.
 */
TEST_F(tool, top_until_the_processes_end)
{
	double seconds = 0;

	NEED_MODULE();
	TRY_UNTIL(seconds > 1.4) {
		char command[8192], text[4096];
		pid_t child = start_program("sleep 1.7");

		snprintf(command, sizeof(command), "%s top -p %d",
			 self->run.tool, child);
		if (!text_from(command, text, sizeof(text)))
			seconds = seconds_of(text);
		waitpid(child, NULL, 0);
		TH_LOG("%s", text);
	}
	EXPECT_LT(1.4, seconds);
}

TEST_HARNESS_MAIN
