/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * object.h - what the file of a watch's object says about it
 */
#ifndef OBJECT_H
#define OBJECT_H

#include <profil.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "prf/prf.h"

/**
 * struct object - a mapped file
 * @path: its path; with " (deleted)" if another file has that path now
 * @mount_ns: mount namespace of the path, or 0 if profil's has the file there, too
 * @pid: a process in @mount_ns
 * @changed_ns: its last change when it was read, since the epoch; 0 if it was not
 * @build_id_len: bytes of @build_id, 0 if there is none
 * @build_id: build ID of the file
 * @start: file offset of its first executable segment
 * @end: file offset after its last executable segment; 0 if unknown
 * @is_32: it is a 32-bit ELF file
 */
struct object {
	char *path;
	uint32_t mount_ns;
	pid_t pid;
	uint64_t changed_ns;
	uint32_t build_id_len;
	uint8_t build_id[PRF_BUILD_ID];
	uint64_t start;
	uint64_t end;
	bool is_32;
};

int object_open(const struct profil_watch_object *seen, const char *path,
		uint64_t start_ns, bool *is_other);
int object_read(struct object *object, const struct profil_watch_table *table,
		uint32_t index, uint64_t start_ns);
bool object_has_changed(const struct object *object,
			const struct profil_watch_object *seen,
			uint64_t start_ns);
bool object_is_ours(int fd, const char *path);
int object_vdso(struct object *object);
void object_free(struct object *object);

int process_open(pid_t pid, uint32_t mount_ns, const char *path, int flags);
int process_find(pid_t pid, const char *path, int flags);
uint64_t process_changed_ns(pid_t pid, const char *path);
FILE *process_maps(pid_t pid);
char *unrooted_path(pid_t pid, const char *path, uint64_t inode);
char *deleted_path(const char *path);

#endif /* OBJECT_H */
