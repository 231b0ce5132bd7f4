// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf_find.c - find DSOs in runs
 *
 * Many execs map the same DSO, each at its own address.
 */
#include <errno.h>
#include <string.h>

#include "prf/prf.h"

/**
 * prf_next() - iterate over each DSO of each exec of each run
 * @runs: the runs
 * @nr: number of runs
 * @at: position, zeroed at first; names the run and exec of the result
 *
 * Return: the next DSO, or NULL.
 */
const struct prf_dso *prf_next(const struct prf *runs, size_t nr,
			       struct prf_at *at)
{
	for (; at->run < nr; at->run++, at->exec = 0) {
		const struct prf *run = &runs[at->run];

		for (; at->exec < run->nr; at->exec++, at->dso = 0)
			if (at->dso < run->execs[at->exec].nr)
				return &run->execs[at->exec]
						.dsos[at->dso++];
	}
	return NULL;
}

/* The smallest pages: the profile may be from elsewhere. */
#define PAGE	4096ull

/**
 * prf_link() - convert an offset in a file to a link-time address
 * @segments: executable segments of the file
 * @nr: number of segments
 * @offset: the offset, in bytes
 *
 * The page in which a segment begins is mapped as a whole.
 *
 * Return: the address, or the offset if no segment has it.
 */
uint64_t prf_link(const struct prf_segment *segments, size_t nr,
		  uint64_t offset)
{
	const struct prf_segment *in_page = NULL;
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct prf_segment *segment = &segments[i];

		if (offset >= (segment->offset & -PAGE) &&
		    offset < segment->offset)
			in_page = segment;
		if (offset >= segment->offset &&
		    offset - segment->offset < segment->size)
			return segment->address + (offset - segment->offset);
	}
	return in_page ? in_page->address - (in_page->offset - offset) : offset;
}

/** prf_same_dso() - do two mappings have the same path and build ID? */
bool prf_same_dso(const struct prf_dso *a, const struct prf_dso *b)
{
	return a->build_id_len == b->build_id_len &&
		!memcmp(a->build_id, b->build_id, a->build_id_len) &&
		!strcmp(a->path, b->path);
}

/** prf_dso_called() - is a name the path, or its end after a slash? */
bool prf_dso_called(const struct prf_dso *dso, const char *name)
{
	size_t path = strlen(dso->path), length = strlen(name);

	return length <= path && !strcmp(dso->path + path - length, name) &&
		(length == path || dso->path[path - length - 1] == '/');
}

/**
 * prf_program() - find the program of the first exec that has one
 * @runs: the runs
 * @nr: number of runs
 *
 * Return: a mapping of the program, or NULL.
 */
const struct prf_dso *prf_program(const struct prf *runs, size_t nr)
{
	const struct prf_dso *dso;
	struct prf_at at = {};

	while ((dso = prf_next(runs, nr, &at)))
		if (dso->kind == PRF_PROGRAM)
			break;
	return dso;
}

/**
 * prf_find_dso() - find a DSO by its name
 * @runs: the runs
 * @nr: number of runs
 * @name: the path, or the end of it after a slash
 *
 * Return: the first such DSO, or NULL with errno: ENOENT if there is none,
 * ENOTUNIQ if several paths match.
 */
const struct prf_dso *prf_find_dso(const struct prf *runs, size_t nr,
				   const char *name)
{
	const struct prf_dso *dso, *found = NULL;
	struct prf_at at = {};

	errno = ENOENT;
	while ((dso = prf_next(runs, nr, &at))) {
		if (!prf_dso_called(dso, name))
			continue;
		if (!strcmp(dso->path, name))
			return dso;
		if (!found)
			found = dso;
		else if (strcmp(dso->path, found->path))
			errno = ENOTUNIQ;
	}
	return errno == ENOTUNIQ ? NULL : found;
}
