// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * work.c - real work on a real file
 *
 * Reads it chunk by chunk, hashes, compresses and decompresses each, and
 * compares the result. So it spends time in the kernel, in the program, in zlib
 * and in the C library.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "sha256.h"
#include "work.h"

#define CHUNK	131072

/* CPU time of this thread, in seconds. */
static double cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* Returns 0 or -errno. */
static int compress_and_back(const uint8_t *chunk, size_t size, uint64_t *out)
{
	uint8_t packed[CHUNK + CHUNK / 8];
	uint8_t unpacked[CHUNK];
	uLongf packed_size = sizeof(packed);
	uLongf unpacked_size = sizeof(unpacked);

	if (compress2(packed, &packed_size, chunk, size, 6) != Z_OK)
		return -EIO;
	if (uncompress(unpacked, &unpacked_size, packed, packed_size) != Z_OK)
		return -EIO;
	if (unpacked_size != size || memcmp(unpacked, chunk, size))
		return -EIO;
	*out += packed_size;
	return 0;
}

static uint64_t hash(const uint8_t *chunk, size_t size)
{
	uint8_t digest[SHA256_BYTES];
	uint64_t number;

	sha256(chunk, size, digest);
	memcpy(&number, digest, sizeof(number));
	return number ^ crc32(0, chunk, size);
}

/* Returns 0 or -errno. */
static int work_on(struct work *work, int fd)
{
	uint8_t chunk[CHUNK];
	off_t offset = (off_t)work->first * CHUNK;
	double end = cpu_time() + work->cpu_seconds;
	int error;

	while (cpu_time() < end) {
		ssize_t size = pread(fd, chunk, sizeof(chunk), offset);

		if (size < 0 || (size == 0 && offset == 0))
			return size < 0 ? -errno : -ENODATA;
		offset = size ? offset + size : 0;
		error = compress_and_back(chunk, size, &work->out);
		if (error)
			return error;
		work->hash += hash(chunk, size);
		work->in += size;
	}
	return 0;
}

/**
 * work_do() - work until the CPU time is used up; a thread function
 * @work: the struct work
 *
 * Return: NULL; the error is in @work.
 */
void *work_do(void *work)
{
	struct work *w = work;
	int fd = open(w->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		w->error = errno;
		return NULL;
	}
	w->error = -work_on(w, fd);
	close(fd);
	return NULL;
}
