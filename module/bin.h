/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bin.h - adding to a counter in user memory
 */
#ifndef PROFIL_BIN_H
#define PROFIL_BIN_H

#include <linux/types.h>

/* Returned when the counter has reached its end. */
#define PROFIL_BIN_FULL	1

/**
 * struct profil_added - what became of ticks; fits into registers
 * @err: 0 or PROFIL_BIN_FULL, or a negative error: the counter is unchanged
 * @clipped: how many of the ticks found the counter full
 */
struct profil_added {
	int err;
	u32 clipped;
};

struct profil_added profil_bin_add(unsigned long addr, unsigned int width,
				   u32 max, u32 nr);
int profil_bin_touch(unsigned long addr);

#endif /* PROFIL_BIN_H */
