// SPDX-License-Identifier: GPL-2.0-only
/*
 * quota.c - how many profiles a user may have at a time
 *
 * Context: process; profil_quota_charge() may sleep, the others may be called
 * with mmap_lock held. Lock taken: profil_quota_lock, a leaf.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "limits.h"
#include "quota.h"

/**
 * struct profil_quota - a user with at least one profile
 * @node: in profil_quotas
 * @uid: the user
 * @nr: number of profiles
 */
struct profil_quota {
	struct hlist_node node;
	kuid_t uid;
	unsigned int nr;
};

static DEFINE_HASHTABLE(profil_quotas, 6);
static DEFINE_SPINLOCK(profil_quota_lock);

static struct profil_quota *profil_quota_find(kuid_t uid)
{
	struct profil_quota *quota;

	lockdep_assert_held(&profil_quota_lock);
	hash_for_each_possible(profil_quotas, quota, node, __kuid_val(uid))
		if (uid_eq(quota->uid, uid))
			return quota;
	return NULL;
}

static bool profil_quota_add(struct profil_quota *quota)
{
	lockdep_assert_held(&profil_quota_lock);
	if (quota->nr >= READ_ONCE(profil_limits.max_profiles))
		return false;
	quota->nr++;
	return true;
}

/**
 * profil_quota_charge() - one more profile for the calling user
 *
 * Return: the account, or an error pointer: -EAGAIN if the user has as many as
 * allowed, -ENOMEM.
 */
struct profil_quota *profil_quota_charge(void)
{
	struct profil_quota *fresh, *quota;
	kuid_t uid = current_uid();
	bool ok;

	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	fresh->uid = uid;

	spin_lock(&profil_quota_lock);
	quota = profil_quota_find(uid);
	if (!quota)
		quota = fresh;
	ok = profil_quota_add(quota);
	if (ok && quota == fresh)
		hash_add(profil_quotas, &fresh->node, __kuid_val(uid));
	spin_unlock(&profil_quota_lock);

	if (!ok || quota != fresh)
		kfree(fresh);
	return ok ? quota : ERR_PTR(-EAGAIN);
}

/**
 * profil_quota_charge_again() - one more profile for a user that has one
 * @quota: the account
 *
 * Return: whether that is allowed.
 */
bool profil_quota_charge_again(struct profil_quota *quota)
{
	bool ok;

	spin_lock(&profil_quota_lock);
	ok = profil_quota_add(quota);
	spin_unlock(&profil_quota_lock);
	return ok;
}

/**
 * profil_quota_uncharge() - the reverse of both
 * @quota: the account
 */
void profil_quota_uncharge(struct profil_quota *quota)
{
	bool last;

	spin_lock(&profil_quota_lock);
	last = !--quota->nr;
	if (last)
		hash_del(&quota->node);
	spin_unlock(&profil_quota_lock);
	if (last)
		kfree(quota);
}
