// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * profil.c - profil(2)
 *
 * One region of 16-bit counters. Relies on PROFIL_SET_CHECK of the device for
 * what 4.4BSD says of a buffer that is not writable.
 *
 * Must not see <unistd.h>: the C library declares the buffer as never NULL
 * there, and the compiler would take out the question whether it is.
 */
#include <stddef.h>
#include <stdint.h>

#include "device.h"

/**
 * profil() - start, replace or stop an execution time profile
 * @buffer: 16-bit counters; NULL stops
 * @size: bytes of @buffer; less than 2: no tick is counted
 * @offset: lowest program counter that is profiled
 * @scale: 16.16 fixed-point ratio of 16-bit counters to pairs of bytes of
 *	text: 65536 has one counter for two bytes of text, 2 one for 64 KiB.
 *	0 and 1 stop. Up to 131072
 *
 * A tick comes every 10 ms of CPU time on average. To stop is to look at no
 * other argument. When the call returns, the counters of an earlier profile
 * are not written any more (SVR4, 4.4BSD).
 *
 * Return: 0, or -1 with errno EFAULT if @buffer is not writable memory; the
 * profile that was running is then stopped (4.4BSD). EINVAL if @scale is too
 * large or @buffer is at an odd address, EAGAIN or ENOMEM as for
 * PROFIL_IOC_SET; the profile that was running goes on.
 */
PROFIL_PUBLIC int profil(unsigned short *buffer, size_t size, size_t offset,
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
		.flags = PROFIL_SET_CHECK,
		.width = sizeof(*buffer),
		.nr_regions = 1,
		.regions = (uintptr_t)&region,
	};

	if (!buffer || scale < 2)
		return profil_device_stop(NULL);
	return profil_device(PROFIL_IOC_SET, &set);
}
