// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * profil.c - profil(2) of all systems
 *
 * Profiles one region with 16-bit counters. PROFIL_SET_CHECK makes the device
 * check the buffer, as 4.4BSD does.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "behaviour.h"
#include "device.h"

static int profil_stop_for_null(const struct profil_behaviour *how)
{
	if (profil_end(NULL))
		return -1;
	if (how->null == PROFIL_NULL_STOPS)
		return 0;
	errno = EFAULT;
	return -1;
}

static int profil_try(const struct profil_behaviour *how,
		      unsigned short *buffer, size_t size, size_t offset,
		      unsigned int scale)
{
	struct profil_region region = {
		.base = (uintptr_t)buffer,
		.size = size,
		.offset = offset,
		.scale = scale,
	};
	struct profil_set set = {
		.size = sizeof(set),
		.flags = how->profil_flags,
		.width = sizeof(*buffer),
		.nr_regions = 1,
		.regions = (uintptr_t)&region,
	};

	if (scale > how->largest_scale) {
		errno = EINVAL;
		return -1;
	}
	if (scale < how->least_scale || (how->empty_stops && !size))
		return profil_end(NULL);
	if (!buffer && how->null != PROFIL_NULL_IS_BAD)
		return profil_stop_for_null(how);
	return profil_start(&set);
}

/**
 * profil_by() - profil() with the behaviour of a system
 * @how: the behaviour
 * @buffer: 16-bit counters
 * @size: size of @buffer, in bytes
 * @offset: lowest program counter to profile
 * @scale: 16.16 fixed-point ratio of counters to text
 *
 * Return: 0, or -1 with errno.
 */
int profil_by(const struct profil_behaviour *how, unsigned short *buffer,
	      size_t size, size_t offset, unsigned int scale)
{
	int result = profil_try(how, buffer, size, offset, scale);

	return how->never_fails ? 0 : result;
}
