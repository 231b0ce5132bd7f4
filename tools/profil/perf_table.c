// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_table.c - a table as the module's watches have, made from samples
 *
 * With it, all that reads the table of a watch reads that of the perf backend.
 */
#include <stdlib.h>
#include <string.h>

#include "profil/perf_table.h"
#include "util/array.h"

#define FIRST_SLOTS	4096

/* Room for the objects that are no files: a power of two, as array_grow() has it */
#define FIRST_OBJECTS	8
_Static_assert(PROFIL_OBJECT_FILES > 4 && PROFIL_OBJECT_FILES <= 8, "room");

/** table_init() - make an empty table; 0, or -1 if out of memory */
int table_init(struct table *table, uint32_t shift)
{
	*table = (struct table) {
		.shift = shift,
		.nr_images = 1,
		.images = calloc(1, sizeof(*table->images)),
		.nr_objects = PROFIL_OBJECT_FILES,
		.objects = calloc(FIRST_OBJECTS, sizeof(*table->objects)),
		.names_size = 1,
		.names = calloc(1, 1),
		.nr_slots = FIRST_SLOTS,
		.slots = calloc(FIRST_SLOTS, sizeof(*table->slots)),
	};
	return table->images && table->objects && table->names &&
		table->slots ? 0 : -1;
}

void table_free(struct table *table)
{
	free(table->images);
	free(table->objects);
	free(table->names);
	free(table->buckets);
	free(table->slots);
}

static int add_name(struct table *table, const char *name)
{
	size_t length = strlen(name) + 1, at = table->names_size;
	char *names = realloc(table->names, at + length);

	if (!names)
		return -1;
	memcpy(names + at, name, length);
	table->names = names;
	table->names_size += length;
	return at;
}

/* Are they the same file? /proc/PID/maps does not have the generation. */
static bool is_same(struct profil_watch_object *a,
		    const struct profil_watch_object *b)
{
	if (a->inode != b->inode || a->device != b->device ||
	    (a->generation && b->generation && a->generation != b->generation))
		return false;
	if (!a->generation)
		a->generation = b->generation;
	return true;
}

/**
 * table_rename() - give an object another path
 * @table: the table
 * @object: its index
 * @path: the path
 *
 * Return: 0, or -1 if out of memory.
 */
int table_rename(struct table *table, uint32_t object, const char *path)
{
	int name = add_name(table, path);

	if (name < 0)
		return -1;
	table->objects[object].seen.path = name;
	return 0;
}

/**
 * table_object() - find a file by its numbers, or add it
 * @table: the table
 * @file: the file; its path is ignored
 * @path: its path
 *
 * Return: its index, or -1 if out of memory.
 */
int table_object(struct table *table, const struct mapped *file,
		 const char *path)
{
	uint32_t i = PROFIL_OBJECT_FILES;
	struct mapped *objects;

	for (; i < table->nr_objects; i++)
		if (is_same(&table->objects[i].seen, &file->seen))
			return i;
	objects = array_grow(table->objects, i, sizeof(*objects));
	if (!objects)
		return -1;
	table->objects = objects;
	objects[i] = *file;
	if (table_rename(table, i, path))
		return -1;
	return table->nr_objects++;
}

/**
 * table_image() - find the image of a program, or add it
 * @table: the table
 * @image: the program
 * @separate: always add it
 *
 * Return: its index, or -1 if out of memory.
 */
int table_image(struct table *table, const struct profil_watch_image *image,
		bool separate)
{
	struct image *images;
	uint32_t i;

	for (i = 1; i < table->nr_images && !separate; i++)
		if (table->images[i].seen.exe == image->exe && image->exe &&
		    !memcmp(table->images[i].seen.comm, image->comm,
			    sizeof(image->comm)))
			return i;
	images = array_grow(table->images, table->nr_images, sizeof(*images));
	if (!images)
		return -1;
	table->images = images;
	images[table->nr_images] = (struct image) { .seen = *image };
	return table->nr_images++;
}

static bool is_equal(const struct profil_watch_bucket *a,
		     const struct profil_watch_bucket *b)
{
	return a->image == b->image && a->object == b->object &&
		a->offset == b->offset && a->caller == b->caller;
}

