// SPDX-License-Identifier: GPL-2.0-only
/*
 * pg_forks.c - a program with threads forks, and again without the C library
 *
 * Prints its process number, those of its two children, and how many times its
 * threads have called a function, which they do all the time.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pg_burn.h"

#define THREADS	3

static volatile int stop;
static unsigned long long calls[THREADS];

PLAIN void step(void)
{
}

PLAIN void steps(int nr)
{
	while (nr--)
		step();
}

PLAIN void meanwhile(void)
{
}

PLAIN void *work(void *argument)
{
	unsigned long long *nr = argument;

	while (!stop) {
		meanwhile();
		(*nr)++;
	}
	return NULL;
}

PLAIN void before(void)
{
	burn(150000000);
}

PLAIN void after(void)
{
	burn(150000000);
}

PLAIN void child(int nr)
{
	steps(nr);
	after();
	exit(0);
}

int main(void)
{
	pthread_t threads[THREADS];
	int i, one, other;

	before();
	steps(1000);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, &calls[i]))
			return 1;
	usleep(10000);
	one = fork();
	if (!one)
		child(77);
	other = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!other)
		child(33);
	stop = 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (waitpid(one, &i, 0) != one || i || waitpid(other, &i, 0) != other ||
	    i)
		return 2;
	steps(500);
	printf("%d %d %d %llu\n", getpid(), one, other,
	       calls[0] + calls[1] + calls[2]);
	return 0;
}
