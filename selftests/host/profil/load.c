// SPDX-License-Identifier: GPL-2.0-only
/*
 * load.c - a program that spends CPU time in known functions
 *
 *	load WORD...
 *
 * alpha MS, beta MS	spend MS milliseconds of CPU time in a function
 * calls MS	the same in system calls
 * left MS, right MS	the same as alpha, called by another function
 * recurse NR MS	the same, called by so many calls of a function by itself
 * large MS	the same, called by a function with 48 KiB on the stack
 * handle MS	the same in the handler of a signal
 * compare MS	the same in a function that the C library calls
 * thread alpha|beta MS WORD...	spend the time, and do the rest in a thread
 *		at the same time
 * alone WORD...	do the rest in a thread, and end the first one
 * fork WORD...	do the rest in a child, and wait for it
 * times NR WORD...	do the same NR times
 * exec PATH WORD...	execute PATH
 * open PATH MS	spend the time in the library, print where it is, and close it
 * untraced	fail unless nothing traces the program, and it may be traced
 * pause	wait for a signal
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS	1000000ULL

static void do_words(char **words);

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000 * MS + time.tv_nsec;
}

__attribute__((noipa)) static void alpha(void)
{
	volatile int i;

	for (i = 0; i < 20000; i++)
		;
}

__attribute__((noipa)) static void beta(void)
{
	volatile int i;

	for (i = 0; i < 20000; i++)
		;
}

/* Of a call as long as this one, hardly anything is not in the kernel. */
static void calls(void)
{
	static char bytes[4096];

	syscall(SYS_getrandom, bytes, sizeof(bytes), 0);
}

static void spend(void (*function)(void), const char *ms)
{
	uint64_t end = cpu_ns() + strtod(ms, NULL) * MS;

	while (cpu_ns() < end)
		function();
}

__attribute__((noipa)) static void left(const char *ms)
{
	spend(alpha, ms);
}

__attribute__((noipa)) static void right(const char *ms)
{
	spend(alpha, ms);
}

__attribute__((noipa)) static void recurse(int nr, const char *ms)
{
	if (nr)
		recurse(nr - 1, ms);
	else
		spend(alpha, ms);
}

__attribute__((noipa)) static void large(const char *ms)
{
	volatile char frame[48 << 10];
	size_t i;

	/* The kernel copies as much as is in memory */
	for (i = 0; i < sizeof(frame); i += 1024)
		frame[i] = 0;
	spend(alpha, ms);
	frame[1] = frame[0];
}

static const char *argument;

__attribute__((noipa)) static void handler(int signal)
{
	spend(alpha, argument);
}

__attribute__((noipa)) static void handle(const char *ms)
{
	argument = ms;
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
}

__attribute__((noipa)) static int order(const void *a, const void *b)
{
	spend(alpha, argument);
	return 0;
}

__attribute__((noipa)) static void compare(const char *ms)
{
	int two[2] = { 0 };

	argument = ms;
	qsort(two, 2, sizeof(*two), order);
}

static void *in_thread(void *words)
{
	do_words(words);
	return NULL;
}

static void in_child(char **words)
{
	pid_t child = fork();
	int status = 1;

	if (!child) {
		do_words(words);
		exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		exit(1);
}

static void in_library(const char *path, const char *ms)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*function)(void) = library ? dlsym(library, "part") : NULL;

	if (!function)
		exit(1);
	printf("%p\n", (void *)function);
	spend(function, ms);
	dlclose(library);
}

static void check_untraced(void)
{
	pid_t child = fork();
	int status = 1;

	if (!child)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? 1 : 0);
	if (waitpid(child, &status, 0) != child || status)
		exit(1);
}

static void do_words(char **words)
{
	pthread_t thread;
	int i;

	for (; *words; words++) {
		if (!strcmp(*words, "alpha")) {
			spend(alpha, *++words);
		} else if (!strcmp(*words, "beta")) {
			spend(beta, *++words);
		} else if (!strcmp(*words, "calls")) {
			spend(calls, *++words);
		} else if (!strcmp(*words, "left")) {
			left(*++words);
		} else if (!strcmp(*words, "right")) {
			right(*++words);
		} else if (!strcmp(*words, "recurse")) {
			recurse(atoi(words[1]), words[2]);
			words += 2;
		} else if (!strcmp(*words, "large")) {
			large(*++words);
		} else if (!strcmp(*words, "handle")) {
			handle(*++words);
		} else if (!strcmp(*words, "compare")) {
			compare(*++words);
		} else if (!strcmp(*words, "open")) {
			in_library(words[1], words[2]);
			words += 2;
		} else if (!strcmp(*words, "untraced")) {
			check_untraced();
		} else if (!strcmp(*words, "exec")) {
			execv(words[1], words + 1);
			exit(1);
		} else if (!strcmp(*words, "thread")) {
			if (pthread_create(&thread, NULL, in_thread, words + 3))
				exit(1);
			spend(strcmp(words[1], "alpha") ? beta : alpha,
			      words[2]);
			pthread_join(thread, NULL);
			return;
		} else if (!strcmp(*words, "alone")) {
			if (pthread_create(&thread, NULL, in_thread, words + 1))
				exit(1);
			pthread_exit(NULL);
		} else if (!strcmp(*words, "fork")) {
			in_child(words + 1);
			return;
		} else if (!strcmp(*words, "times")) {
			for (i = atoi(words[1]); i--;)
				in_child(words + 2);
			return;
		} else if (!strcmp(*words, "pause")) {
			pause();
		} else {
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	do_words(argv + 1);
	return 0;
}
