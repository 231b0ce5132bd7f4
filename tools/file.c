// SPDX-License-Identifier: GPL-2.0-only
/*
 * file.c - files that are named by the user, and by other files
 *
 * The user's are read to their end, whatever their size is said to be: they may
 * be pipes. What another file names may be anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

#define PIECE	65536

static void *read_all(FILE *file, size_t *size)
{
	char *data = NULL, *more;
	size_t room = 0;

	for (*size = 0; !feof(file) && !ferror(file);) {
		if (*size == room) {
			room = room ? 2 * room : PIECE;
			more = realloc(data, room);
			if (!more)
				break;
			data = more;
		}
		*size += fread(data + *size, 1, room - *size, file);
	}
	if (feof(file))
		return data;
	free(data);
	return NULL;
}

/**
 * file_read() - read a file
 * @path: of it; "-" is the standard input
 * @size: receives its size
 *
 * Return: memory to be freed, or NULL with errno.
 */
void *file_read(const char *path, size_t *size)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	void *data;
	int error;

	if (!file)
		return NULL;
	data = read_all(file, size);
	error = errno;
	if (file != stdin)
		fclose(file);
	errno = error;
	return data;
}

static int is_plain(const struct stat *stat_buffer)
{
	return S_ISREG(stat_buffer->st_mode) && stat_buffer->st_size > 0;
}

/**
 * file_open_plain() - open a file that another one names
 * @path: of it
 * @stat_buffer: receives what it is
 *
 * To open a device may do something, and to read a pipe or what the kernel
 * makes as it is read, which has size 0, may last for ever.
 *
 * Return: a descriptor, or -1 if it is no regular file with something in it.
 */
int file_open_plain(const char *path, struct stat *stat_buffer)
{
	int fd;

	if (stat(path, stat_buffer) || !is_plain(stat_buffer))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && (fstat(fd, stat_buffer) || !is_plain(stat_buffer))) {
		close(fd);
		return -1;
	}
	return fd;
}
