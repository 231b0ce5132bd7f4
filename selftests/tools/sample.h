/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample.h - a profile that has everything a file can have
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdlib.h>
#include <string.h>

#include <prf.h>

static inline int sample_objects(struct prf_image *image)
{
	struct prf_object *object = prf_add_object(image, "/bin/program");

	if (!object)
		return -1;
	object->start = 0x401000;
	object->end = 0x403000;
	object->pgoff = 0x1000;
	object->kind = PRF_PROGRAM;
	object->build_id_len = 20;
	memset(object->build_id, 0xa5, 20);
	object->bucket_bytes = 4;
	if (prf_add_bucket(object, 0, 1) || prf_add_bucket(object, 8, 1000) ||
	    prf_add_bucket(object, 0x1ffc, 3))
		return -1;
	object = prf_add_object(image, "[vdso]");
	if (!object)
		return -1;
	object->start = 0x7fff00000000;
	object->end = 0x7fff00002000;
	object->kind = PRF_VDSO;
	return 0;
}

/* Memory is what these tests do not run out of. */
static inline void sample_make(struct prf *prf)
{
	struct prf_image *image;

	if (prf_init(prf, "program -x"))
		abort();
	prf->start_unix_ns = 1700000000000000000;
	prf->wall_ns = 2000000000;
	prf->period_ns = 1000000;
	prf->clock = PRF_CLOCK_HRTIMER;
	prf->flags = PRF_FLAG_USER_ONLY;
	prf->exit_kind = PRF_SIGNALLED;
	prf->exit_code = 15;
	image = prf_add_image(prf, "/bin/program", "");
	if (!image || sample_objects(image))
		abort();
	image->pid = 7;
	image->ppid = 6;
	image->start_ns = 5;
	image->cpu_ns = 1100000000;
	image->covered_ns = 1050000000;
	image->ticks = 1026;
	image->counted = 1010;
	image->clipped = 1;
	image->outside = 2;
	image->lost = 3;
	image->left_out = 10;
	image->kernel = 16;
	image->unfollowed = 1;
	image->kernel_count = 6;
	image = prf_add_image(prf, "/bin/passwd", "it is set-user-ID");
	if (!image)
		abort();
	image->reach = PRF_NOT_REACHED;
}

/* The file, in memory to be freed. */
static inline char *sample_file(const struct prf *prf, size_t *size)
{
	char *data = NULL;
	FILE *file = open_memstream(&data, size);

	if (!file || prf_write(file, prf) || fclose(file))
		abort();
	return data;
}

#endif /* SAMPLE_H */
