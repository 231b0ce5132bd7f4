// SPDX-License-Identifier: GPL-2.0-only
/*
 * deliver.c - ticks that could not be counted on the spot
 *
 * A tick that finds its counter's page absent or copy-on-write, that comes in
 * kernel mode, or that loses a fight for the counter's word, is put into the
 * run's bag. A worker brings the page in and adds what the bag holds.
 *
 * The bag keeps the memory of the address space alive (mm_users) until the
 * worker has been, so that the last ticks of a process that exits still reach
 * counters that it shares with others.
 *
 * Context: said at each function. Locks: run->delivery, then mmap_lock for
 * reading (which the worker only tries); run->lock by itself.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>

#include "bin.h"
#include "compat.h"
#include "deliver.h"
#include "fault.h"
#include "run.h"
#include "tally.h"

/*
 * A page that is on its way from disk arrives within the first few tries; one
 * that userfaultfd holds back may never. 2^0 to 2^9 ms between the tries make
 * one second in all.
 */
#define PROFIL_DELIVER_TRIES	10

/* A caller that stops its profile waits for less: 63 ms in all. */
#define PROFIL_DELIVER_LAST	6

/*
 * Ticks in kernel mode can wait. If the worker ran at once it would push the
 * program aside just after each of its ticks, when the next one is never due,
 * and what the program runs in would have more ticks than its share: 5 % more
 * have been seen at a period of 100 us. Some periods later the worker is as
 * likely to meet a tick as anybody. Half a bag of periods leaves room.
 */
#define PROFIL_DELIVER_DELAY_NS	(10 * NSEC_PER_MSEC)
#define PROFIL_DELIVER_PERIODS	(PROFIL_BAG / 2)

/* What became of one attempt to deliver a parcel. */
struct profil_attempt {
	int err;
	enum profil_region_state why;
	u64 clipped;
};

static int profil_add_parcel(const struct profil_run *run,
			     const struct profil_parcel *parcel,
			     unsigned long addr, u64 *clipped)
{
	struct profil_added added = profil_bin_add(addr, run->table->width,
						   run->table->full,
						   parcel->nr);

	*clipped = added.clipped;
	return added.err;
}

/*
 * One attempt. -EAGAIN: try later. -EBUSY: the same, but it was no attempt,
 * since the program was changing its mappings. Any other error: the ticks are
 * lost, and the region goes off if there is a reason.
 */
static struct profil_attempt profil_attempt(struct profil_run *run,
					    const struct profil_parcel *parcel)
{
	unsigned long addr = profil_run_address(run, parcel->region,
						parcel->bin);
	struct profil_attempt result = { .why = PROFIL_REGION_ON };

	if (READ_ONCE(run->tallies[parcel->region].state)) {
		result.err = -EFAULT;
		return result;
	}
	result.err = profil_add_parcel(run, parcel, addr, &result.clipped);
	if (result.err != -EFAULT)
		return result;

	result.err = profil_fault_in(run->mm, addr, &result.why);
	if (result.err)
		return result;

	/* The page may have gone again: that is not the region's fault. */
	result.err = profil_add_parcel(run, parcel, addr, &result.clipped);
	if (result.err == -EFAULT)
		result.err = -EAGAIN;
	return result;
}

static void profil_settle(struct profil_run *run,
			  const struct profil_parcel *parcel,
			  const struct profil_attempt *result)
{
	run->totals.pending -= parcel->nr;
	if (result->err < 0) {
		profil_tally_lost(run, parcel->region, parcel->nr);
		profil_tally_off(run, parcel->region, result->why);
		return;
	}
	profil_tally_counted(run, parcel->region, parcel->nr, result->clipped);
	if (result->err == PROFIL_BIN_FULL)
		profil_tally_full(run);
}

/* What is to become of a parcel that cannot be delivered now. */
enum profil_patience {
	PROFIL_DELIVER_KEEP,	/* it stays */
	PROFIL_DELIVER_TRY,	/* it stays, unless this was its last try */
	PROFIL_DELIVER_LOSE	/* it is lost */
};

static bool profil_may_stay(const struct profil_parcel *parcel, int err,
			    enum profil_patience patience)
{
	if (patience == PROFIL_DELIVER_LOSE)
		return false;
	if (err == -EAGAIN && patience == PROFIL_DELIVER_TRY)
		return parcel->tries < PROFIL_DELIVER_TRIES;
	return err == -EAGAIN || err == -EBUSY;
}

/*
 * Deliver what the bag holds, each parcel once.
 *
 * While the lock is dropped for the attempt the parcel stays in its place with
 * no ticks in it, and new ones for the same counter may join it there.
 *
 * Return: how often the most tried of the parcels that are left was tried, at
 * least 1; 0 if none is left.
 */
static u32 profil_deliver(struct profil_run *run,
			  enum profil_patience patience)
{
	u32 most = 0;
	u32 i = 0;

