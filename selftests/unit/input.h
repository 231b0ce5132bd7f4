/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * input.h - what libFuzzer gives, taken apart into numbers
 *
 * Numbers that the input ends too early for are 0.
 */
#ifndef UNIT_INPUT_H
#define UNIT_INPUT_H

#include <string.h>

#include <linux/types.h>

/**
 * struct input - what is left of the input
 * @data: the next byte
 * @size: number of bytes
 */
struct input {
	const __u8 *data;
	size_t size;
};

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size);

/* A number of the next @bytes, 8 at most. */
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
