/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table.h - the table of a watch, made without the module
 */
#ifndef TABLE_H
#define TABLE_H

#include <fcntl.h>
#include <linux/fs.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <profil.h>

#define IMAGES		8
#define OBJECTS		16
#define BUCKETS		64
#define NAMES		4096

/**
 * struct table - the table
 * @header: describes the rest, as the module does
 * @images: images
 * @objects: objects
 * @buckets: buckets
 * @names: paths
 * @names_used: bytes of @names in use
 */
struct table {
	struct profil_watch_table header;
	struct profil_watch_image images[IMAGES];
	struct profil_watch_object objects[OBJECTS];
	struct profil_watch_bucket buckets[BUCKETS];
	char names[NAMES];
	uint32_t names_used;
};

static inline void table_init(struct table *table)
{
	memset(table, 0, sizeof(*table));
	table->header = (struct profil_watch_table) {
		.version = PROFIL_WATCH_VERSION,
		.bucket_shift = 2,
		.nr_images = 1,
		.nr_objects = PROFIL_OBJECT_FILES,
		.max_buckets = BUCKETS,
		.image_size = sizeof(*table->images),
		.object_size = sizeof(*table->objects),
		.bucket_size = sizeof(*table->buckets),
		.images = offsetof(struct table, images),
		.objects = offsetof(struct table, objects),
		.buckets = offsetof(struct table, buckets),
		.names = offsetof(struct table, names),
		.names_size = NAMES,
	};
	table->names_used = 1;
}

/* Add an image; returns its index. */
static inline uint32_t table_image(struct table *table, const char *comm)
{
	struct profil_watch_image *image =
		&table->images[table->header.nr_images];

	strncpy(image->comm, comm, sizeof(image->comm) - 1);
	image->processes = 1;
	return table->header.nr_images++;
}

/* Some file systems have no generations. */
static inline uint32_t generation_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long generation = 0;

	if (ioctl(fd, FS_IOC_GETVERSION, &generation))
		generation = 0;
	close(fd);
	return generation;
}

/* Add a file as it is now; returns its index. */
static inline uint32_t table_file(struct table *table, const char *path)
{
	struct profil_watch_object *object =
		&table->objects[table->header.nr_objects];
	struct stat now = {};

	stat(path, &now);
	object->device = now.st_dev;
	object->inode = now.st_ino;
	object->generation = generation_of(path);
	object->path = table->names_used;
	strcpy(table->names + table->names_used, path);
	table->names_used += strlen(path) + 1;
	return table->header.nr_objects++;
}

/* The bucket of a frame, added if there is none; returns its index + 1. */
static inline uint32_t table_frame(struct table *table, uint32_t image,
				   uint32_t object, uint64_t offset,
				   uint32_t caller)
{
	struct profil_watch_bucket *bucket = table->buckets;

	if (object != PROFIL_OBJECT_BLOCKED && object != PROFIL_OBJECT_RUNNABLE)
		offset >>= table->header.bucket_shift;
	while (bucket->object && (bucket->image != image ||
				  bucket->object != object ||
				  bucket->offset != offset ||
				  bucket->caller != caller))
		bucket++;
	bucket->image = image;
	bucket->object = object;
	bucket->offset = offset;
	bucket->caller = caller;
	return bucket - table->buckets + 1;
}

/* Count ticks in a bucket alone; the module counts them in the image, too. */
static inline void table_bucket(struct table *table, uint32_t image,
				uint32_t object, uint64_t offset, uint64_t nr)
{
	uint32_t frame = table_frame(table, image, object, offset, 0);

	table->buckets[frame - 1].count += nr;
}

/* Count ticks in an image, by the object of their bucket. */
static inline void table_count(struct table *table, uint32_t image,
			       uint32_t object, uint64_t offset, uint64_t nr)
{
	if (object == PROFIL_OBJECT_KERNEL)
		table->images[image].kernel += nr;
	else if (object == PROFIL_OBJECT_RUNNABLE)
		table->images[image].runnable += nr;
	else if (object == PROFIL_OBJECT_BLOCKED)
		table->images[image].blocked += nr;
	else
		table->images[image].counted += nr;
	if (object == PROFIL_OBJECT_BLOCKED && offset & PROFIL_WAIT_LONG)
		table->images[image].idle += nr;
}

static inline void table_tick(struct table *table, uint32_t image,
			      uint32_t object, uint64_t offset, uint64_t nr)
{
	table_bucket(table, image, object, offset, nr);
	table_count(table, image, object, offset, nr);
}

/* Count ticks of a frame that another called; returns its index + 1. */
static inline uint32_t table_call(struct table *table, uint32_t image,
				  uint32_t object, uint64_t offset,
				  uint32_t caller, uint64_t nr)
{
	uint32_t frame = table_frame(table, image, object, offset, caller);

	table->buckets[frame - 1].count += nr;
	table_count(table, image, object, offset, nr);
	return frame;
}

static inline void table_status(const struct table *table,
				struct profil_watch_status *status)
{
	uint32_t i;

	memset(status, 0, sizeof(*status));
	for (i = 0; i < table->header.nr_images; i++)
		status->coarse += table->images[i].coarse;
	for (i = 0; i < BUCKETS; i++)
		status->buckets += !!table->buckets[i].object;
	status->images = table->header.nr_images;
	status->objects = table->header.nr_objects;
	status->names = table->names_used;
}

#endif /* TABLE_H */
