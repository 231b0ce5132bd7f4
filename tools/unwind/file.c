// SPDX-License-Identifier: GPL-2.0-only
/*
 * file.c - the table of callers of a file, from the cache or made anew
 */
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/build_id.h"
#include "unwind/cache.h"
#include "unwind/file.h"
#include "unwind/make.h"

/* GNU ld makes 20 bytes, and others up to 32. */
#define BUILD_ID	32

/* By which the cache knows a file: build ID, device, inode, and its last change */
#define ID		(BUILD_ID + 3 * sizeof(uint64_t))

/* The cache, opened at first use; it stays open. */
static int cache(void)
{
	static int fd = -2;

	if (fd == -2)
		fd = unwind_cache_open();
	return fd;
}

/*
 * By what the cache knows a file; its length, or 0. A copy that other code was written
 * to has the same build ID, and another user's file may claim any; see unwind_file().
 */
static uint32_t id_of(int fd, Elf *elf, uint8_t id[ID])
{
	uint32_t length = elf ? build_id_of(elf, id, BUILD_ID) : 0;
	uint64_t inode[3];
	struct stat file;

	if (!length || fstat(fd, &file) ||
	    (file.st_uid && file.st_uid != geteuid()))
		return 0;
	inode[0] = file.st_dev;
	inode[1] = file.st_ino;
	inode[2] = file.st_ctim.tv_sec * 1000000000ULL + file.st_ctim.tv_nsec;
	memcpy(id + length, inode, sizeof(inode));
	return length + sizeof(inode);
}

static void *get_or_make(int fd, Elf *elf, bool is_ours, size_t *bytes)
{
	uint8_t id[ID], now[ID];
	uint32_t length = is_ours ? id_of(fd, elf, id) : 0;
	void *table = NULL;

	if (length)
		table = unwind_cache_get(cache(), id, length, bytes);
	if (table)
		return table;
	table = unwind_make(elf, bytes);
	/* Nothing of a file that has changed since */
	if (table && length && id_of(fd, elf, now) == length &&
	    !memcmp(now, id, length))
		unwind_cache_put(cache(), id, length, table, *bytes);
	return table;
}

/**
 * unwind_file() - get the table of a program or library
 * @fd: descriptor of the file
 * @is_ours: it is a file of profil's own mount namespace, where owners count
 * @bytes: receives the size of the table
 *
 * The table is kept, unless another user, or a container, could put that of a file of
 * its own in the place of a library's.
 *
 * Return: the table, for free(); NULL if it is no file that has one.
 */
void *unwind_file(int fd, bool is_ours, size_t *bytes)
{
	Elf *elf = elf_open(fd);
	void *table = NULL;

	if (elf)
		table = get_or_make(fd, elf, is_ours, bytes);
	elf_close(elf);
	return table;
}

static uint32_t read_id(int fd, uint8_t id[ID])
{
	Elf *elf = elf_open(fd);
	uint32_t length = id_of(fd, elf, id);

	elf_close(elf);
	return length;
}

/**
 * unwind_files() - what a program led to when it was profiled the last time
 * @fd: descriptor of the program
 *
 * Return: paths of files, a newline after each, for free(); NULL if there are none.
 */
char *unwind_files(int fd)
{
	uint8_t id[ID];
	uint32_t length = read_id(fd, id);

	return unwind_cache_get_files(cache(), id, length);
}

/**
 * unwind_keep_files() - keep what a program led to
 * @fd: descriptor of the program
 * @files: paths of files, a newline after each
 */
void unwind_keep_files(int fd, const char *files)
{
	uint8_t id[ID];
	uint32_t length = read_id(fd, id);

	unwind_cache_put_files(cache(), id, length, files);
}
