/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * effort.h - duration and seed of the fuzzers in the guest
 *
 * By default, every run makes the same number of calls from the same seed. With
 * FUZZ_SECONDS in the environment, each test runs for that time, from a new
 * seed. FUZZ_SEED sets the seed in either case.
 */
#ifndef FUZZ_EFFORT_H
#define FUZZ_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

/* So long that the time limit of the guest ends a test, not the harness. */
#define FUZZ_TIMEOUT	1000000

/**
 * struct effort - remaining work of one thread
 * @until_ns: time at which to stop, or 0 to count calls
 * @calls: number of calls left, if @until_ns is 0
 */
struct effort {
	uint64_t until_ns;
	uint64_t calls;
};

uint64_t fuzz_seed(void);
struct effort fuzz_effort(uint64_t calls);
bool fuzz_goes_on(struct effort *effort);

#endif /* FUZZ_EFFORT_H */
