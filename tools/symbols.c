// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols.c - what the code at an address of an object is called
 *
 * By elfutils libdwfl from the file of the object, or the separate file of
 * its symbols, after the process has gone. Offsets of a mapping become offsets
 * of the file, and by the file's segments these become link-time addresses.
 * Code without a symbol goes by the table of functions that is there for the
 * sake of exceptions, see frames.c, and is called by its object and address.
 */
#define _GNU_SOURCE
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "frames.h"
#include "symbols.h"

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/** base_name() - what is behind the last slash */
const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const char *compare_build_id(const struct symbols *symbols)
{
	const struct prf_object *object = symbols->object;
	const unsigned char *id;
	GElf_Addr address;
	int length = dwfl_module_build_id(symbols->module, &id, &address);

	if (!object->build_id_len && length <= 0)
		return NULL;
	if (!object->build_id_len || length <= 0)
		return "cannot tell whether the file is the same: no build-id";
	if ((uint32_t)length != object->build_id_len ||
	    memcmp(id, object->build_id, length))
		return "the file is another one now: its build-id differs";
	return NULL;
}

/* A file that is another one has other functions at these addresses. */
static const char *open_file(struct symbols *symbols)
{
	const char *path = symbols->object->path;
	const char *problem;
	GElf_Addr bias;

	if (symbols->object->kind >= PRF_VDSO)
		return NULL;
	symbols->dwfl = dwfl_begin(&callbacks);
	if (!symbols->dwfl)
		return "no memory";
	symbols->module = dwfl_report_offline(symbols->dwfl, path, path, -1);
	dwfl_report_end(symbols->dwfl, NULL, NULL);
	if (!symbols->module || !dwfl_module_getelf(symbols->module, &bias)) {
		symbols->module = NULL;
		return "the file cannot be read: it is gone, or no ELF object";
	}
	problem = compare_build_id(symbols);
	if (problem && symbols->object->build_id_len)
		symbols->module = NULL;
	return problem;
}

/**
 * symbols_open() - open the file of an object
 * @symbols: receives what symbols_find() needs, and the problem if there is one
 * @object: must stay
 */
void symbols_open(struct symbols *symbols, const struct prf_object *object)
{
	memset(symbols, 0, sizeof(*symbols));
	symbols->object = object;
	symbols->problem = open_file(symbols);
}

/** symbols_close() - what symbols_open() has opened */
void symbols_close(struct symbols *symbols)
{
	if (symbols->dwfl)
		dwfl_end(symbols->dwfl);
}

/* The link-time address of what is at @offset of the file. */
static int link_address(Elf *elf, uint64_t offset, uint64_t *address)
{
	size_t nr, i;

	if (elf_getphdrnum(elf, &nr))
		return -1;
	for (i = 0; i < nr; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    !(phdr.p_flags & PF_X) || offset < phdr.p_offset ||
		    offset - phdr.p_offset >= phdr.p_filesz)
			continue;
		*address = phdr.p_vaddr + (offset - phdr.p_offset);
		return 0;
	}
	return -1;
}

/* A symbol that says how long it is, and that @address is inside. */
static int find_named(struct symbols *symbols, uint64_t address,
		      struct symbol *symbol)
{
	GElf_Off offset;
	GElf_Sym sym;
	const char *name = dwfl_module_addrinfo(symbols->module, address,
						&offset, &sym, NULL, NULL,
						NULL);

	if (!name || offset >= sym.st_size)
		return -1;
	symbol->name = demangle(name);
	symbol->start = address - offset;
	symbol->end = symbol->start + sym.st_size;
	return 0;
}

static int label(struct symbols *symbols, uint64_t address,
		 struct symbol *symbol)
{
	if (asprintf(&symbol->name, "%s+%#" PRIx64,
		     base_name(symbols->object->path), address) < 0)
		symbol->name = NULL;
	return symbol->name ? 0 : -1;
}

/* What is no file goes by the name that the kernel gives it, as [vdso]. */
static int whole(const struct prf_object *object, struct symbol *symbol)
{
	symbol->start = 0;
	symbol->end = object->end - object->start;
	symbol->name = strdup(object->path);
	return symbol->name ? 0 : -1;
}

/* From link-time addresses to offsets of the mapping, and inside of it. */
static void move(struct symbol *symbol, uint64_t address, uint64_t offset)
{
	uint64_t before = address - symbol->start;

	symbol->start = before > offset ? 0 : offset - before;
	symbol->end = offset + (symbol->end - address);
}

static int find_in_file(struct symbols *symbols, uint64_t offset,
			struct symbol *symbol)
{
	GElf_Addr bias, address;
	Elf *elf = dwfl_module_getelf(symbols->module, &bias);

	if (link_address(elf, symbols->object->pgoff + offset, &address))
		return 1;
	if (!find_named(symbols, address + bias, symbol)) {
		move(symbol, address + bias, offset);
		return symbol->name ? 0 : -1;
	}
	if (frames_find(elf, address, &symbol->start, &symbol->end))
		return 1;
	if (label(symbols, symbol->start, symbol))
		return -1;
	move(symbol, address, offset);
	return 0;
}

/**
 * symbols_find() - the function at an address
 * @symbols: of its object
 * @offset: from the start of the object
 * @symbol: receives it
 *
 * Return: 0, or -1 if there is no memory.
 */
int symbols_find(struct symbols *symbols, uint64_t offset,
		 struct symbol *symbol)
{
	const struct prf_object *object = symbols->object;
	int state = 1;

	memset(symbol, 0, sizeof(*symbol));
	if (symbols->module)
		state = find_in_file(symbols, offset, symbol);
	if (state <= 0)
		return state;
	if (object->path[0] == '[')
		return whole(object, symbol);
	symbol->start = offset;
	symbol->end = offset + object->bucket_bytes;
	return label(symbols, object->pgoff + offset, symbol);
}
