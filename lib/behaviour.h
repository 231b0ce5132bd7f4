/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * behaviour.h - how the systems differ; internal to the library
 *
 * profil_by() and sprofil_by() implement the calls for all systems; a struct
 * profil_behaviour describes the differences. Each entry point just selects
 * one.
 */
#ifndef PROFIL_BEHAVIOUR_H
#define PROFIL_BEHAVIOUR_H

#include <stdbool.h>
#include <stddef.h>

#include "profil.h"

/* Indices of profil_behaviours. */
enum profil_system {
	PROFIL_DEFAULT,
	PROFIL_SVR4,
	PROFIL_BSD,
	PROFIL_IRIX,
	PROFIL_GLIBC,
	PROFIL_LINUX099
};

/**
 * enum profil_null - effect of a NULL buffer on profil()
 * @PROFIL_NULL_STOPS: stop the running profile
 * @PROFIL_NULL_FAULTS: stop the running profile and fail with EFAULT
 * @PROFIL_NULL_IS_BAD: treat it like any other address that is not writable
 */
enum profil_null {
	PROFIL_NULL_STOPS,
	PROFIL_NULL_FAULTS,
	PROFIL_NULL_IS_BAD
};

/**
 * struct profil_behaviour - how a system's profil() and sprofil() differ
 * @name: name of the system, for PROFIL_BEHAVIOUR
 * @profil_flags: PROFIL_SET_* for profil()
 * @least_scale: a smaller scale makes profil() stop the profile
 * @largest_scale: a larger scale makes profil() fail with EINVAL, even if the
 *	device accepts it
 * @null: effect of a NULL buffer on profil()
 * @empty_stops: a @size of 0 makes profil() stop the profile
 * @never_fails: profil() returns 0, whatever happens
 * @sprofil_flags: PROFIL_SET_* for sprofil()
 * @none_stops: sprofil(NULL, 0) stops the profile; else it fails with E2BIG
 * @of_16_bits: flag of sprofil() for 16-bit counters; 0 if they are the default
 * @of_32_bits: flag of sprofil() for 32-bit counters
 * @fast: flag of sprofil() for a tick every millisecond
 */
struct profil_behaviour {
	const char *name;
	unsigned int profil_flags;
	unsigned int least_scale;
	unsigned int largest_scale;
	enum profil_null null;
	bool empty_stops;
	bool never_fails;
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
