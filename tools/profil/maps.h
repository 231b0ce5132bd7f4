/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * maps.h - executable mappings of a process
 */
#ifndef MAPS_H
#define MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct mapping - an executable mapping
 * @start: first address
 * @end: first address after it
 * @pgoff: offset in the file of @start, in bytes
 * @device: device of the file, as "MAJOR:MINOR"
 * @inode: inode number of the file
 * @path: path of the file, or name of the mapping
 */
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;
	char device[16];
	uint64_t inode;
	char *path;
};

/**
 * struct maps - executable mappings of files, and the vDSO
 * @nr: number of mappings
 * @list: mappings, sorted by address
 * @loader: path of rtld, or NULL
 */
struct maps {
	size_t nr;
	struct mapping *list;
	char *loader;
};

int maps_read(pid_t tid, const char *program, uint64_t loader,
	      struct maps *maps);
void maps_free(struct maps *maps);

#endif /* MAPS_H */
