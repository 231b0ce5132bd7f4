// SPDX-License-Identifier: GPL-2.0-only
/*
 * protobuf.c - write protocol buffers
 *
 * A message is a sequence of fields. Each starts with its number and wire type.
 * Its value is a varint, seven bits in each byte, the lowest first; or a length
 * and that many bytes.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "pprof/protobuf.h"

#define VARINT	0
#define BYTES	2

/* Maximum bytes of a varint of 64 bits. */
#define VARINT_ROOM	10

static size_t encode(uint8_t *bytes, uint64_t number)
{
	size_t size = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[size++] = number | 0x80;
	bytes[size++] = number;
	return size;
}

/* The caller knows that its messages fit. */
static void append(struct proto *message, const void *data, size_t size)
{
	if (size > sizeof(message->data) - message->size)
		abort();
	memcpy(message->data + message->size, data, size);
	message->size += size;
}

static void append_varint(struct proto *message, uint64_t number)
{
	uint8_t bytes[VARINT_ROOM];

	append(message, bytes, encode(bytes, number));
}

/** proto_add() - append a number to a nested message */
void proto_add(struct proto *message, uint32_t field, uint64_t number)
{
	append_varint(message, field << 3 | VARINT);
	append_varint(message, number);
}

/** proto_add_message() - append a message to a nested message */
void proto_add_message(struct proto *message, uint32_t field,
		       const struct proto *inner)
{
	append_varint(message, field << 3 | BYTES);
	append_varint(message, inner->size);
	append(message, inner->data, inner->size);
}

/* There are millions of them: with one call each, and without a lock. */
static void put_two(FILE *file, uint64_t first, uint64_t second)
{
	uint8_t bytes[2 * VARINT_ROOM];
	size_t size = encode(bytes, first);

	size += encode(bytes + size, second);
	fwrite_unlocked(bytes, 1, size, file);
}

/** proto_put() - write a number */
void proto_put(FILE *file, uint32_t field, uint64_t number)
{
	put_two(file, field << 3 | VARINT, number);
}

/** proto_put_bytes() - write a string */
void proto_put_bytes(FILE *file, uint32_t field, const void *data,
		     size_t size)
{
	put_two(file, field << 3 | BYTES, size);
	fwrite_unlocked(data, 1, size, file);
}

/** proto_put_message() - write a nested message */
void proto_put_message(FILE *file, uint32_t field,
		       const struct proto *message)
{
	proto_put_bytes(file, field, message->data, message->size);
}
