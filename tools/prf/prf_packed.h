/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prf_packed.h - numbers of 7 bits a byte, the lowest first
 *
 * The high bit is set in all bytes of a number but the last; see prf(5). What is
 * read is untrusted.
 */
#ifndef PRF_PACKED_H
#define PRF_PACKED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/**
 * struct packed - contents of a record being parsed
 * @at: next byte
 * @end: first byte after the contents
 * @problem: what is wrong, a static string, or NULL; the first problem stays, and
 *	then all numbers are 0
 */
struct packed {
	const uint8_t *at;
	const uint8_t *end;
	const char *problem;
};

/** packed_bad() - report a problem; returns 0 */
static inline uint64_t packed_bad(struct packed *packed, const char *problem)
{
	if (!packed->problem)
		packed->problem = problem;
	return 0;
}

/** packed_take() - read a number */
static inline uint64_t packed_take(struct packed *packed)
{
	uint64_t number = 0;
	unsigned int shift;

	for (shift = 0; shift < 64 && !packed->problem; shift += 7) {
		if (packed->at == packed->end)
			break;
		number |= (uint64_t)(*packed->at & 0x7f) << shift;
		if (!(*packed->at++ & 0x80))
			return number;
	}
	return packed_bad(packed, "contents that are cut short");
}

/** packed_below() - read a number that is less than @limit */
static inline uint64_t packed_below(struct packed *packed, uint64_t limit)
{
	uint64_t number = packed_take(packed);

	return number < limit ? number :
		packed_bad(packed, "contents with a number that has no meaning");
}

/**
 * packed_array() - make an array of as many elements as the next number says
 * @packed: the contents
 * @nr: receives the number of elements
 * @least: least number of bytes that an element takes in the contents
 * @size: size of an element in memory, in bytes
 *
 * Return: the array, zeroed; NULL if it is empty or on error.
 */
static inline void *packed_array(struct packed *packed, size_t *nr,
				 size_t least, size_t size)
{
	size_t left = packed->end - packed->at;
	void *array;

	*nr = packed_below(packed, left / least + 1);
	array = *nr ? calloc(*nr, size) : NULL;
	if (*nr && !array) {
		packed_bad(packed, "no memory");
		*nr = 0;
	}
	return array;
}

/** packed_put() - write a number; errors stick to the stream */
static inline void packed_put(FILE *stream, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		putc_unlocked(0x80 | (number & 0x7f), stream);
	putc_unlocked(number, stream);
}

#endif /* PRF_PACKED_H */
