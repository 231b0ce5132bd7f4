// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * watch.c - requests of watches
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "device.h"

/**
 * profil_watch_open() - start a watch: count the ticks of other processes
 * @watch: request, with every member set; receives what the kernel has used
 *
 * Return: a descriptor, or -1 with errno from open(2), or one of those listed
 * at struct profil_watch.
 */
PROFIL_PUBLIC int profil_watch_open(struct profil_watch *watch)
{
	int fd = profil_open();

	if (fd < 0 || !ioctl(fd, PROFIL_IOC_WATCH, watch))
		return fd;
	profil_close(fd);
	return -1;
}

/**
 * profil_watch_status() - read the stats of a watch
 * @fd: descriptor of profil_watch_open()
 * @status: receives the stats
 *
 * Return: 0, or -1 with errno.
 */
PROFIL_PUBLIC int profil_watch_status(int fd,
				      struct profil_watch_status *status)
{
	return ioctl(fd, PROFIL_IOC_WATCH_STATUS, status);
}

/**
 * profil_watch_stop() - stop a watch, and read its last stats
 * @fd: descriptor of profil_watch_open()
 * @last: receives the stats, or NULL
 *
 * Return: 0, or -1 with errno.
 */
PROFIL_PUBLIC int profil_watch_stop(int fd, struct profil_watch_status *last)
{
	return ioctl(fd, PROFIL_IOC_WATCH_STOP, last);
}

/**
 * profil_watch_unwind() - load a table of callers for a file
 * @fd: descriptor of profil_watch_open()
 * @file: descriptor of the file; -1 for the vDSO
 * @table: the table
 * @bytes: its length
 *
 * Return: 0, or -1 with errno, see struct profil_watch_unwind.
 */
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
