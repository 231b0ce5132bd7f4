// SPDX-License-Identifier: GPL-2.0-only
/*
 * callers.c - tables of callers that users have loaded
 *
 * All watches of a user have one copy of equal tables. Those of other users, and
 * those of the same user with CAP_PERFMON, are others: no user learns what
 * another one has loaded, and nobody's table serves somebody else. A copy goes
 * with the last watch that has it.
 *
 * Context: process, may sleep. Lock taken: profil_callers_lock, a leaf, for a
 * few steps: nobody waits for the tables of another user.
 */
#include <linux/err.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "profil_private.h"
#include "watcher.h"

/* Bytes to work on without a reschedule. */
#define PROFIL_CALLERS_PAUSE	SZ_64K

#define PROFIL_CALLERS_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | \
				 __GFP_RETRY_MAYFAIL)

/* So many tables to pass with the lock held. */
#define PROFIL_CALLERS_BATCH	64

static DEFINE_SPINLOCK(profil_callers_lock);

static int profil_callers_copy(struct profil_callers *callers,
			       const void __user *from)
{
	u64 done, part;

	for (done = 0; done < callers->bytes; done += part) {
		part = min_t(u64, callers->bytes - done, PROFIL_CALLERS_PAUSE);
		if (copy_from_user((void *)callers->blob + done, from + done,
				   part))
			return -EFAULT;
		cond_resched();
	}
	return profil_unwind_open(&callers->table, callers->blob,
				  callers->bytes) ? 0 : -EINVAL;
}

static bool profil_callers_are_equal(const struct profil_callers *a,
				     const struct profil_callers *b)
{
	u64 done, part;

	if (a->pages != b->pages || a->bytes != b->bytes)
		return false;
	for (done = 0; done < a->bytes; done += part) {
		part = min_t(u64, a->bytes - done, PROFIL_CALLERS_PAUSE);
		if (memcmp((void *)a->blob + done, (void *)b->blob + done,
			   part))
			return false;
		cond_resched();
	}
	return true;
}

static void profil_callers_free(struct profil_callers *callers)
{
	profil_user_uncharge(callers->user, PROFIL_CHARGE_PAGES,
			     callers->pages);
	profil_user_put(callers->user);
	vfree(callers);
}

/* Drop a reference to a table. No tick looks at it any more. */
void profil_callers_drop(struct profil_callers *callers)
{
	if (!refcount_dec_and_lock(&callers->refs, &profil_callers_lock))
		return;
	/* sparse does not know that it has it now */
	__acquire(&profil_callers_lock);
	list_del(&callers->list);
	spin_unlock(&profil_callers_lock);
	profil_callers_free(callers);
}

/*
 * Share a table. The one that it is compared with is held, without the lock; what
 * others add meanwhile is at the end, and so not missed.
 *
 * Return: an equal one that is there, instead of it, or itself; with a
 * reference.
 */
static struct profil_callers *profil_callers_share(struct profil_callers *fresh)
{
	struct list_head *tables = profil_user_callers(fresh->user);
	struct profil_callers *callers, *held = NULL;
	unsigned int passed = 0;

	spin_lock(&profil_callers_lock);
	list_for_each_entry(callers, tables, list) {
		if (callers->bytes != fresh->bytes &&
		    ++passed % PROFIL_CALLERS_BATCH)
			continue;
		refcount_inc(&callers->refs);
		spin_unlock(&profil_callers_lock);
		if (held)
			profil_callers_drop(held);
		held = callers;
		if (profil_callers_are_equal(callers, fresh)) {
			profil_callers_free(fresh);
			return callers;
		}
		cond_resched();
		spin_lock(&profil_callers_lock);
	}
	list_add_tail(&fresh->list, tables);
	spin_unlock(&profil_callers_lock);
	if (held)
		profil_callers_drop(held);
	return fresh;
}

/*
 * Only if both the watch and the caller have CAP_PERFMON is it free: descriptors
 * can be passed on.
 *
 * Return: memory for a table, charged to the watch's user; or an error pointer.
 */
static struct profil_callers *
profil_callers_new(struct profil_watcher *watcher, u64 bytes)
{
	u64 size = sizeof(struct profil_callers) + bytes;
	bool is_free = profil_watcher_is_perfmon(watcher) &&
		       profil_user_is_perfmon();
	u64 pages = is_free ? 0 : PAGE_ALIGN(size) >> PAGE_SHIFT;
	struct profil_callers *callers;
	int err;

	err = profil_user_charge_watch(watcher->user, pages,
				       profil_max_watch_pages());
	if (err)
		return ERR_PTR(err);
	callers = __vmalloc(size, PROFIL_CALLERS_GFP);
	if (!callers) {
		profil_user_uncharge(watcher->user, PROFIL_CHARGE_PAGES, pages);
		return ERR_PTR(-ENOMEM);
	}
	refcount_set(&callers->refs, 1);
	callers->user = profil_user_hold(watcher->user);
	callers->pages = pages;
	callers->bytes = bytes;
	return callers;
}

/**
 * profil_callers_load() - load a table
 * @watcher: the watch that it is for
 * @from: the table
 * @bytes: its length
 *
 * Return: the table, with a reference; or an error pointer: -EINVAL, -EFAULT,
 * -EAGAIN, -EINTR or -ENOMEM.
 */
struct profil_callers *profil_callers_load(struct profil_watcher *watcher,
					   const void __user *from, u64 bytes)
{
	struct profil_callers *callers;
	int err;

	if (!bytes || bytes > PROFIL_UNWIND_MAX)
		return ERR_PTR(-EINVAL);
	callers = profil_callers_new(watcher, bytes);
	if (IS_ERR(callers))
		return callers;
	err = profil_callers_copy(callers, from);
	if (err) {
		profil_callers_free(callers);
		return ERR_PTR(err);
	}
	return profil_callers_share(callers);
}
