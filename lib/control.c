// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * control.c - the requests of the device as functions
 *
 * For what profil() and sprofil() cannot say. What each structure means is
 * told in <linux/profil.h>.
 */
#include <stdint.h>

#include "device.h"

static void profil_report(struct profil_status *status,
			  struct profil_region_status *regions,
			  unsigned int max)
{
	status->regions = (uintptr_t)regions;
	status->max_regions = regions ? max : 0;
}

/**
 * profil_set() - start a profile, or replace the one that runs
 * @set: every member set by the caller. On success its period_ns is the true
 *	mean time between ticks, in nanoseconds of CPU time
 *
 * Reaches other periods, 64-bit counters and the behaviour of other systems.
 *
 * Return: 0, or -1 with errno as listed at struct profil_set.
 */
PROFIL_PUBLIC int profil_set(struct profil_set *set)
{
	return profil_device(PROFIL_IOC_SET, set);
}

/**
 * profil_stop() - stop the profile, and learn what became of it
 * @last: receives the last numbers of what was stopped, or NULL; all zeros,
 *	state PROFIL_STATE_OFF, if there was nothing
 * @regions: receives those of each region, or NULL
 * @max: room of @regions, in regions
 *
 * @regions is not looked at if @last is NULL. When the call returns, the
 * counters are not written any more and may be freed.
 *
 * Return: 0, also if there was no profile or there is no device, or -1 with
 * errno EINVAL if the size of @last is not set, EFAULT if @last or @regions is
 * not writable.
 */
PROFIL_PUBLIC int profil_stop(struct profil_status *last,
			      struct profil_region_status *regions,
			      unsigned int max)
{
	if (last)
		profil_report(last, regions, max);
	return profil_device_stop(last);
}

/**
 * profil_status() - how the profile is doing
 * @status: receives the numbers of the whole
 * @regions: receives those of each region, or NULL
 * @max: room of @regions, in regions; status->nr_regions tells how many there
 *	are, and at most @max have been written
 *
 * Return: 0, or -1 with errno EINVAL if the size of @status is not set, EFAULT
 * if @status or @regions is not writable.
 */
PROFIL_PUBLIC int profil_status(struct profil_status *status,
				struct profil_region_status *regions,
				unsigned int max)
{
	profil_report(status, regions, max);
	return profil_device(PROFIL_IOC_STATUS, status);
}

/**
 * profil_info() - features and limits of the device
 * @info: receives them
 *
 * Return: 0, or -1 with errno EINVAL if the size of @info is not set, EFAULT
 * if @info is not writable.
 */
PROFIL_PUBLIC int profil_info(struct profil_info *info)
{
	return profil_device(PROFIL_IOC_INFO, info);
}
