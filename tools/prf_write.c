// SPDX-License-Identifier: GPL-2.0-only
/*
 * prf_write.c - writes the native format
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "prf.h"

/* A file and the checksum of all that was written. */
struct out {
	FILE *file;
	uLong crc;
};

/* Errors stay with the file until the end. */
static void put(struct out *out, const void *data, size_t size)
{
	fwrite(data, 1, size, out->file);
	out->crc = crc32_z(out->crc, data, size);
}

static void put32(struct out *out, uint32_t number)
{
	number = htole32(number);
	put(out, &number, sizeof(number));
}

static void put64(struct out *out, uint64_t number)
{
	number = htole64(number);
	put(out, &number, sizeof(number));
}

static void pad(struct out *out, size_t size)
{
	static const uint8_t zeros[8];

	put(out, zeros, -size & 7);
}

/* Header of a record whose payload ends with @strings bytes, to be padded. */
static void put_header(struct out *out, enum prf_type type, size_t fixed,
		       size_t strings)
{
	put32(out, type);
	put32(out, fixed + strings + (-strings & 7));
}

static void put_run(struct out *out, const struct prf *prf)
{
	size_t size = strlen(prf->command) + 1;

	put_header(out, PRF_RUN, PRF_RUN_SIZE, size);
	put64(out, prf->start_unix_ns);
	put64(out, prf->wall_ns);
	put64(out, prf->period_ns);
	put32(out, prf->clock);
	put32(out, prf->flags);
	put32(out, prf->exit_kind);
	put32(out, prf->exit_code);
	put(out, prf->command, size);
	pad(out, size);
}

static void put_image_counts(struct out *out, const struct prf_image *image)
{
	put64(out, image->start_ns);
	put64(out, image->cpu_ns);
	put64(out, image->covered_ns);
	put64(out, image->ticks);
	put64(out, image->counted);
	put64(out, image->clipped);
	put64(out, image->outside);
	put64(out, image->lost);
	put64(out, image->left_out);
	put64(out, image->kernel);
	put64(out, image->unfollowed);
}

static void put_image(struct out *out, const struct prf_image *image)
{
	size_t name = strlen(image->name) + 1;
	size_t reason = strlen(image->reason) + 1;

	put_header(out, PRF_IMAGE, PRF_IMAGE_SIZE, name + reason);
	put32(out, image->pid);
	put32(out, image->ppid);
	put_image_counts(out, image);
	put32(out, image->reach);
	put32(out, 0);
	put(out, image->name, name);
	put(out, image->reason, reason);
	pad(out, name + reason);
}

static void put_object(struct out *out, const struct prf_object *object)
{
	size_t size = strlen(object->path) + 1;

	put_header(out, PRF_OBJECT, PRF_OBJECT_SIZE, size);
	put64(out, object->start);
	put64(out, object->end);
	put64(out, object->pgoff);
	put32(out, object->kind);
	put32(out, object->build_id_len);
	put(out, object->build_id, sizeof(object->build_id));
	put(out, object->path, size);
	pad(out, size);
}

static void put_hist(struct out *out, const struct prf_object *object)
{
	size_t i;

	put_header(out, PRF_HIST,
		   PRF_HIST_SIZE + object->nr * sizeof(*object->buckets), 0);
	put32(out, object->bucket_bytes);
	put32(out, 0);
	for (i = 0; i < object->nr; i++) {
		put64(out, object->buckets[i].offset);
		put64(out, object->buckets[i].count);
	}
}

static void put_kernel(struct out *out, const struct prf_image *image)
{
	put_header(out, PRF_KERNEL, PRF_KERNEL_SIZE, 0);
	put64(out, image->kernel_count);
	put64(out, 0);
}

static void put_end(struct out *out)
{
	uLong crc = out->crc;

	put_header(out, PRF_END, PRF_END_SIZE, 0);
	put64(out, crc);
}

/* A record's length has 32 bits. */
static bool fits(const struct prf *prf)
{
	const size_t most = (UINT32_MAX - PRF_HIST_SIZE) /
		sizeof(struct prf_bucket);
	size_t i, j;

	for (i = 0; i < prf->nr; i++)
		for (j = 0; j < prf->images[i].nr; j++)
			if (prf->images[i].objects[j].nr > most)
				return false;
	return true;
}

/**
 * prf_write() - write a run
 * @file: where to, from its position on; not closed
 * @prf: the run
 *
 * Return: 0, or -1 with errno.
 */
int prf_write(FILE *file, const struct prf *prf)
{
	struct out out = { .file = file, .crc = crc32_z(0, NULL, 0) };
	size_t i, j;

	if (!fits(prf)) {
		errno = EFBIG;
		return -1;
	}
	put(&out, PRF_MAGIC, PRF_MAGIC_SIZE);
	put32(&out, PRF_VERSION);
	put32(&out, 0);
	put_run(&out, prf);
	for (i = 0; i < prf->nr; i++) {
		const struct prf_image *image = &prf->images[i];

		put_image(&out, image);
		for (j = 0; j < image->nr; j++) {
			put_object(&out, &image->objects[j]);
			put_hist(&out, &image->objects[j]);
		}
		put_kernel(&out, image);
	}
	put_end(&out);
	return fflush(file) || ferror(file) ? -1 : 0;
}
