// SPDX-License-Identifier: GPL-2.0-only
/*
 * buckets.c - buckets of the table of a watch, and the chains in them
 *
 * A bucket of a watch with chains is a frame, and names the bucket of its
 * caller. So what has ticks leads to all frames of its chain.
 */
#include <stdlib.h>
#include <string.h>

#include "profil/buckets.h"
#include "util/array.h"

/**
 * buckets_init() - prepare to read the buckets of a table
 * @buckets: for buckets_free(), even on failure
 * @table: the table
 * @has_chains: its watch counts ticks by chain
 *
 * Return: 0, or -1 if out of memory.
 */
int buckets_init(struct buckets *buckets,
		 const struct profil_watch_table *table, bool has_chains)
{
	size_t nr = table->max_buckets;

	memset(buckets, 0, sizeof(*buckets));
	buckets->table = table;
	buckets->has_chains = has_chains &&
		table->bucket_size >= sizeof(struct profil_watch_bucket);
	buckets->before = calloc(nr, sizeof(*buckets->before));
	if (!buckets->before)
		return -1;
	if (!buckets->has_chains)
		return 0;
	buckets->below_before = calloc(nr, sizeof(*buckets->below_before));
	buckets->place = calloc(nr, sizeof(*buckets->place));
	return buckets->below_before && buckets->place ? 0 : -1;
}

void buckets_free(struct buckets *buckets)
{
	free(buckets->before);
	free(buckets->below_before);
	free(buckets->place);
	free(buckets->list);
}

/* --- reading */

static int in_order(const void *a, const void *b)
{
	const struct bucket *c = a, *d = b;

	if (c->image != d->image)
		return c->image < d->image ? -1 : 1;
	if (c->object != d->object)
		return c->object < d->object ? -1 : 1;
	return (c->offset > d->offset) - (c->offset < d->offset);
}

static const struct profil_watch_bucket *at_slot(const struct buckets *buckets,
						 size_t slot)
{
	return profil_watch_next(buckets->table, &slot);
}

/* Ticks since the last time */
static uint64_t news(const uint64_t *now, uint64_t *before)
{
	uint64_t count = __atomic_load_n(now, __ATOMIC_RELAXED), last = *before;

	*before = count;
	return count - last;
}

/* Waits have numbers in place of addresses. */
static uint64_t offset_of(const struct buckets *buckets,
			  const struct profil_watch_bucket *seen)
{
	return bucket_waits(seen->object) ? seen->offset :
		seen->offset << buckets->table->bucket_shift;
}

static struct bucket *add(struct buckets *buckets, size_t slot,
			  const struct profil_watch_bucket *seen)
{
	struct bucket *list = array_grow(buckets->list, buckets->nr,
					 sizeof(*list));

	if (!list)
		return NULL;
	buckets->list = list;
	list += buckets->nr++;
	*list = (struct bucket) {
		.image = seen->image,
		.object = seen->object,
		.offset = offset_of(buckets, seen),
		.slot = slot,
		.dso = BUCKET_NOWHERE,
	};
	if (buckets->has_chains) {
		list->caller = seen->caller;
		buckets->place[slot] = buckets->nr;
	}
	return list;
}

/* Index in the table of a caller, if it has one */
static bool find_caller(const struct buckets *buckets, uint32_t caller,
			size_t *slot)
{
	*slot = caller - 1;
	return caller && caller != PROFIL_CALLER_UNKNOWN &&
		*slot < buckets->table->max_buckets;
}

/* Callers of a bucket, as far as they are not in the list */
static int add_callers(struct buckets *buckets, uint32_t caller)
{
	const struct bucket *added;
	size_t slot;

	while (find_caller(buckets, caller, &slot) && !buckets->place[slot]) {
		added = add(buckets, slot, at_slot(buckets, slot));
		if (!added)
			return -1;
		caller = added->caller;
	}
	return 0;
}

