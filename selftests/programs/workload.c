// SPDX-License-Identifier: GPL-2.0-only
/*
 * workload.c - a program of known behaviour for tools/profil to measure
 *
 *	workload DEED...
 *
 * burn		spend three quarters of the CPU time in one function and the
 *		rest in another, and print for each its name, first and last
 *		address, and nanoseconds
 * beat		spend CPU time in two functions by turns, half a millisecond in
 *		each, and print the same
 * system	spend CPU time in system calls, and print it likewise
 * threads	as burn, in two threads at a time
 * fork		the same as burn in a child, and wait for it
 * exec		"workload burn 0" in a child, and wait for it
 * copy		standard input to standard output
 * interrupt	print "ready", wait for SIGINT, and print how often it came
 * crash, kill	end by SIGSEGV, SIGKILL
 * _exit	end with status 3, at once
 * 0 to 255	end with that status
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spend.h"

#define PART_NS		100000000ULL
#define BEAT_NS		1000000ULL

OWN_TEXT(often) static void often(void)
{
	LOOP(100000);
}

OWN_TEXT(seldom) static void seldom(void)
{
	LOOP(100000);
}

static void burn(void)
{
	print("often", __start_text_often, __stop_text_often,
	      spend(often, 3 * PART_NS));
	print("seldom", __start_text_seldom, __stop_text_seldom,
	      spend(seldom, PART_NS));
}

OWN_TEXT(first) static void first(void)
{
	LOOP(5000);
}

OWN_TEXT(second) static void second(void)
{
	LOOP(5000);
}

/* In step with every clock that counts milliseconds of CPU time. */
static void beat(void)
{
	uint64_t begin = thread_ns(), now = begin, first_ns = 0, second_ns = 0;
	uint64_t next = begin;

	while (now - begin < 10 * PART_NS) {
		next += BEAT_NS / 2;
		if (next > now)
			first_ns += spend(first, next - now);
		now = thread_ns();
		next += BEAT_NS / 2;
		if (next > now)
			second_ns += spend(second, next - now);
		now = thread_ns();
	}
	print("first", __start_text_first, __stop_text_first, first_ns);
	print("second", __start_text_second, __stop_text_second, second_ns);
}

static void fill_memory(void)
{
	static char memory[1 << 20];
	int fd = open("/dev/zero", O_RDONLY);

	if (read(fd, memory, sizeof(memory)) != sizeof(memory))
		exit(99);
	close(fd);
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

static void act(const char *program, const char *action)
{
	if (!strcmp(action, "burn"))
		burn();
	else if (!strcmp(action, "beat"))
		beat();
	else if (!strcmp(action, "system"))
		print("system", "", "" + 1, spend(fill_memory, 3 * PART_NS));
	else if (!strcmp(action, "threads"))
		threads();
	else if (!strcmp(action, "fork"))
		in_child(NULL);
	else if (!strcmp(action, "exec"))
		in_child(program);
	else if (!strcmp(action, "copy"))
		copy();
	else if (!strcmp(action, "interrupt"))
		interrupt();
	else if (!strcmp(action, "crash"))
		raise(SIGSEGV);
	else if (!strcmp(action, "kill"))
		raise(SIGKILL);
	else if (!strcmp(action, "_exit"))
		_exit(3);
	else
		exit(atoi(action));
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		act(argv[0], argv[i]);
	return 0;
}
