// SPDX-License-Identifier: GPL-2.0-only
/*
 * spool.c - profiles that have not been sent
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "push/config.h"
#include "push/spool.h"
#include "util/array.h"
#include "util/number.h"
#include "util/term.h"

/* The line before a profile; what follows it begins at the same offset. */
#define MAGIC		"profil-push"
#define VERSION_1	1
#define HEAD		512

/* Names of files, by number; and of one that is being written */
#define NAME		"%016" PRIx64 ".profile"
#define NEW		"new"

/* Length of a name */
#define NAME_ROOM	32

struct spool spool;

/* Descriptor of the directory; -1 to keep profiles in memory */
static int directory = -1;

/* Number of the next profile */
static uint64_t next = 1;

static void name_file(uint64_t number, char name[NAME_ROOM])
{
	snprintf(name, NAME_ROOM, NAME, number);
}

static void forget(size_t index)
{
	struct spooled *profile = &spool.list[index];

	spool.bytes -= profile->bytes;
	if (profile->data)
		spool.memory -= profile->bytes;
	free(profile->data);
	spool.nr--;
	memmove(profile, profile + 1, (spool.nr - index) * sizeof(*profile));
}

static void delete(size_t index)
{
	struct spooled *profile = &spool.list[index];
	char name[NAME_ROOM];

	if (!profile->data) {
		name_file(profile->number, name);
		unlinkat(directory, name, 0);
	}
	forget(index);
}

/** spool_drop() - count a profile that is lost, with its ticks */
void spool_drop(uint64_t ticks)
{
	spool.dropped++;
	spool.dropped_ticks += ticks;
}

/*
 * Drop the oldest profile, but neither the last one nor the one that is being sent.
 * @in_memory: leave files alone. Return: whether there was one.
 */
static bool drop_oldest(bool in_memory)
{
	size_t i;

	for (i = 0; i + 1 < spool.nr; i++) {
		if (spool.list[i].number == spool.sent ||
		    (in_memory && !spool.list[i].data))
			continue;
		spool_drop(spool.list[i].ticks);
		delete(i);
		if (!spool.said_full)
			term_warn("too many profiles wait to be sent: the oldest are dropped");
		spool.said_full = true;
		return true;
	}
	return false;
}

static void make_room(void)
{
	while (spool.bytes > config.spool_bytes && drop_oldest(false))
		;
	while (directory >= 0 && spool.memory > SPOOL_MEMORY &&
	       drop_oldest(true))
		;
}

static int add_to_list(const struct spooled *profile)
{
	struct spooled *list = array_grow(spool.list, spool.nr, sizeof(*list));

	if (!list)
		return -1;
	spool.list = list;
	list[spool.nr++] = *profile;
	spool.bytes += profile->bytes;
	if (profile->data)
		spool.memory += profile->bytes;
	if (profile->number >= next)
		next = profile->number + 1;
	return 0;
}

static bool write_head(int fd, const struct spooled *profile)
{
	char head[HEAD] = "";

	snprintf(head, sizeof(head),
		 MAGIC " %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
		 VERSION_1, profile->from_ns, profile->until_ns,
		 profile->ticks, profile->service);
	return pwrite(fd, head, sizeof(head), 0) == sizeof(head);
}

/* Returns 0; or -1 with errno, which is EINVAL if the file is no profile. */
static int read_head(int fd, struct spooled *profile)
{
	char head[HEAD + 1];
	int version = 0, at = 0;
	ssize_t got = pread(fd, head, HEAD, 0);
	char *end;

	if (got < 0)
		return -1;
	errno = EINVAL;
	head[got] = '\0';
	end = got == HEAD ? strchr(head, '\n') : NULL;
	if (!end)
		return -1;
	*end = '\0';
	if (sscanf(head, MAGIC " %d %" SCNu64 " %" SCNu64 " %" SCNu64 "%n",
		   &version, &profile->from_ns, &profile->until_ns,
		   &profile->ticks, &at) < 4 || version != VERSION_1 ||
	    head[at] != ' ' || strlen(head + at + 1) >= sizeof(profile->service))
		return -1;
	strcpy(profile->service, head + at + 1);
	return 0;
}

