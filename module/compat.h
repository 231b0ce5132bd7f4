/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - what Linux 7.2 has, for older kernels
 *
 * The only file with conditionals on kernel versions; a kernel tree has neither
 * it nor Kbuild. Kbuild includes it before each source file, searches the
 * kernel's headers for some names, and defines PROFIL_HAVE_* for those that it
 * finds.
 */
#ifndef PROFIL_COMPAT_H
#define PROFIL_COMPAT_H

/* As in the files that define it: these headers use it. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cgroup.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/magic.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mutex.h>	/* for asm/futex.h on PREEMPT_RT */
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#ifndef PROFIL_HAVE_INODE_TIMES
static inline struct timespec64 inode_get_mtime(const struct inode *inode)
{
	return inode->i_mtime;
}
#endif

/* 5.10 has the number in fs/fuse only. */
#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC	0x65735546
#endif

/* Tasks of a process that the kernel makes; before 6.4, those of io_uring only */
#ifndef PF_USER_WORKER
#define PF_USER_WORKER		0
#endif

/* Before 6.2 no call_rcu() waits for others. */
#ifndef PROFIL_HAVE_RCU_HURRY
#define call_rcu_hurry		call_rcu
#endif

#ifndef kzalloc_obj
#define kzalloc_obj(object, gfp)	kzalloc(sizeof(object), gfp)
#endif

/* That of 5.10 for gcc 10 does not compile: it lacks another macro. */
#ifndef _ASM_EXTABLE_TYPE_REG
#undef unsafe_try_cmpxchg_user
#endif

#if !defined(PROFIL_HAVE_FOLIO) && defined(CONFIG_MEMCG)
/* For a task. That of 5.10 refers to a variable that is not exported. */
static inline struct mem_cgroup *profil_set_active_memcg(struct mem_cgroup *memcg)
{
	struct mem_cgroup *old = current->active_memcg;

	current->active_memcg = memcg;
	return old;
}

#define set_active_memcg		profil_set_active_memcg
#endif

/*
 * Before 5.14 a task cannot choose the memory cgroup that pays for a page of a
 * file: for a process that has ended it brings in none, nor in 5.14 and 5.15.
 */
#ifndef PROFIL_HAVE_FOLIO
static inline struct page *profil_read_late(struct address_space *mapping,
					    pgoff_t index, gfp_t gfp)
{
	struct page *page = find_get_page(mapping, index);

	if (page && PageUptodate(page))
		return page;
	if (page)
		put_page(page);
	return ERR_PTR(-ENOMEM);
}
#else
#define profil_read_late		shmem_read_mapping_page_gfp
#endif

#ifndef IRQ_WORK_INIT_HARD
#define IRQ_WORK_INIT_HARD(function) \
	((struct irq_work) { \
		.flags = ATOMIC_INIT(IRQ_WORK_HARD_IRQ), \
		.func = (function), \
	})
#endif

#ifndef PROFIL_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma,
				  unsigned long flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/* Before 7.2 what task->exec_state has was in the address space. */
#ifndef PROFIL_HAVE_EXEC_STATE
#define PROFIL_NO_EXEC_STATE
static inline bool profil_is_dumpable(const struct task_struct *task)
{
	return get_dumpable(task->mm) == SUID_DUMP_USER;
}

static inline const struct user_namespace *
profil_dump_ns(const struct task_struct *task)
{
	return task->mm ? task->mm->user_ns : NULL;
}
#endif

#ifndef PROFIL_HAVE_VMA_LOOKUP
static inline struct vm_area_struct *vma_lookup(struct mm_struct *mm,
						unsigned long addr)
{
	struct vm_area_struct *vma = find_vma(mm, addr);

	return vma && vma->vm_start <= addr ? vma : NULL;
}
#endif

/*
 * 5.10 marks a page that it charges to a memory cgroup where it counts the mappings
 * of one: a program cannot map such a page.
 */
#ifdef PG_kmemcg
#define PROFIL_NO_MAPPED_ACCOUNT
#endif

/*
 * Before 5.17 the mappings of a process that ends were freed without mmap_lock,
 * so that nobody else may look at them without a reference to the memory. Maple
 * trees came with 6.1.
 */
#ifndef PROFIL_HAVE_MAPLE_TREE
#define PROFIL_NO_LATE_LOOKUP
#endif

/*
 * Before these trees each task kept mappings that it had found, in a cache that
 * an interrupt of the kernel may find half cleared.
 */
#ifndef PROFIL_HAVE_MAPLE_TREE
#define PROFIL_NO_KERNEL_LOOKUP
#endif

#ifndef PROFIL_HAVE_USER_PATH
static inline const struct path *file_user_path(const struct file *file)
{
	return &file->f_path;
}
#endif

#ifndef PROFIL_HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* 5.14 has renamed the field; get_current_state() came with that. */
#ifdef get_current_state
#define profil_task_state(task)			READ_ONCE((task)->__state)
#else
#define profil_task_state(task)			READ_ONCE((task)->state)
#endif

/* The last parameter of a sched_switch probe came with 5.18. */
#ifndef PROFIL_HAVE_SWITCH_STATE
#define profil_sched_switch(data, preempt, prev, next, prev_state) \
	profil_sched_switch(data, preempt, prev, next)
#define profil_switch_state(prev, prev_state)	profil_task_state(prev)
#endif

#endif /* PROFIL_COMPAT_H */
