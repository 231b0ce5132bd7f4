// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * device.c - requests to the device, or to user space in its place
 *
 * Keeps no descriptor between calls that the program could close or inherit by
 * accident, and no lock. This is possible because a profile belongs to the
 * address space, not to the descriptor. A watch does belong to its descriptor,
 * which is the caller's; see watch.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device.h"
#include "fallback.h"

/**
 * profil_open() - open the device
 *
 * Return: a descriptor, or -1 with errno.
 */
int profil_open(void)
{
	return syscall(SYS_openat, AT_FDCWD, PROFIL_DEVICE,
		       O_RDONLY | O_CLOEXEC);
}

/**
 * profil_close() - close the device, and leave errno alone
 * @fd: descriptor of profil_open()
 */
void profil_close(int fd)
{
	int error = errno;

	syscall(SYS_close, fd);
	errno = error;
}

/*
 * The kernel counts for this process, which fork() inherits, too. The device may
 * have become out of reach since: the program has given up rights, or its root.
 */
static atomic_bool profil_is_in_kernel;

/* Make a request and close the device. */
static int profil_request(int fd, unsigned long request, void *argument)
{
	int result = ioctl(fd, request, argument);

	if (!result && request == PROFIL_IOC_SET)
		profil_is_in_kernel = true;
	if (!result && request == PROFIL_IOC_STOP)
		profil_is_in_kernel = false;
	profil_close(fd);
	return result;
}

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
	int fd = profil_open();

	return fd < 0 ? -1 : profil_request(fd, request, argument);
}

/*
 * After profil_open() failed: is there no device, or is its module not loaded
 * (any more)?
 */
static bool profil_is_missing(void)
{
	return errno == ENOENT || errno == ENODEV || errno == ENXIO;
}

/* After profil_open() failed: count in user space, or answer for that? */
static bool profil_falls_back(void)
{
	return fallback_mode() != FALLBACK_NONE && !profil_is_in_kernel &&
	       (profil_is_missing() || errno == EACCES || errno == EPERM);
}

/*
 * Has a request ended the running profile, wherever that is counted? A buffer that
 * is not writable does, too (4.4BSD).
 */
static bool profil_has_ended(int result, const struct profil_set *set)
{
	return !result || (errno == EFAULT && set->flags & PROFIL_SET_CHECK);
}

/**
 * profil_start() - start a profile, in user space where there is no device
 * @set: request of profil(), sprofil() or the -pg bridge
 *
 * The profile replaces the running one, wherever that is counted.
 *
 * Return: 0, or -1 with errno.
 */
int profil_start(struct profil_set *set)
{
	bool always = fallback_mode() == FALLBACK_ALWAYS;
	int saved = errno;
	int result;
	int fd;

	fd = always ? -1 : profil_open();
	if (fd >= 0) {
		result = profil_request(fd, PROFIL_IOC_SET, set);
		if (profil_has_ended(result, set))
			fallback_off();
		return result;
	}
	if (!always && !profil_falls_back())
		return -1;
	errno = saved;
	result = fallback_set(set);
	if (always && profil_has_ended(result, set)) {
		saved = errno;
		profil_device(PROFIL_IOC_STOP, NULL);
		errno = saved;
	}
	return result;
}

/**
 * profil_end() - stop the profile, if there is one
 * @last: receives the last status of the profile; may be NULL
 *
 * Without a device there is none but the one that is counted in user space, unless
 * the library has started one.
 *
 * Return: 0, or -1 with errno. If there was no profile 0, and the numbers in @last
 * are zero.
 */
int profil_end(struct profil_status *last)
{
	int saved = errno;

	if (!fallback_is_on()) {
		if (!profil_device(PROFIL_IOC_STOP, last))
			return 0;
		if (profil_is_in_kernel ||
		    (!profil_is_missing() && !profil_falls_back()))
			return -1;
		errno = saved;
	}
	return fallback_stop(last);
}

/**
 * profil_ask() - request information, also about profiles in user space
 * @request: PROFIL_IOC_STATUS or PROFIL_IOC_INFO
 * @argument: its argument
 * @user: the answer is that of user space, even if there is a device
 * @fallback: the request in user space
 *
 * Return: 0, or -1 with errno.
 */
int profil_ask(unsigned long request, void *argument, bool user,
	       int (*fallback)(void *argument))
{
	int saved = errno;
	int fd;

	if (!user) {
		fd = profil_open();
		if (fd >= 0)
			return profil_request(fd, request, argument);
		if (!profil_falls_back())
			return -1;
		errno = saved;
	}
	return fallback(argument);
}
