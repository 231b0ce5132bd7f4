/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fake.h - a device that remembers what it was asked
 *
 * Takes the place of syscall() and ioctl() for what is linked with
 * -Wl,--wrap=syscall,--wrap=ioctl.
 */
#ifndef UNIT_FAKE_H
#define UNIT_FAKE_H

#include <stdbool.h>

#include <linux/profil.h>

#define FAKE_REGIONS	8

/**
 * struct fake - orders and observations
 * @open_errno: what open fails with, or 0
 * @ioctl_errno: what every request fails with, or 0
 * @max_regions: limit that PROFIL_IOC_INFO tells
 * @opened: number of descriptors that were opened
 * @closed: number of those that were closed
 * @open_right: all were opened as they should be
 * @requests: number of requests
 * @request: the last one, and @argument its argument
 * @set: what PROFIL_IOC_SET was given, if the caller made it a structure
 * @regions: the regions of @set
 */
struct fake {
	int open_errno;
	int ioctl_errno;
	unsigned int max_regions;

	int opened;
	int closed;
	bool open_right;
	int requests;
	unsigned long request;
	void *argument;
	struct profil_set set;
	struct profil_region regions[FAKE_REGIONS];
};

extern struct fake fake;

#endif /* UNIT_FAKE_H */
