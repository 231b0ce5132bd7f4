/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mm.h - as much of the kernel as module/chain.c needs, in user space
 *
 * All other headers that it includes from the kernel are in this one. There is
 * one CPU, and one process: the one that unwind.c steps.
 */
#ifndef KERNEL_LINUX_MM_H
#define KERNEL_LINUX_MM_H

#include <errno.h>
#include <stdlib.h>

#include <linux/nospec.h>
#include <linux/types.h>

#include "walk.h"

#define __user
#define __percpu
#define noinline		__attribute__((noinline))
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#define likely(condition)	(condition)
#define unlikely(condition)	(condition)
#define BIT(n)			(1ul << (n))
#define IS_ENABLED(option)	0
#define READ_ONCE(x)		(x)
#define smp_load_acquire(p)	(*(p))
#define __ffs(x)		((unsigned int)__builtin_ctzl(x))

#define DEFINE_MUTEX(name)	struct mutex name
struct mutex {
	int unused;
};

#define mutex_lock(mutex)	((void)(mutex))
#define mutex_unlock(mutex)	((void)(mutex))

#define alloc_percpu(type)	((type *)calloc(1, sizeof(type)))
#define free_percpu(p)		free(p)
#define this_cpu_ptr(p)		(p)

typedef struct {
	u64 counter;
} atomic64_t;

static inline void atomic64_add(u64 n, atomic64_t *v)
{
	v->counter += n;
}

struct pt_regs {
	unsigned long ip;
	unsigned long sp;
	unsigned long bp;
	unsigned long bx;
	unsigned long di;
};

#define user_mode(regs)		((void)(regs), true)
#define user_64bit_mode(regs)	((void)(regs), true)

struct mm_struct {
	int unused;
};

struct task_struct {
	struct mm_struct *mm;
	unsigned int flags;
	bool in_execve;
};

extern struct task_struct *current;

#define PF_KTHREAD		1
#define task_pt_regs(task)	((void)(task), (struct pt_regs *)NULL)
#define local_irq_save(flags)	((void)(flags))
#define local_irq_restore(flags)	((void)(flags))
#define pagefault_disable()	((void)0)
#define pagefault_enable()	((void)0)
#define mmap_read_trylock(mm)	((void)(mm), true)
#define mmap_read_unlock(mm)	((void)(mm))

struct inode;

struct file {
	struct inode *inode;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

#define PAGE_SHIFT		12
#define VM_WRITE		0x2
#define VM_EXEC			0x4
#define VM_GROWSDOWN		0x100
#define VM_PFNMAP		0x400
#define VM_IO			0x4000

struct vm_area_struct *vma_lookup(struct mm_struct *mm, unsigned long address);

#define find_vma(mm, address)	vma_lookup(mm, address)
#define file_inode(file)	((file)->inode)

bool user_access_begin(const void *from, size_t bytes);

#define user_access_end()	((void)0)
#define unsafe_get_user(word, from, fault) do { \
	if (!walk_read((unsigned long)(from), &(word))) \
		goto fault; \
} while (0)

#endif /* KERNEL_LINUX_MM_H */
