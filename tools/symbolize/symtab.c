// SPDX-License-Identifier: GPL-2.0-only
/*
 * symtab.c - symbols of a DSO, sorted by address
 *
 * dwfl_module_addrinfo() searches the whole table for each address. This file
 * reads the table once, and gets the names of only those symbols that are
 * asked for. It chooses among symbols at an address as elfutils does: where no
 * symbol with a size is, one without, such as that of a function written in
 * assembly, extends up to the next symbol or the end of its section.
 *
 * Code without a symbol extends as far as frames.c says, but not into a
 * symbol that has no entry in .eh_frame_hdr, such as a function written in
 * assembly.
 */
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdlib.h>

#include "symbolize/demangle.h"
#include "symbolize/symtab.h"
#include "util/array.h"

/*
 * A symbol: its link-time addresses, and its index in libdwfl's table. @end is
 * that of the section if the symbol has no size; @reach is the highest end of
 * those that have, of this entry and those before it. @name: demangled, once
 * somebody has asked for it.
 */
struct symtab_entry {
	uint64_t start;
	uint64_t end;
	uint64_t reach;
	char *name;
	int index;
	unsigned char binding;
	bool is_sized;
};

/* Most DSOs have no ticks, so the symbols are read on first use. */
struct symtab {
	Dwfl_Module *module;
	uint64_t bias;
	bool read;
	size_t nr;
	struct symtab_entry *entries;
};

/**
 * symtab_new() - prepare the symbols of a DSO
 * @module: libdwfl's module; must outlive the result
 * @bias: difference between libdwfl's addresses and link-time addresses
 *
 * Return: the symbols, for symtab_free(), or NULL if out of memory.
 */
struct symtab *symtab_new(Dwfl_Module *module, uint64_t bias)
{
	struct symtab *symtab = calloc(1, sizeof(*symtab));

	if (symtab) {
		symtab->module = module;
		symtab->bias = bias;
	}
	return symtab;
}

/*
 * Symbols of TLS are no addresses. Of those without a size, local ones without a
 * type are labels in a function, and absolute ones are of no code.
 */
static bool is_code(const GElf_Sym *sym, const char *name)
{
	int type = GELF_ST_TYPE(sym->st_info);

	if (!name || !name[0] || sym->st_shndx == SHN_UNDEF)
		return false;
	if (sym->st_size)
		return type != STT_SECTION && type != STT_FILE &&
			type != STT_TLS;
	return sym->st_shndx != SHN_ABS &&
		(type == STT_FUNC || type == STT_GNU_IFUNC ||
		 (type == STT_NOTYPE &&
		  GELF_ST_BIND(sym->st_info) != STB_LOCAL));
}

/* Bytes from a symbol to the end of its section, if that has code; or 0 */
static uint64_t left_in_section(const GElf_Sym *sym, GElf_Word section,
				Elf *elf)
{
	GElf_Shdr shdr;

	if (!gelf_getshdr(elf_getscn(elf, section), &shdr) ||
	    !(shdr.sh_flags & SHF_EXECINSTR) || sym->st_value < shdr.sh_addr ||
	    sym->st_value - shdr.sh_addr > shdr.sh_size)
		return 0;
	return shdr.sh_size - (sym->st_value - shdr.sh_addr);
}

static void add(struct symtab *symtab, int index)
{
	struct symtab_entry *entry = &symtab->entries[symtab->nr];
	GElf_Word section;
	GElf_Addr address;
	const char *name;
	uint64_t size;
	GElf_Sym sym;
	Elf *elf;

	name = dwfl_module_getsym_info(symtab->module, index, &sym, &address,
				       &section, &elf, NULL);
	if (!is_code(&sym, name))
		return;
	size = sym.st_size ?: left_in_section(&sym, section, elf);
	if (!size)
		return;
	entry->start = address - symtab->bias;
	entry->is_sized = sym.st_size;
	if (__builtin_add_overflow(entry->start, size, &entry->end))
		entry->end = UINT64_MAX;
	entry->index = index;
	entry->binding = GELF_ST_BIND(sym.st_info);
	symtab->nr++;
}

static void sort(struct symtab *symtab)
{
	uint64_t reach = 0;
	size_t i;

	array_sort(symtab->entries, symtab->nr, sizeof(*symtab->entries));
	for (i = 0; i < symtab->nr; i++) {
		if (symtab->entries[i].is_sized &&
		    symtab->entries[i].end > reach)
			reach = symtab->entries[i].end;
		symtab->entries[i].reach = reach;
	}
}

/**
 * symtab_read() - read the symbols, unless that is done
 *
 * Return: 0, or -1 if out of memory.
 */
int symtab_read(struct symtab *symtab)
{
	int nr, i;

	if (symtab->read)
		return 0;
	symtab->read = true;
	nr = dwfl_module_getsymtab(symtab->module);
	if (nr <= 0)
		return 0;
	symtab->entries = calloc(nr, sizeof(*symtab->entries));
	if (!symtab->entries)
		return -1;
	for (i = 0; i < nr; i++)
		add(symtab, i);
	sort(symtab);
	return 0;
}

