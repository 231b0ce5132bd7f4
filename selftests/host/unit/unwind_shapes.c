// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind_shapes.c - frames of all kinds, for unwind.c to step through
 *
 * Everything is between two calls of getppid().
 */
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

static __attribute__((noinline)) void leaf(int depth)
{
	sink += depth;
}

static __attribute__((noinline)) void recurse(int depth)
{
	if (depth)
		recurse(depth - 1);
	leaf(depth);
}

/* It has a base pointer, as it does not know the size of its frame. */
static __attribute__((noinline)) void with_alloca(size_t size)
{
	char *room = alloca(size);

	memset(room, 1, size);
	recurse(2);
	leaf(room[size / 2]);
}

/* So does one whose frame has to be aligned. */
static __attribute__((noinline)) void with_aligned(void)
{
	struct { char bytes[64] __attribute__((aligned(64))); } room;

	memset(&room, 2, sizeof(room));
	recurse(1);
	leaf(room.bytes[3]);
}

static __attribute__((noinline)) void with_aligned_alloca(size_t size)
{
	char room[64] __attribute__((aligned(64)));
	char *more = alloca(size);

	memset(room, 3, sizeof(room));
	memset(more, 4, size);
	leaf(room[7] + more[3]);
}

static __attribute__((noinline, noclone)) void last(int depth)
{
	leaf(depth);
	leaf(depth + 1);
}

/* Jumps to last() */
static __attribute__((noinline, optimize("O2"))) void tail(int depth)
{
	leaf(depth);
	last(depth + 1);
}

/* Saves all registers that it has to */
static __attribute__((noinline)) void many_registers(int seed)
{
	int a = seed * 3, b = seed * 5, c = seed * 7, d = seed * 11;
	int e = seed * 13, f = seed * 17;

	leaf(a);
	leaf(b + a);
	leaf(c + b);
	leaf(d + c);
	leaf(e + d);
	leaf(f + a + b + c + d + e);
}

static void handler(int signal)
{
	recurse(1);
	leaf(signal);
}

static void on_signals(void)
{
	static char room[65536];
	stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sigaltstack(&stack, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
}

static void in_vfork(void)
{
	pid_t child = vfork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

/* The first call of each function has it bound. */
static void in_library(void)
{
	char text[64];
	int numbers[] = { 3, 1, 2 };

	snprintf(text, sizeof(text), "%d %s", numbers[0], "text");
	sink += strtol(text, NULL, 10);
	free(strdup(text));
}

int main(void)
{
	getppid();
	recurse(8);
	with_alloca(40);
	with_aligned();
	with_aligned_alloca(24);
	tail(1);
	many_registers(sink);
	in_library();
	on_signals();
	in_vfork();
	getppid();
	return 0;
}
