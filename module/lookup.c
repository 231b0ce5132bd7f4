// SPDX-License-Identifier: GPL-2.0-only
/*
 * lookup.c - the table of profiled address spaces
 *
 * Context of the functions here: process, may hold mmap_lock. Lock taken:
 * profil_lookup_lock, a leaf.
 */
#include <linux/spinlock.h>

#include "lookup.h"

static DEFINE_SPINLOCK(profil_lookup_lock);

struct hlist_head profil_spaces[1 << PROFIL_LOOKUP_BITS];

/**
 * profil_space_add() - let an address space be found
 * @space: with @mm set
 *
 * Return: whether it could be added; false if it has an entry already.
 */
bool profil_space_add(struct profil_space *space)
{
	u32 slot = hash_ptr(space->mm, PROFIL_LOOKUP_BITS);
	bool added = false;

	spin_lock(&profil_lookup_lock);
	if (!profil_space_find(space->mm)) {
		hlist_add_head_rcu(&space->node, &profil_spaces[slot]);
		added = true;
	}
	spin_unlock(&profil_lookup_lock);
	return added;
}

/**
 * profil_space_remove() - let it be found no more
 * @space: free it only after a grace period
 */
void profil_space_remove(struct profil_space *space)
{
	spin_lock(&profil_lookup_lock);
	hlist_del_rcu(&space->node);
	spin_unlock(&profil_lookup_lock);
}
