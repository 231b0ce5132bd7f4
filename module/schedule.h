/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schedule.h - when ticks fall
 *
 * Context: any; pure arithmetic, compiled and tested in user space too.
 */
#ifndef PROFIL_SCHEDULE_H
#define PROFIL_SCHEDULE_H

#include <linux/types.h>

/**
 * struct profil_schedule - the secret of a schedule
 * @key: random, so that no program can know when it will be looked at
 */
struct profil_schedule {
	u64 key[2];
};

/**
 * struct profil_instant - a time, seen from the schedule
 * @passed: number of ticks that fall at or before the time, counted from
 *	time 0; differences of two of them are numbers of ticks
 * @next: time of the first tick after it, in nanoseconds
 */
struct profil_instant {
	u64 passed;
	u64 next;
};

struct profil_instant profil_schedule_at(const struct profil_schedule *schedule,
					 u32 cpu, u32 period_ns, u64 time_ns);
struct profil_instant
profil_schedule_after(const struct profil_schedule *schedule, u32 cpu,
		      u32 period_ns, struct profil_instant at, u64 time_ns);

#endif /* PROFIL_SCHEDULE_H */
