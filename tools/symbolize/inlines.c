// SPDX-License-Identifier: GPL-2.0-only
/*
 * inlines.c - find the functions inlined at an address
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "prf/prf.h"
#include "symbolize/demangle.h"
#include "symbolize/inlines.h"
#include "symbolize/units.h"

/* elfutils lacks this one. */
#define DW_AT_GNU_discriminator	0x2136

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute memory, *attribute;

	attribute = dwarf_attr_integrate(die, DW_AT_linkage_name, &memory);
	if (!attribute)
		attribute = dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name,
						 &memory);
	return dwarf_formstring(attribute);
}

/* C has no linkage names; a name in the source lacks class and namespace. */
static char *name_of(Dwarf_Die *die)
{
	const char *name = linkage_name(die);

	if (name)
		return demangle(name);
	return strdup(dwarf_diename(die) ?: "??");
}

static void declare(struct declared *declared, Dwarf_Die *die)
{
	declared->name = linkage_name(die) ?: dwarf_diename(die);
	if (dwarf_decl_line(die, &declared->line))
		declared->line = 0;
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned int attribute_name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	if (dwarf_formudata(dwarf_attr(die, attribute_name, &attribute),
			    &number))
		return 0;
	return number;
}

static const char *call_file(Dwarf_Die *die)
{
	Dwarf_Word number = number_of(die, DW_AT_call_file);
	Dwarf_Half version;
	Dwarf_Files *files;
	Dwarf_Die unit;
	size_t nr;

	/* File 0 is one since DWARF 5 */
	if (!dwarf_hasattr(die, DW_AT_call_file) ||
	    dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, NULL, NULL,
			  NULL) || (!number && version < 5) ||
	    !dwarf_diecu(die, &unit, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &nr) || number >= nr)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

static int describe(struct inlined *inlined, Dwarf_Die *die)
{
	Dwarf_Word line = number_of(die, DW_AT_call_line);

	inlined->name = name_of(die);
	declare(&inlined->declared, die);
	inlined->file = call_file(die);
	inlined->line = inlined->file && line <= INT_MAX ? line : 0;
	inlined->discriminator = number_of(die, DW_AT_GNU_discriminator);
	return inlined->name ? 0 : -1;
}

/**
 * inlines_find() - find the functions inlined at an address
 * @units: units of the DSO
 * @address: libdwfl's address
 * @inlines: receives the functions, for inlines_free()
 *
 * Of more than PRF_NAMES_DEPTH functions, the outermost are left out: a file may have
 * any number, and every reader of the result would need a bound.
 *
 * Return: 0, or -1 if out of memory.
 */
int inlines_find(struct units *units, uint64_t address,
		 struct inlines *inlines)
{
	int result = 0;
	size_t nr, kept, i;
	Dwarf_Die outer, *dies;

	memset(inlines, 0, sizeof(*inlines));
	if (!units_function(units, address, &outer))
		return 0;
	declare(&inlines->outer, &outer);
	dies = units_inlined(units, address, &outer, &nr);
	if (!nr)
		return 0;
	inlines->entry = dies[nr - 1].addr;
	kept = nr < PRF_NAMES_DEPTH ? nr : PRF_NAMES_DEPTH;
	inlines->list = calloc(kept, sizeof(*inlines->list));
	if (inlines->list)
		inlines->nr = kept;
	else
		result = -1;
	for (i = 0; i < inlines->nr; i++)
		result |= describe(&inlines->list[i], &dies[nr - 1 - i]);
	free(dies);
	return result;
}

/** inlines_free() - free the result of inlines_find() */
void inlines_free(struct inlines *inlines)
{
	size_t i;

	for (i = 0; i < inlines->nr; i++)
		free(inlines->list[i].name);
	free(inlines->list);
}
