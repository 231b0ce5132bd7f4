// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_library.c - fuzz the functions of the library, and the device's results
 *
 * Aborts if a request is not the one that Documentation/contract.rst specifies
 * for the arguments, if the library leaves a descriptor open, or if a sanitizer
 * finds an error. The device is that of fake.c. The input is a sequence of
 * calls, each a letter and its arguments.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <profil.h>

#include "fake.h"
#include "input.h"

#define UNTOUCHED	4711
#define NO_REQUEST	0UL

/* <unistd.h> declares the buffer as never NULL, and the compiler may warn. */
static int (*profil_function)(unsigned short *buffer, size_t size,
			      size_t offset, unsigned int scale) = profil;

/* Result of the next request: one of these, or any error number. */
static const int errors[] = {
	0, 0, 0, 0, ENOENT, ENODEV, ENXIO, EMFILE, EACCES, EFAULT, EINVAL,
	E2BIG, EAGAIN, ENOMEM,
};

#define NR_ERRORS	(sizeof(errors) / sizeof(errors[0]))

static int take_error(struct input *input)
{
	unsigned int which = take(input, 1) % (NR_ERRORS + 1);

	return which < NR_ERRORS ? errors[which] : 1 + take(input, 1);
}

static void prepare(struct input *input)
{
	memset(&fake, 0, sizeof(fake));
	fake.max_regions = 4096;
	fake.open_errno = take_error(input);
	fake.ioctl_errno = take_error(input);
	errno = UNTOUCHED;
}

static void demand(bool condition)
{
	if (!condition)
		abort();
}

/* Check the result of a call, and that it made the right request. */
static void check_call(int result, unsigned long request, int error)
{
	demand(fake.opened == fake.closed);
	demand(!fake.opened || fake.open_right);
	demand(result == (error ? -1 : 0));
	demand(errno == (error ? error : UNTOUCHED));
	if (request == NO_REQUEST || fake.open_errno) {
		demand(!fake.requests);
		return;
	}
	demand(fake.requests == 1);
	demand(fake.request == request);
}

static int device_error(void)
{
	return fake.open_errno ? fake.open_errno : fake.ioctl_errno;
}

static bool is_missing(int error)
{
	return error == ENOENT || error == ENODEV || error == ENXIO;
}

/* The library has begun a profile of the device, and has not stopped it. */
static bool is_in_kernel;

/* Without a device a stop succeeds if there can be no profile. */
static void check_stop(int result)
{
	int error = device_error();

	if (is_missing(error) && !is_in_kernel)
		error = 0;
	check_call(result, PROFIL_IOC_STOP, error);
	demand(!fake.requests || !fake.argument);
	is_in_kernel = is_in_kernel && error;
}

/* Check a request of profil() or sprofil(), except for its regions. */
static void check_set(const struct profil_set *expected)
{
	struct profil_set set = fake.set;

	if (device_error())
		return;
	is_in_kernel = true;
	set.regions = expected->regions;
	demand(!memcmp(&set, expected, sizeof(set)));
}

static void call_profil(struct input *input)
{
	struct profil_region region = {
		.base = take(input, take(input, 1) & 1 ? 8 : 0),
		.size = take(input, 8),
		.offset = take(input, 8),
		.scale = take(input, take(input, 1) & 1 ? 1 : 4),
	};
	struct profil_set expected = {
		.size = sizeof(expected),
		.flags = PROFIL_SET_CHECK,
		.width = 2,
		.nr_regions = 1,
	};
	int result = profil_function((void *)(uintptr_t)region.base,
				     region.size, region.offset, region.scale);

	if (region.scale < 2 || !region.base) {
		check_stop(result);
		return;
	}
	check_call(result, PROFIL_IOC_SET, device_error());
	check_set(&expected);
	demand(device_error() ||
	       !memcmp(&fake.regions[0], &region, sizeof(region)));
}

/* Return: the error for a number of regions and flags. */
static int sprofil_error(int nr, unsigned int flags)
{
	if (nr <= 0)
		return E2BIG;
	return flags & ~(PROF_UINT | PROF_FAST) ? EINVAL : 0;
}

/*
 * If there are few regions, the fake device reads them, so allocate exactly
 * @nr. Otherwise take any address.
 */
static struct prof *take_profs(struct input *input, int nr)
{
	size_t size = nr * sizeof(struct prof);
	struct prof *profs;

	if (nr < 1 || nr > FAKE_REGIONS)
		return (void *)(uintptr_t)take(input, nr & 1 ? 0 : 8);
	profs = malloc(size);
	demand(profs);
	memset(profs, 0, size);
	if (size > input->size)
		size = input->size;
	memcpy(profs, input->data, size);
	input->data += size;
	input->size -= size;
	return profs;
}

static int take_nr(struct input *input)
{
	return take(input, 1) & 3 ? (int)(take(input, 1) % 10) :
				    (int)take(input, 4);
}

