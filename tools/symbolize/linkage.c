// SPDX-License-Identifier: GPL-2.0-only
/*
 * linkage.c - find symbols as the linker knows them
 */
#include <elfutils/libdwfl.h>
#include <string.h>

#include "symbolize/linkage.h"

/* Number of local symbols of the name, up to the address. */
static unsigned int rank(Dwfl_Module *module, const char *name,
			 GElf_Addr address)
{
	int nr = dwfl_module_getsymtab(module);
	unsigned int found = 0;
	int i;

	for (i = 1; i < nr; i++) {
		GElf_Addr start;
		GElf_Sym sym;
		const char *other = dwfl_module_getsym_info(module, i, &sym,
							    &start, NULL, NULL,
							    NULL);

		found += other && GELF_ST_BIND(sym.st_info) == STB_LOCAL &&
			 start <= address && !strcmp(other, name);
	}
	return found;
}

/**
 * linkage_find() - find the symbol that contains an address
 * @symbols: symbols of the DSO; symbols_have_file() must be true
 * @address: link-time address
 * @linkage: receives the symbol
 *
 * Return: whether there is one.
 */
bool linkage_find(const struct symbols *symbols, uint64_t address,
		  struct linkage *linkage)
{
	GElf_Addr bias;
	GElf_Off offset;
	GElf_Sym sym;

	dwfl_module_getelf(symbols->module, &bias);
	linkage->name = dwfl_module_addrinfo(symbols->module, address + bias,
					     &offset, &sym, NULL, NULL, NULL);
	if (!linkage->name || offset >= sym.st_size)
		return false;
	linkage->start = address - offset;
	linkage->end = linkage->start + sym.st_size;
	linkage->rank = GELF_ST_BIND(sym.st_info) == STB_LOCAL ?
		rank(symbols->module, linkage->name, linkage->start + bias) : 0;
	return true;
}
