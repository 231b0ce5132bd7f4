// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.c - making, ending and freeing runs
 *
 * Context: process, may sleep, profil_run_alloc() also in fork with mmap_lock
 * held for writing; or said at the function. Lock taken: run->lock.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "compat.h"
#include "deliver.h"
#include "ledger.h"
#include "run.h"

/* Delivers and frees; everything on it is drained before the module goes. */
struct workqueue_struct *profil_wq;

/* What may wait for long, so that nothing else has to wait for that. */
struct workqueue_struct *profil_give_back_wq;

static atomic64_t profil_serial = ATOMIC64_INIT(0);

/*
 * Of bags. With a constructor, so that kernels that clear what they allocate
 * leave them alone: each fork in a profiled program would pay for it, but of a
 * bag only what has been put into it is ever read.
 */
static struct kmem_cache *profil_bags;

/* Runs that have not been freed. */
static atomic_t profil_runs = ATOMIC_INIT(0);

static void profil_bag_construct(void *bag)
{
}

int __init profil_run_init(void)
{
	profil_bags = kmem_cache_create("profil_bag",
					PROFIL_BAG *
					sizeof(struct profil_parcel), 0,
					SLAB_ACCOUNT, profil_bag_construct);
	if (!profil_bags)
		return -ENOMEM;
	/* On the processor that has the ticks: it is awake. */
	profil_wq = alloc_workqueue("profil", PROFIL_WQ_PERCPU |
				    WQ_CPU_INTENSIVE, 0);
	if (!profil_wq)
		goto free_bags;
	profil_give_back_wq = alloc_workqueue("profil_give_back", WQ_UNBOUND,
					      WQ_MAX_ACTIVE);
	if (!profil_give_back_wq)
		goto free_wq;
	return 0;

free_wq:
	destroy_workqueue(profil_wq);
free_bags:
	kmem_cache_destroy(profil_bags);
	return -ENOMEM;
}

/* No new runs can be made any more, but old ones may have work to do. */
void profil_run_exit(void)
{
	wait_var_event(&profil_runs, !atomic_read(&profil_runs));
	destroy_workqueue(profil_give_back_wq);
	destroy_workqueue(profil_wq);
	kmem_cache_destroy(profil_bags);
}

static void profil_run_free(struct work_struct *work)
{
	struct profil_run *run = container_of(to_rcu_work(work),
					      struct profil_run, free_work);

	profil_ledger_put(run->ledger);
	profil_table_put(run->table);
	mmdrop(run->mm);
	kmem_cache_free(profil_bags, run->bag);
	kvfree(run);
	if (atomic_dec_and_test(&profil_runs))
		wake_up_var(&profil_runs);
}

/**
 * profil_run_alloc() - make a run that has taken no tick yet
 * @table: what it counts by; a reference of its own is taken
 * @mm: the address space that it will count for
 * @ledger: where it will be entered; a reference of its own is taken
 *
 * Return: a run with one reference, or NULL.
 */
struct profil_run *profil_run_alloc(struct profil_table *table,
				    struct mm_struct *mm,
				    struct profil_ledger *ledger)
{
	u32 nr = table->map.nr_regions;
	struct profil_run *run;
	u32 i;

	run = kvzalloc(struct_size(run, tallies, nr), GFP_KERNEL_ACCOUNT);
	if (!run)
		return NULL;
	run->bag = kmem_cache_alloc(profil_bags, GFP_KERNEL);
	if (!run->bag) {
		kvfree(run);
		return NULL;
	}

	atomic_inc(&profil_runs);
	refcount_set(&run->refs, 1);
	refcount_inc(&table->refs);
	run->table = table;
	mmgrab(mm);
	run->mm = mm;
	profil_ledger_begin(ledger);
	run->ledger = ledger;
	run->serial = atomic64_inc_return(&profil_serial);
	raw_spin_lock_init(&run->lock);
	run->state = PROFIL_STATE_ON;
	mutex_init(&run->delivery);
	INIT_DELAYED_WORK(&run->work, profil_deliver_work);
	profil_init_irq_work(&run->kick, profil_deliver_kick);
	INIT_WORK(&run->give_back, profil_give_back_work);
	INIT_RCU_WORK(&run->free_work, profil_run_free);
	for (i = 0; i < nr; i++)
		run->tallies[i].state = table->map.bins[i].state;
	return run;
}

/**
 * profil_run_enter() - it has ended: enter what it came to in the ledger, once
 * @run: takes no more ticks, and all are settled
 *
 * Context: any.
 */
void profil_run_enter(struct profil_run *run)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&run->lock, flags);
	if (!run->is_entered)
		profil_ledger_enter(run->ledger, &run->totals,
				    atomic64_read(&run->cpu_ns));
	run->is_entered = true;
	raw_spin_unlock_irqrestore(&run->lock, flags);
}

/* Context: any. */
void profil_run_put(struct profil_run *run)
{
	if (!refcount_dec_and_test(&run->refs))
		return;
	profil_run_enter(run);
	queue_rcu_work(profil_wq, &run->free_work);
}
