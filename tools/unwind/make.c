// SPDX-License-Identifier: GPL-2.0-only
/*
 * make.c - make the table of a file that says where callers are
 */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/random.h>

#include "unwind/cfi.h"
#include "unwind/make.h"
#include "util/array.h"

/* Fewer bytes between functions are padding, and take no row of their own. */
#define MAX_PADDING	32

/* The code at the entry point is no longer; the dynamic linker's has half of it. */
#define MAX_ENTRY	128

/* Twice as many as there can be */
#define NR_HASHES	(2u << 16)
#define MAX_RULES	(1u << 16)

/* The kernel takes no larger table. */
#define MAX_ROWS	(PROFIL_UNWIND_MAX / sizeof(struct profil_unwind_row))

/* Where in the file a rule begins to hold */
struct row {
	uint64_t offset;
	uint32_t rule;
};

/*
 * @segments: those with code; @delta: from addresses in the one at hand to
 * offsets in the file; @hashes: index of a rule + 1 by a hash of it, or 0;
 * @multiplier: of the hash, odd, which the author of a file does not know;
 * @has_rules: the file has some, even if they cannot be read; @is_incomplete: for
 * want of memory, or as a table can have no more
 */
struct making {
	GElf_Phdr *segments;
	size_t nr_segments;
	uint64_t delta;
	struct row *rows;
	size_t nr_rows;
	uint64_t *functions;
	size_t nr_functions;
	struct profil_unwind_rule *rules;
	size_t nr_rules;
	uint32_t *hashes;
	uint64_t multiplier;
	bool has_rules;
	bool is_incomplete;
};

/* Make room in an array for one more element. Return: whether there is. */
static bool grow(struct making *making, void *array, size_t nr, size_t size)
{
	void *old, *new;

	memcpy(&old, array, sizeof(old));
	new = array_grow(old, nr, size);
	if (!new)
		making->is_incomplete = true;
	else
		memcpy(array, &new, sizeof(new));
	return new;
}

/* --- rules and rows */

/* Return: the index of a rule, which is added where there is room for more. */
static uint32_t find_rule(struct making *making, struct profil_unwind_rule rule)
{
	uint64_t key;
	uint32_t at;

	memcpy(&key, &rule, sizeof(key));
	at = (key * making->multiplier >> 47) % NR_HASHES;
	for (; making->hashes[at]; at = (at + 1) % NR_HASHES)
		if (!memcmp(&making->rules[making->hashes[at] - 1], &rule,
			    sizeof(rule)))
			return making->hashes[at] - 1;
	/* The first one is PROFIL_UNWIND_NO_RULE. */
	if (making->nr_rules == MAX_RULES ||
	    !grow(making, &making->rules, making->nr_rules, sizeof(rule)))
		return 0;
	making->rules[making->nr_rules++] = rule;
	making->hashes[at] = making->nr_rules;
	return making->nr_rules - 1;
}

static void add_row(void *data, uint64_t address,
		    struct profil_unwind_rule rule)
{
	struct making *making = data;
	struct row row = {
		.offset = address + making->delta,
		.rule = find_rule(making, rule),
	};
	struct row *last = making->nr_rows ?
			   &making->rows[making->nr_rows - 1] : NULL;

	if (last && last->rule == row.rule)
		return;
	if (last && last->offset == row.offset) {
		last->rule = row.rule;
		return;
	}
	if (making->nr_rows == MAX_ROWS)
		making->is_incomplete = true;
	else if (grow(making, &making->rows, making->nr_rows, sizeof(row)))
		making->rows[making->nr_rows++] = row;
}

static void add_rule(struct making *making, uint64_t address, int cfa)
{
	add_row(making, address, (struct profil_unwind_rule){ .cfa = cfa });
}

static void add_function(struct making *making, uint64_t address)
{
	if (grow(making, &making->functions, making->nr_functions,
		 sizeof(*making->functions)))
		making->functions[making->nr_functions++] =
			address + making->delta;
}

/*
 * Code of a segment before, between or after ranges. Nothing says what the
 * dynamic linker's entry point is, but it is the first function that runs.
 */
