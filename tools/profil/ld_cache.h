/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ld_cache.h - paths of libraries in the dynamic linker's cache
 */
#ifndef LD_CACHE_H
#define LD_CACHE_H

#include <stddef.h>

#define LD_CACHE	"/etc/ld.so.cache"

const char *ld_cache_find(const void *cache, size_t size, const char *name);

#endif /* LD_CACHE_H */
