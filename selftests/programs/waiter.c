// SPDX-License-Identifier: GPL-2.0-only
/*
 * waiter.c - waits in known ways for known times
 *
 *	waiter DEED...
 *
 * After each action, and at the end for "life", which is all since the beginning of
 * main(), print its name and nanoseconds.
 *
 * sleep	sleep for 300 ms, in clock_nanosleep()
 * compute	use 300 ms of CPU time
 * pipe		read from a pipe into which a thread writes when it has slept
 *		for 300 ms since
 * idle		sleep for 1500 ms
 * serve	like a server: 8 threads wait for work, which one gets each 20 ms,
 *		and then takes 5 ms; for ever
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS	1000000ULL
#define WAIT_MS	300
#define IDLE_MS	1500
#define THREADS	8
#define WORK_MS	5
#define PAUSE_MS	20

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000 * MS + time.tv_nsec;
}

static void sleep_ms(unsigned int ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * MS };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

/* Steps of the clock are those of loops, unless the host stops the CPU. */
static void compute_ms(unsigned int ms)
{
	uint64_t last = clock_ns(CLOCK_THREAD_CPUTIME_ID), now, ns = 0;

	for (; ns < ms * MS; last = now) {
		now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		ns += now - last < 10 * MS ? now - last : 10 * MS;
	}
}

/* Wait until the first thread is in read() and has left its CPU. */
static void wait_for_reader(void)
{
	char path[60], call[200] = "";
	int nr = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", getpid());
	while (sscanf(call, "%d", &nr) != 1 || nr != SYS_read) {
		file = fopen(path, "r");
		if (!file || !fgets(call, sizeof(call), file))
			_exit(99);
		fclose(file);
	}
}

static void *write_later(void *pipe)
{
	wait_for_reader();
	sleep_ms(WAIT_MS);
	return write(((int *)pipe)[1], "", 1) == 1 ? pipe : NULL;
}

static void read_pipe(void)
{
	pthread_t writer;
	int fds[2];
	char byte;

	if (pipe(fds) || pthread_create(&writer, NULL, write_later, fds) ||
	    read(fds[0], &byte, 1) != 1)
		_exit(99);
	pthread_join(writer, NULL);
}

static sem_t work;

static void *serve_some(void *none)
{
	for (;;) {
		sem_wait(&work);
		compute_ms(WORK_MS);
	}
	return none;
}

static void serve(void)
{
	pthread_t thread;
	int i;

	sem_init(&work, 0, 0);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, serve_some, NULL))
			_exit(99);
	for (;;) {
		sleep_ms(PAUSE_MS);
		sem_post(&work);
	}
}

static void act(const char *action)
{
	if (!strcmp(action, "sleep"))
		sleep_ms(WAIT_MS);
	else if (!strcmp(action, "compute"))
		compute_ms(WAIT_MS);
	else if (!strcmp(action, "pipe"))
		read_pipe();
	else if (!strcmp(action, "idle"))
		sleep_ms(IDLE_MS);
	else if (!strcmp(action, "serve"))
		serve();
	else
		_exit(99);
}

int main(int argc, char **argv)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), before;
	int i;

	for (i = 1; i < argc; i++) {
		before = clock_ns(CLOCK_MONOTONIC);
		act(argv[i]);
		printf("%s %llu\n", argv[i], (unsigned long long)
		       (clock_ns(CLOCK_MONOTONIC) - before));
	}
	printf("life %llu\n",
	       (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - begin));
	return 0;
}