/* Read what a file says of its profile; returns 0, or -1 with errno. */
static int read_file(const char *name, struct spooled *profile)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
			O_NONBLOCK);
	struct stat status;
	int failed;

	if (fd < 0)
		return -1;
	failed = fstat(fd, &status);
	if (!failed) {
		failed = read_head(fd, profile);
		profile->bytes = status.st_size;
	}
	close(fd);
	return failed;
}

/* List a file of the directory, or remove it if it is damaged. */
static int list_file(const char *name)
{
	struct spooled profile = {};
	char again[NAME_ROOM];

	if (sscanf(name, "%" SCNx64, &profile.number) != 1)
		return 0;
	name_file(profile.number, again);
	if (strcmp(name, again))
		return 0;
	if (!read_file(name, &profile))
		return add_to_list(&profile);
	if (errno != EINVAL) {
		term_warn("%s/%s: %s: it is not sent", config.spool, name,
			  strerror(errno));
		next = MAX(next, profile.number + 1);
		return 0;
	}
	term_warn("%s/%s: removed: it is no profile", config.spool, name);
	unlinkat(directory, name, 0);
	spool_drop(0);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	return array_by_start(a, b);
}

static int list_directory(void)
{
	DIR *entries = fdopendir(dup(directory));
	struct dirent *entry;
	int failed = entries ? 0 : -1;

	while (!failed && (entry = readdir(entries)))
		failed = list_file(entry->d_name);
	if (entries)
		closedir(entries);
	if (spool.nr)
		qsort(spool.list, spool.nr, sizeof(*spool.list), by_number);
	return failed;
}

/* May no other user put profiles there, or take them away? */
static bool is_own(void)
{
	struct stat status;

	return !fstat(directory, &status) &&
		(!status.st_uid || status.st_uid == geteuid()) &&
		!(status.st_mode & (S_IWGRP | S_IWOTH));
}

/**
 * spool_open() - find what an earlier profil has not sent
 *
 * Return: 0, or -1 after reporting the error.
 */
int spool_open(void)
{
	if (!config.spool)
		return 0;
	if (mkdir(config.spool, 0700) && errno != EEXIST) {
		term_warn("%s: %s", config.spool, strerror(errno));
		return -1;
	}
	directory = open(config.spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory >= 0 && !is_own()) {
		term_warn("%s: other users may write to it: choose a directory of your own",
			  config.spool);
		return -1;
	}
	if (directory >= 0 && flock(directory, LOCK_EX | LOCK_NB) &&
	    errno == EWOULDBLOCK) {
		term_warn("%s: another profil uses it", config.spool);
		return -1;
	}
	if (directory < 0 || faccessat(directory, ".", W_OK | X_OK, 0) ||
	    list_directory()) {
		term_warn("%s: %s", config.spool, strerror(errno));
		return -1;
	}
	make_room();
	return 0;
}

/**
 * spool_new() - begin a profile
 *
 * Return: a descriptor, for the profile to be written to and for spool_add(); or
 * -1 with errno.
 */
int spool_new(void)
{
	return memfd_create("profile", MFD_CLOEXEC);
}

/* Read a profile that begins at @at. Returns NULL with errno, which is EIO if it is cut. */
static char *read_data(int fd, size_t size, size_t at)
{
	char *data = malloc(size + 1);
	ssize_t got = data ? pread(fd, data, size, at) : -1;

	if (got == (ssize_t)size)
		return data;
	if (got >= 0)
		errno = EIO;
	free(data);
	return NULL;
}

static bool write_data(int fd, const struct spooled *profile)
{
	size_t size = profile->bytes - HEAD;
	ssize_t done = pwrite(fd, profile->data, size, HEAD);

	/* A disk that becomes full takes a part, and then says so */
	if (done >= 0 && (size_t)done < size)
		errno = ENOSPC;
	return done == (ssize_t)size;
}

