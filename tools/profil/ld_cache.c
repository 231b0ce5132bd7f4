// SPDX-License-Identifier: GPL-2.0-only
/*
 * ld_cache.c - paths of libraries in the dynamic linker's cache
 *
 * ldconfig(8) writes it: a header, entries, and strings, which the entries find by
 * offsets from the header.
 */
#include <stdint.h>
#include <string.h>

#include "profil/ld_cache.h"

#define MAGIC	"glibc-ld.so.cache1.1"

struct header {
	char magic[sizeof(MAGIC) - 1];
	uint32_t nr;
	uint32_t strings_size;
	uint32_t more[5];
};

struct entry {
	uint32_t flags;
	uint32_t name;
	uint32_t path;
	uint32_t version;
	uint64_t features;
};

/* Of the GNU C library, for x86-64 */
#define FLAGS		0x0303

static const char *string(const void *cache, size_t size, uint32_t at)
{
	const char *text = (const char *)cache + at;

	return at < size && memchr(text, '\0', size - at) ? text : NULL;
}

/**
 * ld_cache_find() - find a library for any x86-64 CPU
 * @cache: contents of LD_CACHE
 * @size: their size
 * @name: its name, as in DT_NEEDED
 *
 * Return: its path, in @cache; NULL if there is none.
 */
const char *ld_cache_find(const void *cache, size_t size, const char *name)
{
	const struct header *header = cache;
	const struct entry *entry = (const void *)(header + 1);
	const char *found;
	uint32_t i;

	if (size < sizeof(*header) ||
	    memcmp(header->magic, MAGIC, sizeof(header->magic)) ||
	    header->nr > (size - sizeof(*header)) / sizeof(*entry))
		return NULL;
	for (i = 0; i < header->nr; i++, entry++) {
		if (entry->flags != FLAGS || entry->features)
			continue;
		found = string(cache, size, entry->name);
		if (found && !strcmp(found, name))
			return string(cache, size, entry->path);
	}
	return NULL;
}
