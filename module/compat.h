/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - differences between kernel versions
 *
 * The only file with conditionals on them. Kbuild searches the kernel's headers
 * for some names, and defines PROFIL_HAVE_* for those that it finds.
 */
#ifndef PROFIL_COMPAT_H
#define PROFIL_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/magic.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mutex.h>	/* for asm/futex.h on PREEMPT_RT */
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/futex.h>

/* 5.10 has the number in fs/fuse only. */
#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC	0x65735546
#endif

/*
 * Read, compare and exchange a 32-bit word of user memory, between
 * profil_user_begin(), which is 0 if the address is not of user memory, and
 * profil_user_end(). Without unsafe_try_cmpxchg_user() each access begins and
 * ends one of its own. That of 5.10 for gcc 10 does not compile: it lacks
 * another macro.
 */
#if defined(unsafe_try_cmpxchg_user) && defined(_ASM_EXTABLE_TYPE_REG)
#define PROFIL_UNSAFE_CMPXCHG
#define profil_user_begin(at)		user_access_begin(at, sizeof(*(at)))
#define profil_user_end()		user_access_end()
#else
#define profil_user_begin(at)		access_ok(at, sizeof(*(at)))
#define profil_user_end()		do { } while (0)
#endif

/* Return: 0 or -EFAULT. */
static __always_inline int profil_get_user(u32 __user *at, u32 *value)
{
#ifdef PROFIL_UNSAFE_CMPXCHG
	unsafe_get_user(*value, at, fault);
	return 0;

fault:
	return -EFAULT;
#else
	return __get_user(*value, at);
#endif
}

/*
 * Return: 1; 0 if the word was not *@old, which is up to date now; or -EFAULT.
 */
static __always_inline int profil_try_cmpxchg_user(u32 __user *at, u32 *old,
						   u32 new)
{
#ifdef PROFIL_UNSAFE_CMPXCHG
	return unsafe_try_cmpxchg_user(at, old, new, fault);

fault:
	return -EFAULT;
#else
	u32 found;
	int err = futex_atomic_cmpxchg_inatomic(&found, at, *old, new);

	if (err)
		return err == -EAGAIN ? 0 : -EFAULT;
	if (found == *old)
		return 1;
	*old = found;
	return 0;
#endif
}

/* A page of a tmpfs file that is in memory, with a reference, or NULL. */
static inline struct page *profil_find_page(struct address_space *mapping,
					    pgoff_t index)
{
#ifdef PROFIL_HAVE_FOLIO
	struct folio *folio = filemap_get_folio(mapping, index);

	if (IS_ERR_OR_NULL(folio))
		return NULL;
	return folio_page(folio, index & (folio_nr_pages(folio) - 1));
#else
	return find_get_page(mapping, index);
#endif
}

/*
 * Whether a task without memory can choose the memory cgroup that pays for a
 * page of a file, by set_active_memcg(): since 5.14. Folios came with 5.16.
 */
#ifdef PROFIL_HAVE_FOLIO
#define PROFIL_CHARGES_ACTIVE_MEMCG	true
#else
#define PROFIL_CHARGES_ACTIVE_MEMCG	false
#endif

/* For a task. That of 5.10 refers to a variable that is not exported. */
static inline struct mem_cgroup *profil_set_active_memcg(struct mem_cgroup *memcg)
{
#if defined(PROFIL_HAVE_FOLIO) || !defined(CONFIG_MEMCG)
	return set_active_memcg(memcg);
#else
	struct mem_cgroup *old = current->active_memcg;

	current->active_memcg = memcg;
	return old;
#endif
}

/*
 * The memory cgroup of a task, with a reference; NULL without one. Context:
 * under rcu_read_lock().
 */
static inline struct mem_cgroup *profil_get_memcg(struct task_struct *task)
{
	struct mem_cgroup *memcg = NULL;

#ifdef CONFIG_MEMCG
	do {
		memcg = mem_cgroup_from_task(task);
	} while (memcg && !css_tryget(&memcg->css));
#endif
	return memcg;
}

/* The task whose memory cgroup pays for an address space; NULL if none does. */
static inline struct task_struct *profil_mm_owner(struct mm_struct *mm)
{
#ifdef CONFIG_MEMCG
	return rcu_dereference(mm->owner);
#else
	return current;
#endif
}

/* Runs in hard interrupt context on PREEMPT_RT too. */
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

/* The last parameter of a sched_switch probe came with 5.18. */
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
