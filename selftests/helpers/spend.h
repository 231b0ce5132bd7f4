/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spend.h - CPU time spent in a known place, and told
 */
#ifndef HELPERS_SPEND_H
#define HELPERS_SPEND_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* In a section of its own, whose ends the linker tells. */
#define OWN_TEXT(name) \
	extern const char __start_text_##name[], __stop_text_##name[]; \
	__attribute__((noinline, section("text_" #name)))

#define LOOP(count) do { \
	volatile unsigned int i; \
	for (i = 0; i < (count); i++) \
		; \
} while (0)

static inline uint64_t thread_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* CPU time spent there, this much at least. */
static inline uint64_t spend(void (*function)(void), uint64_t ns)
{
	uint64_t begin = thread_ns(), now;

	do {
		function();
		now = thread_ns();
	} while (now - begin < ns);
	return now - begin;
}

static inline void print(const char *name, const char *start, const char *end,
			 uint64_t ns)
{
	printf("%s %#lx %#lx %llu\n", name, (unsigned long)start,
	       (unsigned long)end, (unsigned long long)ns);
	fflush(stdout);
}

#endif /* HELPERS_SPEND_H */
