// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols.c - find the function and source line at an address of a DSO
 *
 * Uses elfutils libdwfl on the DSO's file, or on its separate debuginfo file,
 * when the process has ended. Offsets in a mapping become file offsets, and
 * with the file's segments link-time addresses. Code without a symbol is
 * delimited by .eh_frame_hdr, see frames.c, and is named after its DSO and
 * address. What the file does not say, the profile may have stored.
 */
#define _GNU_SOURCE
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/debug_file.h"
#include "symbolize/frames.h"
#include "symbolize/symbols.h"
#include "symbolize/symtab.h"
#include "symbolize/units.h"
#include "symbolize/vdso.h"
#include "util/array.h"
#include "util/file.h"

#define PAGE	4096

/** plain_length() - length of a name without the mark of a file that is gone */
size_t plain_length(const char *name)
{
	static const char mark[] = " (deleted)";
	size_t length = strlen(name), end = strlen(mark);

	return length > end && !strcmp(name + length - end, mark) ?
		length - end : length;
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
 * file. Also drop it in favour of the profile's own names if that is not known.
 */
static const char *open_path(struct symbols *symbols, const char *path,
			     const struct prf_dso *dso)
{
	struct stat stat_buffer;
	const char *problem;
	GElf_Addr bias;
	int fd;

	symbols->dwfl = dwfl_begin(&debug_file_callbacks);
	if (!symbols->dwfl)
		return "no memory";
	fd = file_open_plain(path, &stat_buffer);
	if (fd >= 0)
		symbols->module = dwfl_report_offline(symbols->dwfl,
						      symbols->label, path, fd);
	/* If there is a module, it owns the descriptor */
	if (fd >= 0 && !symbols->module)
		close(fd);
	dwfl_report_end(symbols->dwfl, NULL, NULL);
	if (!symbols->module || !elf_of(symbols, &bias)) {
		symbols->module = NULL;
		return "the file is gone, or is not an ELF file";
	}
	symbols->owner = stat_buffer.st_uid;
	problem = compare_build_id(symbols, dso);
	if (!problem && !dso->build_id_len)
		symbols->changed_ns = file_changed_ns(&stat_buffer);
	if (problem && (dso->build_id_len || dso->names))
		symbols->module = NULL;
	return problem;
}

/* Open the file of the DSO, or if that is another one now, look for its own. */
static const char *open_file(struct symbols *symbols, const struct prf_dso *dso)
{
	const char *problem;
	char *path;

	problem = open_path(symbols, symbols->file, dso);
	if (symbols->module || !dso->build_id_len)
		return problem;
	path = debug_file_by_id(dso);
	if (!path)
		return problem;
	if (symbols->dwfl)
		dwfl_end(symbols->dwfl);
	open_path(symbols, path, dso);
	if (!symbols->module) {
		free(path);
		return problem;
	}
	free(symbols->file);
	symbols->file = path;
	return NULL;
}

static int add_segment(struct symbols *symbols,
		       const struct prf_segment *segment)
{
	struct prf_segment *list = array_grow(symbols->segments,
					      symbols->nr_segments,
					      sizeof(*list));

	if (!list)
		return -1;
	symbols->segments = list;
	list[symbols->nr_segments++] = *segment;
	return 0;
}

static uint64_t page_of(uint64_t address)
{
	return address & -PAGE;
}

/*
 * A debug file does not say where segments are in the DSO. If there is but one,
 * and the mapping has its size, that is where it is.
 */
static bool guess_offset(const struct prf_dso *dso, const GElf_Phdr *phdr,
			 struct prf_segment *segment)
{
	uint64_t end = phdr->p_vaddr + phdr->p_memsz;
	uint64_t mapped = dso->pgoff + (dso->end - dso->start);

	*segment = (struct prf_segment){
		page_of(dso->pgoff), end - page_of(phdr->p_vaddr),
		page_of(phdr->p_vaddr)
	};
	return page_of(end + PAGE - 1) - segment->address ==
		page_of(mapped + PAGE - 1) - segment->offset;
}

static int read_segments(struct symbols *symbols, const struct prf_dso *dso,
			 Elf *elf)
{
	struct prf_segment segment;
	GElf_Phdr phdr;
	size_t i, nr;

	if (elf_getphdrnum(elf, &nr))
		nr = 0;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    !(phdr.p_flags & PF_X))
			continue;
		segment = (struct prf_segment){
			phdr.p_offset, phdr.p_filesz, phdr.p_vaddr
		};
		if (!phdr.p_filesz) {
			symbols->no_file = "only its debug file was found";
			if (symbols->nr_segments ||
			    !guess_offset(dso, &phdr, &segment)) {
				symbols->nr_segments = 0;
				return 0;
			}
		}
		if (add_segment(symbols, &segment))
			return -1;
	}
	return 0;
}

