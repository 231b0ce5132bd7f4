/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linkage.h - find symbols as the linker knows them
 */
#ifndef LINKAGE_H
#define LINKAGE_H

#include "symbolize/symbols.h"

/**
 * struct linkage - a symbol
 * @name: its name, not demangled; valid until symbols_close()
 * @start: first link-time address
 * @end: first address after it
 * @rank: for a local symbol, its number by address among all local symbols of
 *	the name, from 1; 0 for a global one
 */
struct linkage {
	const char *name;
	uint64_t start;
	uint64_t end;
	unsigned int rank;
};

bool linkage_find(const struct symbols *symbols, uint64_t address,
		  struct linkage *linkage);

#endif /* LINKAGE_H */
