// SPDX-License-Identifier: GPL-2.0-only
/*
 * user.c - how much a user may have
 *
 * A user in a user namespace also counts against the owner of the outermost
 * one: subordinate user IDs do not raise a user's limit.
 *
 * Context: process; profil_user_get() may sleep, and those for watches; the
 * others may be called with mmap_lock held. Lock taken: profil_user_lock, a leaf.
 */
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/wait_bit.h>

#include "profil_private.h"

/*
 * Flushes of a user at a time. Each may wait for memory and, when a process
 * ends meanwhile, for what its files are waiting for. Enough for one on each
 * CPU that waits for nothing, and few beside the 512 that the workqueue runs.
 */
#define PROFIL_MAX_FLUSHES	(8 + num_online_cpus())

/**
 * struct profil_user - a user who has profiles
 * @node: in profil_users
 * @uid: the user
 * @owner: of the outermost user namespace that the user is in, with a
 *	reference; NULL if that is the initial one
 * @refs: one for each context, session, watch and user that has a pointer to
 *	this
 * @nr_ctxs: contexts charged
 * @nr_flushes: flushes that are running; of the owner if there is one
 * @watch_pages: memory of watches, in pages; of the owner if there is one
 * @nr_dying: watches that are being freed; of the owner if there is one
 */
struct profil_user {
	struct hlist_node node;
	kuid_t uid;
	struct profil_user *owner;
	unsigned int refs;
	unsigned int nr_ctxs;
	atomic_t nr_flushes;
	u64 watch_pages;
	atomic_t nr_dying;
};

static DEFINE_HASHTABLE(profil_users, 6);
static DEFINE_SPINLOCK(profil_user_lock);

/**
 * profil_user_payer() - who a user counts against
 * @user: the user
 *
 * Return: the owner if there is one, or the user.
 */
struct profil_user *profil_user_payer(struct profil_user *user)
{
	return user->owner ?: user;
}

static struct profil_user *profil_user_find(kuid_t uid,
					    struct profil_user *owner)
{
	struct profil_user *user;

	lockdep_assert_held(&profil_user_lock);
	hash_for_each_possible(profil_users, user, node, __kuid_val(uid))
		if (uid_eq(user->uid, uid) && user->owner == owner)
			return user;
	return NULL;
}

/* @owner: with a reference, which goes to the user or is dropped; or NULL. */
static struct profil_user *profil_user_get_one(kuid_t uid,
					       struct profil_user *owner)
{
	struct profil_user *fresh = kzalloc_obj(*fresh, GFP_KERNEL_ACCOUNT);
	struct profil_user *user;

	if (!fresh) {
		if (owner)
			profil_user_put(owner);
		return NULL;
	}
	fresh->uid = uid;
	fresh->owner = owner;

	spin_lock(&profil_user_lock);
	user = profil_user_find(uid, owner);
	if (!user) {
		hash_add(profil_users, &fresh->node, __kuid_val(uid));
		user = fresh;
	}
	user->refs++;
	spin_unlock(&profil_user_lock);

	if (user != fresh) {
		kfree(fresh);
		if (owner)
			profil_user_put(owner);
	}
	return user;
}

/**
 * profil_user_get() - the calling user
 *
 * Return: the user, with a reference, or NULL if there is no memory.
 */
struct profil_user *profil_user_get(void)
{
	const struct user_namespace *ns = current_user_ns();
	struct profil_user *owner = NULL;

	if (ns != &init_user_ns) {
		while (ns->parent != &init_user_ns)
			ns = ns->parent;
		owner = profil_user_get_one(ns->owner, NULL);
		if (!owner)
			return NULL;
	}
	return profil_user_get_one(current_uid(), owner);
}

/* One more reference to a user. */
struct profil_user *profil_user_hold(struct profil_user *user)
{
	spin_lock(&profil_user_lock);
	user->refs++;
	spin_unlock(&profil_user_lock);
	return user;
}

