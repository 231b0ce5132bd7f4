/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source.h - lines of sources
 */
#ifndef SOURCE_H
#define SOURCE_H

#include <stddef.h>
#include <time.h>

/**
 * struct source - a file of which lines are asked
 * @path: of it
 * @text: all of it; NULL if it cannot be read
 * @nr: number of lines
 * @ends: where in the text each of them ends
 * @changed: when the file was written
 */
struct source {
	char *path;
	char *text;
	size_t nr;
	size_t *ends;
	time_t changed;
};

/**
 * struct sources - all files that were asked for
 * @nr: how many there are
 * @list: these
 */
struct sources {
	size_t nr;
	struct source *list;
};

const struct source *source_find(struct sources *sources, const char *path);
const char *source_line(const struct source *source, int number, int *length);
void sources_free(struct sources *sources);

#endif /* SOURCE_H */
