/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * account.h - what the module says of profiles that have ended
 */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct accounts - open files of the device, and what they have said
 * @nr: number of files of which not everything is known yet
 * @fds: these
 * @cpu_ns: CPU time covered
 * @clipped: ticks that found their counter full
 * @outside: ticks that belong to no region
 * @lost: ticks that could not be written
 * @left_out: ticks in kernel mode that are not in the counters
 * @kernel: ticks in kernel mode
 * @unfollowed: children that could not inherit a profile
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