/* Make the file of a profile, which gets its name once all of it is on the disk. */
static bool write_file(const struct spooled *profile)
{
	int fd = openat(directory, NEW, O_WRONLY | O_CREAT | O_TRUNC |
			O_CLOEXEC | O_NOFOLLOW, 0600);
	char name[NAME_ROOM];
	bool done;

	name_file(profile->number, name);
	done = fd >= 0 && write_head(fd, profile) && write_data(fd, profile) &&
		!fdatasync(fd) && !renameat(directory, NEW, directory, name);
	if (fd >= 0)
		close(fd);
	return done;
}

/* Put a profile into the directory, or leave it in memory. */
static void commit(struct spooled *profile)
{
	if (directory < 0)
		return;
	if (write_file(profile)) {
		free(profile->data);
		profile->data = NULL;
		spool.said_memory = false;
		return;
	}
	if (!spool.said_memory)
		term_warn("%s: %s: profiles that cannot be written there are kept in memory",
			  config.spool, strerror(errno));
	spool.said_memory = true;
	unlinkat(directory, NEW, 0);
}

/** spool_sync() - have the names of files on the disk; not every file system can */
void spool_sync(void)
{
	if (directory >= 0)
		fdatasync(directory);
}

/**
 * spool_add() - end a profile, which is then the last one; then spool_sync()
 * @fd: of spool_new()
 * @profile: its ticks, times and service
 */
void spool_add(int fd, const struct spooled *profile)
{
	struct spooled added = *profile;
	struct stat status = {};

	added.number = next;
	if (!fstat(fd, &status)) {
		added.bytes = HEAD + status.st_size;
		added.data = read_data(fd, status.st_size, 0);
	}
	close(fd);
	if (!added.data) {
		term_warn("cannot keep a profile: %s", strerror(errno));
		spool_drop(profile->ticks);
		return;
	}
	commit(&added);
	if (add_to_list(&added)) {
		free(added.data);
		spool_drop(profile->ticks);
		return;
	}
	make_room();
}

/**
 * spool_read() - read a profile
 * @profile: the profile
 * @size: receives its size
 *
 * Return: the profile as it is sent, to be freed; or NULL with errno.
 */
char *spool_read(const struct spooled *profile, size_t *size)
{
	char name[NAME_ROOM], *data;
	int fd;

	*size = profile->bytes - HEAD;
	if (profile->data) {
		data = malloc(*size + 1);
		return data ? memcpy(data, profile->data, *size) : NULL;
	}
	name_file(profile->number, name);
	fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	data = read_data(fd, *size, HEAD);
	close(fd);
	return data;
}

/** spool_settle() - write what is in memory; returns how many profiles stay there */
size_t spool_settle(void)
{
	size_t i, left = 0;

	for (i = 0; i < spool.nr; i++) {
		struct spooled *profile = &spool.list[i];

		if (!profile->data)
			continue;
		commit(profile);
		if (profile->data)
			left++;
		else
			spool.memory -= profile->bytes;
	}
	spool_sync();
	return left;
}

static size_t find(uint64_t number)
{
	size_t i;

	for (i = 0; i < spool.nr && spool.list[i].number != number; i++)
		;
	return i;
}

/** spool_remove() - remove a profile, if it is still there */
void spool_remove(uint64_t number)
{
	size_t index = find(number);

	if (index < spool.nr)
		delete(index);
}

/** spool_forget() - leave a profile to the next start, if it is still there */
void spool_forget(uint64_t number)
{
	size_t index = find(number);

	if (index < spool.nr)
		forget(index);
}

/** spool_close() - free the list; profiles in a directory stay there */
void spool_close(void)
{
	while (spool.nr)
		forget(spool.nr - 1);
	free(spool.list);
	spool.list = NULL;
	if (directory >= 0)
		close(directory);
	directory = -1;
}
