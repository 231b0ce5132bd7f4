// SPDX-License-Identifier: GPL-2.0-only
/*
 * dos_prf.c - read the files of MS-DOS PROFIL
 *
 * Nine 16-bit words, then the counts, all little-endian. There is no magic
 * number: a file is recognised by its size, which must match the header.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "dos/dos_prf.h"

#define WORDS	9

static uint16_t word(const void *data, size_t nr)
{
	uint16_t number;

	memcpy(&number, (const uint8_t *)data + 2 * nr, sizeof(number));
	return le16toh(number);
}

/** dos_prf_looks_so() - does the size match the header? */
bool dos_prf_looks_so(const void *data, size_t size)
{
	return size >= 2 * WORDS &&
		size == 2 * (WORDS + (size_t)word(data, 1));
}

static const char *check(const struct dos_prf *dos)
{
	if (!dos->bucket_siz)
		return "bucket size is zero";
	if (dos->prog_high_pa < dos->prog_low_pa)
		return "program ends before it begins";
	return NULL;
}

/**
 * dos_prf_read() - parse such a file
 * @data: contents of the file
 * @size: size of the file, in bytes
 * @dos: receives the contents; free its buckets
 * @error: receives the error
 *
 * Return: 0, or -1 with @error set.
 */
int dos_prf_read(const void *data, size_t size, struct dos_prf *dos,
		 struct prf_error *error)
{
	size_t i;

	error->offset = 0;
	if (!dos_prf_looks_so(data, size)) {
		error->text = "file size does not match the .PRF header";
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
