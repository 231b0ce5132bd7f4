// SPDX-License-Identifier: GPL-2.0-only
/*
 * user.c - how much a user may have
 *
 * Users in a user namespace count as the owner of the outermost one: subordinate
 * user IDs do not raise a user's limit. But root of a container that root made
 * is a user of its own: it must not be in the way of the root of another one,
 * although both have the same user ID. Any other user ID has its limits in all
 * containers together: set-user-ID programs make namespaces for users, too.
 *
 * Context: process; profil_user_get() may sleep, and those for watches; holding
 * and dropping a reference may be done with mmap_lock held, charging in any
 * context. Lock taken: profil_user_lock, a leaf.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/wait_bit.h>

#include "profil_private.h"

/**
 * struct profil_user - a user who has profiles
 * @node: in profil_users
 * @uid: the user
 * @container: of root, number of the namespace that root made and it is in; it may
 *	be that of another one by now, which then shares the limits
 * @refs: one for each context, session, watch and table of callers that has a
 *	pointer to this; 0 while only @rested keeps it
 * @charged: what the user has
 * @turn: the last one of profil_user_turn(), in milliseconds
 * @nr_dying: watches that are being freed
 * @collecting: held while waits of a watch are collected, and while the next caller
 *	waits for @rested
 * @rested: when the next collection may begin
 * @callers: tables of callers, see callers.c
 */
struct profil_user {
	struct hlist_node node;
	kuid_t uid;
	unsigned int container;
	refcount_t refs;
	atomic64_t charged[PROFIL_CHARGES];
	atomic64_t turn;
	atomic_t nr_dying;
	struct mutex collecting;
	u64 rested;
	struct list_head callers;
};

static DEFINE_HASHTABLE(profil_users, 6);
static DEFINE_SPINLOCK(profil_user_lock);

/* Did root of the host make a PID namespace, with a user namespace or without? */
static bool profil_is_made_by_root(const struct pid_namespace *ns)
{
	const struct user_namespace *user_ns = ns->user_ns;

	return user_ns == &init_user_ns ||
	       (!ns->parent->parent && user_ns->parent == &init_user_ns &&
		uid_eq(user_ns->owner, GLOBAL_ROOT_UID));
}

/*
 * Has a user namespace some IDs only? So have those that a program with the
 * set-user-ID bit makes for a user, or a service manager for a service: they are
 * root's, but no container of root's.
 */
static bool profil_has_few_ids(const struct user_namespace *ns)
{
	const struct uid_gid_map *map = &ns->uid_map;
	u32 nr = READ_ONCE(map->nr_extents), i;
	u64 ids = 0;

	/* Pairs with the barrier in map_write() of the kernel */
	smp_rmb();
	if (nr > UID_GID_MAP_MAX_BASE_EXTENTS)
		return false;
	for (i = 0; i < nr; i++)
		ids += map->extent[i].count;
	return ids <= UID_GID_MAP_MAX_BASE_EXTENTS;
}

/* Return: the outermost user namespace of the caller that counts, or NULL. */
static const struct user_namespace *profil_outermost(void)
{
	const struct user_namespace *ns = current_user_ns();

	if (ns == &init_user_ns)
		return NULL;
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	return uid_eq(ns->owner, GLOBAL_ROOT_UID) && profil_has_few_ids(ns) ?
	       NULL : ns;
}

/*
 * The container of the caller. One that a user made is no other container.
 * @outermost: its user namespace, or NULL
 */
static unsigned int profil_container(const struct user_namespace *outermost)
{
	const struct pid_namespace *ns = task_active_pid_ns(current);

	if (outermost)
		return outermost->ns.inum;
	while (ns->parent && !profil_is_made_by_root(ns))
		ns = ns->parent;
	return ns->ns.inum;
}

static struct profil_user *profil_user_find(const struct profil_user *wanted)
{
	struct profil_user *user;

	lockdep_assert_held(&profil_user_lock);
	hash_for_each_possible(profil_users, user, node,
			       __kuid_val(wanted->uid))
		if (uid_eq(user->uid, wanted->uid) &&
		    user->container == wanted->container)
			return user;
	return NULL;
}

/* Forget users who have rested since they had anything. profil_user_lock held. */
static void profil_users_forget(void)
{
	struct profil_user *user;
	struct hlist_node *next;
	int i;

	hash_for_each_safe(profil_users, i, next, user, node) {
		if (refcount_read(&user->refs) ||
		    ktime_get_ns() < READ_ONCE(user->rested))
			continue;
		hash_del(&user->node);
		kfree(user);
	}
}

/**
 * profil_user_get() - who pays for what the caller asks for
 *
 * Return: the user, with a reference, or NULL if there is no memory.
 */
struct profil_user *profil_user_get(void)
{
	struct profil_user *fresh = kzalloc_obj(*fresh, GFP_KERNEL_ACCOUNT);
	const struct user_namespace *outermost = profil_outermost();
	struct profil_user *user;

	if (!fresh)
		return NULL;
	refcount_set(&fresh->refs, 1);
	mutex_init(&fresh->collecting);
	INIT_LIST_HEAD(&fresh->callers);
	fresh->uid = outermost ? outermost->owner : current_uid();
	if (uid_eq(fresh->uid, GLOBAL_ROOT_UID))
		fresh->container = profil_container(outermost);

