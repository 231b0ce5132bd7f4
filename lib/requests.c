// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * requests.c - requests of the device as functions
 *
 * For features that profil() and sprofil() lack. profil.h documents the functions,
 * <linux/profil.h> the structures.
 */
#include <stdint.h>

#include "device.h"
#include "fallback.h"

static void profil_report(struct profil_status *status,
			  struct profil_region_status *regions,
			  unsigned int max)
{
	status->regions = (uintptr_t)regions;
	status->max_regions = regions ? max : 0;
}

PROFIL_PUBLIC int profil_set(struct profil_set *set)
{
	int result = profil_device(PROFIL_IOC_SET, set);

	if (!result)
		fallback_off();
	return result;
}

PROFIL_PUBLIC int profil_stop(struct profil_status *last,
			      struct profil_region_status *regions,
			      unsigned int max)
{
	if (last)
		profil_report(last, regions, max);
	return profil_end(last);
}

PROFIL_PUBLIC int profil_status(struct profil_status *status,
				struct profil_region_status *regions,
				unsigned int max)
{
	profil_report(status, regions, max);
	return profil_ask(PROFIL_IOC_STATUS, status, fallback_is_on(),
			  fallback_status);
}

PROFIL_PUBLIC int profil_info(struct profil_info *info)
{
	return profil_ask(PROFIL_IOC_INFO, info,
			  fallback_is_on() || fallback_mode() == FALLBACK_ALWAYS,
			  fallback_info);
}
