// SPDX-License-Identifier: GPL-2.0-only
/*
 * build_id.c - build IDs of ELF files, and of notes alone
 */
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/build_id.h"

/* The notes of a kernel are some hundred bytes. */
#define ROOM	65536

/**
 * build_id_of() - read the build ID of an ELF file
 * @elf: the file
 * @id: receives the build ID
 * @room: size of @id, in bytes
 *
 * Return: length of the build ID in bytes; 0 if there is none.
 */
uint32_t build_id_of(Elf *elf, uint8_t *id, uint32_t room)
{
	const void *found;
	ssize_t length = dwelf_elf_gnu_build_id(elf, &found);

	if (length <= 0 || length > room)
		return 0;
	memcpy(id, found, length);
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
	Elf64_Nhdr note;
	size_t at = 0;

	while (size - at >= sizeof(note)) {
		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		if (padded(note.n_namesz) > size - at ||
		    padded(note.n_descsz) >
				size - at - padded(note.n_namesz))
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz <= room &&
		    note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes + at, ELF_NOTE_GNU, note.n_namesz)) {
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
