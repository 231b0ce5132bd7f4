// SPDX-License-Identifier: GPL-2.0-only
/*
 * kept.c - spend CPU time in a function and in one that is inlined there, called by
 * one that is inlined, too
 *
 *	kept [SECONDS]
 *
 * OTHER makes it another program, with functions at other addresses; SLOW one that
 * then spends as much time in another function.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sum;

#ifdef OTHER
__attribute__((used)) static void other(void)
{
	sum++;
}
#endif

static inline __attribute__((always_inline)) void inner(int i)
{
	sum += i * sum;
	sum ^= i;
}

__attribute__((noinline)) void hot(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		inner(i);
		sum -= 3;
	}
}

#ifdef SLOW
__attribute__((noinline)) void cold(int n)
{
	while (n--)
		sum *= n;
}
#endif

static inline __attribute__((always_inline)) void caller(void)
{
	hot(100000);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.4;

	puts("started");
	fflush(stdout);
	while (clock() < seconds * CLOCKS_PER_SEC)
		caller();
#ifdef SLOW
	while (clock() < 2 * seconds * CLOCKS_PER_SEC)
		cold(100000);
#endif
	return 0;
}
