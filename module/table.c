// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - what a PROFIL_IOC_SET asked for
 *
 * Context: process, may sleep. Takes no locks of the module; mmap_lock for
 * reading while the buffers are looked at.
 */
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "fault.h"
#include "table.h"

/* System V's largest count. */
#define PROFIL_SVR4_FULL	32767

static void profil_table_free(struct profil_table *table)
{
	kvfree(table->map.segments);
	kvfree(table->map.bins);
	kfree(table);
}

/* Drop a reference to a table. */
void profil_table_put(struct profil_table *table)
{
	if (refcount_dec_and_test(&table->refs))
		profil_table_free(table);
}

static u32 profil_full(const struct profil_set *set)
{
	if (set->flags & PROFIL_SET_SVR4_STOP)
		return PROFIL_SVR4_FULL;
	return set->width == 2 ? U16_MAX : U32_MAX;
}

static struct profil_table *profil_table_alloc(const struct profil_set *set)
{
	u32 nr_segments = profil_map_max_segments(set->nr_regions);
	struct profil_table *table;
	struct profil_map *map;

	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;
	refcount_set(&table->refs, 1);
	table->flags = set->flags;
	table->width = set->width;
	table->period_ns = set->period_ns;
	table->full = profil_full(set);

	map = &table->map;
	map->flags = set->flags;
	map->width_shift = ilog2(set->width);
	map->overflow = PROFIL_NO_REGION;
	map->bins = kvmalloc_array(set->nr_regions, sizeof(*map->bins),
				   GFP_KERNEL_ACCOUNT);
	map->segments = kvmalloc_array(nr_segments, sizeof(*map->segments),
				       GFP_KERNEL_ACCOUNT);
	if (!map->bins || !map->segments) {
		profil_table_free(table);
		return NULL;
	}
	return table;
}

/*
 * Memory of a device is refused at once, since a tick must not touch it. What
 * else is wrong with a buffer may be mended by the program before the first
 * tick, unless it wants to know now.
 */
static int profil_table_check(const struct profil_table *table,
			      struct profil_bins *bins)
{
	int state = profil_buffer_state(bins->base, bins->nr * table->width);

	switch (state) {
	case PROFIL_REGION_DEVICE:
		bins->state = state;
		fallthrough;
	case PROFIL_REGION_UNMAPPED:
	case PROFIL_REGION_READONLY:
		return table->flags & PROFIL_SET_CHECK ? -EFAULT : 0;
	default:
		return min(state, 0);
	}
}

static int profil_table_fill(struct profil_table *table,
			     const struct profil_region *regions, u32 nr)
{
	struct profil_map *map = &table->map;
	u32 *scratch;
	int err;
	u32 i;

	for (i = 0; i < nr; i++) {
		err = profil_map_add(map, &regions[i], i == nr - 1);
		if (err)
			return err;
	}
	scratch = kvmalloc_array(nr, 2 * sizeof(*scratch), GFP_KERNEL);
	if (!scratch)
		return -ENOMEM;
	profil_map_build(map, scratch, scratch + nr);
	kvfree(scratch);

	for (i = 0; i < nr; i++) {
		/* Each may be a walk through as many mappings as allowed. */
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		err = profil_table_check(table, &map->bins[i]);
		if (err)
			return err;
	}
	return 0;
}

/**
 * profil_table_make() - make a table
 * @set: the request, checked but for its regions
 * @regions: as many as it says
 *
 * Return: a table with one reference, or an error pointer: -EINVAL for a
 * region that is not valid, -EFAULT for a buffer that is not (only with
 * PROFIL_SET_CHECK), -ENOMEM, -EINTR.
 */
struct profil_table *profil_table_make(const struct profil_set *set,
				       const struct profil_region *regions)
{
	struct profil_table *table = profil_table_alloc(set);
	int err;

	if (!table)
		return ERR_PTR(-ENOMEM);
	err = profil_table_fill(table, regions, set->nr_regions);
	if (err) {
		profil_table_free(table);
		return ERR_PTR(err);
	}
	return table;
}
