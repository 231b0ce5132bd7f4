/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inlines.h - find the functions inlined at an address
 */
#ifndef INLINES_H
#define INLINES_H

#include <stddef.h>
#include <stdint.h>

struct units;

/**
 * struct inlined - a function inlined into another
 * @name: name of the function
 * @file: path of the source file with the call, or NULL if unknown; valid as
 *	long as the units
 * @line: line of the call, or 0 if unknown
 */
struct inlined {
	char *name;
	const char *file;
	int line;
};

/**
 * struct inlines - functions inlined into each other
 * @nr: number of functions
 * @list: the functions, the innermost first
 * @entry: the DWARF entry of the innermost, NULL if there is none: different
 *	calls have different entries
 */
struct inlines {
	size_t nr;
	struct inlined *list;
	const void *entry;
};

int inlines_find(struct units *units, uint64_t address,
		 struct inlines *inlines);
void inlines_free(struct inlines *inlines);

#endif /* INLINES_H */
