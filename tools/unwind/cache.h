/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cache.h - tables of callers, kept on disk by file
 */
#ifndef UNWIND_CACHE_H
#define UNWIND_CACHE_H

#include <stddef.h>
#include <stdint.h>

int unwind_cache_open(void);
void *unwind_cache_get(int cache, const uint8_t *id, uint32_t length,
		       size_t *bytes);
char *unwind_cache_get_files(int cache, const uint8_t *id, uint32_t length);
void unwind_cache_put(int cache, const uint8_t *id, uint32_t length,
		      const void *table, size_t bytes);
void unwind_cache_put_files(int cache, const uint8_t *id, uint32_t length,
			    const char *files);

#endif /* UNWIND_CACHE_H */
