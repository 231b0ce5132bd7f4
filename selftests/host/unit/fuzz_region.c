// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_region.c - fuzz regions and program counters
 *
 * Aborts if module/region.c and the reference differ, or if a sanitizer finds
 * an error. The input is a header, regions and program counters.
 */
#include <stdlib.h>

#include "chart.h"
#include "input.h"

#define MOST_REGIONS	24

/*
 * Random 64-bit numbers are hardly ever close to each other. So the input has a
 * mode that makes them small, or close to the end of the address space.
 */
static u64 take_address(struct input *input, u32 mode)
{
	switch (mode & 3) {
	case 0:
		return take(input, 1);
	case 1:
		return U64_MAX - take(input, 1);
	case 2:
		return take(input, 3);
	default:
		return take(input, 8);
	}
}

static void take_region(struct input *input, u32 shift,
			struct profil_region *region)
{
	u32 mode = take(input, 1);

	region->base = take(input, 2) << shift;
	region->offset = take_address(input, mode);
	region->size = take_address(input, mode >> 2);
	region->scale = mode & 16 ? take(input, 3) : 65536ULL << shift;
	if (region->scale > 65536ULL << shift && !(mode & 32))
		region->scale &= 0xffff;
}

static void check(const struct chart *chart, struct input *input, u32 mode)
{
	const struct question *question = &chart->question;
	u32 i;

	if (!chart_sound(chart))
		abort();
	for (i = 0; i < question->nr; i++) {
		if (!chart_right_around(chart, question->regions[i].offset))
			abort();
		if (reference_state(question, i) == PROFIL_REGION_ON &&
		    !chart_right_around(chart, reference_last(question, i)))
			abort();
	}
	while (input->size)
		if (!chart_right_at(chart, take_address(input, mode)))
			abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input input = { .data = data, .size = size };
	struct profil_region regions[MOST_REGIONS];
	struct chart chart;
	u32 flags = take(&input, 1);
	u32 shift = 1 + take(&input, 1) % 3;
	u32 mode = take(&input, 1);
	u32 nr = take(&input, 1) % (MOST_REGIONS + 1);
	u32 i;

	for (i = 0; i < nr; i++)
		take_region(&input, shift, &regions[i]);
	chart_init(&chart, nr);
	if (!chart_make(&chart, flags, shift, regions))
		check(&chart, &input, mode);
	chart_free(&chart);
	return 0;
}
