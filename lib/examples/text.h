/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * text.h - all text of this process, with counters
 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <profil.h>

/* Bytes of text for each counter, and the scale that gives these. */
#define TEXT_GRAIN	4
#define TEXT_SCALE	0x10000

/**
 * struct piece - an executable segment of a DSO
 * @object: file name, or the dynamic linker's name
 * @bias: load bias: run-time minus link-time address
 * @start: first address
 * @frames: its .eh_frame_hdr, or NULL
 * @counters: counters, one for each TEXT_GRAIN bytes
 * @nr: number of counters
 */
struct piece {
	const char *object;
	uintptr_t bias;
	uintptr_t start;
	const uint8_t *frames;
	uint32_t *counters;
	size_t nr;
};

#define TEXT_PIECES	256

/**
 * struct text - all text of the process
 * @nr: number of pieces
 * @pieces: segments, in the order of the dynamic linker
 * @elsewhere: counter of ticks outside all segments
 */
struct text {
	unsigned int nr;
	struct piece pieces[TEXT_PIECES];
	uint32_t *elsewhere;
};

int text_find(struct text *text);
int text_profile(struct text *text, struct timeval *tick);
uint64_t piece_ticks(const struct piece *piece);
uint64_t text_ticks(const struct text *text);

#endif /* TEXT_H */
