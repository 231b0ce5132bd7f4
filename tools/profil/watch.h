/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch.h - a watch of the kernel module
 */
#ifndef WATCH_H
#define WATCH_H

#include <profil.h>
#include <stdint.h>

#include "profil/session.h"

/**
 * struct known_file - a file whose table has been loaded, or that has none
 * @device: its file system
 * @inode: its inode number, which a file system may use again
 * @changed_ns: when the inode was changed
 */
struct known_file {
	dev_t device;
	ino_t inode;
	uint64_t changed_ns;
};

/**
 * struct watch - a watch
 * @fd: the open file of the device; -1 if there is none
 * @request: as the module has granted it
 * @table: the table, which the module goes on writing
 * @nr_known: number of elements of @known
 * @known: files that need no table of callers any more
 * @program: descriptor of the program, or -1
 * @nr_needed: number of elements of @known that it maps when it starts
 * @led_to: paths of files that it led to the last time; NULL if none
 * @is_done: objects that need none, either; NULL before the first look
 * @no_room: number of tables for which the module had no room
 */
struct watch {
	int fd;
	struct profil_watch request;
	const struct profil_watch_table *table;
	size_t nr_known;
	struct known_file *known;
	int program;
	size_t nr_needed;
	char *led_to;
	bool *is_done;
	unsigned int no_room;
};

int watch_info(struct profil_info *info);
const char *watch_start(struct watch *watch, const struct session *session,
			pid_t pid, uint64_t *period_ns);
bool watch_is_full(const struct profil_watch *room,
		   const struct profil_watch_status *used);
int watch_status(const struct watch *watch, unsigned long request,
		 struct profil_watch_status *status);
void watch_end(struct watch *watch);

#endif /* WATCH_H */
