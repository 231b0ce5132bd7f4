// SPDX-License-Identifier: GPL-2.0-only
/*
 * source.c - read lines of source files
 *
 * Paths come from debug information, and are untrusted.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/source.h"
#include "util/file.h"
#include "util/user.h"
#include "util/xalloc.h"

#define LARGEST	(64 << 20)

static void find_lines(struct source *source, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (source->text[i] != '\n' && i + 1 < size)
			continue;
		source->ends = one_more(source->ends, source->nr,
					sizeof(*source->ends));
		source->ends[source->nr++] = i + (source->text[i] != '\n');
	}
}

/* Read no more than the size found before: the file may be growing. */
static char *read_text(int fd, size_t *size)
{
	char *text = malloc(*size);
	size_t done = 0;
	ssize_t got;

	if (!text)
		return NULL;
	while (done < *size &&
	       (got = read(fd, text + done, *size - done)) > 0)
		done += got;
	*size = done;
	return text;
}

static int open_as(const char *path, uid_t reader, struct stat *stat_buffer)
{
	int fd;

	/* Nothing says which directory a relative path starts from */
	if (path[0] != '/' || !user_become(reader))
		return -1;
	fd = file_open_plain(path, stat_buffer);
	user_return();
	return fd;
}

static void read_source(struct source *source, const char *path, uid_t reader)
{
	struct stat stat_buffer;
	size_t size;
	int fd;

	memset(source, 0, sizeof(*source));
	source->path = copy(path);
	source->reader = reader;
	fd = open_as(path, reader, &stat_buffer);
	if (fd < 0)
		return;
	size = stat_buffer.st_size;
	source->changed = stat_buffer.st_mtime;
	if (size <= LARGEST)
		source->text = read_text(fd, &size);
	close(fd);
	if (source->text)
		find_lines(source, size);
}

/**
 * source_find() - find a source file, and read it the first time
 * @sources: files read so far; zeroed at first
 * @path: path of the file
 * @reader: user who must be permitted to read it, if root asks
 *
 * Return: the file, valid until the next call; without lines if it cannot be
 * read.
 */
const struct source *source_find(struct sources *sources, const char *path,
				 uid_t reader)
{
	size_t i;

	for (i = 0; i < sources->nr; i++)
		if (sources->list[i].reader == reader &&
		    !strcmp(sources->list[i].path, path))
			return &sources->list[i];
	sources->list = one_more(sources->list, sources->nr,
				 sizeof(*sources->list));
	read_source(&sources->list[sources->nr], path, reader);
	return &sources->list[sources->nr++];
}

/**
 * source_line() - get a line
 * @source: the file
 * @number: line number, from 1
 * @length: receives the length of the line, in bytes
 *
 * Return: the line, not terminated, or NULL if there is no such line.
 */
const char *source_line(const struct source *source, int number, int *length)
{
	size_t start;

	if (number < 1 || (size_t)number > source->nr)
		return NULL;
	start = number > 1 ? source->ends[number - 2] + 1 : 0;
	*length = source->ends[number - 1] - start;
	return source->text + start;
}

/** sources_free() - free all files read */
void sources_free(struct sources *sources)
{
	size_t i;

	for (i = 0; i < sources->nr; i++) {
		free(sources->list[i].path);
		free(sources->list[i].text);
		free(sources->list[i].ends);
	}
	free(sources->list);
}
