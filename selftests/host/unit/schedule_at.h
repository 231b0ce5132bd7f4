/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schedule_at.h - a schedule of module/schedule.h at any time
 *
 * Returned by value, so that a test can compare @passed and @next.
 */
#ifndef UNIT_SCHEDULE_AT_H
#define UNIT_SCHEDULE_AT_H

#include "schedule.h"

static inline struct profil_schedule schedule_at(const u64 secret[2], u32 cpu,
						 u32 period, u64 time)
{
	struct profil_schedule schedule;

	profil_schedule_start(&schedule, secret, cpu, period, time);
	return schedule;
}

/*
 * Return: whether advancing @early to @time, the time of @late, makes it equal
 * to @late and returns the number of ticks between the two.
 */
static inline bool schedule_advances(struct profil_schedule early,
				     const struct profil_schedule *late,
				     u64 time)
{
	u64 passed = early.passed;
	u64 ticks = profil_schedule_advance(&early, time);

	return early.passed == late->passed && early.next == late->next &&
	       ticks == late->passed - passed;
}

#endif /* UNIT_SCHEDULE_AT_H */
