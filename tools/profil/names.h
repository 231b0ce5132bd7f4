/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * names.h - names of code that only this machine knows, while it runs
 */
#ifndef NAMES_H
#define NAMES_H

#include <sys/types.h>

#include "prf/prf.h"

/**
 * struct range - a function
 * @start: its first address
 * @end: first address after it
 * @name: its name
 * @module: module of the kernel that has it, or NULL
 */
struct range {
	uint64_t start;
	uint64_t end;
	char *name;
	char *module;
};

/**
 * struct ranges - functions
 * @nr: number of functions
 * @list: the functions
 */
struct ranges {
	size_t nr;
	struct range *list;
};

int ranges_add(struct ranges *ranges, const struct range *range);
void ranges_free(struct ranges *ranges);
int names_give(struct prf_dso *dso, const struct range *const *of);

int perf_map_name(struct prf_dso *dso, pid_t pid, uid_t uid, size_t *room);

int kallsyms_read(struct ranges *ranges);
const struct range *kallsyms_find(const struct ranges *ranges,
				  uint64_t address);

#endif /* NAMES_H */
