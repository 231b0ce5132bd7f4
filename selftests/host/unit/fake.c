// SPDX-License-Identifier: GPL-2.0-only
/*
 * fake.c - a fake device that records requests
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "fake.h"

/* Not a descriptor of the process: any real system call gets EBADF. */
#define FAKE_FD		100000

struct fake fake;

long __real_syscall(long number, ...);

static long fake_open(va_list arguments)
{
	int at = va_arg(arguments, int);
	const char *path = va_arg(arguments, const char *);
	int flags = va_arg(arguments, int);

	fake.open_right = at == AT_FDCWD && !strcmp(path, "/dev/profil") &&
		flags == (O_RDONLY | O_CLOEXEC);
	if (fake.open_errno) {
		errno = fake.open_errno;
		return -1;
	}
	fake.opened++;
	return FAKE_FD;
}

/* The worst close(): it fails and changes errno. */
static long fake_close(va_list arguments)
{
	fake.closed += va_arg(arguments, int) == FAKE_FD;
	errno = EIO;
	return -1;
}

/* What is no matter of the device: the library reads the caller's memory. */
static long pass_on(long number, va_list arguments)
{
	long argument[6];
	int i;

	for (i = 0; i < 6; i++)
		argument[i] = va_arg(arguments, long);
	return __real_syscall(number, argument[0], argument[1], argument[2],
			      argument[3], argument[4], argument[5]);
}

long __wrap_syscall(long number, ...)
{
	va_list arguments;
	long result = -1;

	va_start(arguments, number);
	if (number == SYS_openat)
		result = fake_open(arguments);
	else if (number == SYS_close)
		result = fake_close(arguments);
	else
		result = pass_on(number, arguments);
	va_end(arguments);
	return result;
}

static void fake_set(void)
{
	unsigned int nr;

	fake.set = *(struct profil_set *)fake.argument;
	nr = fake.set.nr_regions;
	if (!fake.set.regions || nr > FAKE_REGIONS)
		return;
	memcpy(fake.regions, (void *)(uintptr_t)fake.set.regions,
	       nr * sizeof(fake.regions[0]));
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list arguments;

	va_start(arguments, request);
	fake.argument = va_arg(arguments, void *);
	va_end(arguments);
	if (fd != FAKE_FD) {
		errno = EBADF;
		return -1;
	}
	fake.requests++;
	fake.request = request;
	if (fake.ioctl_errno) {
		errno = fake.ioctl_errno;
		return -1;
	}
	if (request == PROFIL_IOC_SET)
		fake_set();
	if (request == PROFIL_IOC_INFO)
		((struct profil_info *)fake.argument)->max_regions =
			fake.max_regions;
	return 0;
}
