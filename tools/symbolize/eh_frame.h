/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * eh_frame.h - find functions without symbols
 */
#ifndef EH_FRAME_H
#define EH_FRAME_H

#include <gelf.h>
#include <stdint.h>

int frames_find(struct Elf *elf, uint64_t address, uint64_t *start,
		uint64_t *end);

#endif /* EH_FRAME_H */
