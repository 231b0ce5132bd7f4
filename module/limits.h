/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * limits.h - what the administrator allows: the module parameters
 */
#ifndef PROFIL_LIMITS_H
#define PROFIL_LIMITS_H

#include <linux/types.h>

/* System V, 4.4BSD and IRIX: the clock tick, and IRIX's PROF_FAST. */
#define PROFIL_DEFAULT_PERIOD_NS	10000000
#define PROFIL_FAST_PERIOD_NS		1000000
#define PROFIL_MAX_PERIOD_NS		1000000000

/**
 * struct profil_limits - may change at any time; read with READ_ONCE()
 * @max_regions: regions of a profile
 * @max_profiles: profiles of a user at a time
 * @min_period_us: shortest period
 * @restrict_fastprof: no periods shorter than the default (IRIX)
 */
struct profil_limits {
	unsigned int max_regions;
	unsigned int max_profiles;
	unsigned int min_period_us;
	bool restrict_fastprof;
};

extern struct profil_limits profil_limits;

#endif /* PROFIL_LIMITS_H */
