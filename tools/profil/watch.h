/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch.h - a watch of the kernel module, and its table
 */
#ifndef WATCH_H
#define WATCH_H

#include <linux/profil.h>
#include <stdint.h>

#include "profil/session.h"

/**
 * struct watch - a watch
 * @fd: the open file of the device; -1 if there is none
 * @table: the table, which the module goes on writing
 * @size: bytes of the table
 */
struct watch {
	int fd;
	const struct profil_watch_table *table;
	uint64_t size;
};

/* What a watch can see of a bucket */
struct watch_bucket {
	uint32_t image;
	uint32_t object;
	uint64_t offset;
	uint64_t count;
};

int watch_info(struct profil_info *info);
const char *watch_start(struct watch *watch, const struct session *session,
			pid_t pid, uint64_t *period_ns);
int watch_status(const struct watch *watch, unsigned long request,
		 struct profil_watch_status *status);
void watch_end(struct watch *watch);

uint32_t watch_images(const struct watch *watch);
uint32_t watch_objects(const struct watch *watch);
const struct profil_watch_image *watch_image(const struct watch *watch,
					     uint32_t index);
const struct profil_watch_object *watch_object(const struct watch *watch,
					       uint32_t index);
bool watch_bucket(const struct watch *watch, uint32_t slot,
		  struct watch_bucket *bucket);
const char *watch_path(const struct watch *watch, uint32_t object);

#endif /* WATCH_H */
