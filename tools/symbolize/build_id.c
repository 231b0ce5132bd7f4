// SPDX-License-Identifier: GPL-2.0-only
/*
 * build_id.c - build IDs of ELF files
 */
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/build_id.h"

/* Only the vDSO is read from memory, and that is far smaller. */
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
	char exec[ROOM];
	uint32_t length;
	ssize_t got;
	Elf *elf;

	elf_version(EV_CURRENT);
	if (base) {
		got = pread(fd, exec, sizeof(exec), base);
		elf = got > 0 ? elf_memory(exec, got) : NULL;
	} else {
		elf = elf_begin(fd, ELF_C_READ, NULL);
	}
	length = copy_id(elf, id, room);
	elf_end(elf);
	return length;
}

/**
 * build_id_of() - read the build ID of an ELF file
 * @path: path of the file, or of memory (/proc/PID/mem) that holds one
 * @base: address of the file in that memory; 0 if @path is the file
 * @id: receives the build ID
 * @room: size of @id, in bytes
 *
 * Return: length of the build ID in bytes; 0 if there is none.
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
