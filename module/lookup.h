/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lookup.h - from an address space to its profile, from any context
 *
 * Readers hold rcu_read_lock() and may be in hard interrupt context. Writers
 * are in process context; they take profil_lookup_lock, a leaf, inside.
 */
#ifndef PROFIL_LOOKUP_H
#define PROFIL_LOOKUP_H

#include <linux/hash.h>
#include <linux/mm_types.h>
#include <linux/rculist.h>

struct profil_run;

/**
 * struct profil_space - an address space that may have a profile
 * @node: in the table of lookup.c, from profil_space_add() to
 *	profil_space_remove()
 * @mm: the key; not dereferenced, and no reference held: the address space
 *	leaves the table before it is freed
 * @run: what its ticks are counted by, or NULL; written under @publish of the
 *	profile that this is part of
 */
struct profil_space {
	struct hlist_node node;
	struct mm_struct *mm;
	struct profil_run __rcu *run;
};

#define PROFIL_LOOKUP_BITS	10

extern struct hlist_head profil_spaces[1 << PROFIL_LOOKUP_BITS];

bool profil_space_add(struct profil_space *space);
void profil_space_remove(struct profil_space *space);

/**
 * profil_space_is_likely() - whether it is worthwhile to look for an entry
 * @mm: hashed only, may be stale
 *
 * Inline, since a context switch pays for it as long as there is any profile.
 *
 * Context: any.
 * Return: false if there is no entry of @mm.
 */
static inline bool profil_space_is_likely(const struct mm_struct *mm)
{
	return !hlist_empty(&profil_spaces[hash_ptr(mm, PROFIL_LOOKUP_BITS)]);
}

/**
 * profil_space_find() - the entry of an address space
 * @mm: compared only, may be stale
 *
 * Context: any, under rcu_read_lock() or with interrupts off.
 * Return: the entry, or NULL.
 */
static inline struct profil_space *profil_space_find(const struct mm_struct *mm)
{
	struct hlist_head *head;
	struct profil_space *space;

	head = &profil_spaces[hash_ptr(mm, PROFIL_LOOKUP_BITS)];
	hlist_for_each_entry_rcu(space, head, node)
		if (space->mm == mm)
			return space;
	return NULL;
}

#endif /* PROFIL_LOOKUP_H */
