// SPDX-License-Identifier: GPL-2.0-only
/*
 * floor_timer.c - minimum cost of a clock tick with an hrtimer
 *
 * Has an hrtimer on each CPU with a function that only sets the next expiry.
 * Only for the bench, like floor.c.
 */
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/smp.h>

static unsigned int period_ns = 1000000;
module_param(period_ns, uint, 0444);
MODULE_PARM_DESC(period_ns, "time between ticks");

static DEFINE_PER_CPU(struct hrtimer, floor_timer);

/* Context: hard interrupt. */
static enum hrtimer_restart floor_timer_expired(struct hrtimer *timer)
{
	hrtimer_add_expires_ns(timer, period_ns);
	return HRTIMER_RESTART;
}

/* Context: hard interrupts off. */
static void floor_timer_start(void *unused)
{
	struct hrtimer *timer = this_cpu_ptr(&floor_timer);

#ifdef FLOOR_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, floor_timer_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = floor_timer_expired;
#endif
	hrtimer_start(timer, ns_to_ktime(period_ns),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static int __init floor_timer_init(void)
{
	on_each_cpu(floor_timer_start, NULL, true);
	return 0;
}
module_init(floor_timer_init);

static void __exit floor_timer_exit(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		hrtimer_cancel(per_cpu_ptr(&floor_timer, cpu));
}
module_exit(floor_timer_exit);

MODULE_DESCRIPTION("Timers that do nothing, to compare with");
MODULE_LICENSE("GPL");
