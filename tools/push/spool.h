/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spool.h - profiles that have not been sent
 *
 * They are files in a directory, where they stay when profil ends; or in memory, as
 * are those that cannot be written. A file is a line that says what it is, and the
 * profile. When they have too many bytes, the oldest goes.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the name of what is profiled; of a longer one, the end is kept */
#define SPOOL_SERVICE	256

/* Bytes of profiles in memory, unless the user says how many */
#define SPOOL_MEMORY	(4ULL << 20)

/**
 * struct spooled - a profile
 * @number: greater than those of all profiles before it
 * @data: the profile, if it is in memory; or NULL
 * @bytes: its size in the spool
 * @ticks: its ticks
 * @from_ns: its start, in nanoseconds since the epoch
 * @until_ns: its end
 * @service: name of what is profiled
 */
struct spooled {
	uint64_t number;
	char *data;
	uint64_t bytes;
	uint64_t ticks;
	uint64_t from_ns;
	uint64_t until_ns;
	char service[SPOOL_SERVICE];
};

/**
 * struct spool - the profiles
 * @nr: number of profiles
 * @list: the profiles, the oldest first
 * @bytes: bytes of all of them
 * @memory: of these, in memory
 * @sent: number of the profile that is being sent, which is not dropped; or 0
 * @said_full: that the oldest profiles are dropped has been reported
 * @said_memory: that profiles cannot be written has been reported
 * @dropped: profiles that were dropped, or could not be kept
 * @dropped_ticks: their ticks
 */
struct spool {
	size_t nr;
	struct spooled *list;
	uint64_t bytes;
	uint64_t memory;
	uint64_t sent;
	bool said_full;
	bool said_memory;
	uint64_t dropped;
	uint64_t dropped_ticks;
};

extern struct spool spool;

int spool_open(void);
int spool_new(void);
void spool_add(int fd, const struct spooled *profile);
void spool_sync(void);
void spool_drop(uint64_t ticks);
char *spool_read(const struct spooled *profile, size_t *size);
size_t spool_settle(void);
void spool_remove(uint64_t number);
void spool_forget(uint64_t number);
void spool_close(void);

#endif /* SPOOL_H */