static void call_sprofil(struct input *input)
{
	unsigned int flags = take(input, take(input, 1) & 7 ? 1 : 4) & ~4U;
	struct timeval *tvp = (void *)(uintptr_t)take(input, 8);
	int nr = take_nr(input);
	struct prof *profs = take_profs(input, nr);
	struct profil_set expected = {
		.size = sizeof(expected),
		.width = flags & PROF_UINT ? 4 : 2,
		.nr_regions = nr,
		.period_ns = flags & PROF_FAST ? 1000000 : 0,
		.timeval = (uintptr_t)tvp,
		.timeval_size = tvp ? sizeof(*tvp) : 0,
	};
	bool is_few = nr > 0 && nr <= FAKE_REGIONS;
	int result = sprofil(profs, nr, tvp, flags);
	int error = sprofil_error(nr, flags);

	if (!profs && !nr) {
		check_stop(result);
	} else if (error) {
		check_call(result, NO_REQUEST, error);
		demand(!fake.opened);
	} else {
		check_call(result, PROFIL_IOC_SET, device_error());
		check_set(&expected);
		demand(device_error() || fake.set.regions == (uintptr_t)profs);
		demand(device_error() || !is_few ||
		       !memcmp(fake.regions, profs, nr * sizeof(*profs)));
	}
	if (is_few)
		free(profs);
}

/* Allocate exactly the size that the caller claims, if that is large enough. */
static struct profil_status *take_status(struct input *input)
{
	__u32 size = take(input, 2);
	size_t room = size < sizeof(struct profil_status) ?
		sizeof(struct profil_status) : size;
	struct profil_status *status = malloc(room);
	int excess = take(input, 1) & 1 ? 0xee : 0;

	demand(status);
	memset(status, 0xee, sizeof(*status));
	memset(status + 1, excess, room - sizeof(*status));
	status->size = size;
	return status;
}

/* Without any profile, all stats are 0, whatever the size. */
static void check_zeros(struct profil_status *status)
{
	const __u8 *bytes = (const __u8 *)status;
	__u32 i;

	status->regions = 0;
	status->max_regions = 0;
	for (i = sizeof(status->size); i < status->size; i++)
		demand(!bytes[i]);
}

/* As the device: bytes that it does not know have to be 0. */
static int size_error(const struct profil_status *status)
{
	if (status->size < sizeof(*status))
		return -EINVAL;
	if (status->size > getpagesize() ||
	    (status->size > sizeof(*status) && *(const __u8 *)(status + 1)))
		return -E2BIG;
	return 0;
}

static void call_stop(struct input *input)
{
	struct profil_region_status regions[2];
	struct profil_status *status = take_status(input);
	int wrong = size_error(status);
	__u32 size = status->size;
	int error, result;

	result = profil_stop(status, regions, 2);
	error = device_error();
	demand(status->size == size);
	demand(status->regions == (uintptr_t)regions);
	demand(status->max_regions == 2);
	if (is_missing(error) && !is_in_kernel) {
		error = -wrong;
		if (!error)
			check_zeros(status);
	}
	check_call(result, PROFIL_IOC_STOP, error);
	is_in_kernel = is_in_kernel && error;
	demand(!fake.requests || fake.argument == status);
	free(status);
}

static void call_status(struct input *input)
{
	struct profil_region_status regions[2];
	bool with_regions = take(input, 1) & 1;
	__u32 max = take(input, 4);
	struct profil_status *status = take_status(input);
	int result = profil_status(status, with_regions ? regions : NULL, max);

	check_call(result, PROFIL_IOC_STATUS, device_error());
	demand(status->max_regions == (with_regions ? max : 0));
	demand(status->regions == (with_regions ? (uintptr_t)regions : 0));
	free(status);
}

/* A watch keeps its descriptor; one that the device refuses leaves none. */
static void call_watch(struct input *input)
{
	struct profil_watch watch = { .size = take(input, 2) };
	int fd = profil_watch_open(&watch);
	int error = errno;

	demand(!fake.requests || fake.argument == &watch);
	if (fd >= 0) {
		demand(fake.opened == 1 && !fake.closed);
		syscall(SYS_close, fd);
		errno = error;
	}
	check_call(fd < 0 ? -1 : 0, PROFIL_IOC_WATCH, device_error());
}

static void call_strings(struct input *input)
{
	demand(profil_state_string(take(input, 4))[0]);
	demand(profil_region_state_string(take(input, 4))[0]);
	demand(errno == UNTOUCHED);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	static void (*const calls[])(struct input *input) = {
		call_profil, call_sprofil, call_sprofil, call_stop,
		call_status, call_strings, call_watch,
	};
	struct input input = { .data = data, .size = size };

	while (input.size) {
		unsigned int which = take(&input, 1);

		prepare(&input);
		calls[which % (sizeof(calls) / sizeof(calls[0]))](&input);
	}
	return 0;
}
