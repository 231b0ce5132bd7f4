// SPDX-License-Identifier: GPL-2.0-only
/*
 * load.c - processes and threads that do all that a profile or a watch follows
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"
#include "load.h"
#include "numbers.h"

/* The errors of a request that the limits of the administrator forbid. */
bool is_forbidden(int error)
{
	return error == EACCES || error == EAGAIN || error == ENOSPC;
}

/*
 * A tick takes CPU time in which the next one hardly falls. Of processes that run for
 * less than a period at a time, that is up to 2 %: over hours, more than chance.
 */
bool is_due(double ticks, double due)
{
	return fabs(ticks - due) < SIGMAS * sqrt(fmax(due, 40)) + due / 50;
}

/* Begin or replace the profile. Return: 0, or -1. */
int busy_begin(const struct busy *busy)
{
	struct profil_region region = overflow_bin(busy->counter,
						   sizeof(*busy->counter));

	if (!set_region_by(busy->device, &region, sizeof(*busy->counter), MS,
			   0))
		return 0;
	return busy->is_limited && is_forbidden(errno) ? 0 : -1;
}

static void *end_at_once(void *unused)
{
	return unused;
}

/* With a profile, fork, execute, create threads and end, again and again. */
int be_busy(void *argument)
{
	const struct busy *busy = argument;
	pthread_t thread;

	for (int i = 0; ; i++) {
		pid_t child;

		if (i % 8 == 0 && busy_begin(busy))
			return 1;
		child = fork_child();
		if (!child) {
			burn_thread_ns(MS / 2);
			if (i % 2)
				execl("/bin/true", "true", NULL);
			_exit(0);
		}
		if (child < 0 || wait_child(child) ||
		    pthread_create(&thread, NULL, end_at_once, NULL) ||
		    pthread_join(thread, NULL))
			return 2;
		usleep(500);
	}
}

/* They compute, sleep, and wait for each other, on more threads than CPUs. */
struct work {
	pthread_mutex_t lock;
	int pipe[2];
};

static void *do_everything(void *argument)
{
	struct work *work = argument;
	__u64 state = (uintptr_t)&state;
	char byte;

	for (;;) {
		switch (number_below(&state, 4)) {
		case 0:
			burn_thread_ns(number_below(&state, 3 * MS));
			break;
		case 1:
			sleep_ns(number_below(&state, 3 * MS));
			break;
		case 2:
			pthread_mutex_lock(&work->lock);
			sleep_ns(number_below(&state, MS));
			pthread_mutex_unlock(&work->lock);
			break;
		default:
			if (write(work->pipe[1], "", 1) != 1 ||
			    read(work->pipe[0], &byte, 1) != 1)
				return "";
		}
	}
}

int be_threads(void *unused __attribute__((unused)))
{
	struct work work = { PTHREAD_MUTEX_INITIALIZER, { -1, -1 } };
	pthread_t threads[WORKERS];

	if (pipe(work.pipe))
		return 1;
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&threads[i], NULL, do_everything, &work))
			return 1;
	for (;;)
		pause();
}

/* A thread that maps memory and unmaps it, until @is_over, an atomic_bool. */
void *change_mappings(void *is_over)
{
	while (!atomic_load((atomic_bool *)is_over)) {
		char *page = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		page[0] = 1;
		mprotect(page, PAGE, PROT_READ);
		munmap(page, 16 * PAGE);
	}
	return NULL;
}
