// SPDX-License-Identifier: GPL-2.0-only
/*
 * fault.c - write a pending entry to a counter whose page is not in memory
 *
 * Through the address space, whose page is brought in; or, when that is being
 * freed, through the file.
 *
 * Memory that is brought in is charged to the memory cgroup of the process, as
 * if it had touched the page itself, or not brought in.
 *
 * Context: process, may sleep, session->flush held. Lock taken: mmap_lock for
 * reading, which works only try.
 */
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

/*
 * The memory cgroup of a task, with a reference; NULL without one. Context:
 * under rcu_read_lock().
 */
static struct mem_cgroup *profil_get_memcg(struct task_struct *task)
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

/* --- through the address space */

/* A page of a tmpfs file that is in memory, with a reference, or NULL. */
static struct page *profil_find_page(struct address_space *mapping,
				     pgoff_t index)
{
	struct folio *folio = filemap_get_folio(mapping, index);

	/* NULL before 6.4 */
	if (IS_ERR_OR_NULL(folio))
		return NULL;
	return folio_page(folio, index & (folio_nr_pages(folio) - 1));
}

/*
 * A page of a tmpfs file, with a reference; brought in, if that is allowed, and
 * then charged to the active memory cgroup. May sleep, but never invokes the
 * OOM killer.
 */
static struct page *profil_get_page(struct address_space *mapping,
				    pgoff_t index, bool bring_in)
{
	struct page *page;

	if (!bring_in) {
		page = profil_find_page(mapping, index);
		/* Writing to what the hardware cannot hold would be fatal */
		if (page && (!PageUptodate(page) || PageHWPoison(page))) {
			put_page(page);
			page = NULL;
		}
		return page;
	}
	page = shmem_read_mapping_page_gfp(mapping, index,
					   mapping_gfp_mask(mapping) |
					   __GFP_NORETRY | __GFP_NOWARN);
	if (!IS_ERR(page) && PageHWPoison(page)) {
		put_page(page);
		return NULL;
	}
	return IS_ERR(page) ? NULL : page;
}

/*
 * Fault a page in, at the expense of the address space's memory cgroup. A page
 * of a shared file is brought into the file first: the fault would not charge
 * it to any memory cgroup if the process ends meanwhile.
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
	if (profil_vma_is_shared_tmpfs(vma))
		page = profil_get_page(vma->vm_file->f_mapping,
				       vma->vm_pgoff +
				       ((addr - vma->vm_start) >> PAGE_SHIFT),
				       true);
	fault = handle_mm_fault(vma, addr, PROFIL_FAULT_FLAGS, NULL);
	set_active_memcg(old);
	if (page)
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

	fault = profil_fault_charged(vma, addr);
	if (fault & (VM_FAULT_OOM | VM_FAULT_RETRY))
		return -EAGAIN;
	if (!(fault & VM_FAULT_ERROR))
		return 0;
	/* A userfaultfd for user mode only answers the kernel with SIGBUS */
	if (userfaultfd_armed(vma))
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
	if (attempt->err)
		return;
	/* The page may have gone again: that is not the region's fault */
	if (profil_attempt_add(config, entry, attempt) == -EFAULT)
		attempt->err = -EAGAIN;
}

/* --- through the file, when the address space is being freed */

/*
 * Does the calling task free its own memory? Then it pays for pages that its
 * ticks bring in. Another task may free it as well: a reader of /proc, or a
 * worker.
 */
static bool profil_is_own_memory(void)
{
	return current->flags & PF_EXITING || current->in_execve;
}

static struct page *profil_get_shared_page(struct profil_session *session,
					   const struct profil_shared *shared,
					   u64 offset)
{
	struct address_space *mapping = shared->file->f_mapping;
	struct mem_cgroup *memcg, *old;
	struct page *page;

	rcu_read_lock();
	memcg = profil_get_memcg(current);
	rcu_read_unlock();
	old = set_active_memcg(memcg);
	page = profil_get_page(mapping, offset >> PAGE_SHIFT,
			       profil_is_own_memory());
	set_active_memcg(old);
	mem_cgroup_put(memcg);
	return page;
}

/**
 * profil_attempt_file() - write an entry through the file
 * @session: the session; the memory of its address space is being freed
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
	if (!page)
		return;
	added = profil_counter_add_mapped(page_address(page) +
					  offset_in_page(offset), config->width,
					  config->full, entry->nr);
	set_page_dirty(page);
	put_page(page);
	attempt->err = added.err;
	attempt->clipped = added.clipped;
}
