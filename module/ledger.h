/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ledger.h - what the profiles that were begun by a descriptor came to
 */
#ifndef PROFIL_LEDGER_H
#define PROFIL_LEDGER_H

#include <linux/refcount.h>
#include <linux/spinlock.h>

#include "run.h"

/**
 * struct profil_sums - of the runs of a ledger
 * @running: how many have not been entered
 * @cpu_ns: CPU time that the others covered
 * @totals: fates of the ticks of the others
 */
struct profil_sums {
	u32 running;
	u64 cpu_ns;
	struct profil_totals totals;
};

/**
 * struct profil_ledger - of an open file of the device
 * @refs: one for the file, one for each run
 * @lock: protects @sums; a leaf, taken under run->lock; hard interrupts off
 * @sums: what has been entered
 */
struct profil_ledger {
	refcount_t refs;
	raw_spinlock_t lock;
	struct profil_sums sums;
};

struct profil_ledger *profil_ledger_alloc(void);
void profil_ledger_put(struct profil_ledger *ledger);

void profil_ledger_begin(struct profil_ledger *ledger);
void profil_ledger_enter(struct profil_ledger *ledger,
			 const struct profil_totals *totals, u64 cpu_ns);
struct profil_sums profil_ledger_read(struct profil_ledger *ledger);

#endif /* PROFIL_LEDGER_H */
