/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_space.h - what a process has mapped for execution
 */
#ifndef PERF_SPACE_H
#define PERF_SPACE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct mapping - an executable mapping
 * @start: first address
 * @end: first address after it
 * @offset: offset in its object of @start, in bytes
 * @object: object of the table
 */
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint32_t object;
};

/**
 * struct space - an address space, shared after fork until either side changes
 * @users: number of processes that have it
 * @nr: number of mappings
 * @list: the mappings, sorted by address; they do not overlap
 */
struct space {
	unsigned int users;
	size_t nr;
	struct mapping *list;
};

struct space *space_get(struct space *space);
void space_put(struct space *space);
int space_map(struct space **space, const struct mapping *mapping);
const struct mapping *space_find(const struct space *space, uint64_t address);

#endif /* PERF_SPACE_H */
