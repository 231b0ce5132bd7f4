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
#include <unistd.h>

#include "bounds.h"
#include "demangle.h"
#include "file.h"
#include "frames.h"
#include "symbols.h"
#include "units.h"
#include "vdso.h"

static char *debuginfo_path;

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debuginfo_path,
};

/**
 * symbols_look_in() - say where separate files of symbols are
 * @path: directories, separated by colons, that must stay; NULL for the usual
 */
void symbols_look_in(char *path)
{
	debuginfo_path = path;
}

/** base_name() - what is behind the last slash */
const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static Elf *elf_of(const struct symbols *symbols, GElf_Addr *bias)
{
	return dwfl_module_getelf(symbols->module, bias);
}

/* The vDSO of this kernel gets a name that goes by our descriptor of it. */
static int open_vdso(struct symbols *symbols)
{
	symbols->fd = vdso_open();
	if (symbols->fd >= 0 &&
	    asprintf(&symbols->file, "/proc/%d/fd/%d", getpid(),
		     symbols->fd) < 0)
		symbols->file = NULL;
	return symbols->file ? 0 : -1;
}

static const char *compare_build_id(const struct symbols *symbols,
				    const struct prf_object *object)
{
	const unsigned char *id;
	GElf_Addr address;
	int length = dwfl_module_build_id(symbols->module, &id, &address);

	if (!object->build_id_len && length <= 0)
		return NULL;
	if (!object->build_id_len || length <= 0)
		return "cannot tell whether the file is the same: no build-id";
	if ((uint32_t)length == object->build_id_len &&
	    !memcmp(id, object->build_id, length))
		return NULL;
	if (object->kind == PRF_VDSO)
		return "it is that of another kernel: its build-id differs";
	return "the file is another one now: its build-id differs";
}

/* A file that is another one has other functions at these addresses. */
static const char *open_file(struct symbols *symbols,
			     const struct prf_object *object)
{
	struct stat stat_buffer;
	const char *problem;
	GElf_Addr bias;
	int fd;

	symbols->dwfl = dwfl_begin(&callbacks);
	if (!symbols->dwfl)
		return "no memory";
	fd = file_open_plain(symbols->file, &stat_buffer);
	if (fd >= 0)
		symbols->module = dwfl_report_offline(symbols->dwfl,
						      symbols->label,
						      symbols->file, fd);
	/* Otherwise it belongs to the module */
	if (fd >= 0 && !symbols->module)
		close(fd);
	dwfl_report_end(symbols->dwfl, NULL, NULL);
	if (!symbols->module || !elf_of(symbols, &bias)) {
		symbols->module = NULL;
		return "the file cannot be read: it is gone, or no ELF object";
	}
	problem = compare_build_id(symbols, object);
	if (problem && object->build_id_len)
		symbols->module = NULL;
	return problem;
}

static int open_tables(struct symbols *symbols)
{
	GElf_Addr bias;

	elf_of(symbols, &bias);
	symbols->bounds = bounds_new(symbols->module, bias);
	symbols->units = units_new(symbols->module);
	return symbols->bounds && symbols->units ? 0 : -1;
}

/**
 * symbols_open() - open the file of an object
 * @symbols: receives what the others need, and the problem if there is one
 * @path: of the object; must stay
 * @object: a mapping of it
 *
 * Return: 0, or -1 if there is no memory.
 */
int symbols_open(struct symbols *symbols, const char *path,
		 const struct prf_object *object)
{
	memset(symbols, 0, sizeof(*symbols));
	symbols->fd = -1;
	symbols->label = path;
	if (object->kind < PRF_VDSO)
		symbols->file = strdup(path);
	/* Without a build-id nobody knows what kernel it was of */
	else if (object->kind > PRF_VDSO || !object->build_id_len ||
		 open_vdso(symbols))
		return 0;
	if (!symbols->file)
		return -1;
	symbols->problem = open_file(symbols, object);
	return symbols->module ? open_tables(symbols) : 0;
}

/** symbols_close() - what symbols_open() has opened */
void symbols_close(struct symbols *symbols)
{
	bounds_free(symbols->bounds);
	units_free(symbols->units);
	if (symbols->dwfl)
		dwfl_end(symbols->dwfl);
	if (symbols->fd >= 0)
		close(symbols->fd);
	free(symbols->file);
}

/** symbols_known() - whether addresses are link-time addresses of a file */
bool symbols_known(const struct symbols *symbols)
{
	return symbols->module;
}

/* The next segment of text at or after number @i. */
static bool next_text(Elf *elf, size_t *i, GElf_Phdr *phdr)
{
	size_t nr;

	if (elf_getphdrnum(elf, &nr))
		return false;
	for (; *i < nr; ++*i)
		if (gelf_getphdr(elf, *i, phdr) && phdr->p_type == PT_LOAD &&
		    phdr->p_flags & PF_X)
			return true;
	return false;
}

