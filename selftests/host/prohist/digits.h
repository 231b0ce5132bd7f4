/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * digits.h - convert a build ID from hexadecimal digits
 */
#ifndef DIGITS_H
#define DIGITS_H

#include <stdio.h>

#include <prf/prf.h>

static inline void read_build_id(struct prf_dso *dso, const char *digits)
{
	unsigned int byte;

	while (dso->build_id_len < PRF_BUILD_ID &&
	       sscanf(digits, "%2x", &byte) == 1) {
		dso->build_id[dso->build_id_len++] = byte;
		digits += 2;
	}
}

#endif /* DIGITS_H */
