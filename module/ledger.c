// SPDX-License-Identifier: GPL-2.0-only
/*
 * ledger.c - what the profiles that were begun by a descriptor came to
 *
 * A process that has ended cannot be asked for the status of its profile, and
 * one that was killed could not ask itself. So each run is entered in a ledger
 * when it ends, whichever way. The ledger belongs to the open file by which
 * the run was begun, or that from which it was inherited; who has a descriptor
 * of that file may read it.
 *
 * Context: any but profil_ledger_alloc(), which may sleep. Lock taken:
 * ledger->lock.
 */
#include <linux/slab.h>

#include "ledger.h"

/**
 * profil_ledger_alloc() - an empty ledger
 *
 * Return: the ledger, with one reference, or NULL.
 */
struct profil_ledger *profil_ledger_alloc(void)
{
	struct profil_ledger *ledger = kzalloc(sizeof(*ledger),
					       GFP_KERNEL_ACCOUNT);

	if (!ledger)
		return NULL;
	refcount_set(&ledger->refs, 1);
	raw_spin_lock_init(&ledger->lock);
	return ledger;
}

void profil_ledger_put(struct profil_ledger *ledger)
{
	if (refcount_dec_and_test(&ledger->refs))
		kfree(ledger);
}

/* A run that will be entered, and keeps the ledger until it is freed. */
void profil_ledger_begin(struct profil_ledger *ledger)
{
	unsigned long flags;

	refcount_inc(&ledger->refs);
	raw_spin_lock_irqsave(&ledger->lock, flags);
	ledger->sums.running++;
	raw_spin_unlock_irqrestore(&ledger->lock, flags);
}

/**
 * profil_ledger_enter() - a run has ended
 * @ledger: of the run
 * @totals: fates of its ticks, all settled
 * @cpu_ns: CPU time that it covered
 */
void profil_ledger_enter(struct profil_ledger *ledger,
			 const struct profil_totals *totals, u64 cpu_ns)
{
	struct profil_totals *sums = &ledger->sums.totals;
	unsigned long flags;

	raw_spin_lock_irqsave(&ledger->lock, flags);
	ledger->sums.running--;
	ledger->sums.cpu_ns += cpu_ns;
	sums->taken += totals->taken;
	sums->counted += totals->counted;
	sums->clipped += totals->clipped;
	sums->outside += totals->outside;
	sums->lost += totals->lost;
	sums->left_out += totals->left_out;
	sums->kernel += totals->kernel;
	sums->unfollowed += totals->unfollowed;
	raw_spin_unlock_irqrestore(&ledger->lock, flags);
}

/* What has been entered; all numbers are of one moment. */
struct profil_sums profil_ledger_read(struct profil_ledger *ledger)
{
	struct profil_sums sums;
	unsigned long flags;

	raw_spin_lock_irqsave(&ledger->lock, flags);
	sums = ledger->sums;
	raw_spin_unlock_irqrestore(&ledger->lock, flags);
	return sums;
}
