// SPDX-License-Identifier: GPL-2.0-only
/*
 * reference.c - the region and counter of a program counter, by the manual
 * pages
 *
 * As slow and as plain as possible: checks every region for every program
 * counter, in 128-bit arithmetic, which cannot overflow.
 */
#include "reference.h"

#define NONE	U32_MAX

typedef unsigned __int128 u128;

u32 reference_state(const struct question *question, u32 region)
{
	u64 scale = question->regions[region].scale;
	u64 width = 1ULL << question->shift;

	if (scale == 0)
		return PROFIL_REGION_DISABLED;
	if (scale == 1 && !(question->flags & PROFIL_SET_SCALE_ONE))
		return PROFIL_REGION_DISABLED;
	if (question->regions[region].size / width == 0)
		return PROFIL_REGION_EMPTY;
	return PROFIL_REGION_ON;
}

/*
 * Return: whether @pc is in a region, and its counter. The overflow bin is one.
 */
bool reference_counter(const struct question *question, u32 region, u64 pc,
		   u64 *counter)
{
	const struct profil_region *r = &question->regions[region];
	u64 width = 1ULL << question->shift;
	u128 index = pc - r->offset;

	if (reference_state(question, region) != PROFIL_REGION_ON)
		return false;
	if (pc < r->offset)
		return false;
	if (question->flags & PROFIL_SET_SVR4_ARITH)
		index = index * r->scale / 65536 / width;
	else
		index = index / width * r->scale / 65536;
	*counter = index;
	return index < r->size / width;
}

static bool reference_is_overflow(const struct question *question, u32 region)
{
	const struct profil_region *r = &question->regions[region];

	if (question->flags & PROFIL_SET_NO_OVERFLOW)
		return false;
	return r->offset == 0 && r->scale == 2;
}

/* The region with the largest offset wins; of equal ones, the first (IRIX). */
u32 reference_find(const struct question *question, u64 pc)
{
	u32 found = NONE;
	u64 counter;
	u32 i;

	for (i = 0; i < question->nr; i++) {
		u64 offset = question->regions[i].offset;

		if (reference_is_overflow(question, i))
			continue;
		if (!reference_counter(question, i, pc, &counter))
			continue;
		if (found == NONE || offset > question->regions[found].offset)
			found = i;
	}
	return found;
}

u32 reference_overflow(const struct question *question)
{
	u32 i;

	for (i = 0; i < question->nr; i++)
		if (reference_is_overflow(question, i))
			return i;
	return NONE;
}

/* The last pc of a region that is on, by bisection. */
u64 reference_last(const struct question *question, u32 region)
{
	u64 in = question->regions[region].offset;
	u64 out = U64_MAX;
	u64 counter;

	if (reference_counter(question, region, out, &counter))
		return out;
	while (out - in > 1) {
		u64 middle = in + (out - in) / 2;

		if (reference_counter(question, region, middle, &counter))
			in = middle;
		else
			out = middle;
	}
	return in;
}
