/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chart.h - a map of module/region.c in memory of exactly the right size
 *
 * The address sanitizer finds any access beyond one of the arrays.
 */
#ifndef UNIT_CHART_H
#define UNIT_CHART_H

#include "reference.h"
#include "region.h"

/**
 * struct chart - a map, and the regions from which it was built
 * @question: these regions, for the reference
 * @map: the map under test
 * @order: scratch of profil_map_build()
 * @stack: scratch of profil_map_build()
 */
struct chart {
	struct question question;
	struct profil_map map;
	u32 *order;
	u32 *stack;
};

void chart_init(struct chart *chart, u32 nr);
void chart_free(struct chart *chart);
int chart_make(struct chart *chart, u32 flags, u32 shift,
	       const struct profil_region *regions);
bool chart_right_at(const struct chart *chart, u64 pc);
bool chart_right_around(const struct chart *chart, u64 pc);
bool chart_sound(const struct chart *chart);

#endif /* UNIT_CHART_H */