/**
 * symbols_address() - the link-time address of what was mapped
 * @symbols: of its object
 * @object: the mapping
 * @offset: from its beginning
 *
 * Return: the address, or the offset in the file if it is not known.
 */
uint64_t symbols_address(const struct symbols *symbols,
			 const struct prf_object *object, uint64_t offset)
{
	GElf_Phdr phdr;
	GElf_Addr bias;
	size_t i = 0;
	Elf *elf;

	offset += object->pgoff;
	if (!symbols->module)
		return offset;
	elf = elf_of(symbols, &bias);
	for (; next_text(elf, &i, &phdr); i++)
		if (offset >= phdr.p_offset &&
		    offset - phdr.p_offset < phdr.p_filesz)
			return phdr.p_vaddr + (offset - phdr.p_offset);
	return offset;
}

/**
 * symbols_text() - where the text of an object lies
 * @symbols: of the object; must be known
 * @start: receives the first address
 * @end: receives the one after the last
 */
void symbols_text(const struct symbols *symbols, uint64_t *start,
		  uint64_t *end)
{
	GElf_Phdr phdr;
	GElf_Addr bias;
	size_t i = 0;
	Elf *elf = elf_of(symbols, &bias);

	*start = UINT64_MAX;
	*end = 0;
	for (; next_text(elf, &i, &phdr); i++) {
		if (phdr.p_vaddr < *start)
			*start = phdr.p_vaddr;
		if (phdr.p_vaddr + phdr.p_filesz > *end)
			*end = phdr.p_vaddr + phdr.p_filesz;
	}
}

/* A symbol that says how long it is, and that @address is inside. */
static int find_named(const struct symbols *symbols, uint64_t address,
		      struct symbol *symbol)
{
	GElf_Addr bias;
	GElf_Off offset;
	GElf_Sym sym;
	const char *name;

	elf_of(symbols, &bias);
	name = dwfl_module_addrinfo(symbols->module, address + bias, &offset,
				    &sym, NULL, NULL, NULL);
	if (!name || offset >= sym.st_size)
		return 1;
	symbol->name = demangle(name);
	symbol->start = address - offset;
	symbol->end = symbol->start + sym.st_size;
	return symbol->name ? 0 : -1;
}

static int label(const struct symbols *symbols, struct symbol *symbol)
{
	if (asprintf(&symbol->name, "%s+%#" PRIx64, base_name(symbols->label),
		     symbol->start) < 0)
		symbol->name = NULL;
	return symbol->name ? 0 : -1;
}

/**
 * symbols_find() - the function at an address
 * @symbols: of its object
 * @address: as linked
 * @bytes: of the bucket there
 * @symbol: receives it
 *
 * Return: 0, or -1 if there is no memory.
 */
int symbols_find(const struct symbols *symbols, uint64_t address,
		 uint64_t bytes, struct symbol *symbol)
{
	GElf_Addr bias;
	int state;

	symbol->start = address;
	symbol->end = address + bytes;
	if (symbols->module) {
		state = find_named(symbols, address, symbol);
		if (state <= 0)
			return state;
		if (frames_find(elf_of(symbols, &bias), address,
				&symbol->start, &symbol->end)) {
			symbol->start = address;
			symbol->end = address + bytes;
		}
		if (bounds_clip(symbols->bounds, address, &symbol->start,
				&symbol->end))
			return -1;
	} else if (symbols->label[0] == '[') {
		/* What is no file goes by the name that the kernel gives it */
		symbol->start = 0;
		symbol->end = UINT64_MAX;
		symbol->name = strdup(symbols->label);
		return symbol->name ? 0 : -1;
	}
	return label(symbols, symbol);
}

/**
 * symbols_place() - the source of an instruction
 * @symbols: of its object
 * @address: as linked
 * @place: receives it, zeros if it is not known; good until symbols_close()
 *
 * Return: whether it is known.
 */
bool symbols_place(const struct symbols *symbols, uint64_t address,
		   struct place *place)
{
	Dwfl_Line *line;
	GElf_Addr bias;

	memset(place, 0, sizeof(*place));
	if (!symbols->module)
		return false;
	elf_of(symbols, &bias);
	line = dwfl_module_getsrc(symbols->module, address + bias);
	if (line)
		place->file = dwfl_lineinfo(line, NULL, &place->line, NULL,
					    NULL, NULL);
	else
		place->file = units_source(symbols->units, address + bias,
					   &place->line);
	/* The compiler says 0 of what it made of no line */
	if (place->file && place->line > 0)
		return true;
	memset(place, 0, sizeof(*place));
	return false;
}
