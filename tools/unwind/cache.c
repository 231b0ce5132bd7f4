// SPDX-License-Identifier: GPL-2.0-only
/*
 * cache.c - tables of callers, kept on disk by file
 *
 * The directory is $XDG_CACHE_HOME/profil/unwind, or ~/.cache/profil/unwind. It
 * has a file for each of these, and another one for each program that was profiled
 * and executed or opened others: their paths. Only the user may write there: whatever belongs
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

/* Ends of the names of files; another layout of tables gets another one. */
#define TABLE		".2"
#define FILES		".files"

#define NAME_SIZE	128

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
static bool name_entry(char *name, const uint8_t *id, uint32_t length,
		       const char *end)
{
	uint32_t i;

	if (!length || 2 * length + sizeof(FILES) > NAME_SIZE)
		return false;
	for (i = 0; i < length; i++)
		sprintf(name + 2 * i, "%02x", id[i]);
	strcpy(name + 2 * length, end);
	return true;
}

/* --- reading */

/* With a null character at the end */
static void *read_whole(int fd, size_t bytes)
{
	char *data = malloc(bytes + 1);
	size_t done = 0;
	ssize_t got = 1;

	for (; data && got > 0 && done < bytes; done += got > 0 ? got : 0)
		got = read(fd, data + done, bytes - done);
	if (done == bytes) {
		data[bytes] = '\0';
		return data;
	}
	free(data);
	return NULL;
}

static void *read_private(int fd, size_t *bytes)
{
	struct stat status;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode) ||
	    !is_private(&status) || status.st_size <= 0 ||
	    status.st_size > MOST_TABLE)
		return NULL;
	*bytes = status.st_size;
	return read_whole(fd, *bytes);
}

static void *read_entry(int cache, const char *name, size_t *bytes)
{
	int fd = openat(cache, name,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	void *data;

	if (fd < 0)
		return NULL;
	data = read_private(fd, bytes);
	/* It is in use; see make_room(). */
	if (data)
		futimens(fd, NULL);
	close(fd);
	return data;
}

/**
 * unwind_cache_get() - get the table of a file
 * @cache: descriptor of unwind_cache_open(), or -1
 * @id: by what the file is known
 * @length: its length in bytes
 * @bytes: receives the size of the table
 *
 * Return: the table, which profil_unwind_open() has accepted, for free(); NULL
 * if there is none, or it is damaged.
 */
void *unwind_cache_get(int cache, const uint8_t *id, uint32_t length,
		       size_t *bytes)
{
	struct profil_unwind_table table;
	char name[NAME_SIZE];
	void *data;

	if (cache < 0 || !name_entry(name, id, length, TABLE))
		return NULL;
	data = read_entry(cache, name, bytes);
	if (data && profil_unwind_open(&table, data, *bytes))
		return data;
	free(data);
	return NULL;
}

/**
 * unwind_cache_get_files() - get the files that a program led to
 * @cache: descriptor of unwind_cache_open(), or -1
 * @id: by what the program is known
 * @length: its length in bytes
 *
 * Return: their paths, a newline after each, for free(); NULL if there are none.
 */
char *unwind_cache_get_files(int cache, const uint8_t *id, uint32_t length)
{
	char name[NAME_SIZE];
	size_t bytes;

	if (cache < 0 || !name_entry(name, id, length, FILES))
		return NULL;
	return read_entry(cache, name, &bytes);
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

/* Readers, and others who write the same entry, see a whole one or none. */
static void write_entry(int cache, const char *name, const void *data,
			size_t bytes)
{
	char temporary[NAME_SIZE];
	uint64_t number;
	bool is_whole;
	int fd;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return;
	make_room(cache, bytes);
	snprintf(temporary, sizeof(temporary), ".%016" PRIx64, number);
	fd = openat(cache, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return;
	is_whole = write_whole(fd, data, bytes);
	if (close(fd) || !is_whole ||
	    renameat(cache, temporary, cache, name))
		unlinkat(cache, temporary, 0);
}

/**
 * unwind_cache_put() - keep the table of a file
 * @cache: descriptor of unwind_cache_open(), or -1
 * @id: by what the file is known
 * @length: its length in bytes
 * @table: the table
 * @bytes: its size
 */
void unwind_cache_put(int cache, const uint8_t *id, uint32_t length,
		      const void *table, size_t bytes)
{
	char name[NAME_SIZE];

	if (cache >= 0 && bytes <= MOST_TABLE &&
	    name_entry(name, id, length, TABLE))
		write_entry(cache, name, table, bytes);
}

/**
 * unwind_cache_put_files() - keep the files that a program led to
 * @cache: descriptor of unwind_cache_open(), or -1
 * @id: by what the program is known
 * @length: its length in bytes
 * @files: their paths, a newline after each
 */
void unwind_cache_put_files(int cache, const uint8_t *id, uint32_t length,
			    const char *files)
{
	char name[NAME_SIZE];

	if (cache >= 0 && name_entry(name, id, length, FILES))
		write_entry(cache, name, files, strlen(files));
}
