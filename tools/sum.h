/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sum.h - what several files have in common
 */
#ifndef SUM_H
#define SUM_H

#include <stdbool.h>
#include <stddef.h>

#include "prf.h"
#include "symbols.h"

/* The classes of MS-DOS PROFIL: program, DOS, I/O and high. */
enum sum_class {
	SUM_PROGRAM,
	SUM_LIBRARIES,
	SUM_KERNEL,
	SUM_ELSEWHERE,
	SUM_CLASSES,
};

/**
 * struct sum_bucket - ticks of a piece of text
 * @address: as linked, or the offset in the file if that cannot be known
 * @bytes: of text
 * @ticks: in all files
 * @ns: ticks by the period of their file
 */
struct sum_bucket {
	uint64_t address;
	uint64_t bytes;
	uint64_t ticks;
	double ns;
};

/**
 * struct sum_piece - buckets of one function
 * @name: of the function
 * @start: its first address
 * @end: the one after the last
 * @ticks: of all its buckets
 * @first: index of the first of them
 * @nr: how many there are
 */
struct sum_piece {
	char *name;
	uint64_t start;
	uint64_t end;
	uint64_t ticks;
	size_t first;
	size_t nr;
};

/**
 * struct sum_object - an object in all files
 * @path: of its file
 * @class: what it counts as
 * @build_id_len: bytes of @build_id, 0 if it has none
 * @build_id: as the linker wrote it
 * @ticks: of all its buckets
 * @start: of its text
 * @end: of its text; 0 if the object is known by its name alone
 * @symbols: where names come from; open until sum_free()
 * @nr_buckets: number of buckets
 * @buckets: ascending by address, when finished
 * @nr_pieces: number of pieces
 * @pieces: ascending by address
 */
struct sum_object {
	char *path;
	enum sum_class class;
	uint32_t build_id_len;
	uint8_t build_id[PRF_BUILD_ID];
	uint64_t ticks;
	uint64_t start;
	uint64_t end;
	struct symbols symbols;
	size_t nr_buckets;
	struct sum_bucket *buckets;
	size_t nr_pieces;
	struct sum_piece *pieces;
};

/**
 * struct sum_function - a function in all files
 * @name: of the function
 * @object: index of its object
 * @ticks: of all its buckets
 */
struct sum_function {
	char *name;
	size_t object;
	uint64_t ticks;
};

/**
 * struct sum_missed - an image that was not reached
 * @name: of the program
 * @reason: why
 */
struct sum_missed {
	char *name;
	char *reason;
};

/**
 * struct sum - all files
 * @command: of the first
 * @files: how many there are
 * @clock: that made the ticks; 0 if the files differ
 * @user_only: whether any file has no ticks of the kernel
 * @period_ns: mean of all files' ticks
 * @wall_ns: how long they took together
 * @time_ns: ticks by the period of their file
 * @numbers: sums of the numbers of all images
 * @bucket_ticks: all that is in buckets or counted for the kernel
 * @placed: ticks that are in one of the classes
 * @classes: ticks of each class
 * @nr_objects: number of objects
 * @objects: in the order in which they were found
 * @nr_functions: number of functions
 * @functions: most ticks first
 * @nr_missed: number of images that were not reached
 * @missed: these
 */
struct sum {
	char *command;
	unsigned int files;
	uint32_t clock;
	bool user_only;
	double period_ns;
	double wall_ns;
	double time_ns;
	struct prf_image numbers;
	uint64_t bucket_ticks;
	uint64_t placed;
	uint64_t classes[SUM_CLASSES];
	size_t nr_objects;
	struct sum_object *objects;
	size_t nr_functions;
	struct sum_function *functions;
	size_t nr_missed;
	struct sum_missed *missed;
};

void sum_add(struct sum *sum, const struct prf *prf);
void sum_finish(struct sum *sum);
void sum_find_pieces(struct sum_object *object);
bool sum_place(const struct sum_object *object, const struct sum_piece *piece,
	       const struct sum_bucket *bucket, struct place *place);
const struct sum_object *sum_object(const struct sum *sum,
				    const struct prf_object *mapping);
bool sum_adds_up(const struct sum *sum);
double sum_percent(const struct sum *sum, uint64_t ticks);
double sum_error(const struct sum *sum, uint64_t ticks);
const char *sum_class_name(enum sum_class class);
const char *sum_object_name(const struct sum *sum, size_t object);
bool sum_is_whole(const struct sum *sum, const struct sum_function *function);
const char *clock_name(uint32_t clock);
void sum_free(struct sum *sum);

#endif /* SUM_H */
