// SPDX-License-Identifier: GPL-2.0-only
/*
 * frames.c - find functions without symbols
 *
 * Every DSO has a table of its functions' addresses for unwinding,
 * .eh_frame_hdr (Linux Standard Base), which strip leaves in place. The file is
 * untrusted: every number is checked.
 */
#include <stdbool.h>
#include <string.h>

#include "symbolize/frames.h"

#define VERSION_1		1
#define COUNT_UDATA4		0x03
#define TABLE_DATAREL_SDATA4	0x3b
#define HEADER			12
#define ENTRY			8

/* The table in the encoding that common linkers use, in host byte order. */
struct frames {
	const uint8_t *entries;
	uint32_t nr;
	uint64_t base;
	uint64_t text_end;
};

static bool read_header(Elf *elf, const GElf_Phdr *phdr,
			struct frames *frames)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, phdr->p_offset,
					      phdr->p_filesz, ELF_T_BYTE);
	const uint8_t *bytes = data ? data->d_buf : NULL;

	if (!bytes || data->d_size < HEADER || bytes[0] != VERSION_1 ||
	    bytes[2] != COUNT_UDATA4 || bytes[3] != TABLE_DATAREL_SDATA4)
		return false;
	memcpy(&frames->nr, bytes + 8, sizeof(frames->nr));
	if (frames->nr > (data->d_size - HEADER) / ENTRY)
		return false;
	frames->entries = bytes + HEADER;
	frames->base = phdr->p_vaddr;
	return frames->nr;
}

static bool open_frames(Elf *elf, uint64_t address, struct frames *frames)
{
	bool found = false;
	size_t nr, i;

	if (elf_getphdrnum(elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, i, &phdr))
			continue;
		if (phdr.p_type == PT_GNU_EH_FRAME)
			found = read_header(elf, &phdr, frames);
		if (phdr.p_type == PT_LOAD && address >= phdr.p_vaddr &&
		    address - phdr.p_vaddr < phdr.p_memsz)
			frames->text_end = phdr.p_vaddr + phdr.p_memsz;
	}
	return found;
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
 * @elf: the DSO
 * @address: link-time address in the DSO
 * @start: receives the start of the function
 * @end: receives the start of the next function, or the end of the text
 *
 * Return: 0, or -1 if the DSO has no such table or the address is not in it.
 */
int frames_find(struct Elf *elf, uint64_t address, uint64_t *start,
		uint64_t *end)
{
	struct frames frames = {};
	uint32_t low = 0, high;

	if (!open_frames(elf, address, &frames) ||
	    address < begin(&frames, 0))
		return -1;
	high = frames.nr;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (address < begin(&frames, middle))
			high = middle;
		else
			low = middle;
	}
	*start = begin(&frames, low);
	*end = high < frames.nr ? begin(&frames, high) : frames.text_end;
	return *start <= address && address < *end ? 0 : -1;
}
