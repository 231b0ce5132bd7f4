/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * numbers.h - pseudo-random numbers, the same in every run
 *
 * Marsaglia's xorshift64* generator, which is unrelated to the hash of
 * schedule.h.
 */
#ifndef SELFTESTS_NUMBERS_H
#define SELFTESTS_NUMBERS_H

#include <linux/types.h>

/* The state must not be 0. */
static inline __u64 number(__u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

/* From 0 to @limit - 1, almost uniformly. */
static inline __u64 number_below(__u64 *state, __u64 limit)
{
	return (number(state) >> 11) % limit;
}

/* Of any magnitude: as many below 2^8 as between 2^40 and 2^48. */
static inline __u64 number_of_any_size(__u64 *state)
{
	__u64 shift = number_below(state, 64);

	return number(state) >> shift;
}

#endif /* SELFTESTS_NUMBERS_H */
