/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arena.h - memory with holes, for arguments that cross the edges of pages
 *
 * The arguments of calls are in @view, which has pages of every kind. @memory
 * maps the same memory, all of it readable and writable. @shadow has the
 * contents expected after the next call, so that any byte that a call writes by
 * mistake makes the two differ.
 */
#ifndef FUZZ_ARENA_H
#define FUZZ_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numbers.h"

#define PAGE	4096

/* Kinds of pages. */
#define ARENA_HOLE	'-'
#define ARENA_NONE	'.'
#define ARENA_READ	'r'
#define ARENA_WRITE	'w'

/* The view begins with a hole; these pages have room for any argument. */
#define ARENA_ROOM	(3 * PAGE)

/**
 * struct arena - memory for one thread
 * @view: memory for arguments, with pages of every kind
 * @memory: the same memory, all of it writable
 * @shadow: expected contents of @memory
 * @counters: pages of several kinds for private counters, between large areas
 *	of inaccessible memory
 * @crowd: the maximum number of regions, read-only
 * @nr_crowd: this number
 */
struct arena {
	uint8_t *view;
	uint8_t *memory;
	uint8_t *shadow;
	uint8_t *counters;
	uint8_t *crowd;
	uint32_t nr_crowd;
};

bool arena_make(struct arena *arena, uint32_t nr_crowd);
void arena_shuffle(struct arena *arena, __u64 *state);

bool arena_views(const struct arena *arena, uint64_t addr, uint64_t size);
bool arena_readable(const struct arena *arena, uint64_t addr, uint64_t size);
bool arena_writable(const struct arena *arena, uint64_t addr, uint64_t size);

void arena_get(const struct arena *arena, uint64_t addr, void *to, size_t size);
void arena_put(struct arena *arena, uint64_t addr, const void *from,
	       size_t size);
void arena_poke(struct arena *arena, uint64_t addr, const void *from,
		size_t size);
void arena_accept(struct arena *arena, uint64_t addr, uint64_t size);
size_t arena_difference(const struct arena *arena);

uint64_t arena_place(const struct arena *arena, __u64 *state, size_t size);
uint64_t arena_counters(const struct arena *arena, __u64 *state);
uint64_t arena_nowhere(__u64 *state);

#endif /* FUZZ_ARENA_H */
