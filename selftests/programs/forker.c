// SPDX-License-Identifier: GPL-2.0-only
/*
 * forker.c - makes children in unusual ways
 *
 *	forker DEED N [PATH]
 *
 * reuse N PATH	N times, a child of one program ends at once, and a child of
 *		another gets its process number and opens the library, while
 *		other processes make children too; prints how many were killed,
 *		or "no numbers" if the program may not choose numbers
 * parent N PATH	N times, a child gives its own parent a child, which
 *		opens the library; prints how many were killed
 * kill N	N times, kills a child while that makes children, and waits for
 *		all of these; prints "done"
 * filter N	forbids system calls that are not the program's own, and makes
 *		a child N times; prints how many were killed
 * filtered N	the same filter, and CPU time in "in_filter", which it prints
 * threads N	the main thread ends, and another makes N threads
 * ignores 0	prints "ignored" if SIGCHLD is, "ready" otherwise, and ends
 *		with its standard input
 *
 * It executes itself as: ends NUMBER, opens NUMBER PATH, gives 0 PATH.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spend.h"

/* Bounds for the life of a short-lived process, in microseconds. */
#define SHORT_US	200
#define LONG_US		800

#define NO_NUMBERS	3
#define PART_NS		200000000ULL
#define OTHERS		2

static char *program;

static int opens(const char *path)
{
	return !dlopen(path, RTLD_NOW);
}

/* Execute this program in a child. Returns the child. */
static pid_t start(const char *action, int number, const char *path)
{
	char text[16];
	pid_t child = fork();

	snprintf(text, sizeof(text), "%d", number);
	if (!child) {
		execl(program, program, action, text, path, NULL);
		_exit(99);
	}
	return child;
}

static int status_of(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	return status;
}

/*
 * Make a child with this process number, which opens @path unless that is NULL.
 */
static int number(pid_t number, const char *path)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&number,
		.set_tid_size = 1,
	};
	pid_t child = syscall(SYS_clone3, &args, sizeof(args));

	if (!child)
		_exit(path ? opens(path) : 0);
	if (child < 0)
		return errno == EPERM ? NO_NUMBERS : 0;
	return WIFSIGNALED(status_of(child));
}

static void __attribute__((noreturn)) make_children(void)
{
	pid_t child;

	for (;;) {
		child = fork();
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

/* Returns how many were killed, or -1 if numbers cannot be chosen. */
static int reuse_number(int n, pid_t number, const char *path)
{
	int killed = 0, status;

	while (n--) {
		status = status_of(start("ends", number, NULL));
		if (WEXITSTATUS(status) == NO_NUMBERS)
			return -1;
		status = status_of(start("opens", number, path));
		killed += WEXITSTATUS(status) == 1;
	}
	return killed;
}

static void tell_of_reuse(int n, pid_t number, const char *path)
{
	int killed = reuse_number(n, number, path);

	if (killed < 0)
		puts("no numbers");
	else
		printf("killed %d\n", killed);
	fflush(stdout);
}

/*
 * The others are older: the kernel reports their events after those of younger
 * siblings.
 */
static void reuse(int n, const char *path)
{
	pid_t free_number = fork(), others[OTHERS], worker;
	int i;

	if (!free_number)
		_exit(0);
	waitpid(free_number, NULL, 0);
	for (i = 0; i < OTHERS; i++) {
		others[i] = fork();
		if (!others[i])
			make_children();
	}
	worker = fork();
	if (!worker) {
		tell_of_reuse(n, free_number, path);
		_exit(0);
	}
	waitpid(worker, NULL, 0);
	for (i = 0; i < OTHERS; i++)
		kill(others[i], SIGKILL);
}

static int give(const char *path)
{
	pid_t child = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

	if (!child) {
		usleep(SHORT_US);
		_exit(opens(path));
	}
	return child < 0;
}

static void take(int n, const char *path)
{
	int killed = 0, status;

	while (n--) {
		start("gives", 0, path);
		while (wait(&status) > 0)
			killed += WIFSIGNALED(status);
	}
	printf("killed %d\n", killed);
}

/* The pipe is closed when the last of the children has ended. */
static void kill_while_it_forks(void)
{
	int ends[2];
	pid_t child;
	char byte;

	if (pipe(ends))
		exit(99);
	child = fork();
	if (!child)
		make_children();
	close(ends[1]);
	usleep(SHORT_US + rand() % (LONG_US - SHORT_US));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	if (read(ends[0], &byte, 1))
		exit(99);
	close(ends[0]);
}

/* memfd_create(2) kills its caller from now on. */
static void forbid(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(99);
}

static void make_filtered(int n)
{
	int killed = 0;
	pid_t child;

	forbid();
	while (n--) {
		child = fork();
		if (!child)
			_exit(0);
		killed += WIFSIGNALED(status_of(child));
	}
	printf("killed %d\n", killed);
}

OWN_TEXT(in_filter) static void in_filter(void)
{
	LOOP(100000);
}

static void spend_filtered(void)
{
	forbid();
	print("in_filter", __start_text_in_filter, __stop_text_in_filter,
	      spend(in_filter, PART_NS));
}

static void *do_nothing(void *unused)
{
	return unused;
}

struct maker {
	pthread_t main_thread;
	int n;
};

static void *make_threads(void *argument)
{
	const struct maker *maker = argument;
	pthread_t thread;
	int i;

	pthread_join(maker->main_thread, NULL);
	for (i = 0; i < maker->n; i++) {
		if (pthread_create(&thread, NULL, do_nothing, NULL))
			_exit(99);
		pthread_join(thread, NULL);
	}
	_exit(0);
}

static void end_main_thread(int n)
{
	static struct maker maker;
	pthread_t thread;

	maker.main_thread = pthread_self();
	maker.n = n;
	if (pthread_create(&thread, NULL, make_threads, &maker))
		exit(99);
	pthread_exit(NULL);
}

static void tell_of_ignored(void)
{
	struct sigaction action;
	char byte;

	sigaction(SIGCHLD, NULL, &action);
	puts(action.sa_handler == SIG_IGN ? "ignored" : "ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

int main(int argc, char **argv)
{
	const char *action = argc > 2 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	program = argv[0];
	if (!strcmp(action, "ends"))
		return number(n, NULL);
	if (!strcmp(action, "opens"))
		return number(n, argv[3]);
	if (!strcmp(action, "gives"))
		return give(argv[3]);
	if (!strcmp(action, "reuse")) {
		reuse(n, argv[3]);
	} else if (!strcmp(action, "parent")) {
		take(n, argv[3]);
	} else if (!strcmp(action, "filter")) {
		make_filtered(n);
	} else if (!strcmp(action, "filtered")) {
		spend_filtered();
	} else if (!strcmp(action, "threads")) {
		end_main_thread(n);
	} else if (!strcmp(action, "ignores")) {
		tell_of_ignored();
	} else if (!strcmp(action, "kill")) {
		while (n--)
			kill_while_it_forks();
		puts("done");
	}
	return 0;
}
