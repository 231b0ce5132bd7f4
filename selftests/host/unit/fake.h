/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fake.h - a fake device that records requests
 *
 * Replaces syscall() and ioctl() in programs linked with
 * -Wl,--wrap=syscall,--wrap=ioctl.
 */
#ifndef UNIT_FAKE_H
#define UNIT_FAKE_H

#include <stdbool.h>

#include <linux/profil.h>

#define FAKE_REGIONS	8

/**
 * struct fake - settings and records of the fake device
 * @open_errno: error of open, or 0
 * @ioctl_errno: error of every request, or 0
 * @max_regions: limit that PROFIL_IOC_INFO returns
 * @opened: number of descriptors opened
 * @closed: number of descriptors closed
 * @open_right: every open had the right arguments
 * @requests: number of requests
 * @request: the last request, and @argument its argument
 * @set: argument of PROFIL_IOC_SET, if the caller passed a structure
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
