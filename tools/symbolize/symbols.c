// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols.c - find the function and source line at an address of a DSO
 *
 * Uses elfutils libdwfl on the DSO's file, or on its separate debuginfo file,
 * when the process has ended. Offsets in a mapping become file offsets, and
 * with the file's segments link-time addresses. Code without a symbol is
 * delimited by .eh_frame_hdr, see eh_frame.c, and is named after its DSO and
 * address.
 */
#define _GNU_SOURCE
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/demangle.h"
#include "symbolize/eh_frame.h"
#include "symbolize/srcline.h"
#include "symbolize/symbols.h"
#include "symbolize/symtab.h"
#include "symbolize/vdso.h"
#include "util/array.h"
#include "util/file.h"

static char *debuginfo_path;

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debuginfo_path,
};

/**
 * symbols_look_in() - set the directories with separate debuginfo files
 * @path: directories, separated by colons; not copied; NULL for the default
 */
void symbols_look_in(char *path)
{
	debuginfo_path = path;
}

static bool have_libdebuginfod(void)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);
	bool have = dwfl && dwfl_get_debuginfod_client(dwfl);

	dwfl_end(dwfl);
	return have;
}

/**
 * symbols_fetch() - allow or forbid to fetch debuginfo files from servers
 * @allow: whether to query the servers in DEBUGINFOD_URLS
 *
 * elfutils queries them whenever the variable is set.
 *
 * Return: NULL, or why no server can be queried.
 */
const char *symbols_fetch(bool allow)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!allow) {
		unsetenv("DEBUGINFOD_URLS");
		return NULL;
	}
	if (!urls || !urls[0])
		return "--debuginfod needs a server: set DEBUGINFOD_URLS";
	if (!have_libdebuginfod())
		return "--debuginfod needs libdebuginfod: install it";
	return NULL;
}

/** base_name() - part of a path after the last slash */
const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static Elf *elf_of(const struct symbols *symbols, GElf_Addr *bias)
{
	return dwfl_module_getelf(symbols->module, bias);
}

/* Other processes open this kernel's vDSO by our descriptor of it. */
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
				    const struct prf_dso *dso)
{
	const unsigned char *id;
	GElf_Addr address;
	int length = dwfl_module_build_id(symbols->module, &id, &address);

	if (!dso->build_id_len && length <= 0)
		return NULL;
	if (!dso->build_id_len || length <= 0)
		return "cannot tell whether the file is the same: no build-id";
	if ((uint32_t)length == dso->build_id_len &&
	    !memcmp(id, dso->build_id, length))
		return NULL;
	if (dso->kind == PRF_VDSO)
		return "it is that of another kernel: its build-id differs";
	return "the file is another one now: its build-id differs";
}

/*
 * If the build ID differs, other functions are at these addresses: drop the
 * file.
 */
static const char *open_file(struct symbols *symbols,
			     const struct prf_dso *dso)
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
	/* If there is a module, it owns the descriptor */
	if (fd >= 0 && !symbols->module)
		close(fd);
	dwfl_report_end(symbols->dwfl, NULL, NULL);
	if (!symbols->module || !elf_of(symbols, &bias)) {
		symbols->module = NULL;
		return "the file is gone, or is not an ELF file";
	}
	problem = compare_build_id(symbols, dso);
	if (!problem && !dso->build_id_len)
		symbols->changed_ns = file_changed_ns(&stat_buffer);
	if (problem && dso->build_id_len)
		symbols->module = NULL;
	return problem;
}

/* An executable segment of the file. */
struct segment {
	uint64_t offset;
	uint64_t size;
	uint64_t address;
};

static int read_segments(struct symbols *symbols, Elf *elf)
{
	GElf_Phdr phdr;
	size_t i, nr;

	if (elf_getphdrnum(elf, &nr))
		nr = 0;
	for (i = 0; i < nr; i++) {
		struct segment *list;

		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    !(phdr.p_flags & PF_X))
			continue;
		list = array_grow(symbols->segments, symbols->nr_segments,
				  sizeof(*list));
		if (!list)
			return -1;
		symbols->segments = list;
		list[symbols->nr_segments++] = (struct segment){
			phdr.p_offset, phdr.p_filesz, phdr.p_vaddr
		};
	}
	return 0;
}

static int open_tables(struct symbols *symbols)
{
	GElf_Addr bias;
	Elf *elf = elf_of(symbols, &bias);

	if (read_segments(symbols, elf))
		return -1;
	symbols->symtab = symtab_new(symbols->module, bias);
	symbols->units = units_new(symbols->module);
	return symbols->symtab && symbols->units ? 0 : -1;
}

