// SPDX-License-Identifier: GPL-2.0-only
/*
 * module.c - ticks by the module, which counts in the program's own memory
 *
 * A request to the device acts on the address space of the caller, and exec
 * ends a profile. So the new program itself has to map memory for the counters
 * and to make the request. The memory is a file without a name that we share:
 * nothing is lost when the program is killed, and what its children add is in
 * the same counters. In front of the counters is what the calls refer to.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "module.h"
#include "remote.h"

/* "profil", as a word */
#define AREA_NAME	0x006c69666f7270ULL

/* Below the stack, and below what its owner may use without telling. */
#define BELOW_STACK	512

/**
 * struct head - what the program's calls refer to
 * @device: path of the device
 * @set: the request
 * @regions: of the request
 */
struct head {
	char device[16];
	struct profil_set set;
	struct profil_region regions[];
};

/* What the device can do; -1 with errno if there is none. */
int module_info(struct profil_info *info)
{
	int fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	int result, error;

	if (fd < 0)
		return -1;
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	result = ioctl(fd, PROFIL_IOC_INFO, info);
	error = errno;
	close(fd);
	errno = error;
	return result;
}

/* A system call of the program; its result, or -1 with errno. */
static int64_t call(struct remote *remote, long number, uint64_t first,
		    uint64_t second, uint64_t third, uint64_t fourth,
		    uint64_t fifth)
{
	const uint64_t arguments[6] = { first, second, third, fourth, fifth };
	int64_t result;

	if (remote_call(remote, &result, number, arguments)) {
		errno = ESRCH;
		return -1;
	}
	if (result < 0 && result >= -4095) {
		errno = -result;
		return -1;
	}
	return result;
}

/* The memory, in the program and here. */
static int map_area(struct image *image, struct area *area,
		    struct remote *remote)
{
	uint64_t name = (remote->regs.rsp - BELOW_STACK) & ~7ULL;
	int64_t fd, address;
	char path[64];

	if (remote_poke(remote->tid, name, AREA_NAME)) {
		image_fail(image, "cannot write to the stack", errno);
		return -1;
	}
	fd = call(remote, SYS_memfd_create, name, MFD_CLOEXEC, 0, 0, 0);
	if (fd < 0) {
		image_fail(image, "memfd_create", errno);
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", remote->tid, (int)fd);
	area->fd = open(path, O_RDWR | O_CLOEXEC);
	if (area->fd < 0 || ftruncate(area->fd, area->size)) {
		image_fail(image, "cannot share memory", errno);
		address = -1;
	} else {
		address = call(remote, SYS_mmap, 0, area->size,
			       PROT_READ | PROT_WRITE, MAP_SHARED, fd);
		if (address == -1)
			image_fail(image, "mmap", errno);
		area->remote = address;
	}
	call(remote, SYS_close, fd, 0, 0, 0, 0);
	return address == -1 ? -1 : 0;
}

static struct profil_region region_of(const struct image *image,
				      const struct object *object,
				      uint32_t bucket)
{
	uint64_t buckets = (object->end - object->start + bucket - 1) / bucket;
	struct profil_region region = {
		.base = image->areas[object->area].remote + object->first,
		.size = buckets * COUNTER,
		.offset = object->start,
		.scale = 65536 * COUNTER / bucket,
	};

	return region;
}

/* Everything that is known of the image, and a counter for the rest. */
static struct head *make_head(const struct run *run, const struct image *image,
			      const struct area *area)
{
	struct head *head = calloc(1, area->head);
	size_t i;

	if (!head)
		return NULL;
	strcpy(head->device, PROFIL_DEVICE);
	head->set.size = sizeof(head->set);
	/* Bytes of text without regard to the width of the counters */
	head->set.flags = PROFIL_SET_SVR4_ARITH;
	if (run->user_only)
		head->set.flags |= PROFIL_SET_USER_ONLY;
	head->set.width = COUNTER;
	head->set.nr_regions = image->nr + 1;
	head->set.regions = area->remote + sizeof(*head);
	head->set.period_ns = run->period_ns;
	for (i = 0; i < image->nr; i++)
		head->regions[i] = region_of(image, &image->objects[i],
					     run->bucket);
	head->regions[i].base = image->areas[0].remote + image->areas[0].head;
	head->regions[i].size = COUNTER;
	head->regions[i].scale = 2;
	return head;
}

/* The request itself. */
static int set_profile(struct image *image, const struct area *area,
		       struct remote *remote)
{
	int64_t fd = call(remote, SYS_openat, AT_FDCWD, area->remote,
			  O_RDONLY | O_CLOEXEC, 0, 0);
	int failed;

	if (fd < 0) {
		image_fail(image, PROFIL_DEVICE, errno);
		return -1;
	}
	failed = call(remote, SYS_ioctl, fd, PROFIL_IOC_SET,
		      area->remote + offsetof(struct head, set), 0, 0);
	if (failed)
		image_fail(image, "PROFIL_IOC_SET", errno);
	call(remote, SYS_close, fd, 0, 0, 0, 0);
	return failed;
}

static int request(struct run *run, struct image *image, struct area *area,
		   struct remote *remote)
{
	struct head *head;
	ssize_t written;

	if (map_area(image, area, remote))
		return -1;
	head = make_head(run, image, area);
	if (!head) {
		image_fail(image, "profil", ENOMEM);
		return -1;
	}
	written = pwrite(area->fd, head, area->head, 0);
	free(head);
	if (written != (ssize_t)area->head) {
		image_fail(image, "cannot share memory", errno);
		return -1;
	}
	if (set_profile(image, area, remote))
		return -1;
	/* The device has written the true mean period there */
	if (pread(area->fd, &run->period_ns, sizeof(run->period_ns),
		  offsetof(struct head, set.period_ns)) < 0) {
		image_fail(image, "cannot share memory", errno);
		return -1;
	}
	return 0;
}

static uint64_t head_size(const struct image *image)
{
	return sizeof(struct head) +
		(image->nr + 1) * sizeof(struct profil_region);
}

/**
 * module_begin() - profile an image, or go on with what is mapped now
 * @run: the run
 * @image: whose text has been found
 * @area: that gets the counters of what is new
 * @tid: a stopped thread that executes it
 *
 * Return: 0, or -1 and the image has a reason.
 */
int module_begin(struct run *run, struct image *image, unsigned int area,
		 pid_t tid)
{
	struct remote remote;
	int failed;

	image_place(image, area, head_size(image), run->bucket);
	if (remote_begin(&remote, tid)) {
		image_fail(image, "ptrace", errno);
		return -1;
	}
	failed = request(run, image, &image->areas[area], &remote);
	if (remote_end(&remote))
		failed = -1;
	return failed;
}
