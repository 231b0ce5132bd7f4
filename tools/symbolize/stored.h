/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stored.h - find the names of code that profiles have stored
 */
#ifndef STORED_H
#define STORED_H

#include "prf/prf.h"
#include "symbolize/inlines.h"

/**
 * struct stored - names of a DSO from NAMES records
 *
 * All members are private to stored.c.
 */
struct stored {
	size_t nr;
	const struct prf_names **list;
	size_t nr_spots;
	struct stored_spot *spots;
	size_t nr_lines;
	const struct prf_line **lines;
};

int stored_add(struct stored *stored, const struct prf_names *names);
int stored_sort(struct stored *stored);
const struct prf_function *stored_function(const struct stored *stored,
					   uint64_t address, uint64_t *until);
const struct prf_line *stored_line(const struct stored *stored,
				   uint64_t address);
int stored_inlines(const struct stored *stored, uint64_t address,
		   struct inlines *inlines);
void stored_free(struct stored *stored);

#endif /* STORED_H */
