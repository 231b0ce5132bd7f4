// SPDX-License-Identifier: GPL-2.0-only
/*
 * build_id.c - the name that the linker gives to what it has linked
 *
 * It is a note of the file, found by way of the program headers, which remain
 * when the file is stripped. The file may be anything: all sizes are checked.
 */
#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "build_id.h"

#define HEADERS	64
#define NOTES	4096

static uint64_t padded(uint64_t size)
{
	return (size + 3) & ~3ULL;
}

/* In a segment of notes. Its length, or 0. */
static uint32_t find_note(const uint8_t *notes, size_t size, uint8_t *id,
			  uint32_t room)
{
	Elf64_Nhdr note;

	while (size >= sizeof(note)) {
		uint64_t name, whole;

		memcpy(&note, notes, sizeof(note));
		name = sizeof(note) + padded(note.n_namesz);
		whole = name + padded(note.n_descsz);
		if (whole > size)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes + sizeof(note), "GNU", 4) &&
		    note.n_descsz <= room) {
			memcpy(id, notes + name, note.n_descsz);
			return note.n_descsz;
		}
		notes += whole;
		size -= whole;
	}
	return 0;
}

/* Of the file that begins at @base, of what is open as @fd. */
static uint32_t read_id(int fd, uint64_t base, uint8_t *id, uint32_t room)
{
	Elf64_Phdr headers[HEADERS];
	uint8_t notes[NOTES];
	Elf64_Ehdr elf;
	uint32_t length = 0;
	ssize_t got;
	int i, nr;

	if (pread(fd, &elf, sizeof(elf), base) != sizeof(elf) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
	    elf.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	got = pread(fd, headers, sizeof(headers), base + elf.e_phoff);
	nr = got < 0 ? 0 : got / sizeof(headers[0]);
	for (i = 0; i < nr && i < elf.e_phnum && !length; i++) {
		size_t size = headers[i].p_filesz;

		if (headers[i].p_type != PT_NOTE)
			continue;
		if (size > sizeof(notes))
			size = sizeof(notes);
		got = pread(fd, notes, size, base + headers[i].p_offset);
		if (got > 0)
			length = find_note(notes, got, id, room);
	}
	return length;
}

/**
 * build_id_of() - the build-id of a file
 * @path: of the file, or of a memory that has a file in it
 * @base: where the file begins in what is at @path
 * @id: receives it
 * @room: bytes that fit there
 *
 * Return: its length, 0 if there is none.
 */
uint32_t build_id_of(const char *path, uint64_t base, uint8_t *id,
		     uint32_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint32_t length;

	if (fd < 0)
		return 0;
	length = read_id(fd, base, id, room);
	close(fd);
	return length;
}