/**
 * symbols_open() - open the file of a DSO
 * @symbols: receives the symbols, and the problem if there is one
 * @path: path of the DSO; not copied
 * @dso: a mapping of the DSO
 *
 * Return: 0, or -1 if out of memory.
 */
int symbols_open(struct symbols *symbols, const char *path,
		 const struct prf_dso *dso)
{
	memset(symbols, 0, sizeof(*symbols));
	symbols->fd = -1;
	symbols->label = path;
	if (dso->kind < PRF_VDSO)
		symbols->file = strdup(path);
	/* Without a build ID, it may be the vDSO of another kernel */
	else if (dso->kind > PRF_VDSO || !dso->build_id_len ||
		 open_vdso(symbols))
		return 0;
	if (!symbols->file)
		return -1;
	symbols->problem = open_file(symbols, dso);
	return symbols->module ? open_tables(symbols) : 0;
}

/**
 * symbols_date() - report a file that may not be the one that was profiled
 * @symbols: symbols of the DSO
 * @start_ns: start of a run that it has ticks of, since the epoch
 *
 * Without a build ID, only the time of its last change can tell: that of the
 * inode, as package managers and cp -p set that of the contents.
 */
void symbols_date(struct symbols *symbols, uint64_t start_ns)
{
	if (symbols->changed_ns > start_ns)
		symbols->problem = "cannot tell whether the file is the same: no build-id, and changed since the run";
}

/* A function that only the profile can name; its addresses as in symbols_find() */
struct code_name {
	uint64_t start;
	uint64_t end;
	const char *name;
};

/* Number of names that start at or before an address */
static size_t names_until(const struct symbols *symbols, uint64_t address)
{
	return array_until(symbols->names, symbols->nr_names,
			   sizeof(*symbols->names), address);
}

/* Add a name, unless another has the place. */
static int add_name(struct symbols *symbols, const struct code_name *name)
{
	size_t at = names_until(symbols, name->start);
	struct code_name *names = symbols->names;

	if (at && names[at - 1].end > name->start)
		return 0;
	if (at < symbols->nr_names && names[at].start < name->end)
		return 0;
	names = array_grow(names, symbols->nr_names, sizeof(*names));
	if (!names)
		return -1;
	symbols->names = names;
	memmove(&names[at + 1], &names[at],
		(symbols->nr_names++ - at) * sizeof(*names));
	names[at] = *name;
	return 0;
}

/**
 * symbols_add() - add the functions that a profile names
 * @symbols: symbols of a DSO
 * @dso: a mapping of the DSO, which must outlive @symbols
 *
 * Return: 0, or -1 if out of memory.
 */
int symbols_add(struct symbols *symbols, const struct prf_dso *dso)
{
	size_t i;

	for (i = 0; i < dso->nr_symbols; i++) {
		const struct code_name name = {
			.start = dso->pgoff + dso->symbols[i].start,
			.end = dso->pgoff + dso->symbols[i].end,
			.name = dso->symbols[i].name,
		};

		if (add_name(symbols, &name))
			return -1;
	}
	return 0;
}

/** symbols_close() - free the result of symbols_open() */
void symbols_close(struct symbols *symbols)
{
	symtab_free(symbols->symtab);
	units_free(symbols->units);
	if (symbols->dwfl)
		dwfl_end(symbols->dwfl);
	if (symbols->fd >= 0)
		close(symbols->fd);
	free(symbols->file);
	free(symbols->segments);
	free(symbols->names);
}

/** symbols_known() - are addresses link-time addresses of a file? */
bool symbols_known(const struct symbols *symbols)
{
	return symbols->module;
}

/**
 * symbols_address() - convert an offset in a mapping to a link-time address
 * @symbols: symbols of its DSO
 * @dso: the mapping
 * @offset: offset from the start of the mapping, in bytes
 *
 * Return: the link-time address, or the file offset if that is unknown.
 */
uint64_t symbols_address(const struct symbols *symbols,
			 const struct prf_dso *dso, uint64_t offset)
{
	size_t i;

	offset += dso->pgoff;
	for (i = 0; i < symbols->nr_segments; i++) {
		const struct segment *segment = &symbols->segments[i];

		if (offset >= segment->offset &&
		    offset - segment->offset < segment->size)
			return segment->address + (offset - segment->offset);
	}
	return offset;
}

/**
 * symbols_text() - find the bounds of a DSO's text
 * @symbols: symbols of the DSO; symbols_known() must be true
 * @start: receives the first link-time address
 * @end: receives the first address after it
 */
void symbols_text(const struct symbols *symbols, uint64_t *start,
		  uint64_t *end)
{
	size_t i;

	*start = UINT64_MAX;
	*end = 0;
	for (i = 0; i < symbols->nr_segments; i++) {
		const struct segment *segment = &symbols->segments[i];

		if (segment->address < *start)
			*start = segment->address;
		if (segment->address + segment->size > *end)
			*end = segment->address + segment->size;
	}
}

