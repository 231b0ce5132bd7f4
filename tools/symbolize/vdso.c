// SPDX-License-Identifier: GPL-2.0-only
/*
 * vdso.c - get the vDSO as a file
 *
 * The kernel maps the vDSO, a complete ELF file, into every process; it exists
 * only in memory. All processes on this kernel have the same one.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolize/vdso.h"

typedef ElfW(Ehdr) header;
typedef ElfW(Phdr) segment;

/* The section headers come last in the file. */
static size_t size_of(const header *elf)
{
	const segment *part = (const void *)elf + elf->e_phoff;
	size_t size = elf->e_shoff + elf->e_shnum * elf->e_shentsize;
	int i;

	for (i = 0; i < elf->e_phnum; i++) {
		size_t end = part[i].p_offset + part[i].p_filesz;

		if (part[i].p_type == PT_LOAD && end > size)
			size = end;
	}
	return size;
}

/**
 * vdso_open() - copy the vDSO of this process to a memfd
 *
 * Return: a descriptor, or -1.
 */
int vdso_open(void)
{
	const header *elf = (const void *)getauxval(AT_SYSINFO_EHDR);
	ssize_t size;
	int fd;

	if (!elf)
		return -1;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	size = size_of(elf);
	if (write(fd, elf, size) == size)
		return fd;
	close(fd);
	return -1;
}
