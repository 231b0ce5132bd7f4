// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * region.c - from a program counter to a counter
 *
 * Regions may overlap: of those that contain a pc the one with the largest
 * offset takes it, of equal offsets the first listed. profil_map_build() cuts
 * the address space into segments that have one such region each, so that the
 * tick finds it by bisection, however many regions there are.
 *
 * Context: any, but process to build a map; takes no locks.
 */
#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/sort.h>

#include "region.h"

static u64 profil_width(const struct profil_map *map)
{
	return 1ULL << map->width_shift;
}

/*
 * The largest x with (x * scale) >> 16 < n, or U64_MAX if it is larger. The
 * sum may be 2^64; what counts is one less. @n is not 0.
 */
static u64 profil_unscale(u64 n, u32 scale)
{
	u64 whole = n / scale;
	u64 part = ((n % scale << 16) + scale - 1) / scale;

	if (whole > U64_MAX >> 16)
		return U64_MAX;
	return (whole << 16) + part - 1;
}

/* The largest distance from the offset that is in the region, or U64_MAX. */
static u64 profil_reach(const struct profil_map *map,
			const struct profil_counters *counters)
{
	u32 shift = map->width_shift;
	u64 units;

	if (map->flags & PROFIL_SET_SVR4_ARITH)
		return profil_unscale(counters->nr << shift, counters->scale);

	units = profil_unscale(counters->nr, counters->scale);
	if (units > U64_MAX >> shift)
		return U64_MAX;
	return (units << shift) + profil_width(map) - 1;
}

static u64 profil_last_pc(const struct profil_map *map, u32 region)
{
	const struct profil_counters *counters = &map->counters[region];
	u64 reach = profil_reach(map, counters);

	return reach > U64_MAX - counters->offset ?
	       U64_MAX : counters->offset + reach;
}

/* IRIX sprofil(2): marked by offset and scale, of little use otherwise. */
static bool profil_is_overflow(const struct profil_map *map, u64 offset,
			       u64 scale)
{
	return offset == 0 && scale == 2 &&
	       !(map->flags & PROFIL_SET_NO_OVERFLOW);
}

static enum profil_region_state
profil_initial_state(const struct profil_map *map,
		     const struct profil_region *region)
{
	u64 least = map->flags & PROFIL_SET_SCALE_ONE ? 1 : 2;

	if (region->scale < least)
		return PROFIL_REGION_DISABLED;
	if (region->size < profil_width(map))
		return PROFIL_REGION_EMPTY;
	return PROFIL_REGION_ON;
}

/**
 * profil_map_add() - check a region and append it
 * @map: with @flags and @width_shift set; room for one more in @counters
 * @region: as the caller of the device gave it
 * @last: it is the last one of the caller's list
 *
 * Return: 0, or -EINVAL if the scale is too large, the base is not aligned or
 * an overflow bin is not last (IRIX sprofil(2)).
 */
int profil_map_add(struct profil_map *map, const struct profil_region *region,
		   bool last)
{
	struct profil_counters *counters = &map->counters[map->nr_regions];
	u64 width = profil_width(map);

	if (region->scale > 65536 * width || region->base & (width - 1))
		return -EINVAL;

	counters->base = region->base;
	counters->offset = region->offset;
	counters->scale = region->scale;
	counters->state = profil_initial_state(map, region);
	counters->nr = counters->state == PROFIL_REGION_ON ?
		region->size >> map->width_shift : 0;

	if (profil_is_overflow(map, region->offset, region->scale)) {
		if (!last && !(map->flags & PROFIL_SET_OVERFLOW_ANYWHERE))
			return -EINVAL;
		if (map->overflow == PROFIL_NO_REGION)
			map->overflow = map->nr_regions;
	}
	map->nr_regions++;
	return 0;
}

/* For sort_r(): which of two regions is looked at first, see below. */
static int profil_order(const void *a, const void *b, const void *context)
{
	const struct profil_counters *counters = context;
	u32 i = *(const u32 *)a;
	u32 j = *(const u32 *)b;
	u64 x = counters[i].offset;
	u64 y = counters[j].offset;

	/* Sorting takes the most time of a request */
	cond_resched();
	if (x != y)
		return x < y ? -1 : 1;
	return i < j ? 1 : -1;
}

/* Let @region begin at @start, in place of any other that begins there. */
static void profil_emit(struct profil_map *map, u64 start, u32 region)
{
	struct profil_segment *end = &map->segments[map->nr_segments];

	if (map->nr_segments && end[-1].start == start) {
		end[-1].region = region;
		return;
	}
	end->start = start;
	end->region = region;
	map->nr_segments++;
}

/*
 * End the regions on the stack that end before @pc, and resume under each the
 * one that it covered.
 */
static u32 profil_unwind(struct profil_map *map, const u32 *stack, u32 depth,
			 u64 pc)
{
	while (depth) {
		u64 last = profil_last_pc(map, stack[depth - 1]);

		if (last >= pc)
			break;
		depth--;
		while (depth && profil_last_pc(map, stack[depth - 1]) <= last)
			depth--;
		profil_emit(map, last + 1,
			    depth ? stack[depth - 1] : PROFIL_NO_REGION);
	}
	return depth;
}

/**
 * profil_map_build() - make the segments of a map
 * @map: with every region added
 * @order: scratch, room for nr_regions
 * @stack: scratch, room for nr_regions
 *
 * Goes through the regions by ascending offset with a stack of those that have
 * begun: the top is the one that counts. Of equal offsets the last listed is
 * pushed first, which leaves the first listed on top.
 */
void profil_map_build(struct profil_map *map, u32 *order, u32 *stack)
{
	u32 nr = 0, depth = 0;
	u32 i;

	for (i = 0; i < map->nr_regions; i++)
		if (map->counters[i].nr &&
		    !profil_is_overflow(map, map->counters[i].offset,
					map->counters[i].scale))
			order[nr++] = i;
	sort_r(order, nr, sizeof(*order), profil_order, NULL, map->counters);

	map->nr_segments = 0;
	profil_emit(map, 0, PROFIL_NO_REGION);
	for (i = 0; i < nr; i++) {
		u64 offset = map->counters[order[i]].offset;

		depth = profil_unwind(map, stack, depth, offset);
		stack[depth++] = order[i];
		profil_emit(map, offset, order[i]);
	}
	profil_unwind(map, stack, depth, U64_MAX);
}
