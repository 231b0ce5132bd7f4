// SPDX-License-Identifier: GPL-2.0-only
/*
 * full.c - a program whose counters are all full but one tick
 *
 * Linked with the archive, and so within reach of what is not exported. Exit
 * status: 0 if ticks came and no counter has wrapped.
 */
#include <gmon.h>

#include "burn.h"

PLAIN void spin(void)
{
	burn(300000000);
}

int main(void)
{
	struct gmon *gmon = gmon_counting;
	size_t i, full = 0;

	if (!gmon || !gmon->on)
		return 1;
	for (i = 0; i < gmon->nr_bins; i++)
		gmon->bins[i] = UINT16_MAX - 1;
	spin();
	moncontrol(0);
	for (i = 0; i < gmon->nr_bins; i++) {
		if (gmon->bins[i] < UINT16_MAX - 1)
			return 2;
		full += gmon->bins[i] == UINT16_MAX;
	}
	return full ? 0 : 3;
}
