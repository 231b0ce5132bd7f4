/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * effort.h - how long the fuzzers of the guest go on, and from which number
 *
 * By default a certain number of calls from the same seed in every run. With
 * FUZZ_SECONDS in the environment each test goes on for that time, from a seed
 * that differs each time; FUZZ_SEED says which seed in either case.
 */
#ifndef FUZZ_EFFORT_H
#define FUZZ_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

/* A test of this length is ended by the guest's time, not by the harness. */
#define FUZZ_TIMEOUT	1000000

/**
 * struct effort - what one thread still has to do
 * @until_ns: end of the time allowed, or 0
 * @calls: calls left, if no time is said
 */
struct effort {
	uint64_t until_ns;
	uint64_t calls;
};

uint64_t fuzz_seed(void);
struct effort fuzz_effort(uint64_t calls);
bool fuzz_goes_on(struct effort *effort);

#endif /* FUZZ_EFFORT_H */
