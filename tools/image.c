// SPDX-License-Identifier: GPL-2.0-only
/*
 * image.c - a program that was executed: its text, and counters for it
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "build_id.h"
#include "image.h"
#include "process.h"

/* What is added later finds room in the first area, or makes another. */
#define AREA_SIZE	(64ULL << 20)

/**
 * image_new() - what a process executes now
 * @pid: the process
 * @now_ns: on the monotonic clock
 *
 * Return: the image, or NULL if there is no memory.
 */
struct image *image_new(pid_t pid, uint64_t now_ns)
{
	struct image *image = calloc(1, sizeof(*image));
	struct process process;

	if (!image)
		return NULL;
	image->name = process_program(pid);
	if (!image->name) {
		free(image);
		return NULL;
	}
	process_read(pid, &process);
	image->pid = pid;
	image->ppid = process.ppid;
	image->start_ns = now_ns;
	return image;
}

static int copy_objects(struct image *to, const struct image *from)
{
	to->objects = calloc(from->nr, sizeof(*to->objects));
	if (!to->objects && from->nr)
		return -1;
	for (; to->nr < from->nr; to->nr++) {
		to->objects[to->nr] = from->objects[to->nr];
		to->objects[to->nr].map.path =
			strdup(from->objects[to->nr].map.path);
		if (!to->objects[to->nr].map.path)
			return -1;
	}
	return 0;
}

/**
 * image_copy() - the same program with counters of its own
 * @image: the program
 * @pid: the process that executes the copy
 * @now_ns: on the monotonic clock
 *
 * Return: the copy, whose areas have no files yet, or NULL if there is no
 * memory.
 */
struct image *image_copy(const struct image *image, pid_t pid,
			 uint64_t now_ns)
{
	struct image *copy = image_new(pid, now_ns);
	unsigned int i;

	if (!copy)
		return NULL;
	copy->head = image->head;
	if (image->reason)
		image_fail(copy, image->reason, 0);
	if (copy_objects(copy, image)) {
		image_free(copy);
		return NULL;
	}
	for (i = 0; i < image->nr_areas; i++) {
		if (image_add_area(copy, image->areas[i].size)) {
			image_free(copy);
			return NULL;
		}
		copy->areas[i].used = image->areas[i].used;
	}
	return copy;
}

/**
 * image_fail() - it cannot be profiled
 * @image: the image
 * @what: what could not be done
 * @error: and why, or 0
 */
void image_fail(struct image *image, const char *what, int error)
{
	free(image->reason);
	if (asprintf(&image->reason, "%s%s%s", what, error ? ": " : "",
		     error ? strerror(error) : "") < 0)
		image->reason = NULL;
}

static uint32_t kind_of(const struct image *image, const struct mapping *map,
			const char *loader)
{
	if (!strcmp(map->path, "[vdso]"))
		return PRF_VDSO;
	if (!strcmp(map->path, image->name))
		return PRF_PROGRAM;
	if (loader && !strcmp(map->path, loader))
		return PRF_LOADER;
	return PRF_LIBRARY;
}

static void find_build_id(struct object *object, pid_t tid)
{
	uint64_t base = 0;
	char path[PATH_MAX];

	if (object->kind == PRF_VDSO) {
		/* The kernel has put a whole file there */
		snprintf(path, sizeof(path), "/proc/%d/mem", tid);
		base = object->map.start;
	} else if (object->map.path[0] == '/') {
		/* The program may have another root directory */
		snprintf(path, sizeof(path), "/proc/%d/root%s", tid,
			 object->map.path);
	} else {
		return;
	}
	object->build_id_len = build_id_of(path, base, object->build_id,
					   sizeof(object->build_id));
}

/**
 * image_add_object() - add text that has been found
 * @image: the image
 * @map: where it is
 * @loader: path of the image's loader, or NULL
 * @tid: a thread that has it mapped
 *
 * Return: 0, or -1 if there is no memory.
 */
int image_add_object(struct image *image, const struct mapping *map,
		     const char *loader, pid_t tid)
{
	struct object *object = reallocarray(image->objects, image->nr + 1,
					     sizeof(*object));

	if (!object)
		return -1;
	image->objects = object;
	object += image->nr;
	memset(object, 0, sizeof(*object));
	object->map = *map;
	object->map.path = strdup(map->path);
	if (!object->map.path)
		return -1;
	object->kind = kind_of(image, map, loader);
	object->area = NO_AREA;
	find_build_id(object, tid);
	image->nr++;
	return 0;
}

/* What may be made of it: it is a file. */
static uint64_t usual_size(uint64_t page)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur > AREA_SIZE)
		return AREA_SIZE;
	return limit.rlim_cur / page * page;
}

/**
 * image_add_area() - decide about more memory for counters
 * @image: the image
 * @size: that is needed
 *
 * Return: 0, or -1 if there is no memory for that.
 */
int image_add_area(struct image *image, uint64_t size)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	uint64_t usual = usual_size(page);
	struct area *areas = reallocarray(image->areas, image->nr_areas + 1,
					  sizeof(*areas));

	if (!areas)
		return -1;
	if (size < usual)
		size = usual;
	image->areas = areas;
	areas[image->nr_areas++] = (struct area) {
		.fd = -1,
		.size = (size + page - 1) / page * page,
	};
	return 0;
}

/** image_drop_area() - do without the area that was added last */
void image_drop_area(struct image *image)
{
	unsigned int area = --image->nr_areas;
	size_t i;

	if (image->areas[area].local)
		munmap(image->areas[area].local, image->areas[area].size);
	if (image->areas[area].fd >= 0)
		close(image->areas[area].fd);
	for (i = 0; i < image->nr; i++)
		if (image->objects[i].area == area)
			image->objects[i].area = NO_AREA;
}

