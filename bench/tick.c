// SPDX-License-Identifier: GPL-2.0-only
/*
 * tick.c - what a clock tick costs a program
 *
 *	tick FLOORS [ROUNDS]
 *
 * FLOORS is the directory of modules whose ticks do nothing.
 *
 * A loop of a fixed number of instructions takes longer by the ticks that come
 * meanwhile. Where time is a count of instructions the difference, divided by
 * the number of ticks, is the cost of one, from the processor's interrupt to
 * its return. Everything is measured in turn, in several rounds.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

/* Has no rhythm in common with the kernel's own clock tick. */
#define PERIOD_NS	97000

#define LOOP_US		1000000
#define MAX_REGIONS	4096

OWN_TEXT(work) static void work(int us)
{
	while (us--)
		spend_us();
}

/* The same, asking for the status now and then. */
OWN_TEXT(work) static void work_and_ask(int us)
{
	for (; us > 0; us -= 1000) {
		work(1000);
		status_now();
	}
}

/* One of these is measured; without regions the tool is a module. */
struct subject {
	const char *name;
	const char *tool;
	int nr_regions;
	unsigned int width;
	void (*work)(int us);
	uint64_t period_ns;
	struct sample ns;
	struct sample ticks;
};

/*
 * The regions that are not the loop's lie on both sides of it, so that it takes
 * as long as it can to find the one that is.
 */
static void start(const struct subject *subject)
{
	static struct profil_region regions[MAX_REGIONS];
	static uint64_t bins[MAX_REGIONS + 4096];
	struct profil_region own = region_of(TEXT_OF(work), bins,
					     subject->width);
	uint64_t length = own.size;
	int i;

	for (i = 0; i < subject->nr_regions; i++) {
		regions[i] = own;
		regions[i].offset += (i - subject->nr_regions / 2) * length;
	}
	if (length > sizeof(bins) ||
	    set_regions(regions, subject->nr_regions, subject->width,
			subject->period_ns, 0))
		die("cannot start a profile of %d regions: %m",
		    subject->nr_regions);
}

static double stop(void)
{
	struct profil_status last = { .size = sizeof(last) };

	if (profil_stop(&last, NULL, 0))
		die("cannot stop: %m");
	/* Some fall outside of the loop: in the calls. */
	if (last.lost || last.clipped || last.outside > last.ticks / 20 + 10)
		die("of %llu ticks only %llu are in the counters", last.ticks,
		    last.counted);
	return last.ticks;
}

static void load_floor(const char *floors, const struct subject *subject)
{
	char file[PATH_MAX], parameters[64];

	snprintf(file, sizeof(file), "%s/%s.ko", floors, subject->tool);
	sprintf(parameters, "period_ns=%llu",
		(unsigned long long)subject->period_ns);
	load_module(file, parameters);
}

static void measure(struct subject *subject, const char *floors)
{
	double ticks = 0;
	uint64_t ns;

	if (subject->nr_regions)
		start(subject);
	else if (subject->period_ns)
		load_floor(floors, subject);
	/* What comes once is over, and the pages are there. */
	subject->work(2000);
	if (subject->nr_regions)
		ticks = -(double)status_now().ticks;
	ns = monotonic_ns();
	subject->work(LOOP_US);
	ns = monotonic_ns() - ns;
	if (subject->nr_regions)
		ticks += stop();
	else if (subject->period_ns) {
		ticks = (double)ns / subject->period_ns;
		unload_module(subject->tool);
	}
	sample_add(&subject->ns, ns);
	sample_add(&subject->ticks, ticks);
}

static double cost(const struct subject *subject, const struct subject *base)
{
	return (sample_mean(&subject->ns) - sample_mean(&base->ns)) /
	       (sample_mean(&subject->ticks) - sample_mean(&base->ticks)) /
	       NS_PER_INSN;
}

static double error(const struct subject *subject, const struct subject *base)
{
	return (sample_error(&subject->ns) + sample_error(&base->ns)) /
	       sample_mean(&subject->ticks) / NS_PER_INSN;
}

int main(int argc, char **argv)
{
	enum { BARE, ASKING, FIRST };
	static struct subject subjects[] = {
		[BARE] = { .work = work },
		[ASKING] = { .nr_regions = 1, .width = 4, .work = work_and_ask,
			     .period_ns = SECOND },
		[FIRST] = { "tick", "floor", 0, 0, work, PERIOD_NS },
		{ "tick", "floor_timer", 0, 0, work, PERIOD_NS },
		{ "tick", "profil", 1, 4, work, PERIOD_NS },
		{ "tick", "profil", 16, 4, work, PERIOD_NS },
		{ "tick", "profil", 256, 4, work, PERIOD_NS },
		{ "tick", "profil", 4096, 4, work, PERIOD_NS },
		{ "tick16", "profil", 1, 2, work, PERIOD_NS },
		{ "tick16", "profil", 4096, 2, work, PERIOD_NS },
		{ "tick-status", "profil", 1, 4, work_and_ask, PERIOD_NS },
	};
	const int nr = sizeof(subjects) / sizeof(subjects[0]);
	int rounds = argc > 2 ? atoi(argv[2]) : 3;
	int i, round;

	if (argc < 2)
		die("usage: tick FLOORS [ROUNDS]");
	for (round = 0; round < rounds; round++)
		for (i = 0; i < nr; i++)
			measure(&subjects[i], argv[1]);
	for (i = FIRST; i < nr; i++) {
		const struct subject *s = &subjects[i];
		const struct subject *base = &subjects[
			s->work == work_and_ask ? ASKING : BARE];

		print_result(s->name, s->tool, s->nr_regions, cost(s, base),
			     error(s, base), "instructions");
	}
	return 0;
}
