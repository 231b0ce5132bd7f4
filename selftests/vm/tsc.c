// SPDX-License-Identifier: GPL-2.0-only
/*
 * tsc.c - prints the frequency of the CPU's time stamp counter in kHz
 *
 * An emulated CPU uses the host's counter. A kernel without ACPI cannot
 * calibrate it, so the runner passes the frequency as a boot parameter.
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

int main(void)
{
	unsigned long long begin = now_ns(), end;
	unsigned long long ticks = __rdtsc();

	do {
		end = now_ns();
	} while (end - begin < 50000000);
	ticks = __rdtsc() - ticks;
	printf("%llu\n", ticks * 1000000 / (end - begin));
	return 0;
}
