// SPDX-License-Identifier: GPL-2.0-only
/*
 * file.c - a whole file in memory
 *
 * Read to its end, whatever its size is said to be: it may be a pipe.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
