/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols.h - what the code at an address of an object is called
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>

#include "prf.h"

/**
 * struct symbols - where the names of an object come from
 * @problem: why there are none, or NULL
 * @file: that has the object's code, under a name that other programs can use
 * @label: what it is called
 *
 * The rest is symbols.c's.
 */
struct symbols {
	const char *problem;
	char *file;
	const char *label;
	struct Dwfl *dwfl;
	struct Dwfl_Module *module;
	struct bounds *bounds;
	struct units *units;
	int fd;
};

/**
 * struct symbol - a function
 * @name: to be freed; label of the place if it has none
 * @start: its first address, as linked
 * @end: the one after the last
 */
struct symbol {
	char *name;
	uint64_t start;
	uint64_t end;
};

/**
 * struct place - a line of a source
 * @file: its path as the compiler was told
 * @line: its number, from 1
 */
struct place {
	const char *file;
	int line;
};

void symbols_look_in(char *path);
int symbols_open(struct symbols *symbols, const char *path,
		 const struct prf_object *object);
void symbols_close(struct symbols *symbols);
bool symbols_known(const struct symbols *symbols);
uint64_t symbols_address(const struct symbols *symbols,
			 const struct prf_object *object, uint64_t offset);
int symbols_find(const struct symbols *symbols, uint64_t address,
		 uint64_t bytes, struct symbol *symbol);
bool symbols_place(const struct symbols *symbols, uint64_t address,
		   struct place *place);
void symbols_text(const struct symbols *symbols, uint64_t *start,
		  uint64_t *end);
const char *base_name(const char *path);

#endif /* SYMBOLS_H */
