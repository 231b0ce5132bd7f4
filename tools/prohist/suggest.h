/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * suggest.h - find names similar to a given one
 */
#ifndef SUGGEST_H
#define SUGGEST_H

#include "prohist/sum.h"

void suggest_nearest(const struct sum *sum, const char *wanted);

#endif /* SUGGEST_H */
