/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup.h - paths of cgroups
 */
#ifndef CGROUP_H
#define CGROUP_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct cgroup - a cgroup
 * @id: inode number of its directory
 * @path: path of its directory, from the root of the hierarchy
 */
struct cgroup {
	uint64_t id;
	char *path;
};

/**
 * struct cgroups - the cgroups that there are
 * @nr: number of cgroups
 * @list: sorted by ID
 */
struct cgroups {
	size_t nr;
	struct cgroup *list;
};

int cgroups_read(struct cgroups *cgroups);
const char *cgroups_path(const struct cgroups *cgroups, uint64_t id);
void cgroups_free(struct cgroups *cgroups);

#endif /* CGROUP_H */
