/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linkage.h - find symbols as the linker knows them
 */
#ifndef LINKAGE_H
#define LINKAGE_H

#include "symbolize/symbols.h"

/**
 * struct linkages - the symbols of a DSO
 * @symbols: symbols of the DSO
 * @ranks: by index of a symbol, its rank, see &struct linkage
 */
struct linkages {
	const struct symbols *symbols;
	unsigned int *ranks;
};

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

int linkages_read(struct linkages *linkages, const struct symbols *symbols);
bool linkages_find(const struct linkages *linkages, uint64_t address,
		   struct linkage *linkage);
void linkages_free(struct linkages *linkages);

#endif /* LINKAGE_H */
