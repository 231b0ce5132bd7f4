/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nearest.h - names that may have been meant
 */
#ifndef NEAREST_H
#define NEAREST_H

#include "sum.h"

#define NEAREST	4

size_t nearest(const struct sum *sum, const char *wanted,
	       const char *found[NEAREST]);

#endif /* NEAREST_H */
