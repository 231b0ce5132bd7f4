/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reference.h - the region and counter of a program counter, by the manual
 * pages
 */
#ifndef UNIT_REFERENCE_H
#define UNIT_REFERENCE_H

#include <linux/limits.h>
#include <linux/profil.h>
#include <linux/types.h>

/**
 * struct question - a set of regions, for the reference
 * @flags: PROFIL_SET_*
 * @shift: binary logarithm of the counter's width
 * @nr: number of @regions
 * @regions: as the caller of the device gave them
 */
struct question {
	u32 flags;
	u32 shift;
	u32 nr;
	const struct profil_region *regions;
};

u32 reference_state(const struct question *question, u32 region);
bool reference_counter(const struct question *question, u32 region, u64 pc,
		   u64 *counter);
u32 reference_find(const struct question *question, u64 pc);
u32 reference_overflow(const struct question *question);
u64 reference_last(const struct question *question, u32 region);

#endif /* UNIT_REFERENCE_H */
