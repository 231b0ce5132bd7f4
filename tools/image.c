// SPDX-License-Identifier: GPL-2.0-only
/*
 * image.c - a program that was executed: its text, and counters for it
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_id.h"
#include "image.h"
#include "process.h"

/* Room for addresses of programs; what is above is the kernel's. */
#define USER_END	(1ULL << 47)

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
	unsigned int i;

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
	for (i = 0; i < AREAS; i++)
		image->areas[i].fd = -1;
	return image;
}

/**
 * image_fail() - it cannot be profiled
 * @image: the image
 * @what: what could not be done
 * @error: and why
 */
void image_fail(struct image *image, const char *what, int error)
{
	free(image->reason);
	if (asprintf(&image->reason, "%s: %s", what, strerror(error)) < 0)
		image->reason = NULL;
}

static bool known(const struct image *image, uint64_t start)
{
	size_t i;

	for (i = 0; i < image->nr; i++)
		if (image->objects[i].start == start)
			return true;
	return false;
}

static uint32_t kind_of(const struct image *image, const struct object *object,
			uint64_t loader_end, uint64_t loader)
{
	if (!strcmp(object->path, "[vdso]"))
		return PRF_VDSO;
	if (object->path[0] != '/')
		return PRF_ANONYMOUS;
	if (!strcmp(object->path, image->name))
		return PRF_PROGRAM;
	/* The text comes soon after the address at which it was loaded */
	if (loader && object->start >= loader && object->start < loader_end)
		return PRF_LOADER;
	return PRF_LIBRARY;
}

static int add_object(struct image *image, const struct object *object)
{
	struct object *objects = realloc(image->objects, (image->nr + 1) *
					 sizeof(*objects));

	if (!objects)
		return -1;
	image->objects = objects;
	objects[image->nr++] = *object;
	return 0;
}

static void find_build_id(struct object *object, pid_t tid)
{
	uint64_t base = 0;
	char path[PATH_MAX];

	if (object->kind == PRF_VDSO) {
		/* The kernel has put a whole file there */
		snprintf(path, sizeof(path), "/proc/%d/mem", tid);
		base = object->start;
	} else if (object->path[0] == '/') {
		/* The program may have another root directory */
		snprintf(path, sizeof(path), "/proc/%d/root%s", tid,
			 object->path);
	} else {
		return;
	}
	object->build_id_len = build_id_of(path, base, object->build_id,
					   sizeof(object->build_id));
}

/* A line of /proc/PID/maps. Returns 0 if it is text that programs run. */
static int parse_line(const char *line, struct object *object, char *path)
{
	char flags[5];

	path[0] = '\0';
	memset(object, 0, sizeof(*object));
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64
		   " %*s %*s %4095[^\n]", &object->start, &object->end, flags,
		   &object->pgoff, path) < 4)
		return -1;
	return flags[2] == 'x' && object->end <= USER_END ? 0 : -1;
}

/* The loader is what follows its address without another file in between. */
static uint64_t end_of_loader(pid_t tid, uint64_t loader)
{
	FILE *file = process_open(tid, "maps");
	char line[PATH_MAX + 128], path[PATH_MAX], first[PATH_MAX] = "";
	struct object object;
	uint64_t end = 0;

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		parse_line(line, &object, path);
		if (object.start == loader)
			strcpy(first, path);
		if (first[0] && !strcmp(path, first))
			end = object.end;
	}
	fclose(file);
	return end;
}

/**
 * image_find_text() - add what is mapped now and was not before
 * @image: the image
 * @area: that has the counters
 * @tid: a thread that executes it
 *
 * Return: 0, or -1 if there is no memory.
 */
