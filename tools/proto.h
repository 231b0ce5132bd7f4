/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * proto.h - messages of protocol buffers, as they are written
 */
#ifndef PROTO_H
#define PROTO_H

#include <stdint.h>
#include <stdio.h>

/* Memory of a message that is inside of another: some numbers and no more. */
#define PROTO_ROOM	128

/**
 * struct proto - a message of numbers
 * @size: bytes in @data
 * @data: the message
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

#endif /* PROTO_H */
