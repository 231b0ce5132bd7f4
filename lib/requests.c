// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * requests.c - requests of the device as functions
 *
 * For features that profil() and sprofil() lack. <linux/profil.h> describes the
 * structures.
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

/**
 * profil_set() - start a profile, or replace the running one
 * @set: request, with every member set; on success period_ns is the actual mean
 *	time between ticks, in nanoseconds of CPU time
 *
 * Allows other periods, 64-bit counters and the behaviour of other systems.
 *
 * Return: 0, or -1 with one of the errnos listed at struct profil_set.
 */
PROFIL_PUBLIC int profil_set(struct profil_set *set)
{
	int result = profil_device(PROFIL_IOC_SET, set);

	if (!result)
		fallback_off();
	return result;
}

/**
 * profil_stop() - stop the profile and get its last status
 * @last: receives the last status of the profile, or NULL; all zeros, with
 *	state PROFIL_STATE_OFF, if there was no profile
 * @regions: receives the last status of each region, or NULL
 * @max: maximum number of elements to write to @regions
 *
 * If @last is NULL, @regions is ignored. After the call returns, the counters
 * are no longer written and may be freed.
 *
 * Return: 0, also if there was no profile or there is no device; -1 with errno
 * EINVAL if the size of @last is not set, EFAULT if @last or @regions is not
 * writable.
 */
PROFIL_PUBLIC int profil_stop(struct profil_status *last,
			      struct profil_region_status *regions,
			      unsigned int max)
{
	if (last)
		profil_report(last, regions, max);
	return profil_end(last);
}

/**
 * profil_status() - get the status of the running profile
 * @status: receives the status of the profile; nr_regions is the number of its
 *	regions, of which at most @max are written
 * @regions: receives the status of each region, or NULL
 * @max: maximum number of elements to write to @regions
 *
 * Return: 0, or -1 with errno EINVAL if the size of @status is not set, EFAULT
 * if @status or @regions is not writable.
 */
PROFIL_PUBLIC int profil_status(struct profil_status *status,
				struct profil_region_status *regions,
				unsigned int max)
{
	profil_report(status, regions, max);
	return profil_ask(PROFIL_IOC_STATUS, status, fallback_is_on(),
			  fallback_status);
}

/**
 * profil_info() - get features and limits of the device, or of user space
 * @info: receives features and limits
 *
 * Return: 0, or -1 with errno EINVAL if the size of @info is not set, EFAULT
 * if @info is not writable.
 */
PROFIL_PUBLIC int profil_info(struct profil_info *info)
{
	return profil_ask(PROFIL_IOC_INFO, info,
			  fallback_is_on() || fallback_mode() == FALLBACK_ALWAYS,
			  fallback_info);
}
