/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frames.h - find functions without symbols
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <gelf.h>
#include <stdint.h>

struct frames *frames_new(struct Elf *elf);
int frames_find(const struct frames *frames, uint64_t address, uint64_t *start,
		uint64_t *end);

#endif /* FRAMES_H */
