/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reexec.h - what icount/exec.c and its program share
 */
#ifndef PROGRAMS_REEXEC_H
#define PROGRAMS_REEXEC_H

#include <stdint.h>

#define REEXEC_IMAGES	150

/* What an image does at its end. */
enum reexec_end {
	REEXEC_EXEC,		/* executes itself */
	REEXEC_EXIT,
	REEXEC_BURN		/* nothing: it has no profile */
};

/* The memory of its counter. */
enum reexec_memory {
	REEXEC_SHARED,		/* struct reexec.counter */
	REEXEC_PRIVATE,
	REEXEC_MISSING		/* private, never written before the profile */
};

/**
 * struct reexec_image - one image; times are CPU time of the process
 * @asked_ns: before it requests a profile
 * @set_ns: when it has the profile
 * @end_ns: before it ends
 * @next_ns: at the beginning of the next image; after exit, all that the
 *	process has used
 * @switches: context switches between @asked_ns and @next_ns
 * @covered_ns: CPU time that its profile covered, from the account
 */
struct reexec_image {
	uint64_t asked_ns;
	uint64_t set_ns;
	uint64_t end_ns;
	uint64_t next_ns;
	uint64_t switches;
	uint64_t covered_ns;
};

/**
 * struct reexec - the memory that test and program share
 * @counter: that of REEXEC_SHARED
 * @failed: errno of the program, or 0
 * @end: enum reexec_end
 * @memory: enum reexec_memory
 * @wanted: number of images in all
 * @nr: so far
 * @period_ns: for each profile
 * @work_ns: CPU time that each image spends
 * @covered_ns: CPU time that the profiles of all images so far covered
 * @start_ns: sum of the CPU time at the beginning of programs of REEXEC_BURN
 * @images: the images
 */
struct reexec {
	uint64_t counter;
	int32_t failed;
	uint32_t end;
	uint32_t memory;
	uint32_t wanted;
	uint32_t nr;
	uint64_t period_ns;
	uint64_t work_ns;
	uint64_t covered_ns;
	uint64_t start_ns;
	struct reexec_image images[REEXEC_IMAGES];
};

#endif /* PROGRAMS_REEXEC_H */
