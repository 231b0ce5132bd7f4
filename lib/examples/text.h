/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * text.h - the text of this process, and counters for all of it
 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <profil.h>

/* Bytes of text that have a counter to themselves, and the scale for that. */
#define TEXT_GRAIN	4
#define TEXT_SCALE	0x10000

/**
 * struct piece - an executable piece of an object
 * @object: file name, or what the dynamic linker calls it
 * @bias: what the object's addresses have been moved by
 * @start: first address
 * @frames: the table of functions that the linker made (.eh_frame_hdr), or
 *	NULL
 * @counters: one for each TEXT_GRAIN bytes
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
 * struct text - all of it
 * @nr: number of pieces
 * @pieces: in the order of the dynamic linker
 * @elsewhere: ticks outside every piece
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
