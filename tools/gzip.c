// SPDX-License-Identifier: GPL-2.0-only
/*
 * gzip.c - compressed output
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <zlib.h>

#include "gzip.h"

#define ROOM	65536

/* zlib's for a header and a trailer as gzip(1) has them. */
#define GZIP_WINDOW	(MAX_WBITS + 16)
#define MEMORY_LEVEL	8

/* All that @stream has, and the end if there will be no more. */
static void drain(FILE *file, z_stream *stream, int flush)
{
	uint8_t bytes[ROOM];

	do {
		stream->next_out = bytes;
		stream->avail_out = sizeof(bytes);
		deflate(stream, flush);
		fwrite(bytes, 1, sizeof(bytes) - stream->avail_out, file);
	} while (!stream->avail_out);
}

/**
 * gzip_write() - compress and write
 * @file: where to, from its position on; errors stay with it
 * @data: what; not changed, but zlib does not say so
 * @size: bytes of it
 *
 * Return: 0, or -1 with errno if there is no memory.
 */
int gzip_write(FILE *file, void *data, size_t size)
{
	z_stream stream = { .next_in = data };

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			 GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY)) {
		errno = ENOMEM;
		return -1;
	}
	for (; size > UINT_MAX; size -= UINT_MAX) {
		stream.avail_in = UINT_MAX;
		drain(file, &stream, Z_NO_FLUSH);
	}
	stream.avail_in = size;
	drain(file, &stream, Z_FINISH);
	deflateEnd(&stream);
	return 0;
}
