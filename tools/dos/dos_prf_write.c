// SPDX-License-Identifier: GPL-2.0-only
/*
 * dos_prf_write.c - write the files of MS-DOS PROFIL
 */
#include <endian.h>

#include "dos/dos_prf.h"

static void put(FILE *file, uint16_t number)
{
	number = htole16(number);
	fwrite(&number, sizeof(number), 1, file);
}

/**
 * dos_prf_write() - write such a file
 * @file: output stream; not closed
 * @dos: the contents
 *
 * Return: 0, or -1 with errno.
 */
int dos_prf_write(FILE *file, const struct dos_prf *dos)
{
	size_t i;

	put(file, dos->clock_grain);
	put(file, dos->bucket_num);
	put(file, dos->bucket_siz);
	put(file, dos->prog_low_pa);
	put(file, dos->prog_high_pa);
	put(file, dos->dos_pa);
	put(file, dos->hit_io);
	put(file, dos->hit_dos);
	put(file, dos->hit_high);
	for (i = 0; i < dos->bucket_num; i++)
		put(file, dos->buckets[i]);
	return fflush(file) || ferror(file) ? -1 : 0;
}