	spin_lock(&profil_user_lock);
	user = profil_user_find(fresh);
	if (user) {
		/* It may have been left for its rest */
		if (!refcount_inc_not_zero(&user->refs))
			refcount_set(&user->refs, 1);
	} else {
		profil_users_forget();
		hash_add(profil_users, &fresh->node, __kuid_val(fresh->uid));
		user = fresh;
	}
	spin_unlock(&profil_user_lock);

	if (user != fresh)
		kfree(fresh);
	return user;
}

/* The tables of callers that a user has loaded, of which each holds the user. */
struct list_head *profil_user_callers(struct profil_user *user)
{
	return &user->callers;
}

/* One more reference to a user. */
struct profil_user *profil_user_hold(struct profil_user *user)
{
	refcount_inc(&user->refs);
	return user;
}

/* Drop a reference to a user. */
void profil_user_put(struct profil_user *user)
{
	if (!refcount_dec_and_lock(&user->refs, &profil_user_lock))
		return;
	/* sparse does not know that it has it now */
	__acquire(&profil_user_lock);
	/* Who comes back at once has not rested */
	if (ktime_get_ns() < READ_ONCE(user->rested))
		user = NULL;
	else
		hash_del(&user->node);
	spin_unlock(&profil_user_lock);
	kfree(user);
}

/**
 * profil_user_charge() - charge a user
 * @user: the user
 * @what: for what
 * @n: how much
 * @max: how much of it a user may have
 *
 * Context: any.
 * Return: whether the user may have so much more.
 */
bool profil_user_charge(struct profil_user *user, enum profil_charge what,
			u64 n, u64 max)
{
	s64 old = atomic64_read(&user->charged[what]);

	do {
		/* Nothing is never too much, even after @max was lowered */
		if (n && (n > max || old > max - n))
			return false;
	} while (!atomic64_try_cmpxchg(&user->charged[what], &old, old + n));
	return true;
}

/* The reverse of profil_user_charge(). Context: any. */
void profil_user_uncharge(struct profil_user *user, enum profil_charge what,
			  u64 n)
{
	atomic64_sub(n, &user->charged[what]);
}

/**
 * profil_user_turn() - when a work that could not begin may try again
 * @user: the user that it works for
 *
 * Nobody is charged for that: so the works of a user try one after the other, one
 * in a millisecond, however many they are; but each of them within a second.
 *
 * Return: in how many milliseconds, 16 at least.
 */
u32 profil_user_turn(struct profil_user *user)
{
	s64 now = div_u64(ktime_get_ns(), NSEC_PER_MSEC);
	s64 last = atomic64_read(&user->turn);
	s64 turn;

	do {
		turn = clamp(last + 1, now + 16, now + MSEC_PER_SEC);
	} while (!atomic64_try_cmpxchg(&user->turn, &last, turn));
	return turn - now;
}

/*
 * As perfmon_capable() of the caller, but most users are not, which is no matter
 * for audit.
 */
bool profil_user_is_perfmon(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_PERFMON) ||
	       ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
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
	atomic_t *nr_dying = &user->nr_dying;
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

/* profil_user_uncharge_watch() will follow. Context: any. */
void profil_user_expect_uncharge(struct profil_user *user)
{
	atomic_inc(&user->nr_dying);
}

/* The reverse of profil_user_charge_watch(). Context: process. */
void profil_user_uncharge_watch(struct profil_user *user, u64 pages)
{
	profil_user_uncharge(user, PROFIL_CHARGE_PAGES, pages);
	atomic_dec(&user->nr_dying);
	/* The waiter is there before it looks at the number */
	smp_mb__after_atomic();
	wake_up_var(&user->nr_dying);
}

/**
 * profil_user_collect() - collect waits, of one watch of a user at a time
 * @user: the user
 *
 * A kernel thread does it, whose CPU time nobody is charged for: so a collection
 * begins when as much time has passed since the one before as that worked, also if its
 * caller was killed, and a user cannot have more than half of a CPU by them.
 *
 * Context: process, may sleep.
 * Return: 0 or -EINTR; profil_user_collected() must follow if 0.
 */
int profil_user_collect(struct profil_user *user)
{
	u64 now;

	if (mutex_lock_killable(&user->collecting))
		return -EINTR;
	now = ktime_get_ns();
	if (now < user->rested)
		schedule_timeout_killable(1 + nsecs_to_jiffies(user->rested -
							       now));
	if (!fatal_signal_pending(current))
		return 0;
	mutex_unlock(&user->collecting);
	return -EINTR;
}

/* The reverse of profil_user_collect(). @ns: for how long there was work */
void profil_user_collected(struct profil_user *user, u64 ns)
{
	WRITE_ONCE(user->rested, ktime_get_ns() + ns);
	mutex_unlock(&user->collecting);
}

/* Nobody has a reference to any user, or gets one, any more. */
void profil_user_exit(void)
{
	struct profil_user *user;
	struct hlist_node *next;
	int i;

	hash_for_each_safe(profil_users, i, next, user, node)
		kfree(user);
}
