/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * turns.h - two functions that take turns in every cycle of the clock
 */
#ifndef TURNS_H
#define TURNS_H

#include "common.h"

/* How often the functions read the clock in each cycle. */
#define LOOKS	200

/* The first function runs in the first part of each cycle. */
static uint64_t cycle_ns;
static uint64_t turn_ns;

/* Inlined, so that the caller's own text takes most of the time. */
static inline __attribute__((always_inline)) void spend_ns(uint64_t ns)
{
	/* Half a microsecond each if time counts instructions. */
	for (; ns >= 500; ns -= 500)
		asm volatile(".rept 250\n\tnop\n\t.endr");
}

OWN_TEXT(first) uint64_t first(void)
{
	uint64_t now;

	do {
		spend_ns(cycle_ns / LOOKS);
		now = monotonic_ns();
	} while (now % cycle_ns < turn_ns);
	return now;
}

OWN_TEXT(second) uint64_t second(void)
{
	uint64_t now;

	do {
		spend_ns(cycle_ns / LOOKS);
		now = monotonic_ns();
	} while (now % cycle_ns >= turn_ns);
	return now;
}

/* For how long to take turns; time and ticks of each function. */
struct turns {
	uint64_t length_ns;
	uint64_t time_ns[2];
	uint64_t ticks[2];
};

static void take_turns(struct turns *turns)
{
	uint64_t last = second();
	uint64_t end = last + turns->length_ns;

	while (last < end) {
		uint64_t middle = first();

		turns->time_ns[0] += middle - last;
		last = second();
		turns->time_ns[1] += last - middle;
	}
}

/* Part of the time that the first function took. */
static double share_of_first(const struct turns *turns)
{
	return (double)turns->time_ns[0] /
	       (turns->time_ns[0] + turns->time_ns[1]);
}

#endif /* TURNS_H */
