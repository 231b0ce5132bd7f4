// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * behaviour.c - how the systems differ
 *
 * The columns of the table in Documentation/contract.rst, one for each system.
 * Features that a system lacks, or that its manual page does not describe, work
 * as by default.
 */
#include <limits.h>
#include <string.h>

#include "behaviour.h"

/* sprofil() with the flags of the C library, and its way to stop. */
#define SPROFIL_BY_DEFAULT \
	.none_stops = true, \
	.of_16_bits = PROF_USHORT, \
	.of_32_bits = PROF_UINT, \
	.fast = PROF_FAST

const struct profil_behaviour profil_behaviours[] = {
	[PROFIL_DEFAULT] = {
		.name = "",
		.profil_flags = PROFIL_SET_CHECK,
		.least_scale = 2,
		.largest_scale = UINT_MAX,
		.null = PROFIL_NULL_STOPS,
		SPROFIL_BY_DEFAULT,
	},
	[PROFIL_SVR4] = {
		.name = "svr4",
		.profil_flags = PROFIL_SET_SVR4_ARITH | PROFIL_SET_SVR4_STOP |
				PROFIL_SET_NO_OVERFLOW,
		.least_scale = 2,
		.largest_scale = UINT_MAX,
		.null = PROFIL_NULL_IS_BAD,
		SPROFIL_BY_DEFAULT,
	},
	[PROFIL_BSD] = {
		.name = "bsd",
		.profil_flags = PROFIL_SET_CHECK | PROFIL_SET_SCALE_ONE |
				PROFIL_SET_NO_OVERFLOW,
		.least_scale = 1,
		.largest_scale = 65536,
		.null = PROFIL_NULL_FAULTS,
		SPROFIL_BY_DEFAULT,
	},
	[PROFIL_IRIX] = {
		.name = "irix",
		.least_scale = 2,
		.largest_scale = UINT_MAX,
		.null = PROFIL_NULL_IS_BAD,
		.of_16_bits = PROFIL_IRIX_USHORT,
		.of_32_bits = PROFIL_IRIX_UINT,
		.fast = PROFIL_IRIX_FAST,
	},
	[PROFIL_GLIBC] = {
		.name = "glibc",
		.profil_flags = PROFIL_SET_CHECK,
		.least_scale = 2,
		.largest_scale = UINT_MAX,
		.null = PROFIL_NULL_STOPS,
		.sprofil_flags = PROFIL_SET_OVERFLOW_ANYWHERE,
		SPROFIL_BY_DEFAULT,
	},
	[PROFIL_LINUX099] = {
		.name = "linux099",
		.profil_flags = PROFIL_SET_SVR4_ARITH | PROFIL_SET_NO_OVERFLOW |
				PROFIL_SET_USER_ONLY,
		.least_scale = 2,
		.largest_scale = UINT_MAX,
		.null = PROFIL_NULL_IS_BAD,
		.empty_stops = true,
		.never_fails = true,
		SPROFIL_BY_DEFAULT,
	},
};

/**
 * profil_behaviour_named() - find the behaviour of a system by name
 * @name: name from the user; NULL or empty is the default
 *
 * Return: the behaviour, or NULL if the name is unknown.
 */
const struct profil_behaviour *profil_behaviour_named(const char *name)
{
	size_t i;

	for (i = 0; i <= PROFIL_LINUX099; i++)
		if (!strcmp(profil_behaviours[i].name, name ? name : ""))
			return &profil_behaviours[i];
	return NULL;
}
