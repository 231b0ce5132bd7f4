// SPDX-License-Identifier: GPL-2.0-only
/*
 * chart.c - compare a map of module/region.c with the reference
 *
 * The function that finds a difference prints it as a KTAP comment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"

static void *chart_array(size_t nr, size_t size)
{
	void *array = malloc(nr * size);

	if (!array && nr)
		abort();
	return array;
}

/* Allocate exactly @nr regions; chart_make() may be called many times. */
void chart_init(struct chart *chart, u32 nr)
{
	memset(chart, 0, sizeof(*chart));
	chart->question.nr = nr;
	chart->map.counters = chart_array(nr, sizeof(*chart->map.counters));
	chart->map.segments = chart_array(profil_map_max_segments(nr),
					  sizeof(*chart->map.segments));
	chart->order = chart_array(nr, sizeof(*chart->order));
	chart->stack = chart_array(nr, sizeof(*chart->stack));
}

void chart_free(struct chart *chart)
{
	free(chart->map.counters);
	free(chart->map.segments);
	free(chart->order);
	free(chart->stack);
}

/*
 * Return: 0, or the error of the first rejected region. @regions must exist as
 * long as the chart is in use.
 */
int chart_make(struct chart *chart, u32 flags, u32 shift,
	       const struct profil_region *regions)
{
	struct question *question = &chart->question;
	u32 i;

	question->flags = flags;
	question->shift = shift;
	question->regions = regions;
	chart->map.flags = flags;
	chart->map.width_shift = shift;
	chart->map.nr_regions = 0;
	chart->map.nr_segments = 0;
	chart->map.overflow = PROFIL_NO_REGION;
	for (i = 0; i < question->nr; i++) {
		int err = profil_map_add(&chart->map, &regions[i],
					 i + 1 == question->nr);

		if (err)
			return err;
	}
	profil_map_build(&chart->map, chart->order, chart->stack);
	return 0;
}

static bool chart_complain(const struct chart *chart, u64 pc, const char *what,
			   u64 want, u64 got)
{
	const struct question *question = &chart->question;
	u32 i;

	fprintf(stderr, "# pc 0x%llx, width %d, flags 0x%x: %s is %lld and not %lld\n",
	       pc, 1 << question->shift, question->flags, what, got, want);
	for (i = 0; i < question->nr; i++)
		fprintf(stderr, "#   region %u: size 0x%llx offset 0x%llx scale 0x%llx\n",
		       i, question->regions[i].size,
		       question->regions[i].offset, question->regions[i].scale);
	return false;
}

/* Check that the region and counter of one pc are those of the reference. */
bool chart_right_at(const struct chart *chart, u64 pc)
{
	u32 want = reference_find(&chart->question, pc);
	u32 got = profil_map_find(&chart->map, pc);
	u64 want_counter, got_counter;

	if (got != want)
		return chart_complain(chart, pc, "region", (s32)want, (s32)got);
	if (got == PROFIL_NO_REGION)
		return true;

	reference_counter(&chart->question, want, pc, &want_counter);
	got_counter = profil_map_index(&chart->map, got, pc);
	if (got_counter != want_counter)
		return chart_complain(chart, pc, "counter", want_counter,
				      got_counter);
	if (got_counter >= chart->map.counters[got].nr)
		return chart_complain(chart, pc, "number of counters",
				      got_counter + 1,
				      chart->map.counters[got].nr);
	return true;
}

/* Check @pc and the width of a counter before and after it. */
bool chart_right_around(const struct chart *chart, u64 pc)
{
	int i;

	for (i = -9; i <= 9; i++)
		if (!chart_right_at(chart, pc + i))
			return false;
	return true;
}

/* Check the arrays themselves, without looking up any pc. */
bool chart_sound(const struct chart *chart)
{
	const struct profil_map *map = &chart->map;
	u32 overflow = reference_overflow(&chart->question);
	u32 i;

	if (map->nr_regions != chart->question.nr)
		return chart_complain(chart, 0, "number of regions",
				      chart->question.nr, map->nr_regions);
	if (map->overflow != overflow)
		return chart_complain(chart, 0, "overflow bin", (s32)overflow,
				      (s32)map->overflow);
	if (!map->nr_segments || map->segments[0].start != 0 ||
	    map->nr_segments > profil_map_max_segments(map->nr_regions))
		return chart_complain(chart, 0, "number of segments", 1,
				      map->nr_segments);
	for (i = 1; i < map->nr_segments; i++)
		if (map->segments[i].start <= map->segments[i - 1].start)
			return chart_complain(chart, map->segments[i].start,
					      "segment out of order", 0, i);
	for (i = 0; i < map->nr_regions; i++) {
		u32 state = reference_state(&chart->question, i);

		if (map->counters[i].state != state)
			return chart_complain(chart, i, "state", state,
					      map->counters[i].state);
	}
	return true;
}
