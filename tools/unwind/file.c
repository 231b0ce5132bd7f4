// SPDX-License-Identifier: GPL-2.0-only
/*
 * file.c - the table of callers of a file, from the cache or made anew
 */
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/build_id.h"
#include "unwind/cache.h"
#include "unwind/file.h"
#include "unwind/make.h"

/* GNU ld makes 20 bytes, and others up to 32. */
#define BUILD_ID	32

/* Another user's file may claim any build ID; see unwind_file(). */
static bool is_trusted(int fd)
{
	struct stat status;

	return !fstat(fd, &status) &&
		(!status.st_uid || status.st_uid == geteuid());
}

/* The cache, opened at first use; it stays open. */
static int cache(void)
{
	static int fd = -2;

	if (fd == -2)
		fd = unwind_cache_open();
	return fd;
}

/* The build ID by which the cache has something of a file; its length, or 0 */
static uint32_t id_of(int fd, Elf *elf, uint8_t id[BUILD_ID])
{
	if (!elf || !is_trusted(fd))
		return 0;
	return build_id_of(elf, id, BUILD_ID);
}

static void *get_or_make(int fd, Elf *elf, bool is_ours, size_t *bytes)
{
	uint8_t id[BUILD_ID];
	uint32_t length = is_ours ? id_of(fd, elf, id) : 0;
	void *table = NULL;

	if (length)
		table = unwind_cache_get(cache(), id, length, bytes);
	if (table)
		return table;
	table = unwind_make(elf, bytes);
	if (table && length)
		unwind_cache_put(cache(), id, length, table, *bytes);
	return table;
}

/**
 * unwind_file() - get the table of a program or library
 * @fd: descriptor of the file
 * @is_ours: it is a file of profil's own mount namespace, where owners count
 * @bytes: receives the size of the table
 *
 * The table is kept by build ID, unless another user, or a container, could put that of
 * a file of its own in the place of a library's.
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

static uint32_t read_id(int fd, uint8_t id[BUILD_ID])
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
	uint8_t id[BUILD_ID];
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
	uint8_t id[BUILD_ID];
	uint32_t length = read_id(fd, id);

	unwind_cache_put_files(cache(), id, length, files);
}
