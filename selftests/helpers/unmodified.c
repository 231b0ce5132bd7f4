// SPDX-License-Identifier: GPL-2.0-only
/*
 * unmodified.c - a program that knows of the C library's functions only
 *
 * Uses profil() or sprofil(), as told by its argument, and judges by what it
 * would see anywhere. Exit status: 0 if there is a histogram, and neither
 * signal nor timer was used for it; otherwise the number of what is wrong.
 */
#include <signal.h>
#include <string.h>
#include <sys/profil.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

extern const char __executable_start, etext;

static unsigned short bins[32768];
static unsigned int rest;

static void on_signal(int number)
{
	(void)number;
	_exit(20);
}

static void burn(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 2;
	volatile unsigned int i;

	while (clock() < end)
		for (i = 0; i < 10000; i++)
			;
}

static int is_timer_off(void)
{
	struct itimerval timer;

	return !getitimer(ITIMER_PROF, &timer) && !timer.it_value.tv_sec &&
	       !timer.it_value.tv_usec && !timer.it_interval.tv_sec &&
	       !timer.it_interval.tv_usec;
}

/* Ticks in the program's text, of about 50. */
static unsigned int sum(void)
{
	unsigned int i, ticks = 0;

	for (i = 0; i < 32768; i++)
		ticks += bins[i];
	return ticks;
}

static int use_profil(void)
{
	if (profil(bins, sizeof(bins), (size_t)&__executable_start, 65536))
		return 1;
	if (!is_timer_off())
		return 2;
	burn();
	if (!is_timer_off())
		return 3;
	return profil(bins, 0, 0, 0) ? 4 : 0;
}

static int use_sprofil(void)
{
	struct prof regions[2] = {
		{
			.pr_base = bins,
			.pr_size = sizeof(bins),
			.pr_off = (size_t)&__executable_start,
			.pr_scale = 65536,
		},
		{ .pr_base = &rest, .pr_size = 2, .pr_scale = 2 },
	};
	struct timeval time;

	if (sprofil(regions, 2, &time, PROF_USHORT))
		return 5;
	if (time.tv_sec || time.tv_usec != 10000)
		return 6;
	if (!is_timer_off())
		return 7;
	burn();
	if (!is_timer_off())
		return 8;
	return sprofil(NULL, 0, NULL, 0) ? 9 : 0;
}

int main(int argc, char **argv)
{
	struct sigaction now;
	unsigned int ticks;
	int wrong;

	signal(SIGPROF, on_signal);
	wrong = argc > 1 && !strcmp(argv[1], "sprofil") ? use_sprofil() :
							   use_profil();
	if (wrong)
		return wrong;
	if (sigaction(SIGPROF, NULL, &now) || now.sa_handler != on_signal)
		return 10;
	ticks = sum();
	if (!ticks)
		return 11;
	burn();
	return sum() == ticks ? 0 : 12;
}
