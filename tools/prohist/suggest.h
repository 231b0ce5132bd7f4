/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * suggest.h - find names similar to a given one
 */
#ifndef SUGGEST_H
#define SUGGEST_H

#include "prohist/aggregate.h"

#define NEAREST	4

size_t nearest(const struct sum *sum, const char *wanted,
	       const char *found[NEAREST]);

#endif /* SUGGEST_H */
