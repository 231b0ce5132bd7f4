/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tally.h - the books: every tick taken gets exactly one fate
 *
 * taken = counted + clipped + outside + lost + left out + pending, at any time
 * that the lock is free. Every function here wants run->lock held.
 */
#ifndef PROFIL_TALLY_H
#define PROFIL_TALLY_H

#include <linux/lockdep.h>

#include "run.h"

/* @region: to whom they belong, or PROFIL_NO_REGION. */
static inline void profil_tally_taken(struct profil_run *run, u32 region,
				      u32 nr, bool user)
{
	lockdep_assert_held(&run->lock);
	run->totals.taken += nr;
	if (user)
		return;
	run->totals.kernel += nr;
	if (region != PROFIL_NO_REGION)
		run->tallies[region].kernel += nr;
}

static inline void profil_tally_counted(struct profil_run *run, u32 region,
					u32 nr, u64 clipped)
{
	struct profil_tally *tally = &run->tallies[region];

	lockdep_assert_held(&run->lock);
	tally->counted += nr - clipped;
	tally->clipped += clipped;
	run->totals.counted += nr - clipped;
	run->totals.clipped += clipped;
}

static inline void profil_tally_lost(struct profil_run *run, u32 region, u32 nr)
{
	lockdep_assert_held(&run->lock);
	run->tallies[region].lost += nr;
	run->totals.lost += nr;
}

/* A region goes off for good; the first reason stays. */
static inline void profil_tally_off(struct profil_run *run, u32 region,
				    enum profil_region_state why)
{
	struct profil_tally *tally = &run->tallies[region];

	lockdep_assert_held(&run->lock);
	if (tally->state == PROFIL_REGION_ON)
		WRITE_ONCE(tally->state, why);
}

/* A counter has reached its end: under System V's rule that is all. */
static inline void profil_tally_full(struct profil_run *run)
{
	lockdep_assert_held(&run->lock);
	if (run->table->flags & PROFIL_SET_SVR4_STOP)
		WRITE_ONCE(run->state, PROFIL_STATE_FULL);
}

#endif /* PROFIL_TALLY_H */
