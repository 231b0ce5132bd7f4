/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pg_burn.h - CPU time in the function that asks for it
 *
 * For the programs here, which are compiled with -pg.
 */
#ifndef SELFTESTS_PG_BURN_H
#define SELFTESTS_PG_BURN_H

#include <stdint.h>
#include <time.h>

/* The compiler neither inlines nor clones such a function. */
#define PLAIN	__attribute__((noipa))

#define PERIOD_NS	10000000

static inline __attribute__((always_inline)) uint64_t burn_clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/**
 * struct burnt - what burn() has burnt
 * @ns: CPU time of the thread
 * @stalls: sum of the squares of the numbers of ticks in each stall of an
 *	emulated CPU: all ticks of a stall fall in one place
 */
struct burnt {
	uint64_t ns;
	double stalls;
};

/*
 * Reads the clock seldom, as that takes the program into the kernel. And works for
 * a round in 40 us at least: the time may pass while the host runs others, with all
 * of its ticks in one place.
 */
static inline __attribute__((always_inline)) struct burnt burn(uint64_t ns)
{
	uint64_t begin = burn_clock_ns(), last = begin, now;
	struct burnt burnt = { 0 };
	uint64_t rounds = 0;

	do {
		for (volatile int i = 0; i < 20000; i++)
			;
		rounds++;
		now = burn_clock_ns();
		if (now - last > PERIOD_NS)
			burnt.stalls += (double)(now - last) / PERIOD_NS *
					(now - last) / PERIOD_NS;
		last = now;
		burnt.ns = now - begin;
	} while (burnt.ns < ns || rounds < ns / 40000);
	return burnt;
}

#endif /* SELFTESTS_PG_BURN_H */
