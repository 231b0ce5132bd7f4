// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedule.c - when ticks fall
 *
 * Time is cut into cells of one mean period, and a keyed hash of the
 * processor and the cell's number places one tick in each cell, anywhere in it
 * with equal chance. So the number of ticks in any span of time has the span
 * over the period as its mean, however short the span and whatever the rhythm
 * of the program (McCanne and Torek, 1993), and nobody has to keep a clock
 * running to know where the next tick belongs.
 *
 * Context: any; takes no locks.
 */
#include "schedule.h"

/* Finalizer of the SplitMix64 generator: every bit decides over every bit. */
static u64 profil_mix(u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* Time of the tick in a cell, counted from the beginning of the cell. */
static u64 profil_schedule_in_cell(const struct profil_schedule *schedule,
				   u32 cpu, u32 period_ns, u64 cell)
{
	u64 hash = profil_mix(cell ^ schedule->key[0]);

	hash = profil_mix(hash + (((u64)cpu << 32 | period_ns) ^
				  schedule->key[1]));
	return (hash >> 32) * period_ns >> 32;
}

/**
 * profil_schedule_at() - ticks passed and tick to come
 * @schedule: the key
 * @cpu: processor whose schedule it is
 * @period_ns: mean time between ticks, not 0
 * @time_ns: any time at least two periods below the end of 64 bits
 *
 * Return: see struct profil_instant. There is one division, no loop.
 */
struct profil_instant profil_schedule_at(const struct profil_schedule *schedule,
					 u32 cpu, u32 period_ns, u64 time_ns)
{
	u64 cell = time_ns / period_ns;
	u64 begin = cell * period_ns;
	struct profil_instant at = { .passed = cell };

	at.next = begin + profil_schedule_in_cell(schedule, cpu, period_ns,
						  cell);
	if (at.next > time_ns)
		return at;

	at.passed++;
	at.next = begin + period_ns +
		profil_schedule_in_cell(schedule, cpu, period_ns, cell + 1);
	return at;
}

/**
 * profil_schedule_after() - the same, when an earlier time is known
 * @schedule: the key
 * @cpu: processor whose schedule it is
 * @period_ns: mean time between ticks, not 0
 * @at: what was true at a time that is not after @time_ns
 * @time_ns: as above
 *
 * The next instant lies in the cell whose number is that of the instants that
 * have passed. So at a clock tick, which comes when one more has passed, there
 * is but one cell to look into.
 *
 * Return: what profil_schedule_at() would.
 */
struct profil_instant
profil_schedule_after(const struct profil_schedule *schedule, u32 cpu,
		      u32 period_ns, struct profil_instant at, u64 time_ns)
{
	if (at.next > time_ns)
		return at;

	at.passed++;
	at.next = at.passed * period_ns +
		profil_schedule_in_cell(schedule, cpu, period_ns, at.passed);
	if (at.next > time_ns)
		return at;

	return profil_schedule_at(schedule, cpu, period_ns, time_ns);
}
