/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * schedule.h - when ticks fall
 *
 * Time is cut into cells of one mean period. A keyed hash of the cell's number
 * places one tick in each cell, uniformly. So the number of ticks in any span
 * of time has the span over the period as its mean, however short the span and
 * whatever the rhythm of the program (McCanne and Torek, 1993), and no clock
 * has to keep running to know where the next tick belongs.
 *
 * Context: any; pure arithmetic, compiled and tested in user space too.
 */
#ifndef PROFIL_SCHEDULE_H
#define PROFIL_SCHEDULE_H

#include <linux/types.h>

/**
 * struct profil_schedule - the ticks of one CPU or thread with one period
 * @key: secret, of this CPU or thread and this period
 * @passed: number of ticks at or before the time last asked for, counted from
 *	time 0
 * @next: time of the first tick after it, in nanoseconds
 * @period_ns: mean time between ticks
 */
struct profil_schedule {
	u64 key;
	u64 passed;
	u64 next;
	u32 period_ns;
};

/* Finalizer of SplitMix64: every bit of the input affects every bit. */
static inline u64 profil_mix(u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* Time of the tick in a cell. */
static inline u64 profil_schedule_tick(const struct profil_schedule *schedule,
				       u64 cell)
{
	u64 hash = profil_mix(cell ^ schedule->key);

	return cell * schedule->period_ns +
	       ((hash >> 32) * schedule->period_ns >> 32);
}

/* Go to any time that is at least two periods below 2^64. */
static inline void profil_schedule_seek(struct profil_schedule *schedule,
					u64 time_ns)
{
	u64 cell = time_ns / schedule->period_ns;
	u64 next = profil_schedule_tick(schedule, cell);

	if (next <= time_ns)
		next = profil_schedule_tick(schedule, ++cell);
	schedule->passed = cell;
	schedule->next = next;
}

/**
 * profil_schedule_start() - make the schedule of a CPU for a period
 * @schedule: the schedule
 * @secret: two random numbers
 * @cpu: number of the CPU
 * @period_ns: mean time between ticks, not 0
 * @time_ns: where to begin; at least two periods below 2^64
 */
static inline void profil_schedule_start(struct profil_schedule *schedule,
					 const u64 secret[2], u32 cpu,
					 u32 period_ns, u64 time_ns)
{
	u64 id = (u64)cpu << 32 | period_ns;

	schedule->key = profil_mix(profil_mix(id ^ secret[0]) ^ secret[1]);
	schedule->period_ns = period_ns;
	profil_schedule_seek(schedule, time_ns);
}

/**
 * profil_schedule_advance() - go on to a later time
 * @schedule: started
 * @time_ns: not before the time last asked for; at least two periods below 2^64
 *
 * The usual case, one tick or none, takes neither loop nor division: the next
 * tick lies in the cell whose number is that of the ticks passed.
 *
 * Return: how many ticks fall after the time last asked for and at or before
 * @time_ns.
 */
static inline u64 profil_schedule_advance(struct profil_schedule *schedule,
					  u64 time_ns)
{
	u64 passed = schedule->passed;

	if (schedule->next > time_ns)
		return 0;
	schedule->passed++;
	schedule->next = profil_schedule_tick(schedule, schedule->passed);
	if (schedule->next <= time_ns)
		profil_schedule_seek(schedule, time_ns);
	return schedule->passed - passed;
}

#endif /* PROFIL_SCHEDULE_H */
