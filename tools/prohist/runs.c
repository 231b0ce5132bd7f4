// SPDX-License-Identifier: GPL-2.0-only
/*
 * runs.c - read the files of the command line
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prohist/runs.h"
#include "util/file.h"
#include "util/xalloc.h"

static int complain(const char *path, const struct prf_error *error)
{
	term_warn("%s: %s (at byte %llu)", path, error->text,
		  (unsigned long long)error->offset);
	return -1;
}

static int list_dos(const struct term *term, const char *path,
		    const void *data, size_t size)
{
	struct prf_error error;
	struct dos_prf dos;
	int result;

	if (dos_prf_read(data, size, &dos, &error))
		return complain(path, &error);
	term_name(path);
	putchar('\n');
	result = print_dos(term, &dos);
	free(dos.buckets);
	return result;
}

/* Append a run; @runs takes over its memory. */
static void keep(struct runs *runs, const struct prf *prf, const char *path)
{
	runs->list = one_more(runs->list, runs->nr, sizeof(*prf));
	runs->paths = one_more(runs->paths, runs->nr, sizeof(path));
	runs->list[runs->nr] = *prf;
	runs->paths[runs->nr++] = copy(path);
}

/** runs_free() - free all memory of runs */
void runs_free(struct runs *runs)
{
	size_t i;

	for (i = 0; i < runs->nr; i++) {
		prf_free(&runs->list[i]);
		free(runs->paths[i]);
	}
	free(runs->list);
	free(runs->paths);
}

/* List the buckets of a file of MS-DOS, or keep another for the report. */
static int use_data(const struct term *term, const struct options *options,
		    const char *path, const void *data, size_t size,
		    struct runs *runs)
{
	struct prf_error error;
	struct prf prf;

	if (dos_prf_looks_so(data, size)) {
		if (options_are_plain(options))
			return list_dos(term, path, data, size);
		term_warn("%s: a file of MS-DOS can only be listed; give no options",
			  path);
		return -1;
	}
	if (prf_read(data, size, &prf, &error))
		return complain(path, &error);
	keep(runs, &prf, path);
	return 0;
}

static bool is_output(const struct options *options, const char *path)
{
	struct stat in, out;

	if (!options->output || stat(options->output, &out) ||
	    (strcmp(path, "-") ? stat(path, &in) : fstat(STDIN_FILENO, &in)))
		return false;
	return S_ISREG(in.st_mode) && in.st_dev == out.st_dev &&
		in.st_ino == out.st_ino;
}

static int use_file(const struct term *term, const struct options *options,
		    const char *path, struct runs *runs)
{
	size_t size;
	void *data;
	int result;

	if (is_output(options, path)) {
		term_warn("%s: input file is output file", options->output);
		return -1;
	}
	data = file_read(path, &size);
	if (!data) {
		term_warn("%s: %s", path, strerror(errno));
		return -1;
	}
	result = use_data(term, options, path, data, size, runs);
	free(data);
	return result;
}

static int is_profile(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end && !strcmp(end, ".prf");
}

/* Read all profiles in a directory, or complain if there are none. */
static int use_directory(const struct term *term,
			 const struct options *options, const char *path,
			 struct runs *runs)
{
	struct dirent **entries;
	int nr = scandir(path, &entries, is_profile, alphasort), result = 0, i;
	char *file;

	if (nr < 0) {
		term_warn("%s: %s", path, strerror(errno));
		return -1;
	}
	if (!nr)
		term_warn("%s: no .prf file in this directory", path);
	for (i = 0; i < nr; i++) {
		if (asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
			err(STATUS_TROUBLE, NULL);
		result |= use_file(term, options, file, runs);
		free(file);
		free(entries[i]);
	}
	free(entries);
	return nr ? result : -1;
}

static bool is_directory(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

/* With --diff, a directory stands for the runs in it. */
static int use_path(const struct term *term, const struct options *options,
		    const char *path, struct runs *runs)
{
	if (options->diff && is_directory(path))
		return use_directory(term, options, path, runs);
	return use_file(term, options, path, runs);
}

/**
 * runs_read() - read all files
 * @term: standard output, where the buckets of files of MS-DOS are listed
 * @options: the files, and what to do with them
 * @runs: receives the runs that could be read, for runs_free()
 *
 * Return: STATUS_OK, or another status after reporting errors.
 */
enum status runs_read(const struct term *term, const struct options *options,
		      struct runs *runs)
{
	enum status status = STATUS_OK;
	int i;

	for (i = 0; i < options->nr; i++) {
		if (use_path(term, options, options->files[i], runs))
			status = STATUS_TROUBLE;
		if (!i)
			runs->first = runs->nr;
	}
	return status;
}
