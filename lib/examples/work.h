/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * work.h - real work on a real file
 */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

/**
 * struct work - work of a thread, and its results
 * @path: file to work on
 * @first: index of the first chunk; threads that start at different chunks do
 *	different work
 * @cpu_seconds: CPU time to use
 * @in: bytes read
 * @out: bytes after compression
 * @hash: sum of the hashes of all chunks
 * @error: errno, or 0
 */
struct work {
	const char *path;
	unsigned int first;
	double cpu_seconds;
	uint64_t in;
	uint64_t out;
	uint64_t hash;
	int error;
};

void *work_do(void *work);

#endif /* WORK_H */
