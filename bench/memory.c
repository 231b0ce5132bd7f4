// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.c - memory use of the kernel and of profilers
 *
 *	memory kernel NR	kernel memory of each profile and thread, out
 *				of NR, and of each region
 *	memory watched SECONDS	memory of the parent process at the beginning
 *				and at the end of SECONDS, which this program
 *				spends in user mode
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define MAX_NR	1000

static uint32_t bins[4096];

/* Value in kilobytes after a word in a file. */
static double kilobytes(const char *file, const char *word)
{
	FILE *stream = fopen(file, "r");
	double value = 0;
	char line[256];

	if (!stream)
		die("%s: %m", file);
	while (fgets(line, sizeof(line), stream))
		if (!strncmp(line, word, strlen(word)))
			value = atof(line + strlen(word));
	fclose(stream);
	return value;
}

/* Memory that the kernel uses itself, in bytes. */
static double kernel_bytes(void)
{
	static const char *const kinds[] = {
		"Slab:", "VmallocUsed:", "KernelStack:", "PageTables:",
		"Percpu:",
	};
	double sum = 0;

	/* Until deferred freeing is done */
	sleep(2);
	for (int i = 0; i < 5; i++)
		sum += kilobytes("/proc/meminfo", kinds[i]);
	return sum * 1024;
}

static void set(int nr)
{
	static struct profil_region regions[4096];
	int i;

	for (i = 0; i < nr; i++)
		regions[i] = (struct profil_region){
			(uintptr_t)bins, sizeof(bins), 0x10000 * (i + 1), 65536
		};
	if (set_regions(regions, nr, 4, SECOND, 0))
		die("cannot start a profile of %d regions: %m", nr);
}

/* Memory that a profile in each of @nr children adds. */
static double of_profiles(int nr)
{
	double before, used;
	pid_t children[MAX_NR];
	int wake[2], i;
	char byte;

	if (pipe(wake))
		die("pipe: %m");
	for (i = 0; i < nr; i++) {
		children[i] = fork_child();
		if (children[i] < 0)
			die("fork: %m");
		if (children[i])
			continue;
		close(wake[1]);
		/* Allocate the memory that the calls themselves need */
		set(1);
		profil_stop(NULL, NULL, 0);
		if (read(wake[0], &byte, 1))
			_exit(1);
		set(1);
		for (;;)
			pause();
	}
	before = kernel_bytes();
	close(wake[1]);
	used = kernel_bytes() - before;
	for (i = 0; i < nr; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	close(wake[0]);
	return used;
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_at_gate(void *unused)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return unused;
}

static double with_threads(int nr)
{
	double before = kernel_bytes(), used;
	pthread_t threads[MAX_NR];
	pthread_attr_t attr;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_mutex_lock(&gate);
	for (i = 0; i < nr; i++)
		if (pthread_create(&threads[i], &attr, wait_at_gate, NULL))
			die("cannot make thread %d", i);
	used = kernel_bytes() - before;
	pthread_mutex_unlock(&gate);
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	return used;
}

static void kernel(int nr)
{
	double threads[2], regions[2], profiles;

	if (nr < 1 || nr > MAX_NR)
		die("1 to %d", MAX_NR);
	/* Fill the caches of freed objects first */
	of_profiles(nr);
	with_threads(nr);
	profiles = of_profiles(nr);
	threads[0] = with_threads(nr);
	set(4096);
	set(1);
	regions[0] = kernel_bytes();
	set(4096);
	regions[1] = kernel_bytes();
	set(1);
	threads[1] = with_threads(nr);

	print_result("memory-profile", "profil", 0, profiles / nr, 0, "bytes");
	print_result("memory-thread", "profil", 0,
		     (threads[1] - threads[0]) / nr, 0, "bytes");
	print_result("memory-region", "profil", 0,
		     (regions[1] - regions[0]) / 4095, 0, "bytes");
}

static double rss_of_parent(void)
{
	char file[64];

	sprintf(file, "/proc/%d/status", getppid());
	return kilobytes(file, "VmRSS:");
}

static void watched(int seconds)
{
	double first = rss_of_parent();
	uint64_t end = monotonic_ns() + seconds * SECOND;
	int us;

	while (monotonic_ns() < end)
		for (us = 1000; us; us--)
			spend_us();
	printf("{\"seconds\": %d, \"first_kb\": %.0f, \"last_kb\": %.0f}\n",
	       seconds, first, rss_of_parent());
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "kernel"))
		kernel(atoi(argv[2]));
	else if (argc == 3 && !strcmp(argv[1], "watched"))
		watched(atoi(argv[2]));
	else
		die("usage: memory kernel NR | memory watched SECONDS");
	return 0;
}
