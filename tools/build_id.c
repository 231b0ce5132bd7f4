// SPDX-License-Identifier: GPL-2.0-only
/*
 * build_id.c - the name that the linker gives to what it has linked
 */
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "build_id.h"

/* What is in memory is the vDSO, which is far smaller. */
#define ROOM	65536

static uint32_t copy_id(Elf *elf, uint8_t *id, uint32_t room)
{
	const void *found;
	ssize_t length = dwelf_elf_gnu_build_id(elf, &found);

	if (length <= 0 || length > room)
		return 0;
	memcpy(id, found, length);
	return length;
}

static uint32_t read_id(int fd, uint64_t base, uint8_t *id, uint32_t room)
{
	char image[ROOM];
	uint32_t length;
	ssize_t got;
	Elf *elf;

	elf_version(EV_CURRENT);
	if (base) {
		got = pread(fd, image, sizeof(image), base);
		elf = got > 0 ? elf_memory(image, got) : NULL;
	} else {
		elf = elf_begin(fd, ELF_C_READ, NULL);
	}
	length = copy_id(elf, id, room);
	elf_end(elf);
	return length;
}

/**
 * build_id_of() - the build-id of a file
 * @path: of the file, or of a memory that has a file in it
 * @base: where the file begins in that memory, 0 if it is no memory
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