int image_find_text(struct image *image, unsigned int area, pid_t tid)
{
	char line[PATH_MAX + 128], path[PATH_MAX];
	struct object object;
	struct start start;
	uint64_t loader_end;
	FILE *file;
	int failed = 0;

	process_start(tid, &start);
	loader_end = end_of_loader(tid, start.loader);
	if (!area && start.loader)
		image->entry = start.entry;
	file = process_open(tid, "maps");
	if (!file)
		return -1;
	while (!failed && fgets(line, sizeof(line), file)) {
		if (parse_line(line, &object, path) ||
		    known(image, object.start))
			continue;
		object.area = area;
		object.path = strdup(path[0] ? path : "[anonymous]");
		if (!object.path) {
			failed = -1;
			break;
		}
		object.kind = kind_of(image, &object, loader_end,
				      start.loader);
		find_build_id(&object, tid);
		failed = add_object(image, &object);
	}
	fclose(file);
	return failed;
}

static uint64_t counters_of(const struct object *object, uint32_t bucket)
{
	return (object->end - object->start + bucket - 1) / bucket * COUNTER;
}

/**
 * image_place() - decide where in an area each counter is
 * @image: the image
 * @area: number of the area
 * @head: bytes at its beginning that are not for counters
 * @bucket: bytes of text for each counter
 *
 * The first counter of an area is for what is mapped nowhere; the second
 * area's is not used.
 */
void image_place(struct image *image, unsigned int area, uint64_t head,
		 uint32_t bucket)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	uint64_t size = head + COUNTER;
	size_t i;

	for (i = 0; i < image->nr; i++) {
		struct object *object = &image->objects[i];

		if (object->area != area)
			continue;
		object->first = size;
		size += counters_of(object, bucket);
	}
	image->areas[area].head = head;
	image->areas[area].size = (size + page - 1) / page * page;
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
	struct prf_object *out = prf_add_object(image_out, object->path);
	const struct area *area = &image->areas[object->area];

	if (!out)
		return -1;
	out->start = object->start;
	out->end = object->end;
	out->pgoff = object->pgoff;
	out->kind = object->kind;
	out->build_id_len = object->build_id_len;
	memcpy(out->build_id, object->build_id, sizeof(out->build_id));
	out->bucket_bytes = bucket;
	if (area->fd < 0)
		return 0;
	if (save_counters(area, object->first, counters_of(object, bucket),
			  out))
		return -1;
	image_out->counted += prf_object_ticks(out);
	return 0;
}

/* All that is not in an object, in one bucket. */
static int save_elsewhere(const struct image *image, struct prf_image *out)
{
	struct object elsewhere = {
		.end = 1ULL << 31,
		.kind = PRF_ANONYMOUS,
		.path = "[elsewhere]",
		.first = image->areas[0].head,
	};

	return save_object(image, &elsewhere, 1U << 31, out);
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
int image_save(const struct image *image, struct prf *prf, uint32_t bucket,
	       uint64_t start_ns)
{
	struct prf_image *out = prf_add_image(prf, image->name,
					      image->reason ?: "");
	size_t i;

	if (!out)
		return -1;
	out->pid = image->pid;
	out->ppid = image->ppid;
	out->start_ns = image->start_ns - start_ns;
	out->cpu_ns = image->cpu_ns;
	out->reach = image->reason ? PRF_NOT_REACHED : PRF_FOLLOWED;
	if (image->reason)
		return 0;
	if (image->cpu_ns > image->uncovered_ns)
		out->covered_ns = image->cpu_ns - image->uncovered_ns;
	for (i = 0; i < image->nr; i++)
		if (save_object(image, &image->objects[i], bucket, out))
			return -1;
	if (save_elsewhere(image, out))
		return -1;
	out->lost = image->lost;
	out->left_out = image->left_out;
	out->kernel = image->kernel;
	out->ticks = out->counted + out->lost + out->left_out;
	return 0;
}

void image_free(struct image *image)
{
	size_t i;

	for (i = 0; i < image->nr; i++)
		free(image->objects[i].path);
	for (i = 0; i < AREAS; i++)
		if (image->areas[i].fd >= 0)
			close(image->areas[i].fd);
	free(image->objects);
	free(image->reason);
	free(image->name);
	free(image);
}
