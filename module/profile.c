// SPDX-License-Identifier: GPL-2.0-only
/*
 * profile.c - the profile of an address space: anchor, fork, replace, stop
 *
 * A profile is held by its anchor, a mapping of one inaccessible page of the
 * device that PROFIL_IOC_SET makes in the caller's address space:
 *
 *   struct mm -- anchor (VMA) --> struct profil_profile --> struct profil_run
 *                  |  pins the module    ^                    ^
 *                  v                     | by mm              | RCU
 *             struct file          table of lookup.c <--- tick, context switch
 *
 * Fork copies the anchor, which calls its ->open: the child's profile is made
 * there. Exec, exit and munmap() remove it, which calls its ->close: that is
 * the end of the profile. Threads and vfork share the address space, and with
 * it the profile.
 *
 * Context: process, may sleep. The functions of the anchor are called with
 * mmap_lock held for writing.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "clock.h"
#include "compat.h"
#include "deliver.h"
#include "lookup.h"
#include "profile.h"
#include "quota.h"
#include "run.h"
#include "tally.h"

/*
 * Lock order, outermost first:
 *
 *	profile->lock		system calls of one address space
 *	  run->delivery		parcels
 *	    mmap_lock		of that address space
 *	      profile->publish	the run, and whether there is an anchor
 *		profil_lookup_lock, profil_quota_lock
 *	profil_clock_mutex	under profile->lock, never under mmap_lock
 *	scheduler locks
 *	  run->lock		the books; hard interrupts off
 *	    ledger->lock	the books of runs that have ended
 */

/**
 * struct profil_profile - the profile of an address space
 * @space: how ticks find it; @space.run is written under @publish
 * @rcu: delays freeing
 * @refs: one for the anchor, one for each caller that uses it
 * @lock: serializes the requests of an address space
 * @maker: the task that is mapping the anchor now; under mmap_lock
 * @publish: protects @space.run and @is_dead
 * @is_dead: the anchor has gone, or never came; nothing starts here any more
 * @nr_anchors: 1, or 2 while mremap() moves it; under mmap_lock
 * @anchor: where it is; under mmap_lock
 * @quota: account of the user
 */
struct profil_profile {
	struct profil_space space;
	struct rcu_head rcu;
	refcount_t refs;
	struct mutex lock;
	struct task_struct *maker;

	spinlock_t publish;
	bool is_dead;

	unsigned int nr_anchors;
	unsigned long anchor;
	struct profil_quota *quota;
};

static struct profil_profile *profil_profile_alloc(struct mm_struct *mm,
						   struct profil_quota *quota)
{
	struct profil_profile *profile;

	profile = kzalloc(sizeof(*profile), GFP_KERNEL_ACCOUNT);
	if (!profile)
		return NULL;
	profile->space.mm = mm;
	refcount_set(&profile->refs, 1);
	mutex_init(&profile->lock);
	spin_lock_init(&profile->publish);
	profile->quota = quota;
	return profile;
}

static void profil_profile_put(struct profil_profile *profile)
{
	if (refcount_dec_and_test(&profile->refs))
		kfree_rcu(profile, rcu);
}

static struct profil_profile *profil_profile_find(const struct mm_struct *mm)
{
	struct profil_profile *profile = NULL;
	struct profil_space *space;

	rcu_read_lock();
	space = profil_space_find(mm);
	if (space) {
		profile = container_of(space, struct profil_profile, space);
		if (!refcount_inc_not_zero(&profile->refs))
			profile = NULL;
	}
	rcu_read_unlock();
	return profile;
}

/* Put a run in place of another, unless the profile has ended. */
static bool profil_publish(struct profil_profile *profile,
			   struct profil_run *run, struct profil_run **old)
{
	bool ok;

	spin_lock(&profile->publish);
	ok = !profile->is_dead;
	*old = rcu_replace_pointer(profile->space.run, ok ? run : NULL,
				   lockdep_is_held(&profile->publish));
	spin_unlock(&profile->publish);
	return ok;
}

/* The last use of the address space's entry: nothing can begin any more. */
static void profil_profile_end(struct profil_profile *profile)
{
	struct mm_struct *mm = profile->space.mm;
	struct profil_run *run;

	profil_clock_leave(mm);
	spin_lock(&profile->publish);
	profile->is_dead = true;
	run = rcu_replace_pointer(profile->space.run, NULL,
				  lockdep_is_held(&profile->publish));
	spin_unlock(&profile->publish);

	/* A thread that is on its way out may have a tick at this moment */
	profil_clock_end(mm);
	profil_space_remove(&profile->space);
	if (run)
		profil_run_put(run);
	profil_clock_put();
	profil_quota_uncharge(profile->quota);
	profil_profile_put(profile);
}

