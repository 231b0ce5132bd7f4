// SPDX-License-Identifier: GPL-2.0-only
/*
 * config.c - the parsed request, and the memory that its counters are in
 *
 * Context: process, may sleep. Takes no locks of the module; mmap_lock for
 * reading while the buffers are looked at.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/futex.h>

#include "profil_private.h"

/* System V's largest count. */
#define PROFIL_SVR4_FULL	32767

/* --- kinds of memory */

/*
 * FAULT_FLAG_RETRY_NOWAIT does not bind ->page_mkwrite, which waits for a
 * frozen file system, nor FUSE, which waits for its server.
 */
static bool profil_vma_may_block(const struct vm_area_struct *vma)
{
	if (!vma->vm_file)
		return false;
	if (file_inode(vma->vm_file)->i_sb->s_magic == FUSE_SUPER_MAGIC)
		return true;
	return vma->vm_flags & VM_SHARED && vma->vm_ops &&
	       vma->vm_ops->page_mkwrite;
}

/* Whether counters may be in a mapping, and if not, why. */
enum profil_region_state profil_vma_state(const struct vm_area_struct *vma)
{
	if (vma->vm_flags & PROFIL_VM_DEVICE)
		return PROFIL_REGION_DEVICE;
	if (!(vma->vm_flags & VM_WRITE))
		return PROFIL_REGION_READONLY;
	if (profil_vma_may_block(vma))
		return PROFIL_REGION_FILE;
	return PROFIL_REGION_ON;
}

/* Shared memory of whatever kind but huge pages: tmpfs, memfd, System V. */
bool profil_vma_is_shared_tmpfs(const struct vm_area_struct *vma)
{
	struct inode *inode;

	if (!(vma->vm_flags & VM_SHARED) || !vma->vm_file)
		return false;
	inode = file_inode(vma->vm_file);
	return inode->i_sb->s_magic == TMPFS_MAGIC && S_ISREG(inode->i_mode);
}

/*
 * The state of the first mapping that is not writable memory; but a mapping of
 * a device takes precedence. Context: mmap_lock held.
 */
static int profil_range_state(struct mm_struct *mm, unsigned long addr,
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
		/* The range may contain all mappings that a process can have */
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
}

/* --- the memory of a region */

/*
 * If a write to the address would grow the stack above it, grow the stack, by
 * replacing 0 with 0.
 */
static int profil_grow_stack(struct mm_struct *mm, unsigned long addr)
{
	u32 __user *at = (u32 __user *)(addr & ~3UL);
	struct vm_area_struct *vma;
	bool below;
	u32 found;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	vma = find_vma(mm, addr);
	below = vma && vma->vm_start > addr && vma->vm_flags & VM_GROWSDOWN;
	mmap_read_unlock(mm);
	/* If it cannot grow this far, profil_range_state() finds it unmapped */
	while (below && futex_atomic_cmpxchg_inatomic(&found, at, 0, 0) ==
	       -EAGAIN)
		if (fatal_signal_pending(current))
			return -EINTR;
	return 0;
}

/*
 * Get the file, if the whole buffer is in one. Until released, it counts as
 * mapped writable, so that no process can seal it against late ticks.
 * Context: mmap_lock held.
 */
static void profil_find_shared(struct mm_struct *mm, unsigned long addr,
			       unsigned long last, struct profil_shared *shared)
{
	struct vm_area_struct *vma = find_vma(mm, addr);

	if (last >= vma->vm_end || !profil_vma_is_shared_tmpfs(vma) ||
	    mapping_map_writable(vma->vm_file->f_mapping))
		return;
	shared->file = get_file(vma->vm_file);
	shared->offset = ((u64)vma->vm_pgoff << PAGE_SHIFT) +
			 (addr - vma->vm_start);
}

static void profil_shared_put(struct profil_shared *shared)
{
	if (!shared->file)
		return;
	mapping_unmap_writable(shared->file->f_mapping);
	fput(shared->file);
}

/*
 * Find out in what kind of memory the counters of a region are. Pages need not
 * be present. If they are below a stack, grow it first, as a write would.
 *
 * Return: enum profil_region_state, PROFIL_REGION_ON if they are writable from
 * end to end; or -EINTR.
 */
static int profil_region_memory(const struct profil_counters *counters,
				u32 width_shift, struct profil_shared *shared)
{
	struct mm_struct *mm = current->mm;
	unsigned long addr = counters->base;
	unsigned long last = addr + (counters->nr << width_shift) - 1;
	int state;

	state = profil_grow_stack(mm, addr);
	if (state)
		return state;
	if (mmap_read_lock_killable(mm))
		return -EINTR;
	state = profil_range_state(mm, addr, last);
	if (state == PROFIL_REGION_ON)
		profil_find_shared(mm, addr, last, shared);
	mmap_read_unlock(mm);
	return state;
}

/* Are the counters in the user part of the address space? */
static bool profil_is_user_range(const struct profil_counters *counters,
				 u32 width_shift)
{
	u64 size = counters->nr << width_shift;

	return size - 1 <= ULONG_MAX - counters->base &&
	       access_ok((void __user *)(unsigned long)counters->base, size);
}

