/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * load.h - processes and threads that do all that a profile or a watch follows
 */
#ifndef SELFTESTS_LOAD_H
#define SELFTESTS_LOAD_H

#include <stdbool.h>
#include <stdint.h>

/* Threads of be_threads(), beside the first. */
#define WORKERS		10

/**
 * struct busy - a profile
 * @device: descriptor of the device, open for reading
 * @counter: of all ticks, of all processes if it is in shared memory
 * @is_limited: the limits of the administrator may forbid it now and then
 */
struct busy {
	int device;
	uint32_t *counter;
	bool is_limited;
};

bool is_forbidden(int error);
bool is_due(double ticks, double due);
int busy_begin(const struct busy *busy);
int be_busy(void *busy);
int be_threads(void *unused);
void *change_mappings(void *is_over);

#endif /* SELFTESTS_LOAD_H */
