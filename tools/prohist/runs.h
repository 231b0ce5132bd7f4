/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * runs.h - read the files of the command line
 */
#ifndef RUNS_H
#define RUNS_H

#include "prohist/options.h"

/**
 * struct runs - all runs read
 * @list: the runs
 * @paths: the paths of their files
 * @nr: number of runs
 * @first: how many of them are from the first file or directory
 */
struct runs {
	struct prf *list;
	char **paths;
	size_t nr;
	size_t first;
};

enum status runs_read(const struct term *term, const struct options *options,
		      struct runs *runs);
void runs_free(struct runs *runs);

#endif /* RUNS_H */