static int read_bucket(struct buckets *buckets, size_t slot,
		       const struct profil_watch_bucket *seen)
{
	uint64_t count = news((uint64_t *)&seen->count, &buckets->before[slot]);
	uint64_t below = buckets->has_chains ?
		news((uint64_t *)&seen->below, &buckets->below_before[slot]) :
		0;
	struct bucket *bucket;

	if (!count && !below)
		return 0;
	if (buckets->has_chains && buckets->place[slot])
		bucket = &buckets->list[buckets->place[slot] - 1];
	else
		bucket = add(buckets, slot, seen);
	if (!bucket)
		return -1;
	bucket->count = count;
	bucket->below = below;
	return buckets->has_chains ? add_callers(buckets, bucket->caller) : 0;
}

static void forget(struct buckets *buckets)
{
	size_t i;

	for (i = 0; buckets->has_chains && i < buckets->nr; i++)
		buckets->place[buckets->list[i].slot] = 0;
	buckets->nr = 0;
}

static void sort(struct buckets *buckets)
{
	size_t i;

	if (buckets->nr)
		qsort(buckets->list, buckets->nr, sizeof(*buckets->list),
		      in_order);
	for (i = 0; buckets->has_chains && i < buckets->nr; i++)
		buckets->place[buckets->list[i].slot] = i + 1;
}

/**
 * buckets_read() - read the buckets that have new ticks, and their callers
 * @buckets: receives them; the module may go on adding to the table
 * @user_only: leave out those of the kernel
 *
 * Return: 0, or -1 if out of memory.
 */
int buckets_read(struct buckets *buckets, bool user_only)
{
	const struct profil_watch_bucket *seen;
	size_t slot = 0;

	forget(buckets);
	while ((seen = profil_watch_next(buckets->table, &slot))) {
		if (user_only && seen->object == PROFIL_OBJECT_KERNEL)
			continue;
		if (read_bucket(buckets, slot - 1, seen))
			return -1;
	}
	sort(buckets);
	return 0;
}

/* --- chains */

/* The bucket of a caller; NULL if there is none, or none in a DSO */
static struct bucket *caller_of(const struct buckets *buckets,
				const struct bucket *bucket)
{
	struct bucket *caller;
	size_t slot;

	if (!find_caller(buckets, bucket->caller, &slot) ||
	    !buckets->place[slot])
		return NULL;
	caller = &buckets->list[buckets->place[slot] - 1];
	return caller->image == bucket->image &&
		caller->dso != BUCKET_NOWHERE ? caller : NULL;
}

static int add_node(const struct buckets *buckets, struct prf_exec *exec,
		    struct bucket *bucket)
{
	const struct bucket *caller = caller_of(buckets, bucket);
	uint32_t number = PRF_CUT;

	if (caller)
		number = caller->node;
	else if (!bucket->caller)
		number = 0;
	if (!prf_add_node(exec, number, bucket->dso, bucket->at, bucket->count,
			  bucket->below))
		return -1;
	bucket->node = exec->nr_nodes;
	return 0;
}

/* The nodes of a chain, the outermost one first, as far as they are missing */
static int add_chain(const struct buckets *buckets, struct prf_exec *exec,
		     struct bucket *bucket)
{
	struct bucket *chain[PRF_CHAIN_DEPTH];
	size_t nr = 0;

	for (; bucket && !bucket->node && nr < PRF_CHAIN_DEPTH;
	     bucket = caller_of(buckets, bucket))
		chain[nr++] = bucket;
	while (nr)
		if (add_node(buckets, exec, chain[--nr]))
			return -1;
	return 0;
}

/* Ticks of a bucket without a DSO are coarse, below what called it. */
static void add_below(const struct buckets *buckets,
		      const struct bucket *bucket)
{
	struct bucket *caller = caller_of(buckets, bucket);

	if (caller)
		caller->below += bucket->count + bucket->below;
}

