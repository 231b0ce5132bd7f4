// SPDX-License-Identifier: GPL-2.0-only
/*
 * build_id.c - ELF files of anybody, and build IDs of these and of notes alone
 */
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "symbolize/build_id.h"

/*
 * The notes of a kernel are some hundred bytes. Any user's file may be read
 * here, and claim to have terabytes of them.
 */
#define ROOM	65536

/*
 * Has a file no more sections and segments than its header can say? Otherwise their
 * numbers are elsewhere, and may be billions, in a hole: libelf has some hundred bytes
 * of memory for each section. Linux executes no file of so many segments.
 */
static bool has_few_parts(int fd)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} header = {};

	if (pread(fd, &header, sizeof(header), 0) < EI_NIDENT)
		return false;
	if (header.ident[EI_CLASS] == ELFCLASS32)
		return header.narrow.e_phnum != PN_XNUM &&
			(header.narrow.e_shnum || !header.narrow.e_shoff);
	return header.wide.e_phnum != PN_XNUM &&
		(header.wide.e_shnum || !header.wide.e_shoff);
}

/**
 * elf_open() - begin to read a program or library
 * @fd: its file, of any user; stays open until elf_end(3)
 *
 * Return: the file; NULL if it is none, or has more sections or segments than
 * programs have.
 */
Elf *elf_open(int fd)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	if (!has_few_parts(fd))
		return NULL;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	return NULL;
}

static bool is_build_id(const GElf_Nhdr *note, const char *name, uint32_t room)
{
	return note->n_type == NT_GNU_BUILD_ID && note->n_descsz <= room &&
		note->n_namesz == sizeof(ELF_NOTE_GNU) &&
		!memcmp(name, ELF_NOTE_GNU, note->n_namesz);
}

static uint32_t find_in_segment(Elf *elf, const GElf_Phdr *phdr, size_t size,
				uint8_t *id, uint32_t room)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, phdr->p_offset, size,
			phdr->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, name, found;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name, &found))) {
		if (!is_build_id(&note, (char *)data->d_buf + name, room))
			continue;
		memcpy(id, (char *)data->d_buf + found, note.n_descsz);
		return note.n_descsz;
	}
	return 0;
}

/**
 * build_id_of() - read the build ID of a program or library
 * @elf: the file
 * @id: receives the build ID
 * @room: size of @id, in bytes
 *
 * Return: length of the build ID in bytes; 0 if there is none.
 */
uint32_t build_id_of(Elf *elf, uint8_t *id, uint32_t room)
{
	size_t left = ROOM, size;
	uint32_t length = 0;
	GElf_Ehdr ehdr;
	GElf_Phdr phdr;
	int i;

	if (!gelf_getehdr(elf, &ehdr))
		return 0;
	for (i = 0; i < ehdr.e_phnum && !length; i++) {
		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_NOTE)
			continue;
		size = MIN(phdr.p_filesz, left);
		left -= size;
		length = find_in_segment(elf, &phdr, size, id, room);
	}
	return length;
}

/* Bytes that a part of a note takes; notes are aligned to 4 bytes. */
static size_t padded(uint32_t size)
{
	return ((size_t)size + 3) & ~(size_t)3;
}

static uint32_t find_note(const char *notes, size_t size, uint8_t *id,
			  uint32_t room)
{
	GElf_Nhdr note;
	size_t at = 0;

	while (size - at >= sizeof(note)) {
		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		if (padded(note.n_namesz) > size - at ||
		    padded(note.n_descsz) >
				size - at - padded(note.n_namesz))
			return 0;
		if (is_build_id(&note, notes + at, room)) {
			memcpy(id, notes + at + padded(note.n_namesz),
			       note.n_descsz);
			return note.n_descsz;
		}
		at += padded(note.n_namesz) + padded(note.n_descsz);
	}
	return 0;
}

/**
 * build_id_of_notes() - read the build ID from a file of ELF notes, as the
 * kernel has them in /sys
 * @path: path of the file
 * @id: receives the build ID
 * @room: size of @id, in bytes
 *
 * Return: length of the build ID in bytes; 0 if there is none.
 */
uint32_t build_id_of_notes(const char *path, uint8_t *id, uint32_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char notes[ROOM];
	ssize_t size;

	if (fd < 0)
		return 0;
	size = read(fd, notes, sizeof(notes));
	close(fd);
	return size > 0 ? find_note(notes, size, id, room) : 0;
}
