// SPDX-License-Identifier: GPL-2.0-only
/*
 * pg_full.c - a program whose counters are all one tick short of full
 *
 * Linked with the archive, and so able to use symbols that the library does not
 * export. Exit status: 0 if ticks came and no counter has wrapped.
 */
#include <gmon.h>

#include "pg_burn.h"

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
	for (i = 0; i < gmon->nr_counters; i++)
		gmon->counters[i] = UINT16_MAX - 1;
	spin();
	moncontrol(0);
	for (i = 0; i < gmon->nr_counters; i++) {
		if (gmon->counters[i] < UINT16_MAX - 1)
			return 2;
		full += gmon->counters[i] == UINT16_MAX;
	}
	return full ? 0 : 3;
}
