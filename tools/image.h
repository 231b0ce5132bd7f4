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

#include "prf.h"

/**
 * struct object - a mapping of text
 * @start: first address
 * @end: the one after the last
 * @pgoff: offset in the file of what is at @start
 * @kind: enum prf_kind
 * @path: of the file, or the mapping's name
 * @build_id: as the linker wrote it
 * @build_id_len: its bytes; 0 if there is none
 * @area: which of the image's areas has the counters
 * @first: offset of the first counter in it
 */
struct object {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;
	uint32_t kind;
	char *path;
	uint8_t build_id[PRF_BUILD_ID];
	uint32_t build_id_len;
	unsigned int area;
	uint64_t first;
};

/**
 * struct area - memory for counters, in a file that has no name
 * @fd: the file; -1 as long as there is none
 * @head: bytes at its beginning that are no counters
 * @size: of the file
 * @remote: where the program has it
 * @local: where we have it, if we count ourselves
 */
struct area {
	int fd;
	uint64_t head;
	uint64_t size;
	uint64_t remote;
	void *local;
};

/*
 * What is mapped when a program starts has counters in the first area; what
 * the loader has mapped by the time that it hands over, in the second.
 */
#define AREAS	2

/**
 * struct image - a program that was executed
 * @pid: process
 * @ppid: its parent
 * @start_ns: when, on the monotonic clock
 * @cpu_ns: CPU time of those of its threads that have ended or gone on to
 *	another image
 * @uncovered_ns: CPU time among that before the profile began
 * @lost: ticks that nobody knows the place of
 * @left_out: ticks in kernel mode that are not wanted
 * @kernel: ticks in kernel mode, if known
 * @name: path of the program
 * @reason: why it is not profiled, or NULL
 * @entry: address at which the loader hands over, 0 if there is no loader
 * @entry_word: text there
 * @loaded: it has been there
 * @areas: memory for counters
 * @nr: number of objects
 * @objects: by address within each area
 */
struct image {
	pid_t pid;
	pid_t ppid;
	uint64_t start_ns;
	uint64_t cpu_ns;
	uint64_t uncovered_ns;
	uint64_t lost;
	uint64_t left_out;
	uint64_t kernel;
	char *name;
	char *reason;
	uint64_t entry;
	uint64_t entry_word;
	bool loaded;
	struct area areas[AREAS];
	size_t nr;
	struct object *objects;
};

/* Bytes of a counter. */
#define COUNTER	sizeof(uint32_t)

struct image *image_new(pid_t pid, uint64_t now_ns);
int image_find_text(struct image *image, unsigned int area, pid_t tid);
void image_place(struct image *image, unsigned int area, uint64_t head,
		 uint32_t bucket);
void image_fail(struct image *image, const char *what, int error);
int image_save(const struct image *image, struct prf *prf, uint32_t bucket,
	       uint64_t start_ns);
void image_free(struct image *image);

#endif /* IMAGE_H */
