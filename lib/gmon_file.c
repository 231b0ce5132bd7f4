// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * gmon_file.c - write gmon.out, for gprof
 *
 * Runs at exit(), or when a program calls _mcleanup(), so it allocates nothing
 * and uses no streams. The format is in <sys/gmon_out.h>: a header, then
 * records that start with a tag.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/gmon_out.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gmon.h"

/**
 * struct gmon_file - the output file
 * @fd: file descriptor
 * @error: errno of the first failure, or 0
 * @used: bytes in @buffer
 * @buffer: data not written yet
 */
struct gmon_file {
	int fd;
	int error;
	size_t used;
	char buffer[2048];
};

struct gmon_hist_record {
	char tag;
	struct gmon_hist_hdr header;
};

struct gmon_arc_record {
	char tag;
	struct gmon_cg_arc_record arc;
};

/**
 * gmon_say() - print a line to standard error
 * @format: format of printf(3), followed by its arguments
 */
void gmon_say(const char *format, ...)
{
	static const char prefix[] = "libprofil: ";
	size_t length = sizeof(prefix) - 1;
	char line[512];
	va_list arguments;

	memcpy(line, prefix, sizeof(prefix));
	va_start(arguments, format);
	vsnprintf(line + length, sizeof(line) - length, format, arguments);
	va_end(arguments);
	length = strlen(line);
	/* Replaces the terminator: the line may fill the buffer */
	line[length] = '\n';
	syscall(SYS_write, STDERR_FILENO, line, length + 1);
}

/*
 * By plain system calls: like the C library's, this is no cancellation point.
 */
static void gmon_file_write(struct gmon_file *file, const void *data,
			    size_t size)
{
	const char *rest = data;

	while (size && !file->error) {
		ssize_t written = syscall(SYS_write, file->fd, rest, size);

		if (written > 0) {
			rest += written;
			size -= written;
		} else if (!written) {
			file->error = EIO;
		} else if (errno != EINTR) {
			file->error = errno;
		}
	}
}

static void gmon_file_flush(struct gmon_file *file)
{
	gmon_file_write(file, file->buffer, file->used);
	file->used = 0;
}

/* Write through the buffer; @size must not exceed it. */
static void gmon_file_put(struct gmon_file *file, const void *data,
			  size_t size)
{
	if (size > sizeof(file->buffer) - file->used)
		gmon_file_flush(file);
	memcpy(file->buffer + file->used, data, size);
	file->used += size;
}

static void gmon_file_header(struct gmon_file *file)
{
	struct gmon_hdr header = { .cookie = GMON_MAGIC };
	int32_t version = GMON_VERSION;

	memcpy(header.version, &version, sizeof(version));
	gmon_file_put(file, &header, sizeof(header));
}

static size_t gmon_full_counters(const struct gmon *gmon)
{
	size_t i, full = 0;

	for (i = 0; i < gmon->nr_counters; i++)
		full += gmon->counters[i] == UINT16_MAX;
	return full;
}

static void gmon_file_histogram(struct gmon_file *file,
				const struct gmon *gmon)
{
	struct gmon_hist_record record = {
		.tag = GMON_TAG_TIME_HIST,
		.header = { .dimen = "seconds", .dimen_abbrev = 's' },
	};
	uintptr_t low = gmon->low - gmon->load;
	uintptr_t high = low + gmon->length;
	int32_t nr_counters = gmon->nr_counters, rate = gmon->rate;

	memcpy(record.header.low_pc, &low, sizeof(low));
	memcpy(record.header.high_pc, &high, sizeof(high));
	memcpy(record.header.hist_size, &nr_counters, sizeof(nr_counters));
	memcpy(record.header.prof_rate, &rate, sizeof(rate));
	gmon_file_put(file, &record, sizeof(record));
	gmon_file_flush(file);
	gmon_file_write(file, gmon->counters,
			gmon->nr_counters * sizeof(*gmon->counters));
}

/* gprof sums up records of the same arc; the count of each has 31 bits. */
static void gmon_file_arc(struct gmon_file *file, const struct gmon *gmon,
			  uint64_t key, uint64_t calls)
{
	struct gmon_arc_record record = { .tag = GMON_TAG_CG_ARC };
	uintptr_t low = gmon->low - gmon->load;
	uintptr_t from = low + (key >> 32), self = low + (uint32_t)key;

	memcpy(record.arc.from_pc, &from, sizeof(from));
	memcpy(record.arc.self_pc, &self, sizeof(self));
	while (calls) {
		int32_t count = calls < INT32_MAX ? calls : INT32_MAX;

		memcpy(record.arc.count, &count, sizeof(count));
		gmon_file_put(file, &record, sizeof(record));
		calls -= count;
	}
}

/* Atomic loads: other threads may still count during exit(). */
static void gmon_file_arcs(struct gmon_file *file, const struct gmon *gmon)
{
	size_t i;

	for (i = 0; i < gmon->arcs.nr; i++) {
		struct gmon_arc *arc = &gmon->arcs.slots[i];
		uint64_t key = __atomic_load_n(&arc->key, __ATOMIC_RELAXED);

		if (key)
			gmon_file_arc(file, gmon, key,
				      __atomic_load_n(&arc->calls,
						      __ATOMIC_RELAXED));
	}
}

static int gmon_open(const char *name)
{
	return syscall(SYS_openat, AT_FDCWD, name,
		       O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		       0666);
}

/*
 * Open $GMON_OUT_PREFIX.PID if the variable is set and that file can be opened,
 * else gmon.out, as the C library does. A forked child opens gmon.out.PID, so
 * as not to overwrite its parent's file.
 */
static int gmon_open_any(const struct gmon *gmon, char *name, size_t size)
{
	const char *prefix = secure_getenv("GMON_OUT_PREFIX");
	int fd = -1;

	if (prefix && (size_t)snprintf(name, size, "%s.%d", prefix,
				       getpid()) < size)
		fd = gmon_open(name);
	if (fd >= 0)
		return fd;
	if (gmon->own->original)
		snprintf(name, size, "gmon.out");
	else
		snprintf(name, size, "gmon.out.%d", getpid());
	return gmon_open(name);
}

static void gmon_say_missing(const struct gmon *gmon, const char *name)
{
	uint64_t dropped = __atomic_load_n(&gmon->own->dropped,
					   __ATOMIC_RELAXED);
	size_t full = gmon_full_counters(gmon);

	if (dropped)
		gmon_say("%s: %llu calls are missing, the table was full", name,
			 (unsigned long long)dropped);
	if (full)
		gmon_say("%s: time is missing, %zu counters are full", name,
			 full);
}

/**
 * gmon_write() - write gmon.out, and report missing data
 * @gmon: the counters; the profile has been stopped
 */
void gmon_write(const struct gmon *gmon)
{
	struct gmon_file file = { .error = 0 };
	char name[PATH_MAX];

	file.fd = gmon_open_any(gmon, name, sizeof(name));
	if (file.fd < 0) {
		gmon_say("%s: %s", name, strerrordesc_np(errno));
		return;
	}
	gmon_file_header(&file);
	gmon_file_histogram(&file, gmon);
	gmon_file_arcs(&file, gmon);
	gmon_file_flush(&file);
	syscall(SYS_close, file.fd);
	if (file.error)
		gmon_say("%s: not complete: %s", name,
			 strerrordesc_np(file.error));
	gmon_say_missing(gmon, name);
}