/* The run that a fork inherits, with a reference, or NULL. */
static struct profil_run *profil_run_get(struct profil_profile *profile)
{
	struct profil_run *run;

	rcu_read_lock();
	run = rcu_dereference(profile->space.run);
	if (run && !(profil_run_is_on(run) &&
		     refcount_inc_not_zero(&run->refs)))
		run = NULL;
	rcu_read_unlock();
	return run;
}

/* A profile that counts by the table of @run, from zero, in a child. */
static struct profil_profile *profil_inherit(struct profil_quota *quota,
					     const struct profil_run *run,
					     struct vm_area_struct *vma)
{
	struct profil_profile *profile;
	struct profil_run *own;

	if (!profil_quota_charge_again(quota))
		return NULL;
	if (!profil_clock_get_again())
		goto uncharge;
	profile = profil_profile_alloc(vma->vm_mm, quota);
	if (!profile)
		goto put_clock;
	own = profil_run_alloc(run->table, vma->vm_mm, run->ledger);
	if (!own)
		goto free;

	RCU_INIT_POINTER(profile->space.run, own);
	profile->nr_anchors = 1;
	profile->anchor = vma->vm_start;
	if (profil_space_add(&profile->space))
		return profile;

	profil_run_put(own);
free:
	kfree(profile);
put_clock:
	profil_clock_put();
uncharge:
	profil_quota_uncharge(quota);
	return NULL;
}

/* This cannot fail a fork: a child that cannot inherit has no profile. */
static void profil_fork(struct profil_profile *parent,
			struct vm_area_struct *vma)
{
	struct profil_run *run = profil_run_get(parent);
	struct profil_profile *child;

	vma->vm_private_data = NULL;
	if (!run)
		return;
	child = profil_inherit(parent->quota, run, vma);
	vma->vm_private_data = child;
	if (!child) {
		raw_spin_lock_irq(&run->lock);
		run->totals.unfollowed++;
		raw_spin_unlock_irq(&run->lock);
	}
	profil_run_put(run);
}

/* Fork, or mremap() making the anchor's new place. */
static void profil_anchor_open(struct vm_area_struct *vma)
{
	struct profil_profile *profile = vma->vm_private_data;

	if (!profile)
		return;
	if (vma->vm_mm != profile->space.mm) {
		profil_fork(profile, vma);
		return;
	}
	profile->nr_anchors++;
	profile->anchor = vma->vm_start;
}

/* Exec, exit, munmap(), or mremap() leaving the anchor's old place. */
static void profil_anchor_close(struct vm_area_struct *vma)
{
	struct profil_profile *profile = vma->vm_private_data;

	if (profile && !--profile->nr_anchors)
		profil_profile_end(profile);
}

static const struct vm_operations_struct profil_anchor_ops = {
	.open = profil_anchor_open,
	.close = profil_anchor_close,
};

/**
 * profil_profile_mmap() - make the anchor
 * @file: the device
 * @vma: the mapping
 *
 * Context: mmap_lock held for writing.
 * Return: 0, or -EPERM for anybody but profil_profile_make().
 */
int profil_profile_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct profil_profile *profile = profil_profile_find(vma->vm_mm);
	int err = -EPERM;

	if (!profile)
		return err;
	if (profile->maker == current) {
		profile->maker = NULL;
		profile->nr_anchors = 1;
		profile->anchor = vma->vm_start;
		/* Never copied into a core, merged, or grown by mremap(). */
		profil_vm_flags_set(vma, VM_IO | VM_DONTEXPAND | VM_DONTDUMP);
		vma->vm_ops = &profil_anchor_ops;
		vma->vm_private_data = profile;
		err = 0;
	}
	profil_profile_put(profile);
	return err;
}

/* Is the anchor still where it was put? Context: mmap_lock held. */
static bool profil_anchor_is_at(struct profil_profile *profile,
				unsigned long addr)
{
	struct vm_area_struct *vma = find_vma(profile->space.mm, addr);

	return vma && vma->vm_start == addr &&
	       vma->vm_ops == &profil_anchor_ops &&
	       vma->vm_private_data == profile;
}

/* End a profile of the caller by removing its anchor. */
static void profil_profile_unmap(struct profil_profile *profile)
{
	struct mm_struct *mm = profile->space.mm;
	unsigned long addr;
	bool there;

	mmap_read_lock(mm);
	addr = profile->anchor;
	there = profil_anchor_is_at(profile, addr);
	mmap_read_unlock(mm);
	if (there)
		vm_munmap(addr, PAGE_SIZE);
}

/**
 * profil_profile_unlock() - the reverse of locking
 * @profile: locked, of the caller; it ends here if it has no run
 */
void profil_profile_unlock(struct profil_profile *profile)
{
	lockdep_assert_held(&profile->lock);
	if (!rcu_access_pointer(profile->space.run))
		profil_profile_unmap(profile);
	mutex_unlock(&profile->lock);
	profil_profile_put(profile);
}