/* Drop a reference to a user. */
void profil_user_put(struct profil_user *user)
{
	struct profil_user *owner;
	bool last;

	while (user) {
		owner = user->owner;
		spin_lock(&profil_user_lock);
		last = !--user->refs;
		if (last)
			hash_del(&user->node);
		spin_unlock(&profil_user_lock);
		if (!last)
			return;
		kfree(user);
		user = owner;
	}
}

/**
 * profil_user_charge() - one more context
 * @user: the user
 *
 * Return: whether the user, and the owner, may have one more.
 */
bool profil_user_charge(struct profil_user *user)
{
	unsigned int max = READ_ONCE(profil_limits.max_profiles);
	struct profil_user *owner = user->owner;
	bool ok;

	spin_lock(&profil_user_lock);
	ok = user->nr_ctxs < max && (!owner || owner->nr_ctxs < max);
	if (ok) {
		user->nr_ctxs++;
		if (owner)
			owner->nr_ctxs++;
	}
	spin_unlock(&profil_user_lock);
	return ok;
}

/* The reverse of profil_user_charge(). */
void profil_user_uncharge(struct profil_user *user)
{
	spin_lock(&profil_user_lock);
	user->nr_ctxs--;
	if (user->owner)
		user->owner->nr_ctxs--;
	spin_unlock(&profil_user_lock);
}

/**
 * profil_user_begin_flush() - one more flush by a work
 * @user: the user
 *
 * Return: whether it may begin now; profil_user_end_flush() must follow then.
 */
bool profil_user_begin_flush(struct profil_user *user)
{
	struct profil_user *payer = profil_user_payer(user);

	if (atomic_inc_return(&payer->nr_flushes) <= PROFIL_MAX_FLUSHES)
		return true;
	atomic_dec(&payer->nr_flushes);
	return false;
}

void profil_user_end_flush(struct profil_user *user)
{
	struct profil_user *payer = profil_user_payer(user);

	atomic_dec(&payer->nr_flushes);
}

static bool profil_user_try_charge_watch(struct profil_user *payer, u64 pages,
					 u64 max)
{
	bool ok;

	spin_lock(&profil_user_lock);
	ok = pages <= max && payer->watch_pages <= max - pages;
	if (ok)
		payer->watch_pages += pages;
	spin_unlock(&profil_user_lock);
	return ok;
}

/**
 * profil_user_charge_watch() - memory for one more watch
 * @user: the user
 * @pages: number of pages
 * @max: how many the user may have
 *
 * Waits for the watches that have ended to be freed, if need be.
 *
 * Context: process, may sleep.
 * Return: 0; -EAGAIN, the user has too many; -EINTR.
 */
int profil_user_charge_watch(struct profil_user *user, u64 pages, u64 max)
{
	struct profil_user *payer = profil_user_payer(user);
	bool ok = false;
	int err;

	err = wait_var_event_killable(&payer->nr_dying,
				      !atomic_read(&payer->nr_dying) ||
				      (ok = profil_user_try_charge_watch(payer,
									 pages,
									 max)));
	if (err)
		return -EINTR;
	if (!ok)
		ok = profil_user_try_charge_watch(payer, pages, max);
	return ok ? 0 : -EAGAIN;
}

/* profil_user_uncharge_watch() will follow. Context: any. */
void profil_user_expect_uncharge(struct profil_user *user)
{
	atomic_inc(&profil_user_payer(user)->nr_dying);
}

/* The reverse of profil_user_charge_watch(). Context: process. */
void profil_user_uncharge_watch(struct profil_user *user, u64 pages)
{
	struct profil_user *payer = profil_user_payer(user);

	spin_lock(&profil_user_lock);
	payer->watch_pages -= pages;
	spin_unlock(&profil_user_lock);
	atomic_dec(&payer->nr_dying);
	wake_up_var(&payer->nr_dying);
}
