// SPDX-License-Identifier: GPL-2.0-only
/*
 * inject.c - make the first, the second, the third... thing that can fail in a
 * system call fail
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "inject.h"

#define PROGRAM	"/dev/shm/profil-inject"
#define FAULTS	"/sys/kernel/debug/"
#define HELPER	"/sys/module/fail/parameters/"

/* Of fail.ko, which does the same; -1 on a kernel with fault injection. */
static int helper = -1;

/* Make the @nth possible failure of this thread happen; 0 for none. */
bool fail_nth(int nth)
{
	char text[20];
	int length = snprintf(text, sizeof(text), "%d", nth);

	if (helper >= 0)
		return pwrite(helper, text, length, 0) == length;
	return !write_file("/proc/thread-self/fail-nth", text);
}

/*
 * How many more would have to come before one fails in that process; 0 if it has; -1
 * if nobody knows.
 */
int failures_left(pid_t pid)
{
	char path[60], text[20] = "";
	int fd = helper;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/fail-nth", pid, pid);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (pread(fd, text, sizeof(text) - 1, 0) < 1)
		text[0] = '\0';
	if (fd != helper)
		close(fd);
	return text[0] ? atoi(text) : -1;
}

/*
 * Has the failure happened? Opening and reading the file may be what fails: then
 * the call had fewer points.
 */
bool has_failed(void)
{
	bool failed = !failures_left(gettid());

	fail_nth(0);
	return failed;
}

static int put_range(const char *directory, const char *prefix,
		     unsigned long start, unsigned long end)
{
	char path[100], text[30];
	int failed;

	snprintf(path, sizeof(path), "%s%sstart", directory, prefix);
	snprintf(text, sizeof(text), "0x%lx", start);
	failed = write_file(path, text);
	snprintf(path, sizeof(path), "%s%send", directory, prefix);
	snprintf(text, sizeof(text), "0x%lx", end);
	return failed | write_file(path, text);
}

/* Only what has a return address from @start to before @end on its stack fails. */
static int inject_between(unsigned long start, unsigned long end)
{
	if (helper >= 0)
		return put_range(HELPER, "", start, end);
	return put_range(FAULTS "failslab/", "require-", start, end) |
	       put_range(FAULTS "fail_page_alloc/", "require-", start, end) |
	       put_range(FAULTS "fail_usercopy/", "require-", start, end);
}

/* Only what the module itself does, or has others do, may fail from now on. */
int inject_in_profil(void)
{
	unsigned long start = -1UL, last = 0, address;
	FILE *symbols = fopen("/proc/kallsyms", "r");
	char line[300], module[60], type;

	while (symbols && fgets(line, sizeof(line), symbols)) {
		if (sscanf(line, "%lx %c %*s %59s", &address, &type,
			   module) != 3 ||
		    (type != 't' && type != 'T') || strcmp(module, "[profil]"))
			continue;
		start = address < start ? address : start;
		last = address > last ? address : last;
	}
	if (symbols)
		fclose(symbols);
	return last ? inject_between(start, (last / PAGE + 1) * PAGE) : -1;
}

/* Whether this kernel can; then all allocations may fail. */
bool can_inject(void)
{
	write_file(FAULTS "failslab/ignore-gfp-wait", "N");
	write_file(FAULTS "fail_page_alloc/ignore-gfp-wait", "N");
	write_file(FAULTS "fail_page_alloc/min-order", "0");
	if (fail_nth(0))
		return true;
	if (load_helper("fail", "") && errno != EEXIST)
		return false;
	/* Ordinary users may write it, too, once it is open */
	helper = open(HELPER "nth", O_RDWR | O_CLOEXEC);
	return helper >= 0 && !inject_in_profil();
}

/*
 * Also pages that the program itself gets: only while it calls nothing else, as the
 * kernel kills it where it cannot do without.
 */
int inject_user_pages(bool on)
{
	if (helper >= 0)
		return write_file(HELPER "user_pages", on ? "Y" : "N");
	return write_file(FAULTS "fail_page_alloc/ignore-gfp-highmem",
			  on ? "N" : "Y");
}

static void __attribute__((destructor)) remove_helper(void)
{
	if (helper < 0)
		return;
	close(helper);
	unload_helper("fail");
}

/*
 * Also what the rest of the kernel does in the calls of a program. Debian's kernel
 * reports that with call traces, which the runner of the guest takes for faults, and
 * TOMOYO panics: fail.ko does it only if booted with lsm=.
 */
int inject_everywhere(void)
{
	char parameters[4096] = "";
	int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);

	if (read(fd, parameters, sizeof(parameters) - 1) < 0)
		parameters[0] = '\0';
	close(fd);
	if (helper >= 0 && !strstr(parameters, "lsm="))
		return -1;
	return inject_between(0, -1UL);
}

/* The errors that a call may have for want of memory, or of the caller's. */
bool is_clean(int error)
{
	return error == ENOMEM || error == EFAULT || error == EMFILE ||
	       error == ENFILE || error == EAGAIN;
}

bool fail_next(struct points *points)
{
	return fail_nth(++points->nth);
}

bool is_done(struct points *points, bool call_failed)
{
	int error = errno;
	bool done = !has_failed();

	points->failed += !done && call_failed;
	errno = error;
	return done;
}

/*
 * Have a program for execute_with(), in memory, as other file systems may fail for
 * everybody. Once.
 */
int prepare_program(void)
{
	char path[PATH_MAX];

	helper_path(path, sizeof(path), "usage");
	return copy_file(path, PROGRAM, 0755);
}

void remove_program(void)
{
	unlink(PROGRAM);
}

/*
 * Execute a program with a failure. Return: whether it was executed; @left: how
 * many more would have to have come before, 0 if it has failed, -1 if nobody knows.
 */
bool execute_with(int nth, int *left)
{
	pid_t child = fork_child();
	bool executed = false;
	int status;

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		fail_nth(nth);
		execl(PROGRAM, PROGRAM, NULL);
		_exit(errno == ENOENT);
	}
	*left = -1;
	if (waitpid(child, &status, 0) != child)
		return false;
	if (WIFSTOPPED(status)) {
		/* By the exec, or by a signal as it came too far to return */
		executed = WSTOPSIG(status) == SIGTRAP;
		*left = failures_left(child);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	} else if (WIFSIGNALED(status) || !WEXITSTATUS(status)) {
		*left = 0;
	}
	return executed;
}

/*
 * Have a child use CPU time, and exit with a failure. Return: as failures_left():
 * one who has ended can be asked until somebody waits for it.
 */
int exit_with(int nth)
{
	pid_t child = fork_child();
	siginfo_t ended;
	int left = -1;

	if (!child) {
		burn_thread_ns(2 * MS);
		fail_nth(nth);
		_exit(0);
	}
	if (!waitid(P_PID, child, &ended, WEXITED | WNOWAIT))
		left = failures_left(child);
	return wait_child(child) ? -1 : left;
}
