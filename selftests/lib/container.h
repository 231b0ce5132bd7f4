/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * container.h - run a part of a test in a container
 */
#ifndef SELFTESTS_CONTAINER_H
#define SELFTESTS_CONTAINER_H

#include <stdbool.h>

/* The user that starts the container; its root on the inside. */
#define CONTAINER_USER	65534

/* Exit statuses of run_in_container() besides those of the work. */
#define CONTAINER_FAILED	200
#define CONTAINER_REFUSED	201

/**
 * struct container - how to start a container
 * @device: give it /dev/profil
 * @unfiltered: do not filter its system calls
 */
struct container {
	bool device;
	bool unfiltered;
};

int run_in_container(const struct container *container,
		     void (*work)(void *argument), void *argument);

/* sysctl kernel.perf_event_paranoid; the buffer holds the former value. */
int perf_paranoid(const char *value, char *former, int size);

#endif /* SELFTESTS_CONTAINER_H */
