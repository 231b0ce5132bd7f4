/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * protobuf.h - write protocol buffers
 */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <stdint.h>
#include <stdio.h>

/* Maximum size of a nested message: a few numbers. */
#define PROTO_ROOM	128

/**
 * struct proto - a nested message
 * @size: bytes used of @data
 * @data: the encoded message
 */
struct proto {
	size_t size;
	uint8_t data[PROTO_ROOM];
};

void proto_add(struct proto *message, uint32_t field, uint64_t number);
void proto_add_message(struct proto *message, uint32_t field,
		       const struct proto *inner);
void proto_put(FILE *file, uint32_t field, uint64_t number);
void proto_put_bytes(FILE *file, uint32_t field, const void *data,
		     size_t size);
void proto_put_message(FILE *file, uint32_t field,
		       const struct proto *message);

#endif /* PROTOBUF_H */
