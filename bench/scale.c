// SPDX-License-Identifier: GPL-2.0-only
/*
 * scale.c - many threads, processes and CPUs in one profile
 *
 *	scale threads NR MS
 *	scale processes NR MS
 *
 * NR threads or processes share MS of work, once with a profile that has hardly
 * any ticks and once with one that has many. Prints the outcomes of the ticks,
 * and the cost of each, which is meaningful only if the clock counts
 * instructions.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define PERIOD_NS	(100 * US)

/* Memory shared by all processes. */
static struct shared {
	uint32_t ready;
	uint32_t done;
	uint32_t bin;
	uint64_t while_working;
	uint64_t ticks;
	uint64_t lost;
	uint64_t missing;
	uint64_t covered_ns;
} *shared;

/* Reading from these sleeps until the writing end is closed. */
static int enter[2];
static int leave[2];

static int us_each;

static void pass(const int gate[2])
{
	char byte;

	if (read(gate[0], &byte, 1))
		die("read: %m");
}

static void add_one(uint32_t *number)
{
	__atomic_add_fetch(number, 1, __ATOMIC_RELEASE);
}

static void work(void)
{
	int us;

	for (us = us_each; us > 0; us--)
		spend_us();
}

static void add_working(uint64_t ticks)
{
	__atomic_add_fetch(&shared->while_working, ticks, __ATOMIC_RELAXED);
}

/* Stop the profile of this address space and add up its stats. */
static void add_stats(void)
{
	struct profil_status last = { .size = sizeof(last) };
	const struct profil_counts *counts = &last.counts;
	uint64_t lost;

	if (profil_stop(&last, NULL, 0))
		die("cannot stop: %m");
	lost = counts->lost + counts->clipped;
	__atomic_add_fetch(&shared->ticks, counts->ticks, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->lost, lost, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->missing,
			   counts->ticks - counts->counted - lost,
			   __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->covered_ns, last.cpu_time_ns,
			   __ATOMIC_RELAXED);
}

/* Wait until @nr have arrived and the last one sleeps. */
static void wait_for(const uint32_t *number, int nr)
{
	while (__atomic_load_n(number, __ATOMIC_ACQUIRE) < nr)
		usleep(10000);
	usleep(10000);
}

/* Measure the cost of the work, without that of starting and ending. */
static uint64_t watch(int nr)
{
	uint64_t ns;

	wait_for(&shared->ready, nr);
	ns = busy_ns();
	close(enter[1]);
	wait_for(&shared->done, nr);
	ns = busy_ns() - ns;
	close(leave[1]);
	return ns;
}

static void *run_thread(void *unused)
{
	add_one(&shared->ready);
	pass(enter);
	work();
	add_one(&shared->done);
	pass(leave);
	return unused;
}

static uint64_t run_threads(int nr)
{
	pthread_t *threads = calloc(nr, sizeof(*threads));
	pthread_attr_t attr;
	uint64_t ticks, ns;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < nr; i++)
		if (pthread_create(&threads[i], &attr, run_thread, NULL))
			die("cannot make thread %d", i);
	ticks = status_now().counts.ticks;
	ns = watch(nr);
	add_working(status_now().counts.ticks - ticks);
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return ns;
}

static void run_process(void)
{
	uint64_t ticks;

	close(enter[1]);
	close(leave[1]);
	add_one(&shared->ready);
	pass(enter);
	ticks = status_now().counts.ticks;
	work();
	add_working(status_now().counts.ticks - ticks);
	add_one(&shared->done);
	pass(leave);
	add_stats();
	_exit(0);
}

static uint64_t run_processes(int nr)
{
	uint64_t ns;
	int i;

	for (i = 0; i < nr; i++) {
		pid_t child = fork_child();

		if (child < 0)
			die("fork: %m");
		if (!child)
			run_process();
	}
	ns = watch(nr);
	while (wait(NULL) > 0)
		;
	return ns;
}

static void start(uint64_t period_ns)
{
	const struct profil_region all = overflow_bin(&shared->bin, 4);

	memset(shared, 0, sizeof(*shared));
	if (set_regions(&all, 1, 4, period_ns, 0))
		die("cannot start a profile: %m");
}

static uint64_t measure(uint64_t (*run)(int nr), int nr, uint64_t period_ns)
{
	uint64_t ns;

	start(period_ns);
	if (pipe(enter) || pipe(leave))
		die("pipe: %m");
	ns = run(nr);
	close(enter[0]);
	close(leave[0]);
	if (status_now().unfollowed)
		die("%llu children have no profile", status_now().unfollowed);
	add_stats();
	/* Ticks of a child that exits may still be pending. */
	usleep(100000);
	return ns;
}

int main(int argc, char **argv)
{
	uint64_t (*run)(int nr);
	uint64_t few_ns, many_ns;
	uint64_t few;
	const char *what;
	int nr;

	if (argc < 4)
		die("usage: scale threads|processes NR MS");
	what = argv[1];
	nr = atoi(argv[2]);
	us_each = atoi(argv[3]) * 1000 / nr;
	run = what[0] == 't' ? run_threads : run_processes;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("no memory");

	/* The first run has one-time costs. */
	measure(run, nr, SECOND);
	few_ns = measure(run, nr, SECOND);
	few = shared->while_working;
	many_ns = measure(run, nr, PERIOD_NS);
	printf("{\"name\": \"scale-%s\", \"x\": %d, \"processors\": %ld, \"ticks\": %llu, \"lost\": %llu, \"missing\": %lld, \"in_counters\": %u, \"due\": %.1f, \"cost\": %.1f}\n",
	       what, nr, sysconf(_SC_NPROCESSORS_ONLN),
	       (unsigned long long)shared->ticks,
	       (unsigned long long)shared->lost,
	       (long long)shared->missing, shared->bin,
	       (double)shared->covered_ns / PERIOD_NS,
	       (double)(int64_t)(many_ns - few_ns) /
	       (shared->while_working - few) / NS_PER_INSN);
	return 0;
}
