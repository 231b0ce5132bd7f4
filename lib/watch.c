// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * watch.c - requests of watches, which profil.h documents
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "device.h"

PROFIL_PUBLIC int profil_watch_open(struct profil_watch *watch)
{
	int fd = profil_open();

	if (fd < 0 || !ioctl(fd, PROFIL_IOC_WATCH, watch))
		return fd;
	profil_close(fd);
	return -1;
}

PROFIL_PUBLIC int profil_watch_status(int fd,
				      struct profil_watch_status *status)
{
	return ioctl(fd, PROFIL_IOC_WATCH_STATUS, status);
}

PROFIL_PUBLIC int profil_watch_stop(int fd, struct profil_watch_status *last)
{
	return ioctl(fd, PROFIL_IOC_WATCH_STOP, last);
}

PROFIL_PUBLIC int profil_watch_collect(int fd,
				       struct profil_watch_status *status)
{
	return ioctl(fd, PROFIL_IOC_WATCH_COLLECT, status);
}

PROFIL_PUBLIC int profil_watch_unwind(int fd, int file, const void *table,
				      size_t bytes)
{
	struct profil_watch_unwind unwind = {
		.size = sizeof(unwind),
		.fd = file,
		.table = (uintptr_t)table,
		.bytes = bytes,
	};

	return ioctl(fd, PROFIL_IOC_WATCH_UNWIND, &unwind);
}
