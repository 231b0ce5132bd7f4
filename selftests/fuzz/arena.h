/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arena.h - memory with holes, for arguments that lie across their edges
 *
 * What the calls are given is in @view, whose pages are of every kind. The
 * same memory is at @memory too, where all of it can be read and written,
 * and at @shadow as it ought to be after the next call. One byte that a call
 * writes and should not have is seen as a difference of these two.
 */
#ifndef FUZZ_ARENA_H
#define FUZZ_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unit/numbers.h"

#define PAGE	4096

/* Kinds of pages. */
#define ARENA_HOLE	'-'
#define ARENA_NONE	'.'
#define ARENA_READ	'r'
#define ARENA_WRITE	'w'

/* The view begins with a hole, then these pages have room for any argument. */
#define ARENA_ROOM	(3 * PAGE)

/**
 * struct arena - memory for one thread
 * @view: what calls are given
 * @memory: the same memory, writable throughout
 * @shadow: what @memory ought to be
 * @counters: pages for counters of the program's own, of several kinds, with
 *	much nothing behind them
 * @crowd: as many regions as allowed, read-only
 * @nr_crowd: how many
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
void arena_shuffle(struct arena *arena, u64 *state);

bool arena_readable(const struct arena *arena, uint64_t addr, uint64_t size);
bool arena_writable(const struct arena *arena, uint64_t addr, uint64_t size);

void arena_get(const struct arena *arena, uint64_t addr, void *to, size_t size);
void arena_put(struct arena *arena, uint64_t addr, const void *from,
	       size_t size);
void arena_poke(struct arena *arena, uint64_t addr, const void *from,
		size_t size);
void arena_accept(struct arena *arena, uint64_t addr, uint64_t size);
size_t arena_difference(const struct arena *arena);

uint64_t arena_place(const struct arena *arena, u64 *state, size_t size);
uint64_t arena_counters(const struct arena *arena, u64 *state);
uint64_t arena_nowhere(u64 *state);

#endif /* FUZZ_ARENA_H */
