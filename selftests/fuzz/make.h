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

struct attempt fuzz_attempt(struct arena *arena, __u64 *state);
uint64_t fuzz_number(__u64 *state);

#endif /* FUZZ_MAKE_H */
