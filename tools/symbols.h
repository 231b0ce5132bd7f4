/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols.h - what the code at an address of an object is called
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include "prf.h"

/**
 * struct symbols - where the names of an object come from
 * @problem: why there are none, or NULL
 *
 * The rest is symbols.c's.
 */
struct symbols {
	const char *problem;
	struct Dwfl *dwfl;
	struct Dwfl_Module *module;
	const struct prf_object *object;
};

/**
 * struct symbol - a function
 * @name: to be freed; label of the place if it has none
 * @start: its first offset from the start of the object
 * @end: the one after the last
 */
struct symbol {
	char *name;
	uint64_t start;
	uint64_t end;
};

void symbols_open(struct symbols *symbols, const struct prf_object *object);
int symbols_find(struct symbols *symbols, uint64_t offset,
		 struct symbol *symbol);
void symbols_close(struct symbols *symbols);
const char *base_name(const char *path);

#endif /* SYMBOLS_H */
