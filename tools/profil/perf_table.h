/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_table.h - a table as the module's watches have, made from samples
 */
#ifndef PERF_TABLE_H
#define PERF_TABLE_H

#include <linux/profil.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct image - an image of the table, and what the module's do not have
 * @seen: the image
 * @ends: threads of it that have ended
 * @lost: ticks that are missing
 */
struct image {
	struct profil_watch_image seen;
	uint64_t ends;
	uint64_t lost;
};

/**
 * struct mapped - an object of the table, and what the module's do not have
 * @seen: the object
 * @first_ns: time at which it was mapped for the first time
 */
struct mapped {
	struct profil_watch_object seen;
	uint64_t first_ns;
};

/**
 * struct table - a table that grows as needed
 * @shift: binary logarithm of the bytes of code in a bucket
 * @nr_images: number of images; image 0 has no ticks
 * @images: the images
 * @nr_objects: number of objects; the first are no files
 * @objects: the objects
 * @names_size: bytes of @names; the first is not used
 * @names: paths of the objects
 * @nr_buckets: number of buckets
 * @buckets: the buckets
 * @nr_slots: number of elements of @slots, a power of two
 * @slots: hash table of the buckets: index + 1, or 0 for none
 */
struct table {
	uint32_t shift;
	uint32_t nr_images;
	struct image *images;
	uint32_t nr_objects;
	struct mapped *objects;
	size_t names_size;
	char *names;
	size_t nr_buckets;
	struct profil_watch_bucket *buckets;
	size_t nr_slots;
	uint32_t *slots;
};

int table_init(struct table *table, uint32_t shift);
void table_free(struct table *table);

int table_object(struct table *table, const struct mapped *file,
		 const char *path);
int table_rename(struct table *table, uint32_t object, const char *path);
int table_image(struct table *table, const struct profil_watch_image *image,
		bool separate);
uint32_t table_node(struct table *table, uint32_t image, uint32_t object,
		    uint64_t offset, uint32_t caller);
int table_count(struct table *table, uint32_t image, uint32_t object,
		uint64_t offset, uint32_t caller);

struct profil_watch_table *table_freeze(const struct table *table);

#endif /* PERF_TABLE_H */
