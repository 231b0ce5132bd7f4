// SPDX-License-Identifier: GPL-2.0-only
/*
 * vdso.c - the code that the kernel gives to every program
 *
 * It is a whole ELF file, but only in memory. Ours is that of all programs that
 * run on this kernel.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vdso.h"

typedef ElfW(Ehdr) header;
typedef ElfW(Phdr) segment;

/* Its sections come last, and after them the table that lists them. */
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
 * vdso_open() - a file with the vDSO of this process
 *
 * Return: a descriptor of it, or -1.
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
