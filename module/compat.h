/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - what differs between kernels, and nothing else
 *
 * The only place with such conditionals. PROFIL_HAVE_* say what the headers of
 * the kernel at hand offer; Kbuild finds out by looking there.
 */
#ifndef PROFIL_COMPAT_H
#define PROFIL_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched.h>

/* 5.10 has the number in fs/fuse only. */
#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC	0x65735546
#endif

/* Before 5.11: in_irq(). */
#ifdef in_hardirq
#define profil_in_hardirq()	in_hardirq()
#else
#define profil_in_hardirq()	in_irq()
#endif

/* Once the default of a workqueue; 7.2 wants it said. */
#ifdef PROFIL_HAVE_WQ_PERCPU
#define PROFIL_WQ_PERCPU	WQ_PERCPU
#else
#define PROFIL_WQ_PERCPU	0
#endif

/* In hard interrupt context on PREEMPT_RT too. */
static inline void profil_init_irq_work(struct irq_work *work,
					void (*function)(struct irq_work *))
{
#ifdef IRQ_WORK_INIT_HARD
	*work = IRQ_WORK_INIT_HARD(function);
#else
	init_irq_work(work, function);
	atomic_set(&work->flags, IRQ_WORK_HARD_IRQ);
#endif
}

static inline void profil_vm_flags_set(struct vm_area_struct *vma,
				       unsigned long flags)
{
#ifdef PROFIL_HAVE_VM_FLAGS_SET
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

static inline void
profil_hrtimer_setup(struct hrtimer *timer,
		     enum hrtimer_restart (*function)(struct hrtimer *))
{
#ifdef PROFIL_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	timer->function = function;
#endif
}

/* Parameters of a sched_switch probe; the last one came with 5.18. */
#ifdef PROFIL_HAVE_SWITCH_STATE
#define PROFIL_SWITCH_PARAMETERS \
	void *data, bool preempt, struct task_struct *prev, \
	struct task_struct *next, unsigned int prev_state
#else
#define PROFIL_SWITCH_PARAMETERS \
	void *data, bool preempt, struct task_struct *prev, \
	struct task_struct *next
#endif

#endif /* PROFIL_COMPAT_H */
