/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * image.h - a program that was executed: its text, and counters for it
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "account.h"
#include "loader.h"
#include "maps.h"
#include "prf.h"

/* Of no area. */
#define NO_AREA	(~0U)

/**
 * struct object - a mapping of text, as long as it was there
 * @map: the mapping
 * @kind: enum prf_kind
 * @build_id: as the linker wrote it
 * @build_id_len: its bytes; 0 if there is none
 * @area: which of the image's areas has the counters; NO_AREA if none has yet
 * @first: offset of the first counter in it
 */
struct object {
	struct mapping map;
	uint32_t kind;
	uint8_t build_id[PRF_BUILD_ID];
	uint32_t build_id_len;
	unsigned int area;
	uint64_t first;
};

/**
 * struct area - memory for counters, in a file that has no name
 * @fd: the file; -1 as long as there is none
 * @size: of the file
 * @used: from its beginning
 * @local: where we have it, if we count ourselves
 */
struct area {
	int fd;
	uint64_t size;
	uint64_t used;
	void *local;
};

/**
 * struct image - a program that was executed
 * @pid: process
 * @ppid: its parent
 * @start_ns: when, on the monotonic clock
 * @end_ns: when @pid ended with it, 0 if that has not been seen
 * @status: how it ended then, as waitpid() tells it
 * @cpu_ns: CPU time of those of its threads that have ended or gone on to
 *	another image
 * @uncovered_ns: CPU time among that before the profile began
 * @lost: ticks that nobody knows the place of
 * @accounts: what the module says of it
 * @covered_ns: CPU time during which it was profiled
 * @ticks_ns: CPU time that ticks stand for, if we count ourselves
 * @left_out_ns: CPU time among that in kernel mode which is not in the counters
 * @left_out: ticks in kernel mode that are not in the counters
 * @kernel: ticks in kernel mode, if known
 * @name: path of the program
 * @reason: why it is not profiled, or NULL
 * @told: it has been said that libraries count as elsewhere
 * @crowded: it has been said that there are too many of them
 * @head: bytes at the beginning of the first area that are no counters; the
 *	counter for what is in no object comes next
 * @nr_areas: number of areas
 * @areas: memory for counters
 * @nr: number of objects
 * @objects: in the order in which they were found
 * @users: address spaces in which it is executed
 * @code: address of its first instruction
 * @loader: what is known of the loader
 * @kept: what was counted, once nobody counts there any more
 */
struct image {
	pid_t pid;
	pid_t ppid;
	uint64_t start_ns;
	uint64_t end_ns;
	int status;
	uint64_t cpu_ns;
	uint64_t uncovered_ns;
	struct accounts accounts;
	uint64_t covered_ns;
	uint64_t ticks_ns;
	uint64_t left_out_ns;
	uint64_t lost;
	uint64_t left_out;
	uint64_t kernel;
	char *name;
	char *reason;
	bool told;
	bool crowded;
	uint64_t head;
	unsigned int nr_areas;
	struct area *areas;
	size_t nr;
	struct object *objects;
	unsigned int users;
	uint64_t code;
	struct loader loader;
	struct prf kept;
};

/* Bytes of a counter. */
#define COUNTER	sizeof(uint32_t)

struct image *image_new(pid_t pid, uint64_t now_ns);
struct image *image_copy(const struct image *image, pid_t pid,
			 uint64_t now_ns);
void image_free(struct image *image);

int image_add_object(struct image *image, const struct mapping *map,
		     const char *loader, pid_t tid);
int image_add_area(struct image *image, uint64_t size);
void image_drop_area(struct image *image);
uint64_t object_counters(const struct object *object, uint32_t bucket);

void image_keep(struct image *image, uint32_t bucket);
void image_fail(struct image *image, const char *what, int error);
int image_save(struct image *image, struct prf *prf, uint32_t bucket,
	       uint64_t start_ns);

#endif /* IMAGE_H */
