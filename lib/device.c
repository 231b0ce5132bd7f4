// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * device.c - requests to the device
 *
 * Keeps nothing between calls: no descriptor that the program could close or
 * inherit by accident, no memory, no lock. This is possible because a profile
 * belongs to the address space, not to the descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device.h"

/**
 * profil_device() - open the device, make a request, close the device
 * @request: PROFIL_IOC_*
 * @argument: argument of the request
 *
 * Makes plain system calls, since open() and close() are cancellation points,
 * which profil() never was: a thread cancelled between them would leak the
 * descriptor.
 *
 * Return: 0, or -1 with errno from the open or the request.
 */
int profil_device(unsigned long request, void *argument)
{
	int fd = syscall(SYS_openat, AT_FDCWD, PROFIL_DEVICE,
			 O_RDONLY | O_CLOEXEC);
	int result, error;

	if (fd < 0)
		return -1;
	result = ioctl(fd, request, argument);
	error = errno;
	syscall(SYS_close, fd);
	errno = error;
	return result;
}

/* Is there no device, or is its module not loaded (any more)? */
static bool profil_device_missing(void)
{
	return errno == ENOENT || errno == ENODEV || errno == ENXIO;
}

/*
 * Clear a status as the kernel does if there is no profile. Returns 0, or a
 * negative errno with @status unchanged.
 */
static int profil_clear(struct profil_status *status)
{
	const char *excess = (const char *)(status + 1);
	const char *end = (const char *)status + status->size;

	if (status->size < sizeof(*status))
		return -EINVAL;
	if (status->size > (unsigned int)getpagesize())
		return -E2BIG;
	while (excess < end)
		if (*excess++)
			return -E2BIG;
	memset(&status->state, 0,
	       status->size - offsetof(struct profil_status, state));
	return 0;
}

/**
 * profil_device_stop() - stop the profile, if there is one
 * @last: receives the last status of the profile; may be NULL
 *
 * A profile keeps the module loaded, so without a device there is no profile.
 *
 * Return: 0, or -1 with errno. Without a device 0, and all of @last but its
 * size is zero: the profile is off.
 */
int profil_device_stop(struct profil_status *last)
{
	int saved = errno;
	int err;

	if (!profil_device(PROFIL_IOC_STOP, last))
		return 0;
	if (!profil_device_missing())
		return -1;
	err = last ? profil_clear(last) : 0;
	errno = err ? -err : saved;
	return err ? -1 : 0;
}
