/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * input.h - numbers from libFuzzer's input
 *
 * Numbers beyond the end of the input are 0.
 */
#ifndef UNIT_INPUT_H
#define UNIT_INPUT_H

#include <string.h>

#include <linux/types.h>

/**
 * struct input - the rest of the input
 * @data: the next byte
 * @size: number of bytes left
 */
struct input {
	const __u8 *data;
	size_t size;
};

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size);

/* Take a number of @bytes, at most 8. */
static inline __u64 take(struct input *input, size_t bytes)
{
	__u64 number = 0;

	if (bytes > input->size)
		bytes = input->size;
	if (!bytes)
		return 0;
	memcpy(&number, input->data, bytes);
	input->data += bytes;
	input->size -= bytes;
	return number;
}

#endif /* UNIT_INPUT_H */
