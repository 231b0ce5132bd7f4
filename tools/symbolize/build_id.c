// SPDX-License-Identifier: GPL-2.0-only
/*
 * build_id.c - ELF files of anybody, and build IDs of these and of notes alone
 */
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolize/build_id.h"

/*
 * The notes of a kernel are some hundred bytes. Any user's file may be read
 * here, and claim to have terabytes of them.
 */
#define ROOM	65536

union header {
	unsigned char ident[EI_NIDENT];
	Elf32_Ehdr narrow;
	Elf64_Ehdr wide;
};

/*
 * Has a file no more sections and segments than its header can say? Otherwise their
 * numbers are elsewhere, and may be billions, in a hole: libelf has some hundred bytes
 * of memory for each section. Linux executes no file of so many segments.
 */
static bool has_few_parts(const union header *header)
{
	if (header->ident[EI_CLASS] == ELFCLASS32)
		return header->narrow.e_phnum != PN_XNUM &&
			(header->narrow.e_shnum || !header->narrow.e_shoff);
	return header->wide.e_phnum != PN_XNUM &&
		(header->wide.e_shnum || !header->wide.e_shoff);
}

/*
 * Have a part of a mapped file, from a page to another or the end, stay as it is,
 * if others write to the file: libelf reads it again after it has checked it. Not as a
 * private page of the file, which is lost when the file is truncated.
 */
static bool pin(int fd, char *image, uint64_t start, uint64_t end)
{
	void *part = image + start;

	return start >= end ||
		(mmap(part, end - start, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == part &&
		 pread(fd, part, end - start, start) == (ssize_t)(end - start));
}

/* The first page has been pinned. */
static bool pin_sections(int fd, char *image, uint64_t size)
{
	const union header *header = (void *)image;
	uint64_t page = sysconf(_SC_PAGESIZE), start, end;

	if (header->ident[EI_CLASS] == ELFCLASS32) {
		start = header->narrow.e_shoff;
		end = header->narrow.e_shnum * sizeof(Elf32_Shdr);
	} else {
		start = header->wide.e_shoff;
		end = header->wide.e_shnum * sizeof(Elf64_Shdr);
	}
	start = MIN(start, size);
	end = MIN((start + end + page - 1) & -page, size);
	return pin(fd, image, MAX(start & -page, page), end);
}

/**
 * elf_open() - begin to read a program or library
 * @fd: its file, of any user, who may write to it meanwhile
 *
 * Return: the file, for elf_close(); NULL if it is none, or has more sections or
 * segments than programs have.
 */
Elf *elf_open(int fd)
{
	struct stat file;
	Elf *elf = NULL;
	char *image;

	elf_version(EV_CURRENT);
	if (fstat(fd, &file) || file.st_size < (off_t)sizeof(union header))
		return NULL;
	image = mmap(NULL, file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image == MAP_FAILED)
		return NULL;
	if (pin(fd, image, 0, MIN(file.st_size, sysconf(_SC_PAGESIZE))) &&
	    has_few_parts((void *)image) &&
	    pin_sections(fd, image, file.st_size))
		elf = elf_memory(image, file.st_size);
	if (elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	munmap(image, file.st_size);
	return NULL;
}

/** elf_close() - end to read a file of elf_open(), or NULL */
void elf_close(Elf *elf)
{
	size_t size;
	char *image = elf_rawfile(elf, &size);

	elf_end(elf);
	if (image)
		munmap(image, size);
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
