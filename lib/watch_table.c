// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * watch_table.c - the table of a watch: mapping and readers
 *
 * profil.h documents the functions, <linux/profil.h> the table. A later kernel has
 * longer structures in it, so the table itself says how far they are apart.
 * tools/profil is compiled with this file, too.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "device.h"

/* Bytes of the structures of the first version, as far as @last. */
#define PROFIL_FIRST(type, last) \
	(offsetof(struct type, last) + sizeof(((struct type *)0)->last))

/* Is an array of the table in it, aligned, and are its elements long enough? */
static bool profil_fits(const struct profil_watch *watch, uint64_t offset,
			uint64_t nr, uint64_t size, uint64_t least)
{
	return offset % sizeof(uint64_t) == 0 && size % sizeof(uint64_t) == 0 &&
	       size >= least && offset <= watch->map_size &&
	       nr <= (watch->map_size - offset) / size;
}

static bool profil_is_table(const struct profil_watch_table *table,
			    const struct profil_watch *watch)
{
	return table->version == PROFIL_WATCH_VERSION &&
	       profil_fits(watch, table->images, watch->images,
			   table->image_size,
			   PROFIL_FIRST(profil_watch_image, comm)) &&
	       profil_fits(watch, table->objects, watch->objects,
			   table->object_size,
			   PROFIL_FIRST(profil_watch_object, coarse)) &&
	       profil_fits(watch, table->buckets, table->max_buckets,
			   table->bucket_size,
			   PROFIL_FIRST(profil_watch_bucket, count)) &&
	       table->names <= watch->map_size &&
	       table->names_size <= watch->map_size - table->names;
}

PROFIL_PUBLIC const struct profil_watch_table *
profil_watch_map(int fd, const struct profil_watch *watch)
{
	void *table;

	if (watch->map_size > SIZE_MAX) {
		errno = ENOMEM;
		return NULL;
	}
	table = mmap(NULL, watch->map_size, PROT_READ, MAP_SHARED, fd, 0);
	if (table == MAP_FAILED)
		return NULL;
	/* Its first page has the whole header, however small map_size is */
	if (profil_is_table(table, watch))
		return table;
	munmap(table, watch->map_size);
	errno = EPROTO;
	return NULL;
}

PROFIL_PUBLIC void profil_watch_unmap(const struct profil_watch_table *table,
				      const struct profil_watch *watch)
{
	if (table)
		munmap((void *)table, watch->map_size);
}

/* Element @index of an array of the table. */
static const void *profil_element(const struct profil_watch_table *table,
				  uint64_t array, uint64_t index, uint32_t size)
{
	return (const char *)table + array + index * size;
}

PROFIL_PUBLIC const struct profil_watch_image *
profil_watch_image(const struct profil_watch_table *table, unsigned int index)
{
	if (index >= __atomic_load_n(&table->nr_images, __ATOMIC_ACQUIRE))
		return NULL;
	return profil_element(table, table->images, index, table->image_size);
}

PROFIL_PUBLIC const struct profil_watch_object *
profil_watch_object(const struct profil_watch_table *table, unsigned int index)
{
	if (index >= __atomic_load_n(&table->nr_objects, __ATOMIC_ACQUIRE))
		return NULL;
	return profil_element(table, table->objects, index, table->object_size);
}

PROFIL_PUBLIC const char *
profil_watch_path(const struct profil_watch_table *table,
		  const struct profil_watch_object *object)
{
	uint32_t offset = __atomic_load_n(&object->path, __ATOMIC_ACQUIRE);
	const char *path;

	if (!offset || offset >= table->names_size)
		return NULL;
	path = (const char *)table + table->names + offset;
	return memchr(path, '\0', table->names_size - offset) ? path : NULL;
}

PROFIL_PUBLIC const struct profil_watch_bucket *
profil_watch_next(const struct profil_watch_table *table, size_t *position)
{
	const struct profil_watch_bucket *bucket;

	if (*position >= table->max_buckets)
		return NULL;
	bucket = profil_element(table, table->buckets, *position,
				table->bucket_size);
	if (!__atomic_load_n(&bucket->object, __ATOMIC_ACQUIRE))
		return NULL;
	++*position;
	return bucket;
}

/* The bucket of the frame that called the one of @bucket; NULL if none is known. */
static const struct profil_watch_bucket *
profil_caller(const struct profil_watch_table *table,
	      const struct profil_watch_bucket *bucket)
{
	const struct profil_watch_bucket *caller;

	if (table->bucket_size < PROFIL_FIRST(profil_watch_bucket, below) ||
	    !bucket->caller || bucket->caller > table->max_buckets)
		return NULL;
	caller = profil_element(table, table->buckets, bucket->caller - 1,
				table->bucket_size);
	return __atomic_load_n(&caller->object, __ATOMIC_ACQUIRE) ? caller :
								    NULL;
}

PROFIL_PUBLIC unsigned int
profil_watch_chain(const struct profil_watch_table *table,
		   const struct profil_watch_bucket *bucket,
		   const struct profil_watch_bucket **chain, unsigned int max)
{
	unsigned int nr = 0;

	for (; bucket && nr < max; bucket = profil_caller(table, bucket))
		chain[nr++] = bucket;
	return nr;
}