	lockdep_assert_held(&run->delivery);
	raw_spin_lock_irq(&run->lock);
	while (i < run->nr_parcels) {
		struct profil_parcel *place = &run->bag[i];
		struct profil_parcel parcel = *place;
		struct profil_attempt result;

		place->nr = 0;
		raw_spin_unlock_irq(&run->lock);
		result = profil_attempt(run, &parcel);
		cond_resched();
		raw_spin_lock_irq(&run->lock);

		if (profil_may_stay(&parcel, result.err, patience)) {
			place->nr += parcel.nr;
			place->tries += result.err == -EAGAIN &&
					patience == PROFIL_DELIVER_TRY;
			most = max3(most, place->tries, 1U);
			i++;
			continue;
		}
		profil_settle(run, &parcel, &result);
		if (place->nr) {
			place->tries = 0;
			i++;
		} else {
			*place = run->bag[--run->nr_parcels];
		}
	}
	raw_spin_unlock_irq(&run->lock);
	return most;
}

/* Every order of the worker, by whichever way, has a reference to its run. */
static void profil_deliver_order(struct profil_run *run, unsigned long delay)
{
	if (!queue_delayed_work(profil_wq, &run->work, delay))
		profil_run_put(run);
}

/* Nobody but the bag uses the memory any more: the process is gone. */
static bool profil_deliver_is_last(const struct profil_run *run)
{
	return atomic_read(&run->mm->mm_users) == 1;
}

/*
 * One round of the worker, with the memory held. A missing page of a process
 * that is gone will not be brought by anybody any more. While the program
 * itself is delivering it may wait for long: it has the worker come again.
 *
 * Return: as profil_deliver().
 */
static u32 profil_deliver_round(struct profil_run *run)
{
	enum profil_patience patience = PROFIL_DELIVER_TRY;
	u32 tries;

	if (profil_deliver_is_last(run))
		patience = PROFIL_DELIVER_LOSE;
	if (!mutex_trylock(&run->delivery))
		return 1;
	kthread_use_mm(run->mm);
	tries = profil_deliver(run, patience);
	kthread_unuse_mm(run->mm);
	mutex_unlock(&run->delivery);
	return tries;
}

/* Is the bag empty? Then whoever fills it again has to send the worker. */
static bool profil_deliver_done(struct profil_run *run)
{
	bool done;

	raw_spin_lock_irq(&run->lock);
	done = !run->nr_parcels;
	if (done)
		run->queued = false;
	raw_spin_unlock_irq(&run->lock);
	return done;
}

/**
 * profil_give_back_work() - give the memory of a run back, and the run
 * @work: of a run, with a reference
 *
 * Context: process, on a kernel thread. Waits for the program's asynchronous
 * input and for the servers of its files, which may take for ever.
 */
void profil_give_back_work(struct work_struct *work)
{
	struct profil_run *run = container_of(work, struct profil_run,
					      give_back);

	mmput(run->mm);
	profil_run_put(run);
}

/*
 * What the last user of the memory has to wait for is not the worker's
 * business, by whom everybody's ticks are delivered.
 */
static void profil_give_back(struct profil_run *run)
{
	if (atomic_add_unless(&run->mm->mm_users, -1, 1))
		profil_run_put(run);
	else
		queue_work(profil_give_back_wq, &run->give_back);
}

/**
 * profil_deliver_work() - the worker
 * @work: of a run, with a reference
 *
 * Context: process, on a kernel thread.
 */
void profil_deliver_work(struct work_struct *work)
{
	struct profil_run *run = container_of(to_delayed_work(work),
					      struct profil_run, work);
	u32 tries;

	/* Sent for twice, the worker may have been there already. */
	if (!READ_ONCE(run->queued)) {
		profil_run_put(run);
		return;
	}
	tries = profil_deliver_round(run);
	if (!profil_deliver_done(run)) {
		profil_deliver_order(run, tries ?
				     msecs_to_jiffies(1 << (tries - 1)) : 0);
		return;
	}
	profil_give_back(run);
}

static unsigned long profil_deliver_delay(const struct profil_run *run)
{
	u64 periods_ns = (u64)run->table->period_ns * PROFIL_DELIVER_PERIODS;

	/* Rounded up: a delay of no jiffy would be none at all. */
	return nsecs_to_jiffies(min_t(u64, periods_ns,
				      PROFIL_DELIVER_DELAY_NS)) + 1;
}

/* An order that also moves forward one that is on its way. */
static void profil_deliver_reorder(struct profil_run *run, unsigned long delay)
{
	/* What is on its way already has a reference of its own. */
	if (mod_delayed_work(profil_wq, &run->work, delay))
		profil_run_put(run);
}

