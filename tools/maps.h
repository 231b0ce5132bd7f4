/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * maps.h - the text that a process has mapped
 */
#ifndef MAPS_H
#define MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct mapping - a mapping of text
 * @start: first address
 * @end: the one after the last
 * @pgoff: offset in the file of what is at @start
 * @device: where the file is, as "MAJOR:MINOR"
 * @inode: of the file
 * @path: of the file, or the mapping's name
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
 * struct maps - all that has a file, and the vDSO
 * @nr: number of mappings
 * @list: by address
 * @loader: path of what is mapped at the loader's address, or NULL
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
