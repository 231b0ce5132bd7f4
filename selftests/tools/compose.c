// SPDX-License-Identifier: GPL-2.0-only
/*
 * compose.c - writes a profile that may have anything in it
 *
 *	compose FILE < DESCRIPTION
 *
 * A line is one of these; buckets belong to the object before them, and that to
 * the image before it. OFFSET, START, PGOFF and SIZE are hexadecimal, and so is
 * the BUILD-ID, which may be - for none.
 *
 *	run PERIOD-NS COMMAND
 *	image PID KERNEL OUTSIDE LOST LEFT-OUT PATH
 *	object KIND START PGOFF SIZE BUCKET-BYTES BUILD-ID PATH
 *	bucket OFFSET COUNT
 *	unreached PATH REASON
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <prf.h>

#include "digits.h"

#define LINE	1024

static void __attribute__((noreturn)) bad(const char *line)
{
	fprintf(stderr, "compose: not understood: %s\n", line);
	exit(2);
}

static void *made(void *thing)
{
	if (!thing)
		abort();
	return thing;
}

static void make_run(struct prf *prf, const char *line)
{
	char command[LINE];
	uint64_t period;

	if (sscanf(line, "run %" SCNu64 " %[^\n]", &period, command) != 2 ||
	    prf_init(prf, command))
		bad(line);
	prf->wall_ns = 3000000000;
	prf->period_ns = period;
	prf->clock = PRF_CLOCK_PERF;
}

static void make_image(struct prf *prf, const char *line)
{
	struct prf_image numbers = {}, *image;
	char path[LINE];

	if (sscanf(line, "image %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %[^\n]", &numbers.pid, &numbers.kernel_count,
		   &numbers.outside, &numbers.lost, &numbers.left_out,
		   path) != 6)
		bad(line);
	image = made(prf_add_image(prf, path, ""));
	numbers.name = image->name;
	numbers.reason = image->reason;
	*image = numbers;
}

static void make_unreached(struct prf *prf, const char *line)
{
	char path[LINE], reason[LINE];

	if (sscanf(line, "unreached %s %[^\n]", path, reason) != 2)
		bad(line);
	((struct prf_image *)made(prf_add_image(prf, path, reason)))->reach =
		PRF_NOT_REACHED;
}

static void make_object(struct prf_image *image, const char *line)
{
	struct prf_object numbers = {}, *object;
	char id[LINE], path[LINE];
	uint64_t size;

	if (!image ||
	    sscanf(line, "object %" SCNu32 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNu32 " %s %[^\n]", &numbers.kind, &numbers.start,
		   &numbers.pgoff, &size, &numbers.bucket_bytes, id,
		   path) != 7)
		bad(line);
	object = made(prf_add_object(image, path));
	object->kind = numbers.kind;
	object->start = numbers.start;
	object->pgoff = numbers.pgoff;
	object->end = numbers.start + size;
	object->bucket_bytes = numbers.bucket_bytes;
	read_build_id(object, id);
}

static void make_bucket(struct prf_image *image, const char *line)
{
	uint64_t offset, count;

	if (!image || !image->nr ||
	    sscanf(line, "bucket %" SCNx64 " %" SCNu64, &offset, &count) != 2 ||
	    prf_add_bucket(&image->objects[image->nr - 1], offset, count))
		bad(line);
}

static void make_line(struct prf *prf, const char *line)
{
	struct prf_image *image = prf->nr ? &prf->images[prf->nr - 1] : NULL;

	if (!strncmp(line, "run ", 4))
		make_run(prf, line);
	else if (!strncmp(line, "image ", 6))
		make_image(prf, line);
	else if (!strncmp(line, "object ", 7))
		make_object(image, line);
	else if (!strncmp(line, "bucket ", 7))
		make_bucket(image, line);
	else if (!strncmp(line, "unreached ", 10))
		make_unreached(prf, line);
	else
		bad(line);
}

/* The sums, so that everything adds up. */
static void reckon(struct prf *prf)
{
	size_t i, j;

	for (i = 0; i < prf->nr; i++) {
		struct prf_image *image = &prf->images[i];

		image->counted = image->kernel_count;
		for (j = 0; j < image->nr; j++)
			image->counted += prf_object_ticks(&image->objects[j]);
		image->kernel = image->kernel_count + image->left_out;
		image->ticks = image->counted + image->outside + image->lost +
			image->left_out;
		image->cpu_ns = image->ticks * prf->period_ns;
		image->covered_ns = image->cpu_ns;
	}
}

int main(int argc, char **argv)
{
	struct prf prf = {};
	char line[LINE];
	FILE *file;

	if (argc != 2)
		return 2;
	while (fgets(line, sizeof(line), stdin))
		make_line(&prf, line);
	reckon(&prf);
	file = fopen(argv[1], "we");
	if (!file || prf_write(file, &prf) || fclose(file))
		return 1;
	prf_free(&prf);
	return 0;
}
