// SPDX-License-Identifier: GPL-2.0-only
/*
 * fault.c - write a pending entry to a counter whose page is not in memory
 *
 * Through the address space, whose page is brought in; or, when the process has
 * ended, through the file.
 *
 * Memory that is brought in is charged to the memory cgroup of the process, as
 * if it had touched the page itself, or not brought in, whatever task does that.
 *
 * Context: process, may sleep, session->flush held. Lock taken: mmap_lock for
 * reading, which works only try.
 */
#include <linux/hugetlb_inline.h>
#include <linux/memcontrol.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>
#include <linux/userfaultfd_k.h>

#include "counter.h"
#include "profil_private.h"

#define PROFIL_FAULT_FLAGS	(FAULT_FLAG_WRITE | FAULT_FLAG_REMOTE | \
				 FAULT_FLAG_ALLOW_RETRY | \
				 FAULT_FLAG_RETRY_NOWAIT)

/* --- the memory cgroup that pays */

/**
 * profil_get_memcg() - the memory cgroup of a task
 * @task: the task
 *
 * Context: any, under rcu_read_lock().
 * Return: the memory cgroup, with a reference; NULL without one.
 */
struct mem_cgroup *profil_get_memcg(struct task_struct *task)
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
static struct task_struct *profil_mm_owner(struct mm_struct *mm)
{
#ifdef CONFIG_MEMCG
	return rcu_dereference(mm->owner);
#else
	return current;
#endif
}

/*
 * Does no task use the address space any more? Others may look at it, for as
 * long as they like.
 */
static bool profil_mm_has_ended(struct mm_struct *mm)
{
	bool has_ended;

	rcu_read_lock();
	has_ended = !profil_mm_owner(mm);
	rcu_read_unlock();
	return has_ended;
}

/* --- through the address space */

/*
 * A page of a tmpfs file, with a reference; brought in, if need be, and then
 * charged to the active memory cgroup. May sleep, but never invokes the OOM
 * killer. @is_late: the process has ended.
 *
 * Return: the page, or an error pointer; -ENOMEM if there is no memory for it.
 */
static struct page *profil_get_page(struct address_space *mapping,
				    pgoff_t index, bool is_late)
{
	gfp_t gfp = mapping_gfp_mask(mapping) | __GFP_NORETRY | __GFP_NOWARN;
	struct page *page;

	page = is_late ? profil_read_late(mapping, index, gfp) :
			 shmem_read_mapping_page_gfp(mapping, index, gfp);
	/* Writing to what the hardware cannot hold would be fatal */
	if (!IS_ERR(page) && PageHWPoison(page)) {
		put_page(page);
		return ERR_PTR(-EHWPOISON);
	}
	return page;
}

/* Where in its file a mapping has an address. */
static u64 profil_vma_offset(const struct vm_area_struct *vma,
			     unsigned long addr)
{
	return ((u64)vma->vm_pgoff << PAGE_SHIFT) + (addr - vma->vm_start);
}

/*
 * Fault a page in, at the expense of the address space's memory cgroup. A page
 * of a shared file is brought into the file first: the fault would invoke the OOM
 * killer for it, and would not charge it to any memory cgroup if the process ends
 * meanwhile.
 */
static vm_fault_t profil_fault_charged(struct vm_area_struct *vma,
				       unsigned long addr)
{
	struct mem_cgroup *memcg, *old;
	struct task_struct *owner;
	struct page *page = NULL;
	vm_fault_t fault;

	rcu_read_lock();
	owner = profil_mm_owner(vma->vm_mm);
	memcg = owner ? profil_get_memcg(owner) : NULL;
	rcu_read_unlock();
	if (!owner)
		return VM_FAULT_RETRY;

	old = set_active_memcg(memcg);
	/* What a userfaultfd is to supply is not to be there before. */
	if (profil_vma_is_shared_tmpfs(vma) && !userfaultfd_missing(vma))
		page = profil_get_page(vma->vm_file->f_mapping,
				       profil_vma_offset(vma, addr) >> PAGE_SHIFT,
				       false);
	if (page == ERR_PTR(-ENOMEM))
		fault = VM_FAULT_OOM;
	else
		fault = handle_mm_fault(vma, addr, PROFIL_FAULT_FLAGS, NULL);
	set_active_memcg(old);
	if (!IS_ERR_OR_NULL(page))
		put_page(page);
	mem_cgroup_put(memcg);
	return fault;
}

