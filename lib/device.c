// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * device.c - one request to the device
 *
 * Keeps nothing between calls: no descriptor for the program to close by
 * accident or to inherit, no memory, no lock. That a profile belongs to the
 * address space, and not to the descriptor, makes it possible.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device.h"

/**
 * profil_device() - open, request, close
 * @request: PROFIL_IOC_*
 * @argument: of the request
 *
 * open() and close() are cancellation points, which profil() never was: a
 * thread that is cancelled between them would leave the descriptor behind.
 * Hence the plain system calls.
 *
 * Return: 0, or -1 with errno of the open or of the request.
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

/* The device was never there, or its module is not loaded (any more). */
static bool profil_device_missing(void)
{
	return errno == ENOENT || errno == ENODEV || errno == ENXIO;
}

/**
 * profil_device_stop() - stop, if there is anything to be stopped
 * @last: as for PROFIL_IOC_STOP; may be NULL
 *
 * A profile holds the module in the kernel, so where there is no device there
 * is no profile.
 *
 * Return: 0, or -1 with errno. Without a device 0, and @last is all zeros: the
 * profile is off.
 */
int profil_device_stop(struct profil_status *last)
{
	int saved = errno;

	if (!profil_device(PROFIL_IOC_STOP, last))
		return 0;
	if (!profil_device_missing())
		return -1;
	if (last && last->size < sizeof(*last)) {
		errno = EINVAL;
		return -1;
	}
	if (last)
		memset(&last->state, 0, last->size - sizeof(last->size));
	errno = saved;
	return 0;
}