/* The slot of a bucket, or the free one where it belongs */
static uint32_t *find_slot(const struct table *table,
			   const struct profil_watch_bucket *bucket)
{
	uint64_t hash = ((uint64_t)bucket->image << 32 ^ bucket->object) *
			0x9e3779b97f4a7c15;
	size_t slot;

	hash = (hash ^ bucket->offset) * 0x9e3779b97f4a7c15;
	hash = (hash ^ hash >> 32 ^ bucket->caller) * 0x9e3779b97f4a7c15;
	slot = hash >> 32;
	for (;; slot++) {
		uint32_t *found = &table->slots[slot & (table->nr_slots - 1)];

		if (!*found || is_equal(&table->buckets[*found - 1], bucket))
			return found;
	}
}

static int double_slots(struct table *table)
{
	struct table larger = *table;
	size_t i;

	larger.nr_slots *= 2;
	larger.slots = calloc(larger.nr_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -1;
	for (i = 0; i < table->nr_buckets; i++)
		*find_slot(&larger, &table->buckets[i]) = i + 1;
	free(table->slots);
	*table = larger;
	return 0;
}

static int add_bucket(struct table *table,
		      const struct profil_watch_bucket *bucket)
{
	struct profil_watch_bucket *buckets =
		array_grow(table->buckets, table->nr_buckets, sizeof(*buckets));

	if (!buckets)
		return -1;
	table->buckets = buckets;
	buckets[table->nr_buckets++] = *bucket;
	return 0;
}

/**
 * table_node() - find a bucket, or add one without ticks
 * @table: the table
 * @image: index of its image
 * @object: index of its object
 * @offset: offset in the object, in bytes
 * @caller: the caller of its frame, from this function; 0 if it has none, or
 *	PROFIL_CALLER_UNKNOWN
 *
 * Return: its index + 1, or 0 if out of memory.
 */
uint32_t table_node(struct table *table, uint32_t image, uint32_t object,
		    uint64_t offset, uint32_t caller)
{
	const struct profil_watch_bucket bucket = {
		.image = image,
		.object = object,
		.offset = offset >> table->shift,
		.caller = caller,
	};
	uint32_t *slot;

	if (table->nr_buckets >= table->nr_slots / 2 && double_slots(table))
		return 0;
	slot = find_slot(table, &bucket);
	if (!*slot && !add_bucket(table, &bucket))
		*slot = table->nr_buckets;
	return *slot;
}

/** table_count() - count a tick; 0, or -1 if out of memory */
int table_count(struct table *table, uint32_t image, uint32_t object,
		uint64_t offset, uint32_t caller)
{
	uint32_t node = table_node(table, image, object, offset, caller);

	if (!node)
		return -1;
	table->buckets[node - 1].count++;
	return 0;
}

/**
 * table_freeze() - lay the table out as the module does
 *
 * Return: the table, to be freed, or NULL if out of memory.
 */
struct profil_watch_table *table_freeze(const struct table *table)
{
	size_t images = table->nr_images * sizeof(*table->images);
	size_t objects = table->nr_objects * sizeof(*table->objects);
	/* At least as many as there are; see table_node() */
	uint32_t max_buckets = table->nr_slots / 2;
	size_t buckets = max_buckets * sizeof(*table->buckets);
	struct profil_watch_table head = {
		.version = PROFIL_WATCH_VERSION,
		.bucket_shift = table->shift,
		.nr_images = table->nr_images,
		.nr_objects = table->nr_objects,
		.max_buckets = max_buckets,
		.image_size = sizeof(*table->images),
		.object_size = sizeof(*table->objects),
		.bucket_size = sizeof(*table->buckets),
		.images = sizeof(head),
		.objects = sizeof(head) + images,
		.buckets = sizeof(head) + images + objects,
		.names = sizeof(head) + images + objects + buckets,
		.names_size = table->names_size,
	};
	char *frozen = calloc(1, head.names + head.names_size);

	if (!frozen)
		return NULL;
	memcpy(frozen, &head, sizeof(head));
	memcpy(frozen + head.images, table->images, images);
	memcpy(frozen + head.objects, table->objects, objects);
	if (table->nr_buckets)
		memcpy(frozen + head.buckets, table->buckets,
		       table->nr_buckets * sizeof(*table->buckets));
	memcpy(frozen + head.names, table->names, table->names_size);
	return (void *)frozen;
}
