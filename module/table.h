/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table.h - what a PROFIL_IOC_SET asked for
 */
#ifndef PROFIL_TABLE_H
#define PROFIL_TABLE_H

#include <linux/refcount.h>

#include "region.h"

/**
 * struct profil_table - what ticks are counted by; never changes
 * @refs: one for each run that uses it; fork shares it
 * @flags: PROFIL_SET_*
 * @width: bytes of a counter
 * @period_ns: mean time between ticks
 * @full: count at which a counter of 2 or 4 bytes is full
 * @map: the regions
 */
struct profil_table {
	refcount_t refs;
	u32 flags;
	u32 width;
	u32 period_ns;
	u32 full;
	struct profil_map map;
};

struct profil_table *profil_table_make(const struct profil_set *set,
				       const struct profil_region *regions);
void profil_table_put(struct profil_table *table);

#endif /* PROFIL_TABLE_H */
