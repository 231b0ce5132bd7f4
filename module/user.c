// SPDX-License-Identifier: GPL-2.0-only
/*
 * user.c - how much a user may have
 *
 * A user in a user namespace also counts against the owner of the outermost
 * one: subordinate user IDs do not raise a user's limit. But root of a container
 * that root made is a user of its own: it must not be in the way of the root of
 * another one, although both have the same user ID. Any other user ID has its
 * limits in all containers together: set-user-ID programs make PID namespaces for
 * users, too.
 *
 * Context: process; profil_user_get() may sleep, and those for watches; the
 * others may be called with mmap_lock held. Lock taken: profil_user_lock, a leaf.
 */
#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/wait_bit.h>

#include "profil_private.h"

/**
 * struct profil_user - a user who has profiles
 * @node: in profil_users
 * @uid: the user
 * @container: of root, number of the PID namespace that root made and it is in;
 *	it may be that of another one by now, which then shares the limits
 * @owner: of the outermost user namespace that the user is in, with a
 *	reference; NULL if that is the initial one
 * @refs: one for each context, session, watch and user that has a pointer to
 *	this
 * @charged: what the user has, and the users in the user's namespaces
 * @nr_dying: watches that are being freed; of the owner if there is one
 * @nr_members: processes in watches; of the owner if there is one
 */
struct profil_user {
	struct hlist_node node;
	kuid_t uid;
	unsigned int container;
	struct profil_user *owner;
	unsigned int refs;
	u64 charged[PROFIL_CHARGES];
	atomic_t nr_dying;
	atomic_t nr_members;
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

/* Did root of the host make a PID namespace, with a user namespace or without? */
static bool profil_is_made_by_root(const struct pid_namespace *ns)
{
	const struct user_namespace *user_ns = ns->user_ns;

	return user_ns == &init_user_ns ||
	       (!ns->parent->parent && user_ns->parent == &init_user_ns &&
		uid_eq(user_ns->owner, GLOBAL_ROOT_UID));
}

/* The container of the caller. One that a user made is no other container. */
static unsigned int profil_container(void)
{
	const struct pid_namespace *ns = task_active_pid_ns(current);

	while (ns->parent && !profil_is_made_by_root(ns))
		ns = ns->parent;
	return ns->ns.inum;
}

static struct profil_user *profil_user_find(kuid_t uid, unsigned int container,
					    struct profil_user *owner)
{
	struct profil_user *user;

	lockdep_assert_held(&profil_user_lock);
	hash_for_each_possible(profil_users, user, node, __kuid_val(uid))
		if (uid_eq(user->uid, uid) && user->container == container &&
		    user->owner == owner)
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
	if (uid_eq(uid, GLOBAL_ROOT_UID))
		fresh->container = profil_container();
	fresh->owner = owner;

	spin_lock(&profil_user_lock);
	user = profil_user_find(uid, fresh->container, owner);
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
 * profil_user_charge() - charge a user, and the owner
 * @user: the user
 * @what: for what
 * @n: how much
 * @max: how much of it a user may have
 *
 * Return: whether both may have so much more.
 */
bool profil_user_charge(struct profil_user *user, enum profil_charge what,
			u64 n, u64 max)
{
	/* The owner has been charged at least as much as the user */
	struct profil_user *payer = profil_user_payer(user);
	bool ok;

	spin_lock(&profil_user_lock);
	ok = n <= max && payer->charged[what] <= max - n;
	if (ok) {
		user->charged[what] += n;
		if (user->owner)
			user->owner->charged[what] += n;
	}
	spin_unlock(&profil_user_lock);
	return ok;
}

/* The reverse of profil_user_charge(). */
void profil_user_uncharge(struct profil_user *user, enum profil_charge what,
			  u64 n)
{
	spin_lock(&profil_user_lock);
	user->charged[what] -= n;
	if (user->owner)
		user->owner->charged[what] -= n;
	spin_unlock(&profil_user_lock);
}

/**
 * profil_user_charge_watch() - charge a user for the memory of a watch
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
	atomic_t *nr_dying = &profil_user_payer(user)->nr_dying;
	bool ok = false;
	int err;

	err = wait_var_event_killable(nr_dying, !atomic_read(nr_dying) ||
				      (ok = profil_user_charge(user,
							       PROFIL_CHARGE_PAGES,
							       pages, max)));
	if (err)
		return -EINTR;
	return ok || profil_user_charge(user, PROFIL_CHARGE_PAGES, pages,
					max) ? 0 : -EAGAIN;
}

/**
 * profil_user_charge_member() - charge a user for a process in a watch
 * @user: the user
 *
 * Context: any.
 * Return: whether the user may have it.
 */
bool profil_user_charge_member(struct profil_user *user)
{
	struct profil_user *payer = profil_user_payer(user);

	if (atomic_inc_return(&payer->nr_members) <=
	    READ_ONCE(profil_limits.max_profiles))
		return true;
	atomic_dec(&payer->nr_members);
	return false;
}

/* The reverse of profil_user_charge_member(). Context: any. */
void profil_user_uncharge_member(struct profil_user *user)
{
	atomic_dec(&profil_user_payer(user)->nr_members);
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

	profil_user_uncharge(user, PROFIL_CHARGE_PAGES, pages);
	atomic_dec(&payer->nr_dying);
	wake_up_var(&payer->nr_dying);
}
