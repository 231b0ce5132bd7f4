// SPDX-License-Identifier: GPL-2.0-only
/*
 * count.c - what becomes of a tick
 *
 * Context: hard interrupts off; the tick itself or a context switch. Nothing
 * here sleeps or loops without bound. Lock taken: run->lock.
 */
#include <linux/mm_types.h>

#include "bin.h"
#include "count.h"
#include "deliver.h"
#include "run.h"
#include "tally.h"

/* Where a tick goes. */
struct profil_place {
	u32 region;
	u64 bin;
};

static bool profil_region_is_on(const struct profil_run *run, u32 region)
{
	return READ_ONCE(run->tallies[region].state) == PROFIL_REGION_ON;
}

/* The region that contains the pc, else the overflow bin, else none. */
static struct profil_place profil_place(const struct profil_run *run, u64 pc)
{
	const struct profil_map *map = &run->table->map;
	struct profil_place place = { .region = profil_map_find(map, pc) };

	if (place.region != PROFIL_NO_REGION &&
	    profil_region_is_on(run, place.region)) {
		place.bin = profil_map_bin(map, place.region, pc);
		return place;
	}
	place.region = map->overflow;
	if (place.region != PROFIL_NO_REGION &&
	    !profil_region_is_on(run, place.region))
		place.region = PROFIL_NO_REGION;
	return place;
}

static struct profil_added profil_add(const struct profil_run *run,
				      struct profil_place place, u32 nr)
{
	const struct profil_table *table = run->table;

	return profil_bin_add(profil_run_address(run, place.region, place.bin),
			      table->width, table->full, nr);
}

static bool profil_is_left_out(const struct profil_run *run,
			       struct profil_tick tick)
{
	return !tick.user && run->table->flags & PROFIL_SET_USER_ONLY;
}

/*
 * A process that has ended gives back its memory, which may take a while. Then
 * there are no counters any more, and so no regions.
 */
static bool profil_is_over(const struct profil_run *run,
			   struct profil_tick tick)
{
	return !tick.user && !atomic_read(&run->mm->mm_users);
}

/**
 * profil_count() - count a tick
 * @run: that is on, of the address space that the processor runs
 * @tick: what to count
 *
 * The counter is written first, without the lock; then the fate goes into the
 * books in one step, so that who reads them finds every tick once.
 */
void profil_count(struct profil_run *run, struct profil_tick tick)
{
	struct profil_place place = { .region = PROFIL_NO_REGION };
	bool left_out = profil_is_left_out(run, tick);
	struct profil_added added = { .err = -EAGAIN };
	bool queue = false;

	if (!left_out && !profil_is_over(run, tick))
		place = profil_place(run, tick.pc);
	if (place.region != PROFIL_NO_REGION && tick.user)
		added = profil_add(run, place, tick.nr);

	raw_spin_lock(&run->lock);
	profil_tally_taken(run, place.region, tick.nr, tick.user);
	if (left_out) {
		run->totals.left_out += tick.nr;
	} else if (place.region == PROFIL_NO_REGION) {
		run->totals.outside += tick.nr;
	} else if (added.err < 0) {
		queue = profil_deliver_later(run, place.region, place.bin,
					     tick.nr);
	} else {
		profil_tally_counted(run, place.region, tick.nr, added.clipped);
		if (added.err == PROFIL_BIN_FULL)
			profil_tally_full(run);
	}
	raw_spin_unlock(&run->lock);

	if (queue)
		profil_deliver_queue(run, tick.user);
}