/* The profile's own segments are those of the DSO, also for a debug file. */
static int copy_segments(struct symbols *symbols, const struct prf_names *names)
{
	size_t i;

	symbols->nr_segments = 0;
	for (i = 0; i < names->nr_segments; i++)
		if (add_segment(symbols, &names->segments[i]))
			return -1;
	return 0;
}

static int open_tables(struct symbols *symbols, const struct prf_dso *dso)
{
	GElf_Addr bias;
	Elf *elf = elf_of(symbols, &bias);

	if (read_segments(symbols, dso, elf) ||
	    (symbols->no_file && dso->names &&
	     copy_segments(symbols, dso->names)))
		return -1;
	if (symbols->no_file && !symbols->nr_segments) {
		symbols->module = NULL;
		symbols->problem = symbols->no_file;
		return 0;
	}
	symbols->symtab = symtab_new(symbols->module, bias);
	symbols->frames = frames_new(elf);
	symbols->units = units_new(symbols->module);
	return symbols->symtab && symbols->frames && symbols->units ? 0 : -1;
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
	if (symbols->module)
		return open_tables(symbols, dso);
	symbols->no_file = symbols->problem;
	return 0;
}

/**
 * symbols_date() - report a file that may not be the one that was profiled
 * @symbols: symbols of the DSO
 * @dso: a mapping of the DSO; the first one, if it has names
 * @start_ns: start of the run that it has ticks of, since the epoch
 * @replaceable: no address of the file is in use yet
 *
 * Without a build ID, only the time of its last change can tell: that of the
 * inode, as package managers and cp -p set that of the contents. The profile's
 * own names are better than such a file.
 */
void symbols_date(struct symbols *symbols, const struct prf_dso *dso,
		  uint64_t start_ns, bool replaceable)
{
	if (symbols->changed_ns <= start_ns)
		return;
	symbols->problem = "cannot tell whether the file is the same: no build-id, and changed since the run";
	if (!dso->names || !replaceable)
		return;
	symbols->no_file = symbols->problem;
	symbols_drop_file(symbols);
}

/** symbols_drop_file() - have no names of the file, which is another one */
void symbols_drop_file(struct symbols *symbols)
{
	symbols->module = NULL;
	symbols->nr_segments = 0;
}

/* A function that only the profile can name; its addresses as in symbols_find() */
struct code_name {
	uint64_t start;
	uint64_t end;
	const char *name;
};

static int add_symbol(struct symbols *symbols, const struct code_name *name)
{
	struct code_name *names = array_grow(symbols->names, symbols->nr_names,
					     sizeof(*names));

	if (!names)
		return -1;
	symbols->names = names;
	names[symbols->nr_names++] = *name;
	return 0;
}

/* Where there is no file, the profile has its segments, too. */
static int add_names(struct symbols *symbols, const struct prf_names *names)
{
	if (stored_add(&symbols->stored, names))
		return -1;
	if (symbols->module)
		return 0;
	symbols->problem = NULL;
	return symbols->nr_segments ? 0 : copy_segments(symbols, names);
}

/**
 * symbols_add() - add the names that a profile has, before symbols_sort()
 * @symbols: symbols of a DSO
 * @dso: a mapping of the DSO, which must outlive @symbols
 *
 * Return: 0, or -1 if out of memory.
 */
int symbols_add(struct symbols *symbols, const struct prf_dso *dso)
{
	size_t i;

	if (dso->names && add_names(symbols, dso->names))
		return -1;
	for (i = 0; i < dso->nr_symbols; i++) {
		const struct code_name name = {
			.start = dso->pgoff + dso->symbols[i].start,
			.end = dso->pgoff + dso->symbols[i].end,
			.name = dso->symbols[i].name,
		};

		if (add_symbol(symbols, &name))
			return -1;
	}
	return 0;
}

/**
 * symbols_sort() - make names ready to be found, after the last symbols_add()
 *
 * Of names that overlap, the first one stays.
 *
 * Return: 0, or -1 if out of memory.
 */
