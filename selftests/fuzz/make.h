/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * make.h - almost valid requests, in almost valid memory
 */
#ifndef FUZZ_MAKE_H
#define FUZZ_MAKE_H

#include "fuzz/arena.h"

/**
 * struct attempt - one call
 * @request: request number
 * @arg: its argument, an address in the arena
 */
struct attempt {
	unsigned int request;
	uint64_t arg;
};

/**
 * struct fuzz_targets - what exists
 * @processes: PIDs of processes that can be watched
 * @nr_processes: their number
 * @cgroup: descriptor of a cgroup
 * @file: descriptor of a regular file
 * @user: the caller's user ID
 */
struct fuzz_targets {
	uint32_t processes[4];
	uint32_t nr_processes;
	uint32_t cgroup;
	uint32_t file;
	uint32_t user;
};

/* The smallest table of callers. */
struct fuzz_callers {
	struct profil_unwind_head head;
	struct profil_unwind_index index[2];
	struct profil_unwind_row row;
	uint32_t padding;
	struct profil_unwind_rule rule;
};

struct attempt fuzz_attempt(struct arena *arena, __u64 *state, __u64 kept);
struct attempt fuzz_watch_attempt(struct arena *arena, __u64 *state,
				  const struct fuzz_targets *targets,
				  __u64 kept);
uint64_t fuzz_number(__u64 *state);

#endif /* FUZZ_MAKE_H */
