/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * account.h - stats of ended profiles, read from the module
 */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct accounts - stats of an exec's requests to the device
 * @nr: number of open files with profiles that still run
 * @fds: descriptors of these files
 * @cpu_ns: CPU time profiled, in nanoseconds
 * @clipped: ticks dropped because their counter was full
 * @outside: ticks in no region
 * @lost: ticks that could not be counted
 * @left_out: ticks in kernel mode that no counter has
 * @kernel: ticks in kernel mode
 * @unfollowed: children that could not inherit the profile
 */
struct accounts {
	size_t nr;
	int *fds;
	uint64_t cpu_ns;
	uint64_t clipped;
	uint64_t outside;
	uint64_t lost;
	uint64_t left_out;
	uint64_t kernel;
	uint64_t unfollowed;
};

int accounts_add(struct accounts *accounts, int fd);
size_t accounts_read(struct accounts *accounts);
void accounts_close(struct accounts *accounts);

#endif /* ACCOUNT_H */