/* Context: mmap_lock held for reading. */
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

	/* Huge pages are charged to the cgroup of the task that brings them in. */
	if (is_vm_hugetlb_page(vma) && current->flags & PF_KTHREAD)
		return -EAGAIN;
	fault = profil_fault_charged(vma, addr);
	if (fault & (VM_FAULT_OOM | VM_FAULT_RETRY))
		return -EAGAIN;
	if (!(fault & VM_FAULT_ERROR))
		return 0;
	/* A userfaultfd for user mode only answers the kernel with SIGBUS */
	if (userfaultfd_armed(vma))
		return -EAGAIN;
	/* A tmpfs that is full now may have room later */
	if (fault & VM_FAULT_SIGBUS && profil_vma_is_shared_tmpfs(vma) &&
	    profil_vma_offset(vma, addr) < i_size_read(file_inode(vma->vm_file)))
		return -EAGAIN;
	*why = fault & VM_FAULT_SIGSEGV ?
		PROFIL_REGION_READONLY : PROFIL_REGION_NOPAGE;
	return -EFAULT;
}

/*
 * Bring in a page for writing. The program may wait for its own mmap_lock; a
 * work may not, since other sessions need the worker.
 */
static int profil_fault_in(struct mm_struct *mm, unsigned long addr,
			   enum profil_region_state *why)
{
	int err;

	if (current->flags & PF_KTHREAD) {
		if (!mmap_read_trylock(mm))
			return -EAGAIN;
	} else if (mmap_read_lock_killable(mm)) {
		return -EAGAIN;
	}
	err = profil_fault_vma(mm, addr, why);
	mmap_read_unlock(mm);
	return err;
}

static int profil_attempt_add(const struct profil_config *config,
			      const struct profil_pending_entry *entry,
			      struct profil_attempt *attempt)
{
	struct profil_added added;

	added = profil_counter_add(profil_config_address(config, entry->region,
							 entry->index),
				   config->width, config->full, entry->nr);
	attempt->err = added.err;
	attempt->clipped = added.clipped;
	return added.err;
}

/**
 * profil_attempt_mm() - write an entry through the address space
 * @session: of current->mm
 * @entry: the entry
 * @attempt: gets the result
 */
void profil_attempt_mm(struct profil_session *session,
			      const struct profil_pending_entry *entry,
			      struct profil_attempt *attempt)
{
	const struct profil_config *config = session->config;
	unsigned long addr = profil_config_address(config, entry->region,
						   entry->index);

	if (profil_attempt_add(config, entry, attempt) != -EFAULT)
		return;
	attempt->err = profil_fault_in(session->mm, addr, &attempt->why);
	if (attempt->err == -EAGAIN && profil_mm_has_ended(session->mm)) {
		profil_attempt_file(session, entry, attempt);
		return;
	}
	if (attempt->err)
		return;
	/* The page may have gone again: that is not the region's fault */
	if (profil_attempt_add(config, entry, attempt) == -EFAULT)
		attempt->err = -EAGAIN;
}

/* --- through the file, when the process has ended */

/* Charged to the memory cgroup that the process had at its tick. */
static struct page *profil_get_shared_page(struct profil_session *session,
					   const struct profil_shared *shared,
					   u64 offset)
{
	struct mem_cgroup *old = set_active_memcg(session->pending.memcg);
	struct page *page;

	page = profil_get_page(shared->file->f_mapping, offset >> PAGE_SHIFT,
			       true);
	set_active_memcg(old);
	return page;
}

/**
 * profil_attempt_file() - write an entry through the file
 * @session: the session; its process has ended, or has executed a program
 * @entry: the entry
 * @attempt: gets the result
 */
void profil_attempt_file(struct profil_session *session,
				const struct profil_pending_entry *entry,
				struct profil_attempt *attempt)
{
	const struct profil_config *config = session->config;
	const struct profil_shared *shared;
	struct profil_added added;
	struct page *page;
	u64 offset;

	attempt->err = -EFAULT;
	if (!config->shared || !config->shared[entry->region].file)
		return;
	shared = &config->shared[entry->region];
	offset = shared->offset + (entry->index << config->map.width_shift);
	page = profil_get_shared_page(session, shared, offset);
	if (IS_ERR(page))
		return;
	added = profil_counter_add_mapped(page_address(page) +
					  offset_in_page(offset), config->width,
					  config->full, entry->nr);
	set_page_dirty(page);
	put_page(page);
	attempt->err = added.err;
	attempt->clipped = added.clipped;
}