/* Context: hard interrupt, nothing held. */
void profil_deliver_kick(struct irq_work *kick)
{
	struct profil_run *run = container_of(kick, struct profil_run, kick);
	unsigned long delay = profil_deliver_delay(run);

	if (profil_deliver_is_last(run))
		delay = 0;
	profil_deliver_reorder(run, delay);
}

static void profil_deliver_send_kick(struct profil_run *run)
{
	if (!irq_work_queue(&run->kick))
		profil_run_put(run);
}

/*
 * Take what the worker needs. Memory that nobody uses any more has nobody left
 * to write for. The run cannot go away here: who ends it waits for this
 * interval first, see profil_clock_end().
 */
static bool profil_deliver_hold(struct profil_run *run)
{
	if (!mmget_not_zero(run->mm))
		return false;
	refcount_inc(&run->refs);
	return true;
}

static struct profil_parcel *profil_bag_find(struct profil_run *run, u32 region,
					     u64 bin)
{
	u32 i;

	for (i = 0; i < run->nr_parcels; i++)
		if (run->bag[i].region == region && run->bag[i].bin == bin)
			return &run->bag[i];
	return NULL;
}

/**
 * profil_deliver_later() - put ticks into the bag
 * @run: with its lock held
 * @region: index of the region
 * @bin: index of the counter
 * @nr: number of ticks
 *
 * Context: hard interrupts off. If there is no room the ticks are lost.
 * Return: whether profil_deliver_queue() must follow, without the lock.
 */
bool profil_deliver_later(struct profil_run *run, u32 region, u64 bin, u32 nr)
{
	struct profil_parcel *parcel = profil_bag_find(run, region, bin);
	bool queue = false;

	lockdep_assert_held(&run->lock);
	if (!parcel && run->nr_parcels == PROFIL_BAG)
		goto lost;
	if (parcel && parcel->nr > U32_MAX - nr)
		goto lost;
	if (!run->queued) {
		if (!profil_deliver_hold(run))
			goto lost;
		run->queued = true;
		queue = true;
	}
	if (!parcel) {
		parcel = &run->bag[run->nr_parcels++];
		*parcel = (struct profil_parcel) {
			.region = region, .bin = bin,
		};
	}
	parcel->nr += nr;
	run->totals.pending += nr;
	return queue;
lost:
	profil_tally_lost(run, region, nr);
	return false;
}

/**
 * profil_deliver_queue() - send the worker
 * @run: profil_deliver_later() asked for it
 * @soon: it has a page to bring in, without which every tick there must wait
 *
 * Context: hard interrupt; without @soon also with the scheduler's locks held.
 * Waking a worker takes those, and starting a timer may, so outside of an
 * interrupt the way leads through one.
 */
void profil_deliver_queue(struct profil_run *run, bool soon)
{
	if (soon)
		profil_deliver_order(run, 0);
	else if (profil_in_hardirq())
		profil_deliver_order(run, profil_deliver_delay(run));
	else
		profil_deliver_send_kick(run);
}

/**
 * profil_deliver_hurry() - a thread has left the address space for good, by
 * exit or exec
 * @run: of that address space
 *
 * If it was the last one the worker has nothing to wait for: somebody may be
 * about to read what the process has left, or to write to its executable.
 *
 * Context: hard interrupts off, scheduler locks may be held; under RCU.
 */
void profil_deliver_hurry(struct profil_run *run)
{
	if (READ_ONCE(run->queued) && profil_deliver_is_last(run) &&
	    refcount_inc_not_zero(&run->refs))
		profil_deliver_send_kick(run);
}

/**
 * profil_deliver_now() - deliver what can be delivered now
 * @run: of the calling process
 *
 * Context: process, may sleep.
 */
void profil_deliver_now(struct profil_run *run)
{
	mutex_lock(&run->delivery);
	profil_deliver(run, PROFIL_DELIVER_KEEP);
	mutex_unlock(&run->delivery);
}

/**
 * profil_deliver_last() - deliver all, or count it as lost
 * @run: of the calling process; takes no more ticks
 *
 * Nothing is written to the run's counters after this.
 *
 * Context: process, may sleep: for a bounded time, and as long as the program
 * keeps its own mappings locked.
 */
void profil_deliver_last(struct profil_run *run)
{
	u32 try;

	mutex_lock(&run->delivery);
	for (try = 0; try < PROFIL_DELIVER_LAST; try++) {
		profil_deliver(run, PROFIL_DELIVER_KEEP);
		if (!READ_ONCE(run->nr_parcels))
			break;
		msleep(1 << try);
	}
	profil_deliver(run, PROFIL_DELIVER_LOSE);
	mutex_unlock(&run->delivery);

	/* The worker alone gives back the memory; it has nothing to wait for. */
	if (READ_ONCE(run->queued)) {
		refcount_inc(&run->refs);
		profil_deliver_reorder(run, 0);
	}
}
