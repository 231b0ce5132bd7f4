/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * digits.h - a build-id as it is written in words
 */
#ifndef DIGITS_H
#define DIGITS_H

#include <stdio.h>

#include <prf.h>

static inline void read_build_id(struct prf_object *object, const char *digits)
{
	unsigned int byte;

	while (object->build_id_len < PRF_BUILD_ID &&
	       sscanf(digits, "%2x", &byte) == 1) {
		object->build_id[object->build_id_len++] = byte;
		digits += 2;
	}
}

#endif /* DIGITS_H */
