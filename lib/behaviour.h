/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * behaviour.h - in what the systems differ; internal to the library
 *
 * The calls are written once, profil_by() and sprofil_by(), and do what a
 * struct profil_behaviour says. The entry points merely name one.
 */
#ifndef PROFIL_BEHAVIOUR_H
#define PROFIL_BEHAVIOUR_H

#include <stdbool.h>
#include <stddef.h>

#include "profil.h"

/* Each system's differences, as indices of profil_behaviours. */
enum profil_system {
	PROFIL_DEFAULT,
	PROFIL_SVR4,
	PROFIL_BSD,
	PROFIL_IRIX,
	PROFIL_GLIBC
};

/**
 * enum profil_null - what profil() makes of a buffer that is NULL
 * @PROFIL_NULL_STOPS: the profile that runs is stopped
 * @PROFIL_NULL_FAULTS: the same, but that is EFAULT
 * @PROFIL_NULL_IS_BAD: as any other address at which nothing can be written
 */
enum profil_null {
	PROFIL_NULL_STOPS,
	PROFIL_NULL_FAULTS,
	PROFIL_NULL_IS_BAD
};

/**
 * struct profil_behaviour - how a system's profil() and sprofil() differ
 * @name: of the system, for those who choose it by name
 * @profil_flags: PROFIL_SET_* for profil()
 * @least_scale: profil() with less stops
 * @largest_scale: profil() with more is EINVAL, whatever the device takes
 * @null: profil() without a buffer
 * @sprofil_flags: PROFIL_SET_* for sprofil()
 * @none_stops: sprofil(NULL, 0) stops; else it is E2BIG
 * @of_16_bits: flag of sprofil() that asks for counters of 16 bits, or 0 if
 *	that is what one gets without
 * @of_32_bits: flag that asks for counters of 32 bits
 * @fast: flag that asks for a tick every millisecond
 */
struct profil_behaviour {
	const char *name;
	unsigned int profil_flags;
	unsigned int least_scale;
	unsigned int largest_scale;
	enum profil_null null;
	unsigned int sprofil_flags;
	bool none_stops;
	unsigned int of_16_bits;
	unsigned int of_32_bits;
	unsigned int fast;
};

extern const struct profil_behaviour profil_behaviours[];

const struct profil_behaviour *profil_behaviour_named(const char *name);

int profil_by(const struct profil_behaviour *how, unsigned short *buffer,
	      size_t size, size_t offset, unsigned int scale);
int sprofil_by(const struct profil_behaviour *how, struct prof *profp,
	       int profcnt, struct timeval *tvp, unsigned int flags);

#endif /* PROFIL_BEHAVIOUR_H */
