// SPDX-License-Identifier: GPL-2.0-only
/*
 * cgroup.c - paths of cgroups
 *
 * The module names a cgroup of version 2 by its ID, the inode number of its
 * directory.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profil/cgroup.h"
#include "util/array.h"

/* Path at which the hierarchy is mounted, to be freed; NULL if it is not. */
static char *find_mount(void)
{
	FILE *file = setmntent("/proc/self/mounts", "re");
	struct mntent *mount;
	char *path = NULL;

	while (file && !path && (mount = getmntent(file)))
		if (!strcmp(mount->mnt_type, "cgroup2"))
			path = strdup(mount->mnt_dir);
	if (file)
		endmntent(file);
	return path;
}

static int add(struct cgroups *cgroups, uint64_t id, const char *path)
{
	struct cgroup *list = array_grow(cgroups->list, cgroups->nr,
					 sizeof(*list));

	if (!list)
		return -1;
	cgroups->list = list;
	list[cgroups->nr].id = id;
	list[cgroups->nr].path = strdup(*path ? path : "/");
	return list[cgroups->nr++].path ? 0 : -1;
}

static int add_all(struct cgroups *cgroups, const char *mount,
		   const char *path);

/* Add a cgroup in the cgroup @above, and those in it. */
static int add_entry(struct cgroups *cgroups, const char *mount,
		     const char *above, const struct dirent *entry)
{
	char *path;
	int failed;

	if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
		return 0;
	if (asprintf(&path, "%s/%s", above, entry->d_name) < 0)
		return -1;
	failed = add(cgroups, entry->d_ino, path) ||
		add_all(cgroups, mount, path);
	free(path);
	return failed ? -1 : 0;
}

static int add_all(struct cgroups *cgroups, const char *mount,
		   const char *path)
{
	struct dirent *entry;
	DIR *directory;
	int failed = 0;
	char *whole;

	if (asprintf(&whole, "%s%s", mount, path) < 0)
		return -1;
	directory = opendir(whole);
	free(whole);
	while (directory && !failed && (entry = readdir(directory)))
		failed = add_entry(cgroups, mount, path, entry);
	if (directory)
		closedir(directory);
	return failed;
}

/**
 * cgroups_read() - find all cgroups that the caller can see
 * @cgroups: receives them; for cgroups_free(), even on failure
 *
 * Return: 0, or -1 if out of memory.
 */
int cgroups_read(struct cgroups *cgroups)
{
	char *mount = find_mount();
	struct stat root;
	int failed = 0;

	memset(cgroups, 0, sizeof(*cgroups));
	if (mount && !stat(mount, &root))
		failed = add(cgroups, root.st_ino, "") ||
			add_all(cgroups, mount, "") ? -1 : 0;
	free(mount);
	if (cgroups->nr)
		qsort(cgroups->list, cgroups->nr, sizeof(*cgroups->list),
		      array_by_start);
	return failed;
}

/** cgroups_path() - path of a cgroup; "" if it is gone, or out of sight */
const char *cgroups_path(const struct cgroups *cgroups, uint64_t id)
{
	size_t until = array_until(cgroups->list, cgroups->nr,
				   sizeof(*cgroups->list), id);

	if (until && cgroups->list[until - 1].id == id)
		return cgroups->list[until - 1].path;
	return "";
}

void cgroups_free(struct cgroups *cgroups)
{
	size_t i;

	for (i = 0; i < cgroups->nr; i++)
		free(cgroups->list[i].path);
	free(cgroups->list);
	memset(cgroups, 0, sizeof(*cgroups));
}