/** object_counters() - bytes of the counters of an object */
uint64_t object_counters(const struct object *object, uint32_t bucket)
{
	return (object->map.end - object->map.start + bucket - 1) / bucket *
		COUNTER;
}

/* Add the counters of one object that are not zero. */
static int save_counters(const struct area *area, uint64_t at, uint64_t size,
			 struct prf_object *out)
{
	uint32_t counters[4096];
	uint64_t done = 0;
	ssize_t got;
	size_t i;

	while (done < size) {
		/* Most of the file has never been written */
		off_t data = lseek(area->fd, at + done, SEEK_DATA);

		if (data < 0 || (uint64_t)data >= at + size)
			return 0;
		if ((uint64_t)data > at + done)
			done = data - at;
		got = size - done < sizeof(counters) ? size - done :
						       sizeof(counters);
		got = pread(area->fd, counters, got, at + done);
		if (got <= 0)
			return -1;
		for (i = 0; i < got / COUNTER; i++) {
			uint64_t offset = (done / COUNTER + i) *
				out->bucket_bytes;

			if (counters[i] &&
			    prf_add_bucket(out, offset, counters[i]))
				return -1;
		}
		done += got;
	}
	return 0;
}

static int save_object(const struct image *image, const struct object *object,
		       uint32_t bucket, struct prf_image *image_out)
{
	struct prf_object *out = prf_add_object(image_out, object->map.path);
	const struct area *area;

	if (!out)
		return -1;
	out->start = object->map.start;
	out->end = object->map.end;
	out->pgoff = object->map.pgoff;
	out->kind = object->kind;
	out->build_id_len = object->build_id_len;
	memcpy(out->build_id, object->build_id, sizeof(out->build_id));
	out->bucket_bytes = bucket;
	if (object->area == NO_AREA)
		return 0;
	area = &image->areas[object->area];
	if (area->fd < 0)
		return 0;
	if (save_counters(area, object->first, object_counters(object, bucket),
			  out))
		return -1;
	image_out->counted += prf_object_ticks(out);
	return 0;
}

/* All that is not in an object, in one bucket. */
static int save_elsewhere(const struct image *image, struct prf_image *out)
{
	struct object elsewhere = {
		.map = { .end = 1ULL << 31, .path = "[elsewhere]" },
		.kind = PRF_ANONYMOUS,
		.area = image->nr_areas ? 0 : NO_AREA,
		.first = image->head,
	};

	return save_object(image, &elsewhere, 1U << 31, out);
}

static int save_objects(const struct image *image, uint32_t bucket,
			struct prf_image *out)
{
	size_t i;

	for (i = 0; i < image->nr; i++)
		if (save_object(image, &image->objects[i], bucket, out))
			return -1;
	return save_elsewhere(image, out);
}

/**
 * image_keep() - take what was counted out of memory that is shared
 * @image: the image, which nobody executes any more
 * @bucket: bytes of text for each counter
 *
 * So that there may be more images than descriptors. If there is no memory they
 * stay where they are.
 */
void image_keep(struct image *image, uint32_t bucket)
{
	struct prf_image *out;

	if (!image->nr_areas || image->kept.nr || prf_init(&image->kept, ""))
		return;
	out = prf_add_image(&image->kept, "", "");
	if (!out || save_objects(image, bucket, out)) {
		prf_free(&image->kept);
		return;
	}
	while (image->nr_areas)
		image_drop_area(image);
}

/* From there to where it is written. */
static void move_kept(struct image *image, struct prf_image *out)
{
	struct prf_image *kept = &image->kept.images[0];

	out->counted = kept->counted;
	out->nr = kept->nr;
	out->room = kept->room;
	out->objects = kept->objects;
	kept->nr = 0;
	kept->objects = NULL;
}

/**
 * image_save() - add to what is going to be written
 * @image: the image
 * @prf: receives it
 * @bucket: bytes of text for each counter
 * @start_ns: of the run, on the monotonic clock
 *
 * Return: 0, or -1 if there is no memory.
 */
int image_save(struct image *image, struct prf *prf, uint32_t bucket,
	       uint64_t start_ns)
{
	struct prf_image *out = prf_add_image(prf, image->name,
					      image->reason ?: "");

	if (!out)
		return -1;
	out->pid = image->pid;
	out->ppid = image->ppid;
	out->start_ns = image->start_ns - start_ns;
	out->cpu_ns = image->cpu_ns;
	out->reach = image->reason ? PRF_NOT_REACHED : PRF_FOLLOWED;
	if (image->reason)
		return 0;
	out->covered_ns = image->covered_ns;
	if (image->kept.nr)
		move_kept(image, out);
	else if (save_objects(image, bucket, out))
		return -1;
	out->clipped = image->accounts.clipped;
	out->outside = image->accounts.outside;
	out->lost = image->lost + image->accounts.lost;
	if (prf->flags & PRF_FLAG_USER_ONLY)
		out->left_out = image->left_out + image->accounts.left_out;
	else
		out->kernel_count = image->left_out +
			image->accounts.left_out;
	out->counted += out->kernel_count;
	out->kernel = image->kernel + image->accounts.kernel;
	out->unfollowed = image->accounts.unfollowed;
	out->ticks = out->counted + out->clipped + out->outside + out->lost +
		out->left_out;
	return 0;
}

void image_free(struct image *image)
{
	size_t i;

	accounts_close(&image->accounts);
	prf_free(&image->kept);
	while (image->nr_areas)
		image_drop_area(image);
	for (i = 0; i < image->nr; i++)
		free(image->objects[i].map.path);
	free(image->objects);
	free(image->areas);
	free(image->reason);
	free(image->name);
	free(image);
}
