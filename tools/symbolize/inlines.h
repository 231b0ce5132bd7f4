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
 * struct declared - a function as its compiler knows it
 * @name: linkage name, not demangled; in C, the name in the source; NULL if
 *	unknown
 * @line: line of the declaration, or 0 if unknown
 *
 * The name is valid as long as the units.
 */
struct declared {
	const char *name;
	int line;
};

/**
 * struct inlined - a function inlined into another
 * @name: name of the function
 * @declared: the function
 * @file: path of the source file with the call, or NULL if unknown; valid as
 *	long as the units
 * @line: line of the call, or 0 if unknown
 * @discriminator: which of the line's blocks has the call
 */
struct inlined {
	char *name;
	struct declared declared;
	const char *file;
	int line;
	unsigned int discriminator;
};

/**
 * struct inlines - functions inlined into each other
 * @nr: number of functions
 * @list: the functions, the innermost first
 * @entry: the DWARF entry of the innermost, NULL if there is none: different
 *	calls have different entries
 * @outer: the function that contains them
 */
struct inlines {
	size_t nr;
	struct inlined *list;
	const void *entry;
	struct declared outer;
};

int inlines_find(struct units *units, uint64_t address,
		 struct inlines *inlines);
void inlines_free(struct inlines *inlines);

#endif /* INLINES_H */
