// SPDX-License-Identifier: GPL-2.0-only
/*
 * fault.c - memory of the program that is not there, or not right
 *
 * Nothing here waits for a file system, and the worker not for the program
 * either: a page that cannot be had at once is tried again later, and mappings
 * in which a fault may wait for somebody's good will are refused.
 *
 * Context: process, may sleep for memory. Lock taken: mmap_lock for reading,
 * which the worker only tries.
 */
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/userfaultfd_k.h>

#include "bin.h"
#include "compat.h"
#include "fault.h"

/* On arm64 an atomic operation on device memory is fatal to the machine. */
#define PROFIL_VM_DEVICE	(VM_IO | VM_PFNMAP)

#define PROFIL_FAULT_FLAGS	(FAULT_FLAG_WRITE | FAULT_FLAG_REMOTE | \
				 FAULT_FLAG_ALLOW_RETRY | \
				 FAULT_FLAG_RETRY_NOWAIT)

/*
 * FAULT_FLAG_RETRY_NOWAIT does not bind ->page_mkwrite, which waits for a
 * frozen file system, nor FUSE, which waits for its server.
 */
static bool profil_may_block(const struct vm_area_struct *vma)
{
	if (!vma->vm_file)
		return false;
	if (file_inode(vma->vm_file)->i_sb->s_magic == FUSE_SUPER_MAGIC)
		return true;
	return vma->vm_flags & VM_SHARED && vma->vm_ops &&
	       vma->vm_ops->page_mkwrite;
}

static enum profil_region_state
profil_vma_state(const struct vm_area_struct *vma)
{
	if (vma->vm_flags & PROFIL_VM_DEVICE)
		return PROFIL_REGION_DEVICE;
	if (!(vma->vm_flags & VM_WRITE))
		return PROFIL_REGION_READONLY;
	if (profil_may_block(vma))
		return PROFIL_REGION_FILE;
	return PROFIL_REGION_ON;
}

static int profil_fault_vma(struct mm_struct *mm, unsigned long addr,
			    enum profil_region_state *why)
{
	struct vm_area_struct *vma = find_vma(mm, addr);
	vm_fault_t fault;

	if (!vma || vma->vm_start > addr) {
		*why = PROFIL_REGION_UNMAPPED;
		return -EFAULT;
	}
	*why = profil_vma_state(vma);
	if (*why)
		return -EFAULT;

	fault = handle_mm_fault(vma, addr, PROFIL_FAULT_FLAGS, NULL);
	if (fault & VM_FAULT_OOM)
		return -ENOMEM;
	if (fault & VM_FAULT_RETRY)
		return -EAGAIN;
	if (!(fault & VM_FAULT_ERROR))
		return 0;
	/* A userfaultfd for user mode only answers the kernel with SIGBUS. */
	if (userfaultfd_armed(vma))
		return -EAGAIN;
	*why = fault & VM_FAULT_SIGSEGV ?
		PROFIL_REGION_READONLY : PROFIL_REGION_NOPAGE;
	return -EFAULT;
}

/*
 * The program may wait for its own mappings to settle, but not the worker,
 * which others need too.
 */
static int profil_fault_lock(struct mm_struct *mm)
{
	if (current->flags & PF_KTHREAD)
		return mmap_read_trylock(mm) ? 0 : -EBUSY;
	return mmap_read_lock_killable(mm) ? -EAGAIN : 0;
}

/**
 * profil_fault_in() - bring in a page for writing
 * @mm: an address space whose memory is kept alive
 * @addr: address in it
 * @why: on -EFAULT, what is wrong with the memory, for good; untouched or
 *	PROFIL_REGION_ON otherwise
 *
 * Return: 0; -EAGAIN if it cannot be had now without waiting; -EBUSY if
 * somebody is changing the mappings; -ENOMEM; or -EFAULT.
 */
int profil_fault_in(struct mm_struct *mm, unsigned long addr,
		    enum profil_region_state *why)
{
	int err = profil_fault_lock(mm);

	if (err)
		return err;
	err = profil_fault_vma(mm, addr, why);
	mmap_read_unlock(mm);
	return err;
}

/* The first mapping's state that is not good, a device's above all others. */
static enum profil_region_state profil_range_state(struct mm_struct *mm,
						   unsigned long addr,
						   unsigned long last)
{
	enum profil_region_state state = PROFIL_REGION_ON;

	for (;;) {
		struct vm_area_struct *vma = find_vma(mm, addr);
		enum profil_region_state next;

		if (!vma || vma->vm_start > addr)
			next = PROFIL_REGION_UNMAPPED;
		else
			next = profil_vma_state(vma);
		if (next == PROFIL_REGION_DEVICE)
			return next;
		if (!state)
			state = next;
		if (!vma || last < vma->vm_end)
			return state;
		addr = vma->vm_end;
	}
}

/* Is this in the room below a stack, into which a write would grow it? */
static bool profil_below_stack(struct mm_struct *mm, unsigned long addr)
{
	struct vm_area_struct *vma = find_vma(mm, addr);

	return vma && vma->vm_start > addr && vma->vm_flags & VM_GROWSDOWN;
}

static int profil_grow_stack(struct mm_struct *mm, unsigned long addr)
{
	bool below;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	below = profil_below_stack(mm, addr);
	mmap_read_unlock(mm);
	/* If it cannot grow this far the buffer will be found unmapped. */
	if (below)
		profil_bin_touch(addr);
	return 0;
}

/**
 * profil_buffer_state() - what memory a buffer is in
 * @base: address of the buffer in the caller's memory
 * @size: its length in bytes
 *
 * Pages need not be present. A stack is grown down to @base first, as the
 * program itself would grow it by writing there.
 *
 * Return: enum profil_region_state, PROFIL_REGION_ON if it is writable from
 * end to end; or -EINTR.
 */
int profil_buffer_state(u64 base, u64 size)
{
	struct mm_struct *mm = current->mm;
	int state;

	if (!size)
		return PROFIL_REGION_ON;
	if (base > ULONG_MAX || size - 1 > ULONG_MAX - base ||
	    !access_ok((void __user *)(unsigned long)base, size))
		return PROFIL_REGION_UNMAPPED;

	state = profil_grow_stack(mm, base);
	if (state)
		return state;
	if (mmap_read_lock_killable(mm))
		return -EINTR;
	state = profil_range_state(mm, base, base + size - 1);
	mmap_read_unlock(mm);
	return state;
}
