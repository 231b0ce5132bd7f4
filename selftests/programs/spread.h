/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spread.h - a function whose ticks go to many counters
 *
 * Include it after a header that defines OWN_TEXT.
 */
#ifndef PROGRAMS_SPREAD_H
#define PROGRAMS_SPREAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include <linux/profil.h>

/* The number of loops in it. */
#define SPREAD_LOOPS	64

#define SPREAD_LOOP do { \
	volatile unsigned int i; \
	for (i = 0; i < 20; i++) \
		; \
} while (0)
#define SPREAD_4(what) do { \
	what; \
	what; \
	what; \
	what; \
} while (0)

OWN_TEXT(spread) static void spread(void)
{
	SPREAD_4(SPREAD_4(SPREAD_4(SPREAD_LOOP)));
}

/*
 * Start a profile of @nr + 1 regions through @device: one with a single counter
 * of 8 bytes for each of @nr parts of the text of spread(), and an overflow
 * bin. The counters are @stride bytes apart. Returns the result of ioctl().
 */
static inline int spread_start(int device, unsigned int nr, void *counters,
			       size_t stride, uint64_t period_ns)
{
	size_t part = (__stop_text_spread - __start_text_spread) / nr;
	struct profil_region regions[nr + 1];
	struct profil_set set = {
		.size = sizeof(set),
		.width = 8,
		.nr_regions = nr + 1,
		.regions = (uintptr_t)regions,
		.period_ns = period_ns,
	};
	unsigned int i;

	for (i = 0; i <= nr; i++)
		regions[i] = (struct profil_region) {
			.base = (uintptr_t)counters + i * stride,
			.size = 8,
			.offset = (uintptr_t)__start_text_spread + i * part,
			.scale = 65536 * 8 / part,
		};
	regions[nr].offset = 0;
	regions[nr].scale = 2;
	return ioctl(device, PROFIL_IOC_SET, &set);
}

#endif /* PROGRAMS_SPREAD_H */