int symbols_sort(struct symbols *symbols)
{
	struct code_name *names = symbols->names;
	size_t i, nr = 0;

	if (symbols->nr_names)
		qsort(names, symbols->nr_names, sizeof(*names), array_by_start);
	for (i = 0; i < symbols->nr_names; i++)
		if (!nr || names[nr - 1].end <= names[i].start)
			names[nr++] = names[i];
	symbols->nr_names = nr;
	return stored_sort(&symbols->stored);
}

/** symbols_close() - free the result of symbols_open() */
void symbols_close(struct symbols *symbols)
{
	symtab_free(symbols->symtab);
	free(symbols->frames);
	units_free(symbols->units);
	if (symbols->dwfl)
		dwfl_end(symbols->dwfl);
	if (symbols->fd >= 0)
		close(symbols->fd);
	free(symbols->file);
	free(symbols->segments);
	free(symbols->names);
	stored_free(&symbols->stored);
}

/** symbols_known() - are addresses link-time addresses of a file? */
bool symbols_known(const struct symbols *symbols)
{
	return symbols->module || symbols->nr_segments;
}

/** symbols_have_file() - is there a file with the code? */
bool symbols_have_file(const struct symbols *symbols)
{
	return symbols->module && !symbols->no_file;
}

/** symbols_have_names() - may any code have another name than its address? */
bool symbols_have_names(const struct symbols *symbols)
{
	return symbols->module || symbols->nr_names || symbols->stored.nr ||
		symbols->label[0] == '[';
}

/**
 * symbols_certain() - is there a file, and is it the one that was profiled?
 * @symbols: symbols of the DSO
 * @dso: the DSO, while recording
 * @start_ns: start of the run, since the epoch
 *
 * Only a file of our own mount namespace is known by nothing but its path and the time
 * of its last change.
 */
bool symbols_certain(const struct symbols *symbols, const struct prf_dso *dso,
		     uint64_t start_ns)
{
	return symbols->module && !symbols->problem &&
		symbols->changed_ns <= start_ns &&
		(dso->changed_ns ? dso->changed_ns == symbols->changed_ns :
				   dso->build_id_len || !dso->mount_ns);
}

/**
 * symbols_describe() - has the file itself debugging information?
 *
 * Else a separate debug file may have it.
 */
bool symbols_describe(const struct symbols *symbols)
{
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr header;
	GElf_Addr bias;
	size_t names;
	Elf *elf = elf_of(symbols, &bias);

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && (!strcmp(name, ".debug_info") ||
			     !strcmp(name, ".zdebug_info")))
			return true;
	}
	return false;
}

/** symbols_segment() - get an executable segment, or fail after the last */
bool symbols_segment(const struct symbols *symbols, size_t i,
		     struct prf_segment *segment)
{
	if (i >= symbols->nr_segments)
		return false;
	*segment = symbols->segments[i];
	return true;
}

/**
 * symbols_link() - convert a file offset to a link-time address
 * @symbols: symbols of the DSO
 * @offset: offset in its file, in bytes
 *
 * Return: the link-time address, or the offset if that is unknown.
 */
uint64_t symbols_link(const struct symbols *symbols, uint64_t offset)
{
	return prf_link(symbols->segments, symbols->nr_segments, offset);
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
	return symbols_link(symbols, dso->pgoff + offset);
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
		const struct prf_segment *segment = &symbols->segments[i];

		if (segment->address < *start)
			*start = segment->address;
		if (segment->address + segment->size > *end)
			*end = segment->address + segment->size;
	}
}

static int label(const struct symbols *symbols, struct symbol *symbol)
{
	const char *name = base_name(symbols->label);

	if (asprintf(&symbol->name, "%.*s+%#" PRIx64, (int)plain_length(name),
		     name, symbol->start) < 0)
		symbol->name = NULL;
	return symbol->name ? 0 : -1;
}

static int find_in_file(const struct symbols *symbols, uint64_t address,
			struct symbol *symbol)
{
	uint64_t start = 0, end;
	struct symtab_entry *entry;
	bool has_frame = false;
	const char *name;

	if (symtab_read(symbols->symtab))
		return -1;
	entry = symtab_find(symbols->symtab, address, &symbol->start,
			    &symbol->end, &symbol->until);
	if (!entry) {
		has_frame = !frames_find(symbols->frames, address, &start,
					 &end);
		entry = symtab_label(symbols->symtab, address, start,
				     &symbol->start, &symbol->end);
	}
	if (entry) {
		name = symtab_name(symbols->symtab, entry);
		symbol->name = name ? strdup(name) : NULL;
		return symbol->name ? 0 : -1;
	}
	symbol->name = NULL;
	if (has_frame) {
		symbol->start = start;
		symbol->end = end;
	}
	symtab_clip(symbols->symtab, address, &symbol->start, &symbol->end);
	return 0;
}

