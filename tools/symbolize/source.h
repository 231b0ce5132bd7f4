/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source.h - read lines of source files
 */
#ifndef SOURCE_H
#define SOURCE_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/**
 * struct source - a source file
 * @path: path of the file
 * @reader: user with whose rights it was read
 * @text: contents; NULL if the file cannot be read
 * @nr: number of lines
 * @ends: offset in @text of the end of each line
 * @changed: time of the last modification
 */
struct source {
	char *path;
	uid_t reader;
	char *text;
	size_t nr;
	size_t *ends;
	time_t changed;
};

/**
 * struct sources - source files read so far
 * @nr: number of files
 * @list: the files
 */
struct sources {
	size_t nr;
	struct source *list;
};

const struct source *source_find(struct sources *sources, const char *path,
				 uid_t reader);
const char *source_line(const struct source *source, int number, int *length);
void sources_free(struct sources *sources);

#endif /* SOURCE_H */
