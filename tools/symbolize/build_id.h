/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * build_id.h - build IDs of ELF files
 */
#ifndef BUILD_ID_H
#define BUILD_ID_H

#include <stdint.h>

uint32_t build_id_of(const char *path, uint64_t base, uint8_t *id,
		     uint32_t room);

#endif /* BUILD_ID_H */