static void add_between(struct making *making, uint64_t start, uint64_t end,
			uint64_t entry)
{
	if (end - start < MAX_PADDING)
		return;
	add_rule(making, start, PROFIL_UNWIND_NO_CODE);
	if (entry < start || entry >= end)
		return;
	add_function(making, entry);
	add_rule(making, entry, PROFIL_UNWIND_OUTERMOST);
	if (end - entry > MAX_ENTRY)
		add_rule(making, entry + MAX_ENTRY, PROFIL_UNWIND_NO_CODE);
}

static uint64_t end_of(const GElf_Phdr *segment)
{
	return segment->p_vaddr + segment->p_filesz;
}

/* Return: whether anything in the segment has a rule. */
static bool add_segment(struct making *making, const struct cfi *cfi,
			const GElf_Phdr *segment, uint64_t entry)
{
	uint64_t end = segment->p_vaddr;
	bool is_known = false;
	size_t i = end ? array_until(cfi->ranges, cfi->nr, sizeof(*cfi->ranges),
				     end - 1) : 0;

	making->delta = segment->p_offset - segment->p_vaddr;
	for (; i < cfi->nr && !making->is_incomplete; i++) {
		const struct cfi_range *range = &cfi->ranges[i];

		if (range->start >= end_of(segment))
			break;
		/* Of two that overlap the first one counts. */
		if (range->start < end || range->end > end_of(segment))
			continue;
		add_between(making, end, range->start, entry);
		add_function(making, range->start);
		cfi_run(cfi, range, add_row, making);
		end = range->end;
		is_known = true;
	}
	if (is_known) {
		add_between(making, end, end_of(segment), entry);
		add_rule(making, end_of(segment), PROFIL_UNWIND_NO_CODE);
	}
	return is_known;
}

/*
 * Files without any rule have a base pointer as a rule, since nothing else lets
 * anybody find callers, as those of Go. Next to rules that would be a guess.
 */
static void add_frames(struct making *making, const GElf_Phdr *segment)
{
	making->delta = segment->p_offset - segment->p_vaddr;
	add_row(making, segment->p_vaddr, (struct profil_unwind_rule){
			.cfa = PROFIL_UNWIND_FRAME,
			.bp = 2,
			.bx = PROFIL_UNWIND_LOST,
			.offset = 16,
		});
	add_rule(making, end_of(segment), PROFIL_UNWIND_NO_CODE);
}

static int compare_segments(const void *a, const void *b)
{
	const GElf_Phdr *one = a, *other = b;

	return one->p_offset < other->p_offset ? -1 :
	       one->p_offset > other->p_offset;
}

/*
 * Leave out those that are empty, that reach into one before, in the file or in
 * memory, or beyond the end of the file or of memory. With these, a small file could
 * ask for any number of rows.
 */
static void drop_segments(struct making *making, uint64_t size)
{
	GElf_Phdr *segments = making->segments;
	uint64_t end = 0, address = 0;
	size_t nr = 0, i;

	for (i = 0; i < making->nr_segments; i++) {
		const GElf_Phdr *segment = &segments[i];

		if (!segment->p_filesz || segment->p_offset < end ||
		    segment->p_offset > size ||
		    segment->p_filesz > size - segment->p_offset ||
		    segment->p_vaddr < address ||
		    end_of(segment) < segment->p_vaddr)
			continue;
		end = segment->p_offset + segment->p_filesz;
		address = end_of(segment);
		segments[nr++] = *segment;
	}
	making->nr_segments = nr;
}

/* Those with code, in the order of the file */
static void read_segments(struct making *making, Elf *elf)
{
	size_t nr = 0, size = 0, i;
	GElf_Phdr segment;

	elf_rawfile(elf, &size);
	elf_getphdrnum(elf, &nr);
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &segment))
			continue;
		making->has_rules |= segment.p_type == PT_GNU_EH_FRAME;
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
			continue;
		if (grow(making, &making->segments, making->nr_segments,
			 sizeof(segment)))
			making->segments[making->nr_segments++] = segment;
	}
	if (making->nr_segments)
		qsort(making->segments, making->nr_segments, sizeof(segment),
		      compare_segments);
	drop_segments(making, size);
}

/* --- the table */

static size_t align(size_t bytes)
{
	return (bytes + 7) / 8 * 8;
}

