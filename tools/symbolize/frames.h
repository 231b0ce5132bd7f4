/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frames.h - find functions without symbols
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <gelf.h>
#include <stdint.h>

int frames_find(struct Elf *elf, uint64_t address, uint64_t *start,
		uint64_t *end);

#endif /* FRAMES_H */