/**
 * profil_profile_lock() - the profile of the caller's address space
 *
 * Return: the profile, locked; NULL if there is none; or -EINTR.
 */
struct profil_profile *profil_profile_lock(void)
{
	struct profil_profile *profile = profil_profile_find(current->mm);

	if (!profile)
		return NULL;
	if (mutex_lock_killable(&profile->lock)) {
		profil_profile_put(profile);
		return ERR_PTR(-EINTR);
	}
	if (!profile->is_dead)
		return profile;
	profil_profile_unlock(profile);
	return NULL;
}

/* Return: a new entry of the caller, locked and without an anchor. */
static struct profil_profile *profil_profile_add(void)
{
	struct profil_quota *quota = profil_quota_charge();
	struct profil_profile *profile;
	int err;

	if (IS_ERR(quota))
		return ERR_CAST(quota);
	err = profil_clock_get();
	if (err)
		goto uncharge;
	err = -ENOMEM;
	profile = profil_profile_alloc(current->mm, quota);
	if (!profile)
		goto put_clock;

	profile->maker = current;
	mutex_lock(&profile->lock);
	if (profil_space_add(&profile->space))
		return profile;

	err = -EEXIST;
	mutex_unlock(&profile->lock);
	kfree(profile);
put_clock:
	profil_clock_put();
uncharge:
	profil_quota_uncharge(quota);
	return ERR_PTR(err);
}

static struct profil_profile *profil_profile_make(struct file *file)
{
	struct profil_profile *profile = profil_profile_add();
	unsigned long addr;

	if (IS_ERR(profile))
		return profile;
	refcount_inc(&profile->refs);
	addr = vm_mmap(file, 0, PAGE_SIZE, PROT_NONE, MAP_PRIVATE, 0);
	if (!IS_ERR_VALUE(addr))
		return profile;

	/* If it failed late the anchor has been there, and has been closed. */
	if (!profile->is_dead)
		profil_profile_end(profile);
	profil_profile_unlock(profile);
	return ERR_PTR((long)addr);
}

/**
 * profil_profile_lock_or_make() - the profile of the caller's address space
 * @file: the device, open for reading
 *
 * Return: the profile, locked, maybe with no run; or an error pointer:
 * -EAGAIN (quota), -ENOMEM, -EINTR, or what the clock or the mapping says.
 */
struct profil_profile *profil_profile_lock_or_make(struct file *file)
{
	struct profil_profile *profile;

	do {
		profile = profil_profile_lock();
		if (profile)
			return profile;
		profile = profil_profile_make(file);
		if (profile != ERR_PTR(-EEXIST))
			return profile;
		/* Another thread was faster, or is about to end its profile. */
		usleep_range(100, 1000);
	} while (!fatal_signal_pending(current));
	return ERR_PTR(-EINTR);
}

/**
 * profil_profile_run() - what is counting now
 * @profile: locked
 *
 * Return: the run, with a reference, or NULL.
 */
struct profil_run *profil_profile_run(struct profil_profile *profile)
{
	struct profil_run *run;

	lockdep_assert_held(&profile->lock);
	spin_lock(&profile->publish);
	run = rcu_dereference_protected(profile->space.run,
					lockdep_is_held(&profile->publish));
	if (run)
		refcount_inc(&run->refs);
	spin_unlock(&profile->publish);
	return run;
}

/**
 * profil_run_stop() - write the last ticks
 * @run: of the calling process; takes no more ticks
 *
 * Nothing is written to its counters after this.
 */
void profil_run_stop(struct profil_run *run)
{
	profil_deliver_last(run);
	raw_spin_lock_irq(&run->lock);
	if (run->state == PROFIL_STATE_ON)
		WRITE_ONCE(run->state, PROFIL_STATE_OFF);
	raw_spin_unlock_irq(&run->lock);
	profil_run_enter(run);
}

/**
 * profil_profile_replace() - begin, replace or end a run
 * @profile: locked, of the caller
 * @run: what is to count from now on, with a reference that goes to the
 *	profile, or NULL
 *
 * If the program unmaps the anchor at this moment @run ends at once.
 *
 * Return: what was counting until now, with its reference, or NULL; its
 * counters are not written any more.
 */
struct profil_run *profil_profile_replace(struct profil_profile *profile,
					  struct profil_run *run)
{
	struct mm_struct *mm = profile->space.mm;
	struct profil_run *old;
	bool published;

	lockdep_assert_held(&profile->lock);
	profil_clock_settle(mm);
	published = profil_publish(profile, run, &old);
	profil_clock_end(mm);
	if (run && published)
		profil_clock_begin(mm);
	else if (run)
		profil_run_put(run);
	if (old)
		profil_run_stop(old);
	return old;
}