/* Return: the table, for free(); or NULL. */
static void *write_table(const struct making *making, size_t *bytes)
{
	uint64_t start = making->rows[0].offset & ~(PROFIL_UNWIND_BLOCK - 1ull);
	uint64_t size = making->rows[making->nr_rows - 1].offset - start;
	struct profil_unwind_head *head;
	struct profil_unwind_index *index;
	struct profil_unwind_row *rows;
	uint32_t *functions, row = 0, function = 0, block;

	if (size >> 31)
		return NULL;
	*bytes = sizeof(*head) +
		 ((size >> PROFIL_UNWIND_SHIFT) + 2) * sizeof(*index) +
		 making->nr_functions * sizeof(*functions) +
		 making->nr_rows * sizeof(*rows);
	*bytes = align(*bytes) + making->nr_rules * sizeof(*making->rules);
	head = calloc(1, *bytes);
	if (!head)
		return NULL;
	*head = (struct profil_unwind_head){
		.start = start,
		.blocks = (size >> PROFIL_UNWIND_SHIFT) + 1,
		.functions = making->nr_functions,
		.rows = making->nr_rows,
		.rules = making->nr_rules,
	};
	index = (void *)(head + 1);
	functions = (void *)(index + head->blocks + 1);
	rows = (void *)(functions + head->functions);
	for (block = 0; block <= head->blocks; block++) {
		uint64_t end = start + ((uint64_t)(block + 1) <<
					PROFIL_UNWIND_SHIFT);

		index[block] = (struct profil_unwind_index){ row, function };
		for (; row < head->rows && making->rows[row].offset < end;
		     row++) {
			rows[row].low = making->rows[row].offset &
					(PROFIL_UNWIND_BLOCK - 1);
			rows[row].rule = making->rows[row].rule;
		}
		for (; function < head->functions &&
		       making->functions[function] < end; function++)
			functions[function] = making->functions[function] -
					      start;
	}
	memcpy((char *)head + *bytes -
	       making->nr_rules * sizeof(*making->rules), making->rules,
	       making->nr_rules * sizeof(*making->rules));
	return head;
}

/* Return: whether the file has it. */
static bool find_section(Elf *elf, const char *name, struct cfi *cfi)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *found;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    header.sh_type == SHT_NOBITS ||
		    header.sh_flags & SHF_COMPRESSED)
			continue;
		found = elf_strptr(elf, names, header.sh_name);
		if (!found || strcmp(found, name))
			continue;
		cfi->address = header.sh_addr;
		cfi->data = elf_rawdata(section, NULL);
		return cfi->data && cfi->data->d_buf;
	}
	return false;
}

/**
 * unwind_make() - make the table of a file
 * @elf: the file, of x86-64
 * @bytes: is set to the size of the table
 *
 * Return: the table, for free(); NULL if the file has no code or more than
 * 2 GiB of it, if nothing can be said of it, or if out of memory.
 */
void *unwind_make(Elf *elf, size_t *bytes)
{
	struct making making = { 0 };
	struct cfi cfi = { 0 };
	void *table = NULL;
	GElf_Ehdr header;
	size_t i;

	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64)
		return NULL;
	cfi.ident = header.e_ident;
	cfi.is_eh = find_section(elf, ".eh_frame", &cfi);
	if (cfi.is_eh || find_section(elf, ".debug_frame", &cfi))
		making.is_incomplete = !cfi_read(&cfi);
	read_segments(&making, elf);
	if (getrandom(&making.multiplier, sizeof(making.multiplier), 0) < 0)
		making.multiplier = 0;
	making.multiplier |= 1;
	making.hashes = calloc(NR_HASHES, sizeof(*making.hashes));
	if (making.hashes) {
		find_rule(&making, (struct profil_unwind_rule){
				.cfa = PROFIL_UNWIND_NO_RULE });
		for (i = 0; i < making.nr_segments; i++)
			making.has_rules |= add_segment(&making, &cfi,
							&making.segments[i],
							header.e_entry);
		for (i = 0; i < making.nr_segments && !making.has_rules; i++)
			add_frames(&making, &making.segments[i]);
	}
	if (making.nr_rows && !making.is_incomplete)
		table = write_table(&making, bytes);
	cfi_free(&cfi);
	free(making.segments);
	free(making.rows);
	free(making.functions);
	free(making.rules);
	free(making.hashes);
	return table;
}
