// SPDX-License-Identifier: GPL-2.0-only
/*
 * frames.c - find functions without symbols
 *
 * Every DSO has a table of its functions' addresses for unwinding,
 * .eh_frame_hdr (Linux Standard Base), which strip leaves in place. The file is
 * untrusted: every number is checked.
 */
#include <stdlib.h>
#include <string.h>

#include "symbolize/frames.h"

#define VERSION_1		1
#define COUNT_UDATA4		0x03
#define TABLE_DATAREL_SDATA4	0x3b
#define HEADER			12
#define ENTRY			8

/* The table in the encoding that common linkers use, in host byte order. */
struct frames {
	Elf *elf;
	const uint8_t *entries;
	uint32_t nr;
	uint64_t base;
};

static void read_header(struct frames *frames, const GElf_Phdr *phdr)
{
	Elf_Data *data = elf_getdata_rawchunk(frames->elf, phdr->p_offset,
					      phdr->p_filesz, ELF_T_BYTE);
	const uint8_t *bytes = data ? data->d_buf : NULL;
	uint32_t nr;

	if (!bytes || data->d_size < HEADER || bytes[0] != VERSION_1 ||
	    bytes[2] != COUNT_UDATA4 || bytes[3] != TABLE_DATAREL_SDATA4)
		return;
	memcpy(&nr, bytes + 8, sizeof(nr));
	if (nr > (data->d_size - HEADER) / ENTRY)
		return;
	frames->nr = nr;
	frames->entries = bytes + HEADER;
	frames->base = phdr->p_vaddr;
}

/**
 * frames_new() - find the table of a DSO
 * @elf: the DSO; must outlive the result
 *
 * Return: the table, empty if the DSO has none, for free(); or NULL if out of
 * memory.
 */
struct frames *frames_new(Elf *elf)
{
	struct frames *frames = calloc(1, sizeof(*frames));
	size_t nr = 0, i;
	GElf_Phdr phdr;

	if (!frames)
		return NULL;
	frames->elf = elf;
	elf_getphdrnum(elf, &nr);
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(elf, i, &phdr) &&
		    phdr.p_type == PT_GNU_EH_FRAME)
			read_header(frames, &phdr);
	return frames;
}

/* End of the segment of an address, or 0 */
static uint64_t text_end(const struct frames *frames, uint64_t address)
{
	size_t nr = 0, i;
	GElf_Phdr phdr;

	elf_getphdrnum(frames->elf, &nr);
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(frames->elf, i, &phdr) &&
		    phdr.p_type == PT_LOAD && address >= phdr.p_vaddr &&
		    address - phdr.p_vaddr < phdr.p_memsz)
			return phdr.p_vaddr + phdr.p_memsz;
	return 0;
}

static uint64_t begin(const struct frames *frames, uint32_t nr)
{
	int32_t relative;

	memcpy(&relative, frames->entries + (size_t)nr * ENTRY,
	       sizeof(relative));
	return frames->base + relative;
}

/**
 * frames_find() - find the bounds of the function at an address
 * @frames: of frames_new()
 * @address: link-time address in the DSO
 * @start: receives the start of the function
 * @end: receives the start of the next function, or the end of the text
 *
 * Return: 0, or -1 if the DSO has no such table or the address is not in it.
 */
int frames_find(const struct frames *frames, uint64_t address, uint64_t *start,
		uint64_t *end)
{
	uint32_t low = 0, high = frames->nr;

	if (!high || address < begin(frames, 0))
		return -1;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (address < begin(frames, middle))
			high = middle;
		else
			low = middle;
	}
	*start = begin(frames, low);
	*end = high < frames->nr ? begin(frames, high) :
				   text_end(frames, address);
	return *start <= address && address < *end ? 0 : -1;
}