/* Number of symbols that start at or before an address. */
static size_t count_until(const struct symtab *symtab, uint64_t address)
{
	return array_until(symtab->entries, symtab->nr,
			   sizeof(*symtab->entries), address);
}

static int rank(const struct symtab_entry *entry)
{
	switch (entry->binding) {
	case STB_GLOBAL:
		return 3;
	case STB_WEAK:
		return 2;
	default:
		return 1;
	}
}

/*
 * Is @a a better name than @b for an address in both? Symbols that are not
 * local come first, then the nearest, as elfutils has it.
 */
static bool is_better(const struct symtab_entry *a,
		      const struct symtab_entry *b)
{
	if ((a->binding == STB_LOCAL) != (b->binding == STB_LOCAL))
		return b->binding == STB_LOCAL;
	if (a->start != b->start)
		return a->start > b->start;
	if (rank(a) != rank(b))
		return rank(a) > rank(b);
	if (a->end != b->end)
		return a->end < b->end;
	return a->index < b->index;
}

/**
 * symtab_find() - find the symbol with a size at an address
 * @symtab: symbols of the DSO, after symtab_read()
 * @address: link-time address
 * @start: receives the first address of the symbol
 * @end: receives the first address after it
 * @until: receives the first address after @address where another symbol is better,
 *	if there is one
 *
 * Return: the symbol, for symtab_name(), or NULL if there is none.
 */
struct symtab_entry *symtab_find(const struct symtab *symtab, uint64_t address,
				 uint64_t *start, uint64_t *end,
				 uint64_t *until)
{
	struct symtab_entry *entries = symtab->entries, *best = NULL;
	size_t next = count_until(symtab, address), i = next;

	while (i-- && entries[i].reach > address)
		if (entries[i].is_sized && entries[i].end > address &&
		    (!best || is_better(&entries[i], best)))
			best = &entries[i];
	if (!best)
		return NULL;
	*start = best->start;
	*end = best->end;
	for (; next < symtab->nr && entries[next].start < best->end; next++)
		if (entries[next].is_sized && is_better(&entries[next], best)) {
			*until = entries[next].start;
			break;
		}
	return best;
}

/**
 * symtab_label() - find the symbol without a size before an address
 * @symtab: symbols of the DSO, after symtab_read()
 * @address: link-time address, in no symbol with a size
 * @first: first address of the code to which @address belongs
 * @start: receives the first address of the symbol
 * @end: receives the first address after it
 *
 * Return: the symbol, for symtab_name(), or NULL if there is none.
 */
struct symtab_entry *symtab_label(const struct symtab *symtab, uint64_t address,
				  uint64_t first, uint64_t *start,
				  uint64_t *end)
{
	struct symtab_entry *entries = symtab->entries, *best = NULL;
	size_t next = count_until(symtab, address), i = next;

	if (i && entries[i - 1].reach > first)
		first = entries[i - 1].reach;
	while (i-- && entries[i].start >= (best ? best->start : first))
		if (!entries[i].is_sized && entries[i].end > address &&
		    (!best || is_better(&entries[i], best)))
			best = &entries[i];
	if (!best)
		return NULL;
	*start = best->start;
	*end = best->end;
	if (next < symtab->nr && entries[next].start < *end)
		*end = entries[next].start;
	return best;
}

/** symtab_index() - index of a symbol in libdwfl's table */
int symtab_index(const struct symtab_entry *entry)
{
	return entry->index;
}

/**
 * symtab_name() - demangled name of a symbol, which has many addresses
 *
 * Return: the name, which @symtab keeps, or NULL if out of memory.
 */
const char *symtab_name(const struct symtab *symtab, struct symtab_entry *entry)
{
	GElf_Sym sym;

	if (!entry->name)
		entry->name = demangle(dwfl_module_getsym(symtab->module,
							  entry->index, &sym,
							  NULL) ?: "");
	return entry->name;
}

/**
 * symtab_clip() - clip a range of code without a symbol at the next symbols
 * @symtab: symbols of the DSO, after symtab_read()
 * @address: link-time address in the range, in no symbol
 * @start: first address of the range
 * @end: first address after the range
 */
void symtab_clip(const struct symtab *symtab, uint64_t address,
		 uint64_t *start, uint64_t *end)
{
	size_t next = count_until(symtab, address);

	if (next && symtab->entries[next - 1].reach > *start)
		*start = symtab->entries[next - 1].reach;
	if (next < symtab->nr && symtab->entries[next].start < *end)
		*end = symtab->entries[next].start;
}

void symtab_free(struct symtab *symtab)
{
	size_t i;

	if (!symtab)
		return;
	for (i = 0; i < symtab->nr; i++)
		free(symtab->entries[i].name);
	free(symtab->entries);
	free(symtab);
}
