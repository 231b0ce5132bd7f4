/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * region.h - from a program counter to a counter
 *
 * Context: any; no locks, no memory of its own, nothing of the kernel but its
 * integer types, sort_r() and cond_resched(). The same source is compiled for
 * user space, where it is tested against a slow reference in 128-bit arithmetic.
 */
#ifndef PROFIL_REGION_H
#define PROFIL_REGION_H

#include <linux/limits.h>
#include <linux/types.h>

#include <linux/profil.h>

/* The region of a segment that belongs to none; more than any index of one. */
#define PROFIL_NO_REGION	U32_MAX

/**
 * struct profil_counters - one region, as the tick needs it
 * @base: address of the first counter
 * @nr: number of counters; 0 unless the region is on
 * @offset: lowest program counter
 * @scale: see struct profil_region
 * @state: enum profil_region_state at the start of the profile
 */
struct profil_counters {
	u64 base;
	u64 nr;
	u64 offset;
	u32 scale;
	u32 state;
};

/**
 * struct profil_segment - a range of program counters with one region
 * @start: first program counter; the next segment's start ends the range
 * @region: index of the region, or PROFIL_NO_REGION
 */
struct profil_segment {
	u64 start;
	u32 region;
};

/**
 * struct profil_map - every program counter's region
 * @flags: PROFIL_SET_* flags that bear on the arithmetic
 * @width_shift: binary logarithm of the counter's width in bytes
 * @nr_regions: number of @counters
 * @nr_segments: number of @segments; 0 until profil_map_build()
 * @overflow: index of the overflow bin, or PROFIL_NO_REGION
 * @counters: the regions, in the caller's order
 * @segments: ascending, the first starts at 0; room for
 *	profil_map_max_segments()
 *
 * The caller provides the arrays.
 */
struct profil_map {
	u32 flags;
	u32 width_shift;
	u32 nr_regions;
	u32 nr_segments;
	u32 overflow;
	struct profil_counters *counters;
	struct profil_segment *segments;
};

/* Each region begins one segment, and its end at most one more. */
static inline u32 profil_map_max_segments(u32 nr_regions)
{
	return 2 * nr_regions + 1;
}

int profil_map_add(struct profil_map *map, const struct profil_region *region,
		   bool last);
void profil_map_build(struct profil_map *map, u32 *order, u32 *stack);

/**
 * profil_map_find() - the region that takes a program counter
 * @map: built
 * @pc: program counter
 *
 * Inline, like the functions below, since each tick calls it.
 *
 * Return: its index, or PROFIL_NO_REGION. The overflow bin is not looked at.
 */
static inline u32 profil_map_find(const struct profil_map *map, u64 pc)
{
	const struct profil_segment *segment = map->segments;
	u32 nr = map->nr_segments;

	while (nr > 1) {
		u32 half = nr / 2;

		if (segment[half].start <= pc)
			segment += half;
		nr -= half;
	}
	return segment->region;
}

/* (x * scale) >> 16 without losing the upper bits of the product. */
static inline u64 profil_scale(u64 x, u32 scale)
{
	return (x >> 16) * scale + ((x & 0xffff) * scale >> 16);
}

/**
 * profil_map_index() - the index of a program counter in its region
 * @map: built
 * @region: result of profil_map_find() for @pc
 * @pc: program counter
 *
 * Return: index of the counter, less than the region's number of counters.
 */
static inline u64 profil_map_index(const struct profil_map *map, u32 region,
				   u64 pc)
{
	const struct profil_counters *counters = &map->counters[region];
	u64 distance = pc - counters->offset;

	if (map->flags & PROFIL_SET_SVR4_ARITH)
		return profil_scale(distance, counters->scale) >>
		       map->width_shift;
	return profil_scale(distance >> map->width_shift, counters->scale);
}

#endif /* PROFIL_REGION_H */