/* --- making and freeing */

static void profil_config_free(struct profil_config *config)
{
	u32 i;

	for (i = 0; config->shared && i < config->map.nr_regions; i++)
		profil_shared_put(&config->shared[i]);
	kvfree(config->shared);
	kvfree(config->map.segments);
	kvfree(config->map.counters);
	kfree(config);
}

/* Drop a reference to a config. */
void profil_config_put(struct profil_config *config)
{
	if (refcount_dec_and_test(&config->refs))
		profil_config_free(config);
}

static u32 profil_full(const struct profil_set *set)
{
	if (set->flags & PROFIL_SET_SVR4_STOP)
		return PROFIL_SVR4_FULL;
	return set->width == 2 ? U16_MAX : U32_MAX;
}

static struct profil_config *profil_config_alloc(const struct profil_set *set)
{
	u32 nr_segments = profil_map_max_segments(set->nr_regions);
	struct profil_config *config;
	struct profil_map *map;

	config = kzalloc_obj(*config, GFP_KERNEL_ACCOUNT);
	if (!config)
		return NULL;
	refcount_set(&config->refs, 1);
	config->flags = set->flags;
	config->width = set->width;
	config->period_ns = set->period_ns;
	config->full = profil_full(set);

	map = &config->map;
	map->flags = set->flags;
	map->width_shift = ilog2(set->width);
	map->overflow = PROFIL_NO_REGION;
	map->counters = kvmalloc_array(set->nr_regions, sizeof(*map->counters),
				       GFP_KERNEL_ACCOUNT);
	map->segments = kvmalloc_array(nr_segments, sizeof(*map->segments),
				       GFP_KERNEL_ACCOUNT);
	if (!map->counters || !map->segments) {
		profil_config_free(config);
		return NULL;
	}
	return config;
}

static int profil_config_share(struct profil_config *config, u32 region,
			       struct profil_shared *shared)
{
	if (!config->shared)
		config->shared = kvcalloc(config->map.nr_regions,
					  sizeof(*config->shared),
					  GFP_KERNEL_ACCOUNT);
	if (!config->shared) {
		profil_shared_put(shared);
		return -ENOMEM;
	}
	config->shared[region] = *shared;
	return 0;
}

/*
 * Kernel addresses and device memory turn the region off at once: a tick must
 * not touch them. The program may correct any other fault before the first
 * tick, unless it wants an error now, by PROFIL_SET_CHECK.
 */
static int profil_config_check(struct profil_config *config, u32 region)
{
	struct profil_counters *counters = &config->map.counters[region];
	u32 width_shift = config->map.width_shift;
	struct profil_shared shared = { 0 };
	int state;

	if (!counters->nr)
		return 0;
	if (profil_is_user_range(counters, width_shift)) {
		state = profil_region_memory(counters, width_shift, &shared);
	} else {
		state = PROFIL_REGION_UNMAPPED;
		counters->state = state;
	}

	switch (state) {
	case PROFIL_REGION_ON:
		if (shared.file)
			return profil_config_share(config, region, &shared);
		return 0;
	case PROFIL_REGION_DEVICE:
		counters->state = state;
		fallthrough;
	case PROFIL_REGION_UNMAPPED:
	case PROFIL_REGION_READONLY:
		return config->flags & PROFIL_SET_CHECK ? -EFAULT : 0;
	default:
		return min(state, 0);
	}
}

static int profil_config_fill(struct profil_config *config,
			      const struct profil_region *regions, u32 nr)
{
	struct profil_map *map = &config->map;
	u32 *scratch;
	int err;
	u32 i;

	for (i = 0; i < nr; i++) {
		err = profil_map_add(map, &regions[i], i == nr - 1);
		if (err)
			return err;
	}
	scratch = kvmalloc_array(nr, 2 * sizeof(*scratch), GFP_KERNEL_ACCOUNT);
	if (!scratch)
		return -ENOMEM;
	profil_map_build(map, scratch, scratch + nr);
	kvfree(scratch);

	for (i = 0; i < nr; i++) {
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		err = profil_config_check(config, i);
		if (err)
			return err;
	}
	return 0;
}

/**
 * profil_config_create() - parse a request
 * @set: checked but for its regions
 * @regions: as many as it says
 *
 * Return: a config with one reference, or an error pointer: -EINVAL for a
 * region that is not valid, -EFAULT for a buffer that is not (only with
 * PROFIL_SET_CHECK), -ENOMEM, -EINTR.
 */
struct profil_config *profil_config_create(const struct profil_set *set,
					   const struct profil_region *regions)
{
	struct profil_config *config = profil_config_alloc(set);
	int err;

	if (!config)
		return ERR_PTR(-ENOMEM);
	err = profil_config_fill(config, regions, set->nr_regions);
	if (err) {
		profil_config_free(config);
		return ERR_PTR(err);
	}
	return config;
}