/* Find a function that has no symbol in the file. */
static int find_stored(const struct symbols *symbols, uint64_t address,
		       struct symbol *symbol)
{
	const struct prf_function *function =
		stored_function(&symbols->stored, address, &symbol->until);

	if (!function || (symbols->module && !function->name[0]))
		return 0;
	symbol->start = function->start;
	symbol->end = function->end;
	if (!function->name[0])
		return 0;
	symbol->name = strdup(function->name);
	return symbol->name ? 0 : -1;
}

/* Number of names that start at or before an address */
static size_t names_until(const struct symbols *symbols, uint64_t address)
{
	return array_until(symbols->names, symbols->nr_names,
			   sizeof(*symbols->names), address);
}

/* Find code that is in no file, but that the profile or the kernel names. */
static int find_name(const struct symbols *symbols, uint64_t address,
		     struct symbol *symbol)
{
	size_t until = names_until(symbols, address);

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
		return 0;
	}
	return symbol->name ? 0 : -1;
}

/**
 * symbols_look_up() - like symbols_find(), but without a name if there is no
 * symbol
 */
int symbols_look_up(const struct symbols *symbols, uint64_t address,
		    uint64_t bytes, struct symbol *symbol)
{
	symbol->start = address;
	symbol->end = address + bytes;
	symbol->until = UINT64_MAX;
	symbol->name = NULL;
	if (symbols->module && find_in_file(symbols, address, symbol))
		return -1;
	if (!symbol->name && find_stored(symbols, address, symbol))
		return -1;
	if (symbol->name || symbols_known(symbols))
		return 0;
	return find_name(symbols, address, symbol);
}

/**
 * symbols_find() - find the function at an address
 * @symbols: symbols of its DSO, after symbols_sort() if names were added
 * @address: link-time address
 * @bytes: size of the bucket there
 * @symbol: receives the function
 *
 * Return: 0, or -1 if out of memory.
 */
int symbols_find(const struct symbols *symbols, uint64_t address,
		 uint64_t bytes, struct symbol *symbol)
{
	if (symbols_look_up(symbols, address, bytes, symbol))
		return -1;
	return symbol->name ? 0 : label(symbols, symbol);
}

static Dwarf_Line *find_line(const struct symbols *symbols,
			     GElf_Addr address)
{
	Dwfl_Line *line = dwfl_module_getsrc(symbols->module, address);
	GElf_Addr bias;

	return line ? dwfl_dwarf_line(line, &bias) :
		units_line(symbols->units, address);
}

static bool place_in_file(const struct symbols *symbols, uint64_t address,
			  struct place *place)
{
	Dwarf_Line *line;
	GElf_Addr bias;

	elf_of(symbols, &bias);
	line = find_line(symbols, address + bias);
	/* Line 0 marks code that the compiler generated for no line */
	if (line && !dwarf_lineno(line, &place->line) && place->line > 0 &&
	    !dwarf_linediscriminator(line, &place->discriminator))
		place->file = dwarf_linesrc(line, NULL, NULL);
	return place->file;
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
	const struct prf_line *line;

	memset(place, 0, sizeof(*place));
	if (symbols->module && place_in_file(symbols, address, place))
		return true;
	memset(place, 0, sizeof(*place));
	line = stored_line(&symbols->stored, address);
	if (!line)
		return false;
	place->file = line->file;
	place->line = line->line;
	return true;
}

/**
 * symbols_next_line() - find the instruction at which the next line begins
 * @symbols: symbols of its DSO; symbols_have_file() must be true
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
 *	none if neither file nor profile has debugging information
 *
 * Return: 0, or -1 if out of memory.
 */
int symbols_inlines(const struct symbols *symbols, uint64_t address,
		    struct inlines *inlines)
{
	GElf_Addr bias;

	memset(inlines, 0, sizeof(*inlines));
	if (symbols->module) {
		elf_of(symbols, &bias);
		if (inlines_find(symbols->units, address + bias, inlines))
			return -1;
	}
	return inlines->nr ? 0 :
		stored_inlines(&symbols->stored, address, inlines);
}
