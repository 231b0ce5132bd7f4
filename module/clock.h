/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clock.h - when ticks fall, and on whom
 */
#ifndef PROFIL_CLOCK_H
#define PROFIL_CLOCK_H

#include <linux/types.h>

#include <linux/profil.h>

struct mm_struct;
struct pt_regs;

/* No tick to come: the processor is left alone until it is armed again. */
#define PROFIL_PARKED	U64_MAX

/**
 * struct profil_clock_ops - a source of interrupts on each processor
 * @name: as the module parameter clock says it
 * @kind: as &struct profil_info says it
 * @online: prepare this processor, parked; process context on it, may sleep
 * @offline: the reverse; no interrupt comes any more when it returns
 * @arm: let this processor's next interrupt come at a time of ktime_get_ns(),
 *	whenever it was going to come before; hard interrupts off, scheduler
 *	locks may be held
 *
 * The interrupt calls profil_clock_tick() and does what that returns.
 */
struct profil_clock_ops {
	const char *name;
	enum profil_clock kind;
	int (*online)(unsigned int cpu);
	void (*offline)(unsigned int cpu);
	void (*arm)(u64 when, u64 now);
};

extern const struct profil_clock_ops profil_clock_perf;
extern const struct profil_clock_ops profil_clock_hrtimer;

u64 profil_clock_tick(struct pt_regs *regs);

int profil_clock_init(const struct profil_clock_ops *ops);
void profil_clock_exit(void);

enum profil_clock profil_clock_kind(void);
int profil_clock_get(void);
bool profil_clock_get_again(void);
void profil_clock_put(void);

void profil_clock_settle(struct mm_struct *mm);
void profil_clock_begin(struct mm_struct *mm);
void profil_clock_end(struct mm_struct *mm);
void profil_clock_leave(const struct mm_struct *mm);

#endif /* PROFIL_CLOCK_H */
