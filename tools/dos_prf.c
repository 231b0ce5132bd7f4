// SPDX-License-Identifier: GPL-2.0-only
/*
 * dos_prf.c - reads the files that MS-DOS PROFIL wrote
 *
 * Nine words and then the counts, in the byte order of the 8086. There is no
 * magic number: what makes such a file likely is that its size fits.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "dos_prf.h"

#define WORDS	9

static uint16_t word(const void *data, size_t nr)
{
	uint16_t number;

	memcpy(&number, (const uint8_t *)data + 2 * nr, sizeof(number));
	return le16toh(number);
}

/** dos_prf_looks_so() - whether the size is what the header says */
bool dos_prf_looks_so(const void *data, size_t size)
{
	return size >= 2 * WORDS &&
		size == 2 * (WORDS + (size_t)word(data, 1));
}

static const char *check(const struct dos_prf *dos)
{
	if (!dos->bucket_siz)
		return "buckets of no size";
	if (dos->prog_high_pa < dos->prog_low_pa)
		return "a program that ends before it begins";
	return NULL;
}

/**
 * dos_prf_read() - read such a file
 * @data: the whole file
 * @size: of it, in bytes
 * @dos: receives it; its buckets are to be freed
 * @error: receives what is wrong
 *
 * Return: 0 or -1.
 */
int dos_prf_read(const void *data, size_t size, struct dos_prf *dos,
		 struct prf_error *error)
{
	size_t i;

	error->offset = 0;
	if (!dos_prf_looks_so(data, size)) {
		error->text = "the size is not what a .PRF file says it is";
		return -1;
	}
	dos->clock_grain = word(data, 0);
	dos->bucket_num = word(data, 1);
	dos->bucket_siz = word(data, 2);
	dos->prog_low_pa = word(data, 3);
	dos->prog_high_pa = word(data, 4);
	dos->dos_pa = word(data, 5);
	dos->hit_io = word(data, 6);
	dos->hit_dos = word(data, 7);
	dos->hit_high = word(data, 8);
	error->text = check(dos);
	if (error->text)
		return -1;
	dos->buckets = calloc(dos->bucket_num + 1, sizeof(*dos->buckets));
	if (!dos->buckets) {
		error->text = "no memory";
		return -1;
	}
	for (i = 0; i < dos->bucket_num; i++)
		dos->buckets[i] = word(data, WORDS + i);
	return 0;
}
