// SPDX-License-Identifier: GPL-2.0-only
/*
 * cache.c - tables of callers, kept on disk by build ID
 *
 * The directory is $XDG_CACHE_HOME/profil/unwind, or ~/.cache/profil/unwind. It
 * has one file for each build ID. Only the user may write there: whatever belongs
 * to others, or may be written by them, is not used. Without the cache,
 * everything works, but tables are made again each time; so no failure is
 * reported.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unwind.h"
#include "unwind/cache.h"
#include "util/array.h"

/*
 * Maximum size of all tables. Those of all programs and libraries of a desktop
 * have 91 MB. Beyond it, those that were not used for longest are removed until
 * a quarter is free.
 */
#define MOST_BYTES	(128u << 20)
#define LEFT_BYTES	(MOST_BYTES / 4 * 3)

/* Maximum size of one; the largest libraries have 10 MB. */
#define MOST_TABLE	(64u << 20)

/* Part of the names of files; another layout of tables gets another one. */
#define LAYOUT		"1"

#define NAME_SIZE	80

struct entry {
	uint64_t used_ns;
	off_t bytes;
	char name[NAME_SIZE];
};

/* --- the directory */

/* May nobody else write to it? */
static bool is_private(const struct stat *status)
{
	return status->st_uid == geteuid() && !(status->st_mode & 022);
}

/* Open a directory of the user's own. Return: a descriptor, or -1. */
static int open_own(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || (!fstat(fd, &status) && status.st_uid == geteuid()))
		return fd;
	close(fd);
	return -1;
}

/* The same, in @parent, which is closed; make it if there is none. */
static int enter(int parent, const char *name)
{
	int fd;

	if (parent < 0)
		return -1;
	mkdirat(parent, name, 0700);
	fd = open_own(parent, name);
	close(parent);
	return fd;
}

/* What the environment says must be of the user who is in charge. */
static int open_base(void)
{
	const char *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	if (getauxval(AT_SECURE))
		return -1;
	if (base && base[0] == '/') {
		mkdir(base, 0700);
		return open_own(AT_FDCWD, base);
	}
	if (home && home[0] == '/')
		return enter(open_own(AT_FDCWD, home), ".cache");
	return -1;
}

/**
 * unwind_cache_open() - open the user's cache, and make it if there is none
 *
 * Return: a descriptor, or -1 if the user has none.
 */
int unwind_cache_open(void)
{
	int fd = enter(enter(open_base(), "profil"), "unwind");
	struct stat status;

	if (fd < 0 || (!fstat(fd, &status) && is_private(&status)))
		return fd;
	close(fd);
	return -1;
}

/* Return: whether there is such a name. */
static bool name_entry(char *name, const uint8_t *id, uint32_t length)
{
	uint32_t i;

	if (!length || 2 * length + sizeof("." LAYOUT) > NAME_SIZE)
		return false;
	for (i = 0; i < length; i++)
		sprintf(name + 2 * i, "%02x", id[i]);
	strcpy(name + 2 * length, "." LAYOUT);
	return true;
}

/* --- reading */

static void *read_whole(int fd, size_t bytes)
{
	char *data = malloc(bytes);
	size_t done = 0;
	ssize_t got = 1;

	for (; data && got > 0 && done < bytes; done += got > 0 ? got : 0)
		got = read(fd, data + done, bytes - done);
	if (done == bytes)
		return data;
	free(data);
	return NULL;
}

static void *read_table(int fd, size_t *bytes)
{
	struct profil_unwind_table table;
	struct stat status;
	void *data;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode) ||
	    !is_private(&status) || status.st_size <= 0 ||
	    status.st_size > MOST_TABLE)
		return NULL;
	*bytes = status.st_size;
	data = read_whole(fd, *bytes);
	if (data && profil_unwind_open(&table, data, *bytes))
		return data;
	free(data);
	return NULL;
}

/**
 * unwind_cache_get() - get the table of a file
 * @cache: descriptor of unwind_cache_open(), or -1
 * @id: build ID of the file
 * @length: its length in bytes
 * @bytes: receives the size of the table
 *
 * Return: the table, which profil_unwind_open() has accepted, for free(); NULL
 * if there is none, or it is damaged.
 */
void *unwind_cache_get(int cache, const uint8_t *id, uint32_t length,
		       size_t *bytes)
{
	char name[NAME_SIZE];
	void *table;
	int fd;

	if (cache < 0 || !name_entry(name, id, length))
		return NULL;
	fd = openat(cache, name,
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	table = read_table(fd, bytes);
	/* It is in use; see make_room(). */
	if (table)
		futimens(fd, NULL);
	close(fd);
	return table;
}

/* --- the limit */

/* The entries of the cache, to be freed; their number, and the sum of sizes */
static struct entry *list_entries(int cache, size_t *nr, uint64_t *sum)
{
	int copy = openat(cache, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	struct entry *list = NULL, *more;
	struct dirent *file;
	struct stat status;

	*nr = 0;
	*sum = 0;
	while (directory && (file = readdir(directory))) {
		if (strlen(file->d_name) >= NAME_SIZE ||
		    fstatat(cache, file->d_name, &status,
			    AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
			continue;
		more = array_grow(list, *nr, sizeof(*list));
		if (!more)
			break;
		list = more;
		list[*nr].used_ns = status.st_mtim.tv_sec * 1000000000ULL +
				    status.st_mtim.tv_nsec;
		list[*nr].bytes = status.st_size;
		strcpy(list[(*nr)++].name, file->d_name);
		*sum += status.st_size;
	}
	if (directory)
		closedir(directory);
	else if (copy >= 0)
		close(copy);
	return list;
}

/* Of what is left over from a writer that was killed, too */
static void make_room(int cache, size_t bytes)
{
	uint64_t sum;
	size_t nr, i;
	struct entry *list = list_entries(cache, &nr, &sum);

	if (nr && sum + bytes > MOST_BYTES) {
		qsort(list, nr, sizeof(*list), array_by_start);
		for (i = 0; i < nr && sum + bytes > LEFT_BYTES; i++)
			if (!unlinkat(cache, list[i].name, 0))
				sum -= list[i].bytes;
	}
	free(list);
}

/* --- writing */

static bool write_whole(int fd, const char *data, size_t bytes)
{
	ssize_t done;

	for (; bytes; data += done, bytes -= done) {
		done = write(fd, data, bytes);
		if (done <= 0)
			return false;
	}
	return true;
}

/**
 * unwind_cache_put() - keep the table of a file
 * @cache: descriptor of unwind_cache_open(), or -1
 * @id: build ID of the file
 * @length: its length in bytes
 * @table: the table
 * @bytes: its size
 *
 * Readers, and others who write the same table, see a whole one or none.
 */
void unwind_cache_put(int cache, const uint8_t *id, uint32_t length,
		      const void *table, size_t bytes)
{
	char name[NAME_SIZE], temporary[NAME_SIZE];
	uint64_t number;
	bool is_whole;
	int fd;

	if (cache < 0 || bytes > MOST_TABLE || !name_entry(name, id, length) ||
	    getrandom(&number, sizeof(number), 0) != sizeof(number))
		return;
	make_room(cache, bytes);
	snprintf(temporary, sizeof(temporary), ".%016" PRIx64, number);
	fd = openat(cache, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return;
	is_whole = write_whole(fd, table, bytes);
	if (close(fd) || !is_whole ||
	    renameat(cache, temporary, cache, name))
		unlinkat(cache, temporary, 0);
}
