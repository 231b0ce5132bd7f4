// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock_hrtimer.c - ticks from timers of the module's own
 *
 * One timer for each processor, pinned there, in hard interrupt context on
 * PREEMPT_RT too. Nothing but the module decides over it.
 *
 * Context: said at each function. Takes no locks.
 */
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <asm/irq_regs.h>

#include "clock.h"
#include "compat.h"

static DEFINE_PER_CPU(struct hrtimer, profil_hrtimer);

/* Context: hard interrupt. */
static enum hrtimer_restart profil_hrtimer_expired(struct hrtimer *timer)
{
	u64 next = profil_clock_tick(get_irq_regs());

	if (next == PROFIL_PARKED)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(next));
	return HRTIMER_RESTART;
}

/* Context: hard interrupts off, scheduler locks may be held. */
static void profil_hrtimer_arm(u64 when, u64 now)
{
	hrtimer_start(this_cpu_ptr(&profil_hrtimer), ns_to_ktime(when),
		      HRTIMER_MODE_ABS_PINNED_HARD);
}

static int profil_hrtimer_online(unsigned int cpu)
{
	profil_hrtimer_setup(per_cpu_ptr(&profil_hrtimer, cpu),
			     profil_hrtimer_expired);
	return 0;
}

/* A timer that is pending would move to another processor. */
static void profil_hrtimer_offline(unsigned int cpu)
{
	hrtimer_cancel(per_cpu_ptr(&profil_hrtimer, cpu));
}

const struct profil_clock_ops profil_clock_hrtimer = {
	.name = "hrtimer",
	.kind = PROFIL_CLOCK_HRTIMER,
	.online = profil_hrtimer_online,
	.offline = profil_hrtimer_offline,
	.arm = profil_hrtimer_arm,
};
