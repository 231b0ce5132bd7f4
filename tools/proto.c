// SPDX-License-Identifier: GPL-2.0-only
/*
 * proto.c - messages of protocol buffers, as they are written
 *
 * A message is a sequence of fields. In front of each are its number and how
 * its value is written: as a number of variable length, seven bits in a byte,
 * the lowest first; or as a length and so many bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "proto.h"

#define VARINT	0
#define BYTES	2

/* Of 64 bits, seven in a byte. */
#define VARINT_ROOM	10

static size_t encode(uint8_t *bytes, uint64_t number)
{
	size_t size = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[size++] = number | 0x80;
	bytes[size++] = number;
	return size;
}

/* The messages are those of this tool: that they fit is known. */
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

/** proto_add() - add a field that is a number */
void proto_add(struct proto *message, uint32_t field, uint64_t number)
{
	append_varint(message, field << 3 | VARINT);
	append_varint(message, number);
}

/** proto_add_message() - add a field that is a message */
void proto_add_message(struct proto *message, uint32_t field,
		       const struct proto *inner)
{
	append_varint(message, field << 3 | BYTES);
	append_varint(message, inner->size);
	append(message, inner->data, inner->size);
}

static void put_varint(FILE *file, uint64_t number)
{
	uint8_t bytes[VARINT_ROOM];

	fwrite(bytes, 1, encode(bytes, number), file);
}

/** proto_put() - write a field that is a number */
void proto_put(FILE *file, uint32_t field, uint64_t number)
{
	put_varint(file, field << 3 | VARINT);
	put_varint(file, number);
}

/** proto_put_bytes() - write a field that is a string */
void proto_put_bytes(FILE *file, uint32_t field, const void *data,
		     size_t size)
{
	put_varint(file, field << 3 | BYTES);
	put_varint(file, size);
	fwrite(data, 1, size, file);
}

/** proto_put_message() - write a field that is a message */
void proto_put_message(FILE *file, uint32_t field,
		       const struct proto *message)
{
	proto_put_bytes(file, field, message->data, message->size);
}
