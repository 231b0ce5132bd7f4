// SPDX-License-Identifier: GPL-2.0-only
/*
 * callers.c - tables of callers that users have loaded
 *
 * All watches of a user have one copy of equal tables. Those of other users, and
 * those of the same user with CAP_PERFMON, are others: no user learns what
 * another one has loaded, and nobody's table serves somebody else. A copy goes
 * with the last watch that has it.
 *
 * Context: process, may sleep. Lock: profil_callers_mutex, under which nothing
 * is copied from user space.
 */
#include <linux/err.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "profil_private.h"
#include "watcher.h"

/* Bytes to work on without a reschedule. */
#define PROFIL_CALLERS_PAUSE	SZ_64K

#define PROFIL_CALLERS_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | \
				 __GFP_RETRY_MAYFAIL)

static LIST_HEAD(profil_callers);
static DEFINE_MUTEX(profil_callers_mutex);

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

	if (a->user != b->user || a->pages != b->pages || a->bytes != b->bytes)
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

/*
 * Share a table.
 *
 * Return: an equal one that is there, instead of it, or itself; with a
 * reference.
 */
static struct profil_callers *profil_callers_share(struct profil_callers *fresh)
{
	struct profil_callers *callers;

	mutex_lock(&profil_callers_mutex);
	list_for_each_entry(callers, &profil_callers, list)
		if (profil_callers_are_equal(callers, fresh))
			goto found;
	list_add(&fresh->list, &profil_callers);
	callers = fresh;
found:
	callers->refs++;
	mutex_unlock(&profil_callers_mutex);
	if (callers != fresh)
		profil_callers_free(fresh);
	return callers;
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
	callers->refs = 0;
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

/* Drop a reference to a table. No tick looks at it any more. */
void profil_callers_drop(struct profil_callers *callers)
{
	bool last;

	mutex_lock(&profil_callers_mutex);
	last = !--callers->refs;
	if (last)
		list_del(&callers->list);
	mutex_unlock(&profil_callers_mutex);
	if (last)
		profil_callers_free(callers);
}
