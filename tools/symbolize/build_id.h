/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * build_id.h - ELF files of anybody, and build IDs of these and of notes alone
 */
#ifndef BUILD_ID_H
#define BUILD_ID_H

#include <stdint.h>

struct Elf;

struct Elf *elf_open(int fd);
void elf_close(struct Elf *elf);
uint32_t build_id_of(struct Elf *elf, uint8_t *id, uint32_t room);
uint32_t build_id_of_notes(const char *path, uint8_t *id, uint32_t room);

#endif /* BUILD_ID_H */
