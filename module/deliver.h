/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * deliver.h - ticks that could not be counted on the spot
 */
#ifndef PROFIL_DELIVER_H
#define PROFIL_DELIVER_H

#include <linux/irq_work.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct profil_run;

bool profil_deliver_later(struct profil_run *run, u32 region, u64 bin, u32 nr);
void profil_deliver_queue(struct profil_run *run, bool soon);
void profil_deliver_hurry(struct profil_run *run);
void profil_deliver_kick(struct irq_work *kick);
void profil_deliver_work(struct work_struct *work);
void profil_give_back_work(struct work_struct *work);

void profil_deliver_now(struct profil_run *run);
void profil_deliver_last(struct profil_run *run);

#endif /* PROFIL_DELIVER_H */
