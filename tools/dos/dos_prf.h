/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dos_prf.h - the files of MS-DOS PROFIL
 */
#ifndef DOS_PRF_H
#define DOS_PRF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prf/prf.h"

#define DOS_PARAGRAPH	16

/**
 * struct dos_prf - contents of such a file
 * @clock_grain: microseconds between ticks
 * @bucket_num: number of buckets
 * @bucket_siz: paragraphs of 16 bytes in each bucket, never 0
 * @prog_low_pa: paragraph at which the program begins
 * @prog_high_pa: first paragraph after the program
 * @dos_pa: paragraph at which DOS begins
 * @hit_io: ticks below DOS
 * @hit_dos: ticks below the program
 * @hit_high: ticks above the program
 * @buckets: ticks of each bucket
 */
struct dos_prf {
	uint16_t clock_grain;
	uint16_t bucket_num;
	uint16_t bucket_siz;
	uint16_t prog_low_pa;
	uint16_t prog_high_pa;
	uint16_t dos_pa;
	uint16_t hit_io;
	uint16_t hit_dos;
	uint16_t hit_high;
	uint16_t *buckets;
};

bool dos_prf_looks_so(const void *data, size_t size);
int dos_prf_read(const void *data, size_t size, struct dos_prf *dos,
		 struct prf_error *error);

int dos_prf_make(const struct prf *runs, size_t nr,
		 const struct prf_dso *program, uint64_t bucket_siz,
		 struct dos_prf *dos);
int dos_prf_write(FILE *file, const struct dos_prf *dos);

#endif /* DOS_PRF_H */
