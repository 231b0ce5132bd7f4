/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * buckets.h - buckets of the table of a watch, and the chains in them
 */
#ifndef BUCKETS_H
#define BUCKETS_H

#include <profil.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prf/prf.h"

/* Of a bucket that is in no DSO: the exec has no room for it. */
#define BUCKET_NOWHERE	(UINT32_MAX - 1)

/**
 * struct bucket - a bucket with new ticks, or one that leads to such
 * @image: index of the image
 * @object: index of the object
 * @offset: offset in the object, in bytes; or enum profil_wait
 * @count: new ticks
 * @below: new ticks of frames below this one that found no bucket
 * @slot: its index in the table
 * @caller: as in &struct profil_watch_bucket
 * @dso: number of its DSO in the exec; PRF_NODE_KERNEL, or BUCKET_NOWHERE
 * @at: offset in that DSO
 * @node: number of its node in the exec, counted from 1; 0 if there is none yet
 */
struct bucket {
	uint32_t image;
	uint32_t object;
	uint64_t offset;
	uint64_t count;
	uint64_t below;
	uint32_t slot;
	uint32_t caller;
	uint32_t dso;
	uint64_t at;
	uint32_t node;
};

/**
 * struct buckets - what has been read of a table
 * @table: the table
 * @has_chains: its buckets have callers
 * @before: count of each bucket of the table at the time of the last
 *	buckets_read()
 * @below_before: the same of ticks below it, or NULL
 * @place: index + 1 in @list of each bucket of the table, or 0
 * @nr: number of buckets
 * @list: the buckets, sorted by image, object and offset
 */
struct buckets {
	const struct profil_watch_table *table;
	bool has_chains;
	uint64_t *before;
	uint64_t *below_before;
	uint32_t *place;
	size_t nr;
	struct bucket *list;
};

/**
 * struct buckets_rest - ticks of waits that are in no bucket of the table
 * @ticks: the ticks
 * @dso: number of the DSO in the exec that has them
 */
struct buckets_rest {
	uint64_t ticks;
	uint32_t dso;
};

/** bucket_waits() - does an object stand for what threads wait in? */
static inline bool bucket_waits(uint32_t object)
{
	return object == PROFIL_OBJECT_BLOCKED ||
		object == PROFIL_OBJECT_RUNNABLE;
}

int buckets_init(struct buckets *buckets,
		 const struct profil_watch_table *table, bool has_chains);
void buckets_free(struct buckets *buckets);
int buckets_read(struct buckets *buckets, bool user_only);
int buckets_add_nodes(struct buckets *buckets, struct prf_exec *exec,
		      size_t first, size_t end,
		      struct buckets_rest rests[PRF_STATES]);

#endif /* BUCKETS_H */
