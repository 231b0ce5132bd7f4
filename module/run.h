/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - one profile of one address space, from its beginning to its end
 *
 * A run begins with PROFIL_IOC_SET, or with a fork in a profiled parent. It
 * ends by a stop or a replacement, or with its address space. A profile that
 * is replaced is a new run.
 */
#ifndef PROFIL_RUN_H
#define PROFIL_RUN_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "table.h"

struct profil_ledger;

/**
 * struct profil_totals - the fates of the ticks, see struct profil_status
 */
struct profil_totals {
	u64 taken;
	u64 counted;
	u64 clipped;
	u64 outside;
	u64 lost;
	u64 left_out;
	u64 kernel;
	u64 pending;
	u64 unfollowed;
};

/**
 * struct profil_tally - the fates of the ticks of one region
 */
struct profil_tally {
	u64 counted;
	u64 clipped;
	u64 lost;
	u64 kernel;
	u32 state;
};

/* Room for ticks that wait for their counters; more of them are lost. */
#define PROFIL_BAG	128

/**
 * struct profil_parcel - ticks that wait for their counter
 * @bin: index of the counter
 * @region: index of the region
 * @nr: number of ticks
 * @tries: how often they could not be delivered
 */
struct profil_parcel {
	u64 bin;
	u32 region;
	u32 nr;
	u32 tries;
};

/**
 * struct profil_run - see the top of the file
 * @refs: one for being published, one for each work or caller that uses it
 * @serial: tells it from every other run there ever was
 * @table: what was asked for; a reference
 * @mm: the address space; kept as a structure (mmgrab), not as memory
 * @ledger: where it is entered when it ends; a reference
 * @cpu_ns: CPU time covered
 * @lock: protects all from @state to what @bag points to, and @tallies; hard
 *	interrupts off; of the module's locks, the ledger's alone is taken
 *	inside
 * @state: enum profil_state; read without the lock too
 * @is_entered: it has been entered in the ledger
 * @queued: the worker has been sent for, and the memory of @mm is held until
 *	it finds the bag empty; the worker alone unsets this
 * @nr_parcels: parcels in @bag
 * @totals: fates of the ticks
 * @bag: ticks that wait for their counters, PROFIL_BAG at most. A tick
 *	appends; only the holder of @delivery removes
 * @delivery: held while parcels are delivered; mmap_lock is taken inside
 * @work: delivers; like @kick, has a reference to this while it is on its way
 * @kick: queues @work from where nobody may be woken
 * @give_back: the last of the worker, if nobody else uses the memory of @mm
 *	any more; has the worker's reference
 * @free_work: frees this after a grace period
 * @tallies: fates of ticks by region; a region's state is read without the
 *	lock too
 */
struct profil_run {
	refcount_t refs;
	u64 serial;
	struct profil_table *table;
	struct mm_struct *mm;
	struct profil_ledger *ledger;
	atomic64_t cpu_ns;

	raw_spinlock_t lock;
	u32 state;
	bool is_entered;
	bool queued;
	u32 nr_parcels;
	struct profil_totals totals;
	struct profil_parcel *bag;

	struct mutex delivery;
	struct delayed_work work;
	struct irq_work kick;
	struct work_struct give_back;
	struct rcu_work free_work;

	struct profil_tally tallies[];
};

extern struct workqueue_struct *profil_wq;
extern struct workqueue_struct *profil_give_back_wq;

int profil_run_init(void);
void profil_run_exit(void);

struct profil_run *profil_run_alloc(struct profil_table *table,
				    struct mm_struct *mm,
				    struct profil_ledger *ledger);
void profil_run_put(struct profil_run *run);
void profil_run_enter(struct profil_run *run);

/**
 * profil_run_address() - where a counter is
 * @run: any
 * @region: index of the region
 * @bin: index of the counter
 *
 * A buffer that runs over the end of the address space has what is beyond it
 * at the very end, where no program has memory.
 *
 * Context: any.
 */
static inline unsigned long
profil_run_address(const struct profil_run *run, u32 region, u64 bin)
{
	const struct profil_bins *bins = &run->table->map.bins[region];
	u32 shift = run->table->map.width_shift;
	u64 last = ULONG_MAX - 7;

	if (bins->base > last || bin > (last - bins->base) >> shift)
		return last;
	return bins->base + (bin << shift);
}

static inline bool profil_run_is_on(const struct profil_run *run)
{
	return READ_ONCE(run->state) == PROFIL_STATE_ON;
}

#endif /* PROFIL_RUN_H */
