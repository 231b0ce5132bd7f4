// SPDX-License-Identifier: GPL-2.0-only
/*
 * unmodified.c - a program that knows only the C library's functions
 *
 * Uses profil() or sprofil(), as its argument says, and checks what it would
 * find on any system. Exit status: 0 if there is a histogram, and neither a
 * signal nor a timer was used for it; otherwise the number of what is wrong.
 *
 *	profil		one counter for two bytes of text
 *	stack		one for each byte, on the stack, around one function
 *	sprofil		two regions
 *	many		ten, far off, nested and of equal offsets
 */
#include <signal.h>
#include <string.h>
#include <sys/profil.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

extern const char __executable_start, etext;

static unsigned short counters[32768];
static unsigned int rest;

static void on_signal(int number)
{
	(void)number;
	_exit(20);
}

extern const char __start_text_hot[], __stop_text_hot[];

static __attribute__((noinline, section("text_hot"))) void burn(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 5;
	volatile unsigned int i;

	while (clock() < end)
		for (i = 0; i < 10000; i++)
			;
}

/*
 * Until the ticks are as they should be, and for some minutes at most: where a host
 * stops a CPU, those of that time fall in one place, or none come.
 */
#define BURN_UNTIL(good) do { \
	int patience = 600; \
	do { \
		burn(); \
	} while (!(good) && --patience); \
} while (0)

static int is_timer_off(void)
{
	struct itimerval timer;

	return !getitimer(ITIMER_PROF, &timer) && !timer.it_value.tv_sec &&
	       !timer.it_value.tv_usec && !timer.it_interval.tv_sec &&
	       !timer.it_interval.tv_usec;
}

/* Ticks in the program's text: about 20 for each burn(). */
static unsigned int sum(void)
{
	unsigned int i, ticks = 0;

	for (i = 0; i < 32768; i++)
		ticks += counters[i];
	return ticks;
}

static int use_profil(void)
{
	if (profil(counters, sizeof(counters), (size_t)&__executable_start,
		   65536))
		return 1;
	if (!is_timer_off())
		return 2;
	BURN_UNTIL(sum());
	if (!is_timer_off())
		return 3;
	return profil(counters, 0, 0, 0) ? 4 : 0;
}

static int use_sprofil(void)
{
	struct prof regions[2] = {
		{
			.pr_base = counters,
			.pr_size = sizeof(counters),
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
	BURN_UNTIL(sum());
	if (!is_timer_off())
		return 8;
	return sprofil(NULL, 0, NULL, 0) ? 9 : 0;
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

/* Are most ticks of a histogram, with a counter for each byte, in burn()? */
static int is_hot(const unsigned short *near, size_t nr, size_t offset)
{
	size_t start = (size_t)__start_text_hot, end = (size_t)__stop_text_hot;
	unsigned int hot = 0, all = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		all += near[i];
		if (offset + i >= start && offset + i < end)
			hot += near[i];
	}
	counters[0] = hot;
	return hot && 2 * hot > all;
}

#define NEAR	16384

/* Profiling does not disturb the program's own timer, in real time. */
static int use_stack(void)
{
	unsigned short near[NEAR] = { 0 };
	struct itimerval soon = { .it_value = { .tv_usec = 50000 } };
	size_t offset = (size_t)__start_text_hot - sizeof(near) / 4;

	signal(SIGALRM, on_alarm);
	if (setitimer(ITIMER_REAL, &soon, NULL) ||
	    profil(near, sizeof(near), offset, 2 * 65536))
		return 30;
	BURN_UNTIL(alarms && is_hot(near, NEAR, offset));
	if (profil(near, 0, 0, 0))
		return 31;
	return alarms == 1 && is_hot(near, NEAR, offset) ? 0 : 32;
}

static unsigned int far_off[6][1024], outer[32768], inner[1024], twin[1024];

static unsigned int sum_of(const unsigned int *counters, size_t nr)
{
	unsigned int ticks = 0;

	while (nr--)
		ticks += *counters++;
	return ticks;
}

/* Addresses of text on other machines, but not on this one. */
static void set_far_off(struct prof *regions)
{
	static const size_t offsets[6] = {
		0x1000, 0x80000000, 0x80000800, (size_t)-0x100000,
		(size_t)-0x1000, (size_t)-1,
	};
	int i;

	for (i = 0; i < 6; i++) {
		regions[i].pr_base = far_off[i];
		regions[i].pr_size = sizeof(far_off[i]);
		regions[i].pr_off = offsets[i];
		regions[i].pr_scale = 65536;
	}
}

/* Are the ticks between half and twice the number due for this CPU time? */
static int are_due(unsigned int ticks, clock_t cpu_time)
{
	double due = 100.0 * cpu_time / CLOCKS_PER_SEC;

	return ticks > due / 2 && ticks < due * 2;
}

/* In all regions that can have any */
static unsigned int all_with(unsigned int none)
{
	return sum_of(inner, 1024) + sum_of(outer, 32768) + none;
}

static int use_many(void)
{
	size_t hot = (size_t)__start_text_hot;
	unsigned int none = 0;
	struct prof regions[10] = {
		[6] = { outer, sizeof(outer), (size_t)&__executable_start,
			65536 },
		[7] = { inner, sizeof(inner), hot, 65536 },
		[8] = { twin, sizeof(twin), hot, 65536 },
		[9] = { &none, sizeof(none), 0, 2 },
	};
	struct timeval time;
	clock_t begin, cpu_time;

	set_far_off(regions);
	begin = clock();
	if (sprofil(regions, 10, &time, PROF_UINT))
		return 40;
	if (time.tv_sec || time.tv_usec != 10000)
		return 41;
	BURN_UNTIL(sum_of(inner, 1024) &&
		   are_due(all_with(none), clock() - begin));
	cpu_time = clock() - begin;
	if (sprofil(NULL, 0, NULL, 0))
		return 42;
	if (sum_of(far_off[0], 6 * 1024) || sum_of(twin, 1024))
		return 43;
	counters[0] = sum_of(inner, 1024);
	return counters[0] && are_due(all_with(none), cpu_time) ? 0 : 44;
}

static const struct {
	const char *name;
	int (*use)(void);
} uses[] = {
	{ "profil", use_profil },
	{ "stack", use_stack },
	{ "sprofil", use_sprofil },
	{ "many", use_many },
};

static int use(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (!strcmp(uses[i].name, name))
			return uses[i].use();
	return 100;
}

int main(int argc, char **argv)
{
	struct sigaction now;
	unsigned int ticks;
	int wrong;

	signal(SIGPROF, on_signal);
	wrong = use(argc > 1 ? argv[1] : "profil");
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
