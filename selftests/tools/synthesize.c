// SPDX-License-Identifier: GPL-2.0-only
/*
 * synthesize.c - writes a profile whose ticks are known
 *
 *	synthesize FILE OBJECT [-- OBJECT]...
 *
 * where OBJECT is PATH BUILD-ID PGOFF SIZE [OFFSET COUNT]...; numbers are
 * hexadecimal but for COUNT; offsets are from the start of the mapping. The
 * first is the program. Besides, there are 10 ticks in the kernel, 5 elsewhere,
 * 2 lost, and a program that was not reached. In the environment, COMMAND may
 * be the command and BUCKET the bytes of a bucket.
 */
#include <stdlib.h>
#include <string.h>

#include <prf.h>

#include "digits.h"

static uint32_t kind_of(const struct prf_image *image, const char *path)
{
	if (!strcmp(path, "[vdso]"))
		return PRF_VDSO;
	return image->nr == 1 ? PRF_PROGRAM : PRF_LIBRARY;
}

/* Takes the arguments of one object; what is left of them. */
static char **add_object(struct prf_image *image, char **argv)
{
	const char *bucket = getenv("BUCKET");
	struct prf_object *object = prf_add_object(image, argv[0]);

	if (!object)
		abort();
	object->kind = kind_of(image, argv[0]);
	read_build_id(object, argv[1]);
	object->start = 0x555555555000 + (image->nr << 32);
	object->pgoff = strtoull(argv[2], NULL, 16);
	object->end = object->start + strtoull(argv[3], NULL, 16);
	if (bucket)
		object->bucket_bytes = atoi(bucket);
	for (argv += 4; argv[0] && strcmp(argv[0], "--"); argv += 2)
		if (prf_add_bucket(object, strtoull(argv[0], NULL, 16),
				   strtoull(argv[1], NULL, 10)))
			abort();
	image->counted += prf_object_ticks(object);
	return argv[0] ? argv + 1 : argv;
}

static void synthesize(struct prf *prf, char **argv)
{
	const char *command = getenv("COMMAND");
	struct prf_image *image;

	if (prf_init(prf, command ? command : "known"))
		abort();
	prf->wall_ns = 3000000000;
	prf->period_ns = 1000000;
	prf->clock = PRF_CLOCK_PERF;
	image = prf_add_image(prf, argv[0], "");
	if (!image)
		abort();
	while (argv[0])
		argv = add_object(image, argv);
	image->kernel_count = 10;
	image->kernel = 10;
	image->outside = 5;
	image->lost = 2;
	image->counted += 10;
	image->ticks = image->counted + 7;
	image->cpu_ns = image->ticks * prf->period_ns;
	image->covered_ns = image->cpu_ns;
	image = prf_add_image(prf, "/bin/unreached", "it is static");
	if (!image)
		abort();
	image->reach = PRF_NOT_REACHED;
}

int main(int argc, char **argv)
{
	struct prf prf;
	FILE *file;

	if (argc < 6)
		return 2;
	file = fopen(argv[1], "we");
	if (!file)
		return 1;
	synthesize(&prf, argv + 2);
	if (prf_write(file, &prf) || fclose(file))
		return 1;
	prf_free(&prf);
	return 0;
}
