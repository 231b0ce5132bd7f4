// SPDX-License-Identifier: GPL-2.0-only
/*
 * synthesize.c - writes a profile whose ticks are known
 *
 *	synthesize FILE PROGRAM BUILD-ID PGOFF SIZE [OFFSET COUNT]...
 *
 * Numbers are hexadecimal but for COUNT; offsets are from the start of the
 * mapping. Besides, there are 10 ticks in the kernel, 5 elsewhere, 2 lost, and
 * a program that was not reached.
 */
#include <stdlib.h>
#include <string.h>

#include <prf.h>

static void read_build_id(struct prf_object *object, const char *digits)
{
	unsigned int byte;

	while (object->build_id_len < PRF_BUILD_ID &&
	       sscanf(digits, "%2x", &byte) == 1) {
		object->build_id[object->build_id_len++] = byte;
		digits += 2;
	}
}

static void fill(struct prf_object *object, int argc, char **argv)
{
	int i;

	object->kind = PRF_PROGRAM;
	read_build_id(object, argv[3]);
	object->start = 0x555555555000;
	object->pgoff = strtoull(argv[4], NULL, 16);
	object->end = object->start + strtoull(argv[5], NULL, 16);
	for (i = 6; i + 1 < argc; i += 2)
		if (prf_add_bucket(object, strtoull(argv[i], NULL, 16),
				   strtoull(argv[i + 1], NULL, 10)))
			abort();
}

static void synthesize(struct prf *prf, int argc, char **argv)
{
	struct prf_image *image;
	struct prf_object *object;

	if (prf_init(prf, "known"))
		abort();
	prf->wall_ns = 3000000000;
	prf->period_ns = 1000000;
	prf->clock = PRF_CLOCK_PERF;
	image = prf_add_image(prf, argv[2], "");
	object = image ? prf_add_object(image, argv[2]) : NULL;
	if (!object)
		abort();
	fill(object, argc, argv);
	image->kernel_count = 10;
	image->kernel = 10;
	image->outside = 5;
	image->lost = 2;
	image->counted = prf_object_ticks(object) + 10;
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
	synthesize(&prf, argc, argv);
	if (prf_write(file, &prf) || fclose(file))
		return 1;
	prf_free(&prf);
	return 0;
}
