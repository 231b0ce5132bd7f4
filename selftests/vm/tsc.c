// SPDX-License-Identifier: GPL-2.0-only
/*
 * tsc.c - prints the frequency of the CPU's time stamp counter in kHz
 *
 * An emulated CPU uses the host's counter. A kernel without ACPI, or on a busy
 * host, cannot calibrate it, so the runner passes the frequency as a boot
 * parameter.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static unsigned long long now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* Both clocks at one moment: of several readings, the one that was shortest */
static void read_both(unsigned long long *ns, unsigned long long *ticks)
{
	unsigned long long least = -1ULL;

	for (int i = 0; i < 100; i++) {
		unsigned long long before = __rdtsc();
		unsigned long long now = now_ns();
		unsigned long long length = __rdtsc() - before;

		if (length >= least)
			continue;
		least = length;
		*ns = now;
		*ticks = before + length / 2;
	}
}

int main(void)
{
	const struct timespec pause = { 0, 50000000 };
	unsigned long long begin, end, first, last;

	read_both(&begin, &first);
	nanosleep(&pause, NULL);
	read_both(&end, &last);
	printf("%llu\n", (last - first) * 1000000 / (end - begin));
	return 0;
}