/* Give a node as many ticks as it has and @rest knows, in a wait below it. */
static int add_waits(struct prf_exec *exec, size_t node, uint64_t *ticks,
		     struct buckets_rest *rest)
{
	uint64_t some = *ticks < rest->ticks ? *ticks : rest->ticks;

	*ticks -= some;
	rest->ticks -= some;
	return !some || prf_add_node(exec, node + 1, rest->dso,
				     PRF_WAIT_UNKNOWN, some, 0) ? 0 : -1;
}

/* Ticks in the kernel that are in no bucket of the table */
static uint64_t kernel_rest(const struct prf_exec *exec)
{
	uint64_t rest = exec->kernel_count;
	size_t i;

	for (i = 0; i < exec->nr_nodes; i++)
		if (exec->nodes[i].dso == PRF_NODE_KERNEL)
			rest -= exec->nodes[i].count;
	return rest;
}

/*
 * Ticks below a frame are coarse, in waits or in the kernel: how many of which,
 * only their sums say. Those in the kernel get a node. The last reading may have
 * had some of their sums before they were below the frame: these have been counted.
 */
static int divide_below(struct prf_exec *exec,
			struct buckets_rest rests[PRF_STATES], uint64_t *kernel)
{
	size_t nr = exec->nr_nodes, i, j;
	uint64_t left = exec->coarse, others;

	for (i = 0; i < nr; i++) {
		struct prf_node *node = &exec->nodes[i];

		others = node->below > left ? node->below - left : 0;
		node->below -= others;
		left -= node->below;
		for (j = PRF_RUNNABLE; j < PRF_STATES; j++)
			if (add_waits(exec, i, &others, &rests[j]))
				return -1;
		if (others > *kernel)
			others = *kernel;
		*kernel -= others;
		if (others && !prf_add_node(exec, i + 1, PRF_NODE_KERNEL, 0,
					    others, 0))
			return -1;
	}
	return 0;
}

/*
 * Nobody knows what called waits, and what the kernel has done, if their ticks
 * are in no bucket: the process was at an exec, or its ticks were not seen.
 */
static int add_rest(struct prf_exec *exec,
		    const struct buckets_rest rests[PRF_STATES], uint64_t kernel)
{
	size_t i;

	for (i = PRF_RUNNABLE; i < PRF_STATES; i++)
		if (rests[i].ticks &&
		    !prf_add_node(exec, PRF_CUT, rests[i].dso,
				  PRF_WAIT_UNKNOWN, rests[i].ticks, 0))
			return -1;
	return !kernel || prf_add_node(exec, PRF_CUT, PRF_NODE_KERNEL, 0, kernel,
				       0) ? 0 : -1;
}

/**
 * buckets_add_nodes() - add the chains of an image to its exec
 * @buckets: the buckets, which are in the DSOs of the exec
 * @exec: the exec
 * @first: index of the first bucket of the image
 * @end: index after the last one
 * @rests: by enum prf_state, ticks of waits that are in no bucket of the table
 *
 * Return: 0, or -1 if out of memory.
 */
int buckets_add_nodes(struct buckets *buckets, struct prf_exec *exec,
		      size_t first, size_t end,
		      struct buckets_rest rests[PRF_STATES])
{
	struct bucket *bucket;
	uint64_t kernel;

	if (!buckets->has_chains)
		return 0;
	for (bucket = &buckets->list[first]; bucket < &buckets->list[end];
	     bucket++)
		if (bucket->dso == BUCKET_NOWHERE)
			add_below(buckets, bucket);
	for (bucket = &buckets->list[first]; bucket < &buckets->list[end];
	     bucket++)
		if (bucket->dso != BUCKET_NOWHERE &&
		    add_chain(buckets, exec, bucket))
			return -1;
	kernel = kernel_rest(exec);
	return divide_below(exec, rests, &kernel) ||
		add_rest(exec, rests, kernel) ? -1 : 0;
}
