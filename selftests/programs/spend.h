/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spend.h - spend CPU time in a known place, and print how much
 */
#ifndef PROGRAMS_SPEND_H
#define PROGRAMS_SPEND_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* A section of its own, for which the linker defines start and end symbols. */
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

/*
 * CPU time of this thread that may have no ticks: if the host stops the CPU while the
 * kernel switches to the thread, the clock goes on and no tick falls.
 */
static __thread uint64_t jumped_ns;

/* Longest step of the clock that is none of these; or a tenth of the time */
#define STEP_NS	10000000ULL

/* Spend at least @ns of CPU time in @function. Returns how much it was. */
static inline uint64_t spend(void (*function)(void), uint64_t ns)
{
	uint64_t most = ns / 10 > STEP_NS ? ns / 10 : STEP_NS;
	uint64_t begin = thread_ns(), last, now = begin;

	do {
		last = now;
		function();
		now = thread_ns();
		if (now - last > most)
			jumped_ns += now - last - most;
	} while (now - begin < ns);
	return now - begin;
}

/* Offset of an address in the file that is mapped there */
static inline unsigned long file_offset(const char *address)
{
	unsigned long start, end, offset, found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end,
			   &offset) == 3 &&
		    start <= (unsigned long)address &&
		    (unsigned long)address < end)
			found = (unsigned long)address - start + offset;
	if (maps)
		fclose(maps);
	return found;
}

/*
 * Print a function: first and last offset in its file, time, address, and the least
 * time that has ticks.
 */
static inline void print(const char *name, const char *start, const char *end,
			 uint64_t ns)
{
	unsigned long offset = file_offset(start);

	printf("%s %#lx %#lx %llu %#lx %llu\n", name, offset,
	       offset + (end - start), (unsigned long long)ns,
	       (unsigned long)start,
	       (unsigned long long)(ns > jumped_ns ? ns - jumped_ns : 0));
	fflush(stdout);
}

#endif /* PROGRAMS_SPEND_H */
