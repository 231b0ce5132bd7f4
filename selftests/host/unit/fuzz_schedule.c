// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_schedule.c - fuzz secrets, periods and times
 *
 * Aborts if module/schedule.h breaks a promise, or if a sanitizer finds an
 * error. Finds the time of a cell's tick by bisection, from the number of ticks
 * passed alone; all other results must agree with it. The input is a secret, a
 * CPU, a period, and times.
 */
#include <stdlib.h>

#include <linux/limits.h>

#include "input.h"
#include "schedule_at.h"

/* The range of periods that the module accepts. */
#define MIN_PERIOD	10000
#define MAX_PERIOD	1000000000

#define MOST_TIMES	16
#define MOST_STEPS	64

struct timetable {
	u64 secret[2];
	u32 cpu;
	u32 period;
};

static struct profil_schedule at(const struct timetable *table, u64 time)
{
	return schedule_at(table->secret, table->cpu, table->period, time);
}

/* The last time that is valid. */
static u64 end_of_time(const struct timetable *table)
{
	return U64_MAX - 2ULL * table->period;
}

static u64 passed_by(const struct timetable *table, u64 time)
{
	return at(table, time).passed;
}

/* Time of the tick of a cell; there must be exactly one. */
static u64 tick_of(const struct timetable *table, u64 cell)
{
	u64 begin = cell * table->period;
	u64 last = begin + table->period - 1;

	if (begin && passed_by(table, begin - 1) != cell)
		abort();
	if (passed_by(table, last) != cell + 1)
		abort();
	while (begin < last) {
		u64 middle = begin + (last - begin) / 2;

		if (passed_by(table, middle) > cell)
			last = middle;
		else
			begin = middle + 1;
	}
	return begin;
}

static void check_at(const struct timetable *table, u64 time)
{
	struct profil_schedule now = at(table, time);
	u64 cell = time / table->period;
	u64 tick = tick_of(table, cell);

	if (now.next <= time)
		abort();
	if (now.passed != cell + (tick <= time))
		abort();
	if (now.next != (tick > time ? tick : tick_of(table, cell + 1)))
		abort();
}

/* Count the ticks after @from and up to @to, one by one. */
static u64 walk(const struct timetable *table, u64 from, u64 to)
{
	u64 ticks = 0;

	while (from < to) {
		u64 next = at(table, from).next;

		if (next > to)
			break;
		from = next;
		ticks++;
	}
	return ticks;
}

/* A span of time has as many ticks as its two parts, wherever it is cut. */
static void check_span(const struct timetable *table, u64 from, u64 length,
		       u64 part)
{
	u64 most = MOST_STEPS * (u64)table->period;
	u64 middle, to, ticks;

	length %= most;
	if (from > end_of_time(table) - most)
		from = end_of_time(table) - most;
	to = from + length;
	middle = from + part % (length + 1);
	ticks = passed_by(table, to) - passed_by(table, from);
	if (walk(table, from, to) != ticks)
		abort();
	if (walk(table, from, middle) + walk(table, middle, to) != ticks)
		abort();
}

static u32 take_period(struct input *input)
{
	switch (take(input, 1) & 3) {
	case 0:
		return 1 + take(input, 1);
	case 1:
		return 1 + take(input, 4) % U32_MAX;
	case 2:
		return MAX_PERIOD - take(input, 1);
	default:
		return MIN_PERIOD + take(input, 4) % (MAX_PERIOD - MIN_PERIOD);
	}
}

/* Any time, or a time close to a boundary or a tick. */
static u64 take_time(struct input *input, const struct timetable *table)
{
	u64 end = end_of_time(table);
	u64 time;

	switch (take(input, 1) & 7) {
	case 0:
		time = take(input, 2);
		break;
	case 1:
		time = end - take(input, 2);
		break;
	case 2:
		time = take(input, 4) * table->period + take(input, 1) - 128;
		break;
	case 3:
		time = at(table, take(input, 8) % end).next +
			take(input, 1) - 128;
		break;
	case 4:
		time = S64_MAX + take(input, 2) - 32768;
		break;
	default:
		time = take(input, 8);
	}
	return time % (end + 1);
}

/* The same time has the same result, in whatever order the times come. */
static void check_order(const struct timetable *table, const u64 *times, u32 nr)
{
	struct profil_schedule said[MOST_TIMES];
	u32 i;

	for (i = 0; i < nr; i++)
		said[i] = at(table, times[i]);
	while (i--) {
		struct profil_schedule again = at(table, times[i]);

		if (again.passed != said[i].passed ||
		    again.next != said[i].next)
			abort();
	}
}

/* Neither the number of ticks nor the time of the next one ever decreases. */
static void check_monotone(const struct timetable *table, u64 a, u64 b)
{
	struct profil_schedule early = at(table, a < b ? a : b);
	struct profil_schedule late = at(table, a < b ? b : a);

	if (early.passed > late.passed || early.next > late.next)
		abort();
	if ((early.passed == late.passed) != (early.next == late.next))
		abort();
}

/* Advancing from an earlier time has the same result as starting anew. */
static void check_after(const struct timetable *table, u64 a, u64 b)
{
	u64 early = a < b ? a : b, late = a < b ? b : a;
	struct profil_schedule said = at(table, late);

	if (!schedule_advances(at(table, early), &said, late))
		abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input input = { .data = data, .size = size };
	struct timetable table;
	u64 times[MOST_TIMES];
	u32 nr, i;

	table.secret[0] = take(&input, 8);
	table.secret[1] = take(&input, 8);
	table.cpu = take(&input, 4);
	table.period = take_period(&input);

	for (nr = 0; nr < MOST_TIMES && input.size; nr++) {
		times[nr] = take_time(&input, &table);
		check_at(&table, times[nr]);
		check_span(&table, times[nr], take(&input, 5), take(&input, 4));
	}
	check_order(&table, times, nr);
	for (i = 1; i < nr; i++) {
		check_monotone(&table, times[i - 1], times[i]);
		check_after(&table, times[i - 1], times[i]);
	}
	return 0;
}
