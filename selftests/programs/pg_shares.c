// SPDX-License-Identifier: GPL-2.0-only
/*
 * pg_shares.c - four threads that use 10, 20, 30 and 40 % of the CPU time
 *
 * They also call a function a million times in all, at the same time. Argument:
 * the CPU time of the first, in ms. Prints for each thread the nanoseconds that
 * it has burnt, and the stalls among them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "pg_burn.h"

#define THREADS	4
#define CALLS	100000

struct worker {
	struct burnt (*share)(uint64_t ns);
	uint64_t ns;
	int calls;
	struct burnt burnt;
	pthread_t thread;
};

static pthread_barrier_t start;

PLAIN struct burnt share_10(uint64_t ns)
{
	return burn(ns);
}

PLAIN struct burnt share_20(uint64_t ns)
{
	return burn(ns);
}

PLAIN struct burnt share_30(uint64_t ns)
{
	return burn(ns);
}

PLAIN struct burnt share_40(uint64_t ns)
{
	return burn(ns);
}

PLAIN void called(void)
{
}

PLAIN void caller(int calls)
{
	while (calls--)
		called();
}

PLAIN void *work(void *argument)
{
	struct worker *worker = argument;

	pthread_barrier_wait(&start);
	caller(worker->calls);
	worker->burnt = worker->share(worker->ns);
	return NULL;
}

PLAIN int compare(const void *one, const void *other)
{
	return *(const int *)one - *(const int *)other;
}

int main(int argc, char **argv)
{
	struct burnt (*const shares[THREADS])(uint64_t ns) = {
		share_10, share_20, share_30, share_40
	};
	uint64_t ns = argc > 1 ? atoll(argv[1]) * 1000000 : 0;
	struct worker workers[THREADS];
	int i, two[2] = { 2, 1 };

	pthread_barrier_init(&start, NULL, THREADS);
	for (i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){
			.share = shares[i],
			.ns = (i + 1) * ns,
			.calls = (i + 1) * CALLS,
		};
		if (pthread_create(&workers[i].thread, NULL, work,
				   &workers[i]))
			return 1;
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		printf("%llu %f\n", (unsigned long long)workers[i].burnt.ns,
		       workers[i].burnt.stalls);
	}
	/* Only the C library calls compare(). */
	qsort(two, 2, sizeof(two[0]), compare);
	return two[0] != 1;
}
