// SPDX-License-Identifier: GPL-2.0-only
/*
 * workload.c - does what it is told, for tools/profil to find out
 *
 *	workload DEED...
 *
 * burn		spend CPU time in two functions, three parts and one, and print
 *		for each its name, first and last address, and nanoseconds
 * threads	the same in two threads at a time
 * fork		the same in a child, and wait for it
 * exec		"workload burn" in a child, and wait for it
 * copy		standard input to standard output
 * interrupt	print "ready", wait for SIGINT, and print how often it came
 * crash, kill	end by SIGSEGV, SIGKILL
 * _exit	end with status 3, at once
 * 0 to 255	end with that status
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In a section of its own, whose ends the linker tells. */
#define OWN_TEXT(name) \
	extern const char __start_text_##name[], __stop_text_##name[]; \
	__attribute__((noinline, section("text_" #name)))

#define PART_NS		100000000ULL

OWN_TEXT(often) static void often(void)
{
	volatile unsigned int i;

	for (i = 0; i < 100000; i++)
		;
}

OWN_TEXT(seldom) static void seldom(void)
{
	volatile unsigned int i;

	for (i = 0; i < 100000; i++)
		;
}

static uint64_t thread_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* CPU time spent there, this much at least. */
static uint64_t spend(void (*function)(void), uint64_t ns)
{
	uint64_t begin = thread_ns(), now;

	do {
		function();
		now = thread_ns();
	} while (now - begin < ns);
	return now - begin;
}

static void print(const char *name, const char *start, const char *end,
		  uint64_t ns)
{
	printf("%s %#lx %#lx %llu\n", name, (unsigned long)start,
	       (unsigned long)end, (unsigned long long)ns);
	fflush(stdout);
}

static void burn(void)
{
	print("often", __start_text_often, __stop_text_often,
	      spend(often, 3 * PART_NS));
	print("seldom", __start_text_seldom, __stop_text_seldom,
	      spend(seldom, PART_NS));
}

static void *burn_thread(void *unused)
{
	burn();
	return unused;
}

static void threads(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, burn_thread, NULL))
		exit(99);
	burn();
	pthread_join(thread, NULL);
}

static void in_child(const char *program)
{
	pid_t child = fork();

	if (!child) {
		if (program)
			execl(program, program, "burn", "0", NULL);
		else
			burn();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void copy(void)
{
	char bytes[512];
	ssize_t got;

	while ((got = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
		if (write(STDOUT_FILENO, bytes, got) != got)
			exit(99);
}

static volatile sig_atomic_t interrupts;

static void count(int signal)
{
	interrupts += signal == SIGINT;
}

static void interrupt(void)
{
	struct timespec more = { .tv_nsec = 300000000 };

	signal(SIGINT, count);
	puts("ready");
	fflush(stdout);
	while (!interrupts)
		usleep(1000);
	nanosleep(&more, NULL);
	printf("interrupts %d\n", (int)interrupts);
	fflush(stdout);
}

static void do_deed(const char *program, const char *deed)
{
	if (!strcmp(deed, "burn"))
		burn();
	else if (!strcmp(deed, "threads"))
		threads();
	else if (!strcmp(deed, "fork"))
		in_child(NULL);
	else if (!strcmp(deed, "exec"))
		in_child(program);
	else if (!strcmp(deed, "copy"))
		copy();
	else if (!strcmp(deed, "interrupt"))
		interrupt();
	else if (!strcmp(deed, "crash"))
		raise(SIGSEGV);
	else if (!strcmp(deed, "kill"))
		raise(SIGKILL);
	else if (!strcmp(deed, "_exit"))
		_exit(3);
	else
		exit(atoi(deed));
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		do_deed(argv[0], argv[i]);
	return 0;
}