static int label(const struct symbols *symbols, struct symbol *symbol)
{
	if (asprintf(&symbol->name, "%s+%#" PRIx64, base_name(symbols->label),
		     symbol->start) < 0)
		symbol->name = NULL;
	return symbol->name ? 0 : -1;
}

static int find_in_file(const struct symbols *symbols, uint64_t address,
			struct symbol *symbol)
{
	uint64_t start, end;
	GElf_Addr bias;
	const char *name;

	if (symtab_read(symbols->symtab))
		return -1;
	name = symtab_find(symbols->symtab, address, &symbol->start,
			   &symbol->end);
	if (name) {
		symbol->name = demangle(name);
		return symbol->name ? 0 : -1;
	}
	if (!frames_find(elf_of(symbols, &bias), address, &start, &end)) {
		symbol->start = start;
		symbol->end = end;
	}
	symtab_clip(symbols->symtab, address, &symbol->start, &symbol->end);
	return label(symbols, symbol);
}

/**
 * symbols_find() - find the function at an address
 * @symbols: symbols of its DSO
 * @address: link-time address
 * @bytes: size of the bucket there
 * @symbol: receives the function
 *
 * Return: 0, or -1 if out of memory.
 */
int symbols_find(const struct symbols *symbols, uint64_t address,
		 uint64_t bytes, struct symbol *symbol)
{
	size_t until;

	symbol->start = address;
	symbol->end = address + bytes;
	if (symbols->module)
		return find_in_file(symbols, address, symbol);
	until = names_until(symbols, address);
	if (until && symbols->names[until - 1].end > address) {
		symbol->start = symbols->names[until - 1].start;
		symbol->end = symbols->names[until - 1].end;
		symbol->name = strdup(symbols->names[until - 1].name);
	} else if (symbols->label[0] == '[') {
		/* Not a file: use the kernel's name for it, such as [vdso] */
		symbol->start = until ? symbols->names[until - 1].end : 0;
		symbol->end = until < symbols->nr_names ?
			symbols->names[until].start : UINT64_MAX;
		symbol->name = strdup(symbols->label);
	} else {
		return label(symbols, symbol);
	}
	return symbol->name ? 0 : -1;
}

static Dwarf_Line *find_line(const struct symbols *symbols,
			     GElf_Addr address)
{
	Dwfl_Line *line = dwfl_module_getsrc(symbols->module, address);
	GElf_Addr bias;

	return line ? dwfl_dwarf_line(line, &bias) :
		units_line(symbols->units, address);
}

/**
 * symbols_place() - find the source line of an instruction
 * @symbols: symbols of its DSO
 * @address: link-time address
 * @place: receives the source line, zeros if unknown; valid until
 *	symbols_close()
 *
 * Return: whether it is known.
 */
bool symbols_place(const struct symbols *symbols, uint64_t address,
		   struct place *place)
{
	Dwarf_Line *line;
	GElf_Addr bias;

	memset(place, 0, sizeof(*place));
	if (!symbols->module)
		return false;
	elf_of(symbols, &bias);
	line = find_line(symbols, address + bias);
	/* Line 0 marks code that the compiler generated for no line */
	if (line && !dwarf_lineno(line, &place->line) && place->line > 0 &&
	    !dwarf_linediscriminator(line, &place->discriminator))
		place->file = dwarf_linesrc(line, NULL, NULL);
	if (place->file)
		return true;
	memset(place, 0, sizeof(*place));
	return false;
}

/**
 * symbols_next_line() - find the instruction at which the next line begins
 * @symbols: symbols of its DSO; symbols_known() must be true
 * @address: link-time address
 *
 * Return: an address after @address, UINT64_MAX if there is none.
 */
uint64_t symbols_next_line(const struct symbols *symbols, uint64_t address)
{
	GElf_Addr bias;
	uint64_t next;

	elf_of(symbols, &bias);
	next = units_next_line(symbols->units, address + bias);
	return next == UINT64_MAX ? next : next - bias;
}

/**
 * symbols_inlines() - find the functions inlined at an address
 * @symbols: symbols of the DSO
 * @address: link-time address
 * @inlines: receives the functions, for inlines_free() before symbols_close();
 *	none if the DSO has no debugging information
 *
 * Return: 0, or -1 if out of memory.
 */
int symbols_inlines(const struct symbols *symbols, uint64_t address,
		    struct inlines *inlines)
{
	GElf_Addr bias;

	memset(inlines, 0, sizeof(*inlines));
	if (!symbols->module)
		return 0;
	elf_of(symbols, &bias);
	return inlines_find(symbols->units, address + bias, inlines);
}
