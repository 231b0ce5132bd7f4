// SPDX-License-Identifier: GPL-2.0-only
/*
 * file.c - read files given by the user, open files named in other files; names
 *
 * Files from the command line are read up to end of file, whatever their size,
 * as they may be pipes. A path found inside another file is untrusted: it may
 * name anything.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util/file.h"

#define PIECE	65536

/** base_name() - part of a path after the last slash */
const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void *read_all(FILE *file, size_t *size)
{
	char *data = NULL, *more;
	size_t room = 0;

	for (*size = 0; !feof(file) && !ferror(file);) {
		if (*size == room) {
			room = room ? 2 * room : PIECE;
			more = realloc(data, room);
			if (!more)
				break;
			data = more;
		}
		*size += fread(data + *size, 1, room - *size, file);
	}
	if (feof(file))
		return data;
	free(data);
	return NULL;
}

/**
 * file_read() - read a file
 * @path: path of the file; "-" is standard input
 * @size: receives the size in bytes
 *
 * Return: the contents, to be freed, or NULL with errno.
 */
void *file_read(const char *path, size_t *size)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	void *data;
	int error;

	if (!file)
		return NULL;
	data = read_all(file, size);
	error = errno;
	if (file != stdin)
		fclose(file);
	errno = error;
	return data;
}

static int is_plain(const struct stat *stat_buffer)
{
	return S_ISREG(stat_buffer->st_mode) && stat_buffer->st_size > 0;
}

/**
 * file_open_found() - open a file that has been found, if it is regular
 * @place: descriptor of its path (O_PATH), which this closes; or -1
 * @stat_buffer: receives its attributes
 *
 * Opening a device can have side effects, and reading a pipe or a file of size
 * 0, whose contents the kernel generates on reading, can block for ever. What is
 * opened is what has been looked at, even if the path leads elsewhere meanwhile.
 *
 * Return: a descriptor, or -1 if it is not a regular file or is empty.
 */
int file_open_found(int place, struct stat *stat_buffer)
{
	char path[64];
	int fd = -1;

	if (place < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	if (!fstat(place, stat_buffer) && is_plain(stat_buffer))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	close(place);
	return fd;
}

/**
 * file_open_plain() - open a path found in another file, if it is regular
 * @path: path of the file
 * @stat_buffer: receives its attributes
 *
 * Return: as that of file_open_found().
 */
int file_open_plain(const char *path, struct stat *stat_buffer)
{
	return file_open_found(open(path, O_PATH | O_CLOEXEC), stat_buffer);
}

/** file_changed_ns() - time of the last change of the inode, since the epoch */
uint64_t file_changed_ns(const struct stat *stat_buffer)
{
	return stat_buffer->st_ctim.tv_sec * 1000000000ULL +
		stat_buffer->st_ctim.tv_nsec;
}

/** file_raise_limit() - have as many files open as the user may */
void file_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void map_zeros(int signal_number, siginfo_t *info, void *context)
{
	long page = sysconf(_SC_PAGESIZE);
	void *start = (void *)((uintptr_t)info->si_addr & -page);

	/* Otherwise, the same access ends the process when this returns */
	if (info->si_code != BUS_ADRERR ||
	    mmap(start, page, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		signal(SIGBUS, SIG_DFL);
}

/**
 * file_survive_cuts() - have mapped files continue with zeros where they are
 * cut off meanwhile
 *
 * libelf maps files, and any user who may write to one may truncate it: an access
 * to what was there is a SIGBUS.
 */
void file_survive_cuts(void)
{
	const struct sigaction action = {
		.sa_sigaction = map_zeros,
		.sa_flags = SA_SIGINFO,
	};

	sigaction(SIGBUS, &action, NULL);
}
