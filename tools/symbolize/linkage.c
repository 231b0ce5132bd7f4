// SPDX-License-Identifier: GPL-2.0-only
/*
 * linkage.c - find symbols as the linker knows them
 *
 * Local symbols are sorted once: a large program has many, and ticks in many.
 */
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/linkage.h"
#include "symbolize/symtab.h"

struct local {
	const char *name;
	GElf_Addr start;
	int index;
};

static int by_name(const void *a, const void *b)
{
	const struct local *l = a, *m = b;
	int order = strcmp(l->name, m->name);

	if (!order)
		order = (l->start > m->start) - (l->start < m->start);
	return order ?: l->index - m->index;
}

/* List the local symbols among the first @nr symbols; returns their number. */
static size_t list_locals(Dwfl_Module *module, struct local *list, int nr)
{
	size_t found = 0;
	GElf_Sym sym;
	int i;

	for (i = 1; i < nr; i++) {
		struct local *local = &list[found];

		local->index = i;
		local->name = dwfl_module_getsym_info(module, i, &sym,
						      &local->start, NULL,
						      NULL, NULL);
		found += local->name && GELF_ST_BIND(sym.st_info) == STB_LOCAL;
	}
	return found;
}

static void number(unsigned int *ranks, struct local *list, size_t nr)
{
	unsigned int rank = 0;
	size_t i;

	qsort(list, nr, sizeof(*list), by_name);
	for (i = 0; i < nr; i++) {
		if (i && strcmp(list[i - 1].name, list[i].name))
			rank = 0;
		ranks[list[i].index] = ++rank;
	}
}

/**
 * linkages_read() - read the symbols of a DSO
 * @linkages: receives them, for linkages_free()
 * @symbols: symbols of the DSO; symbols_have_file() must be true
 *
 * Return: 0, or -1 if out of memory.
 */
int linkages_read(struct linkages *linkages, const struct symbols *symbols)
{
	int nr = dwfl_module_getsymtab(symbols->module);
	struct local *list;

	if (nr < 0)
		nr = 0;
	list = calloc(nr + 1, sizeof(*list));
	linkages->symbols = symbols;
	linkages->ranks = calloc(nr + 1, sizeof(*linkages->ranks));
	if (list && linkages->ranks && !symtab_read(symbols->symtab)) {
		number(linkages->ranks, list,
		       list_locals(symbols->module, list, nr));
		free(list);
		return 0;
	}
	free(list);
	free(linkages->ranks);
	return -1;
}

/**
 * linkages_find() - find the symbol that contains an address
 * @linkages: symbols of the DSO
 * @address: link-time address
 * @linkage: receives the symbol
 *
 * Return: whether there is one.
 */
bool linkages_find(const struct linkages *linkages, uint64_t address,
		   struct linkage *linkage)
{
	const struct symbols *symbols = linkages->symbols;
	const struct symtab_entry *entry;
	uint64_t until;
	GElf_Sym sym;
	int index;

	entry = symtab_find(symbols->symtab, address, &linkage->start,
			    &linkage->end, &until);
	if (!entry)
		return false;
	index = symtab_index(entry);
	linkage->name = dwfl_module_getsym(symbols->module, index, &sym, NULL);
	linkage->rank = linkages->ranks[index];
	return linkage->name;
}

/** linkages_free() - free the symbols */
void linkages_free(struct linkages *linkages)
{
	free(linkages->ranks);
}
