/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prf.h - a profile of a run, in memory and in a file
 *
 * The file is told byte by byte in Documentation/man/prf.5. What comes from a
 * file has been checked: everything prf_read() returns is as it is told here.
 */
#ifndef PRF_H
#define PRF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PRF_MAGIC	"\x89PROFIL\n"
#define PRF_MAGIC_SIZE	8
#define PRF_VERSION	1
#define PRF_BUILD_ID	32

/*
 * No number of ticks is above this, nor is its sum over a file, so that sums of
 * these stay in 64 bits.
 */
#define PRF_MOST	(1ULL << 48)

enum prf_type {
	PRF_RUN = 1,
	PRF_IMAGE = 2,
	PRF_OBJECT = 3,
	PRF_HIST = 4,
	PRF_KERNEL = 5,
	PRF_END = 255,
};

/* Bytes of each record's payload before its strings or pairs. */
#define PRF_RUN_SIZE	40
#define PRF_IMAGE_SIZE	104
#define PRF_OBJECT_SIZE	64
#define PRF_HIST_SIZE	8
#define PRF_KERNEL_SIZE	16
#define PRF_END_SIZE	8

enum prf_clock {
	PRF_CLOCK_PERF = 1,
	PRF_CLOCK_HRTIMER = 2,
	PRF_CLOCK_PERF_EVENT_OPEN = 3,
};

#define PRF_FLAG_USER_ONLY	1u

enum prf_exit {
	PRF_EXITED = 0,
	PRF_SIGNALLED = 1,
};

enum prf_kind {
	PRF_PROGRAM = 1,
	PRF_LIBRARY = 2,
	PRF_LOADER = 3,
	PRF_VDSO = 4,
	PRF_ANONYMOUS = 5,
};

enum prf_reach {
	PRF_FOLLOWED = 0,
	PRF_NOT_REACHED = 1,
};

/**
 * struct prf_bucket - ticks of a piece of text
 * @offset: from the start of the object, a multiple of its bucket_bytes
 * @count: ticks, never 0
 */
struct prf_bucket {
	uint64_t offset;
	uint64_t count;
};

/**
 * struct prf_object - a mapping of text
 * @start: first run-time address
 * @end: the one after the last
 * @pgoff: offset in the file of what is at @start
 * @kind: enum prf_kind
 * @build_id_len: bytes of @build_id, 0 if the object has none
 * @build_id: as the linker wrote it
 * @bucket_bytes: of text in each bucket, a power of two
 * @nr: number of buckets
 * @room: what there is memory for
 * @buckets: ascending by offset; only those that have ticks
 * @path: of the file, or the mapping's name
 */
struct prf_object {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;
	uint32_t kind;
	uint32_t build_id_len;
	uint8_t build_id[PRF_BUILD_ID];
	uint32_t bucket_bytes;
	size_t nr;
	size_t room;
	struct prf_bucket *buckets;
	char *path;
};

/**
 * struct prf_image - a program that was executed
 * @pid: process
 * @ppid: its parent
 * @start_ns: since the run's start
 * @cpu_ns: CPU time as the scheduler counts it
 * @covered_ns: CPU time during which it was profiled
 * @ticks: all, the sum of the next five
 * @counted: are in the buckets
 * @clipped: found their counter full
 * @outside: belong to no region
 * @lost: could not be written
 * @left_out: in kernel mode, and not wanted
 * @kernel: in kernel mode, among the above
 * @unfollowed: children that could not inherit the profile
 * @reach: enum prf_reach
 * @kernel_count: ticks in kernel mode that no object has
 * @nr: number of objects
 * @room: what there is memory for
 * @objects: its mappings of text
 * @name: path of the program
 * @reason: why it was not reached, or empty
 */
struct prf_image {
	uint32_t pid;
	uint32_t ppid;
	uint64_t start_ns;
	uint64_t cpu_ns;
	uint64_t covered_ns;
	uint64_t ticks;
	uint64_t counted;
	uint64_t clipped;
	uint64_t outside;
	uint64_t lost;
	uint64_t left_out;
	uint64_t kernel;
	uint64_t unfollowed;
	uint32_t reach;
	uint64_t kernel_count;
	size_t nr;
	size_t room;
	struct prf_object *objects;
	char *name;
	char *reason;
};

/**
 * struct prf - a run
 * @start_unix_ns: when it began
 * @wall_ns: how long it took
 * @period_ns: CPU time between ticks, the true mean
 * @clock: enum prf_clock
 * @flags: PRF_FLAG_USER_ONLY
 * @exit_kind: enum prf_exit
 * @exit_code: exit status or signal
 * @nr: number of images
 * @room: what there is memory for
 * @images: in the order in which they started
 * @command: the command line, to be printed
 */
struct prf {
	uint64_t start_unix_ns;
	uint64_t wall_ns;
	uint64_t period_ns;
	uint32_t clock;
	uint32_t flags;
	uint32_t exit_kind;
	uint32_t exit_code;
	size_t nr;
	size_t room;
	struct prf_image *images;
	char *command;
};

/**
 * struct prf_at - a place among the objects of runs
 * @run: index of the run
 * @image: of the image in it
 * @object: of the next object in that
 */
struct prf_at {
	size_t run;
	size_t image;
	size_t object;
};

/**
 * struct prf_error - what is wrong with a file
 * @offset: of the byte where it was found
 * @text: a static string
 */
struct prf_error {
	uint64_t offset;
	const char *text;
};

/*
 * What is added is zeroed, but for copies of the strings; a pointer to it is
 * good until the next of its kind is added. NULL or -1 if there is no memory.
 */
int prf_init(struct prf *prf, const char *command);
struct prf_image *prf_add_image(struct prf *prf, const char *name,
				const char *reason);
struct prf_object *prf_add_object(struct prf_image *image, const char *path);
int prf_add_bucket(struct prf_object *object, uint64_t offset, uint64_t count);
uint64_t prf_object_ticks(const struct prf_object *object);
void prf_free(struct prf *prf);

const struct prf_object *prf_next(const struct prf *runs, size_t nr,
				  struct prf_at *at);
bool prf_same_object(const struct prf_object *a, const struct prf_object *b);
const struct prf_object *prf_program(const struct prf *runs, size_t nr);
const struct prf_object *prf_find_object(const struct prf *runs, size_t nr,
					 const char *name);

int prf_write(FILE *file, const struct prf *prf);
int prf_read(const void *data, size_t size, struct prf *prf,
	     struct prf_error *error);

#endif /* PRF_H */
