/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bin.h - adding to a counter in user memory
 */
#ifndef PROFIL_BIN_H
#define PROFIL_BIN_H

#include <linux/types.h>

/* Returned when the counter has reached its end. */
#define PROFIL_BIN_FULL	1

int profil_bin_add(unsigned long addr, unsigned int width, u32 max, u32 nr,
		   u64 *clipped);
int profil_bin_touch(unsigned long addr);

#endif /* PROFIL_BIN_H */
