// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * fallback_count.c - count a tick in user space
 *
 * The counters may have been unmapped, made read-only or truncated since the
 * profile began. System calls reach them, which fail where a plain access would
 * kill the program: process_vm_readv(2) reads a counter, and the operation of
 * futex(2)'s FUTEX_WAKE_OP adds to it atomically.
 */
#define _GNU_SOURCE 1
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fallback_profile.h"

static int fallback_copy(long call, void *mine, u64 other, size_t size)
{
	struct iovec local = { mine, size };
	struct iovec remote = { (void *)(uintptr_t)other, size };
	ssize_t done;

	if (other > UINTPTR_MAX)
		return -EFAULT;
	/* Not getpid(): the first thread of the process may have ended */
	done = syscall(call, gettid(), &local, 1UL, &remote, 1UL, 0UL);
	if (done < 0)
		return -errno;
	return (size_t)done == size ? 0 : -EFAULT;
}

/* Read memory that may not be there; a negative errno if it is not. */
int fallback_read(void *to, u64 from, size_t size)
{
	return size ? fallback_copy(SYS_process_vm_readv, to, from, size) : 0;
}

/* Write memory that may not be there or not be writable. */
int fallback_write(u64 to, const void *from, size_t size)
{
	return fallback_copy(SYS_process_vm_writev, (void *)from, to, size);
}

struct fallback_own fallback_own[FALLBACK_NR_OWN];

/*
 * Memory that the program has unmapped may be where this library has its own
 * now. No tick may go there.
 */
static bool fallback_is_own(const struct fallback_profile *profile, u64 addr,
			    u64 last)
{
	u32 i;

	for (i = 0; i < FALLBACK_NR_OWN; i++)
		if (addr < fallback_own[i].end && last >= fallback_own[i].start)
			return true;
	return addr < (uintptr_t)profile + profile->bytes &&
	       last >= (uintptr_t)profile;
}

/* --- is the memory of a region writable? */

/**
 * struct fallback_maps - reads /proc/thread-self/maps
 * @fd: the file
 * @at: next character of @text
 * @end: number of characters in @text
 */
struct fallback_maps {
	int fd;
	ssize_t at;
	ssize_t end;
	char text[512];
};

static int fallback_character(struct fallback_maps *maps)
{
	if (maps->at == maps->end) {
		maps->end = syscall(SYS_read, maps->fd, maps->text,
				    sizeof(maps->text));
		maps->at = 0;
		if (maps->end <= 0) {
			maps->end = 0;
			return -1;
		}
	}
	return (unsigned char)maps->text[maps->at++];
}

/* A hexadecimal number, and the character after it. */
static u64 fallback_number(struct fallback_maps *maps, int *after)
{
	u64 number = 0;
	int c;

	for (c = fallback_character(maps);; c = fallback_character(maps)) {
		if (c >= '0' && c <= '9')
			number = number << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			number = number << 4 | (c - 'a' + 10);
		else
			break;
	}
	*after = c;
	return number;
}

/* "START-END rw..."; returns whether there was a line. */
static bool fallback_line(struct fallback_maps *maps, u64 *start, u64 *end,
			  bool *writable)
{
	int c;

	*start = fallback_number(maps, &c);
	if (c != '-')
		return false;
	*end = fallback_number(maps, &c);
	if (c != ' ')
		return false;
	fallback_character(maps);
	*writable = fallback_character(maps) == 'w';
	do {
		c = fallback_character(maps);
	} while (c >= 0 && c != '\n');
	return true;
}

/*
 * Whether every byte is in a writable mapping. Pages need not be present.
 */
static bool fallback_is_writable(struct fallback_maps *maps, u64 addr, u64 last)
{
	u64 start, end;
	bool writable;

	while (fallback_line(maps, &start, &end, &writable)) {
		if (end <= addr)
			continue;
		if (start > addr || !writable)
			return false;
		if (last < end)
			return true;
		addr = end;
	}
	return false;
}

/**
 * fallback_check() - check that the counters are in writable memory
 * @profile: with its map; the caller holds the lock
 *
 * Without /proc, a buffer that is not writable disables its region at the first
 * tick.
 *
 * Return: 0 or -EFAULT.
 */
int fallback_check(const struct fallback_profile *profile)
{
	const struct profil_map *map = &profile->map;
	struct fallback_maps maps;
	int err = 0;
	u32 i;

	for (i = 0; i < map->nr_regions && !err; i++) {
		const struct profil_counters *counters = &map->counters[i];
		u64 last = counters->base +
			   (counters->nr << map->width_shift) - 1;

		if (!counters->nr)
			continue;
		if (counters->state == PROFIL_REGION_UNMAPPED ||
		    fallback_is_own(profile, counters->base, last) ||
		    (fallback_current &&
		     fallback_is_own(fallback_current, counters->base, last)))
			return -EFAULT;
		maps = (struct fallback_maps){
			.fd = syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/maps",
				      O_RDONLY | O_CLOEXEC),
		};
		if (maps.fd < 0)
			return 0;
		if (!fallback_is_writable(&maps, counters->base, last))
			err = -EFAULT;
		syscall(SYS_close, maps.fd);
	}
	return err;
}

/* --- counting */

/* Atomically add 1 << @shift to a word; -EACCES if that is not writable. */
static int fallback_add_bit(u64 word, unsigned int shift)
{
	/* Wakes nobody: nobody waits for @own. */
	static u32 own;
	unsigned long operation = (unsigned long)
		(FUTEX_OP_ADD | FUTEX_OP_OPARG_SHIFT) << 28 |
		(unsigned long)FUTEX_OP_CMP_NE << 24 |
		(unsigned long)shift << 12;

	if (syscall(SYS_futex, &own, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 1, 0UL,
		    (uintptr_t)word, operation) < 0)
		return errno == EFAULT ? -EACCES : -errno;
	return 0;
}

/*
 * Add as many of @nr ticks as the counter has room for. Nobody but the program
 * itself changes it meanwhile, so that adding carries into no other counter.
 */
static int fallback_add(const struct fallback_profile *profile, u64 address,
			u64 nr, u64 *added, u64 *count)
{
	u64 word = address & ~3ULL;
	unsigned int shift = 0, bit;
	u32 mask = UINT32_MAX;
	u64 add = 0;
	u32 old;
	int err;

	if (profile->width == 2) {
		mask = UINT16_MAX;
		shift = address & 2 ? 16 : 0;
#if __BYTE_ORDER == __BIG_ENDIAN
		shift ^= 16;
#endif
	}
	if (fallback_is_own(profile, word, word + 3))
		return -EFAULT;
	err = fallback_read(&old, word, sizeof(old));
	if (err)
		return err;
	*count = old >> shift & mask;
	if (*count < profile->max)
		add = nr < profile->max - *count ? nr : profile->max - *count;
	for (bit = 0; add >> bit; bit++) {
		if (!(add >> bit & 1))
			continue;
		err = fallback_add_bit(word, shift + bit);
		if (err)
			return err;
	}
	*count += add;
	*added = add;
	return 0;
}

static bool fallback_region_is_on(const struct fallback_profile *profile,
				  u32 region)
{
	return region != PROFIL_NO_REGION &&
	       !profile->map.counters[region].state &&
	       !profile->counts->stats[region].state;
}

/**
 * fallback_count() - count ticks
 * @profile: the profile; the caller holds the lock
 * @pc: where they found the program
 * @nr: how many
 */
void fallback_count(const struct fallback_profile *profile, u64 pc, u64 nr)
{
	const struct profil_map *map = &profile->map;
	struct fallback_counts *counts = profile->counts;
	u32 region = profil_map_find(map, pc);
	struct fallback_stats *stats;
	u64 index = 0, added = 0, count = 0;
	int err;

	if (fallback_region_is_on(profile, region)) {
		index = profil_map_index(map, region, pc);
	} else {
		region = map->overflow;
		if (!fallback_region_is_on(profile, region)) {
			counts->outside += nr;
			return;
		}
	}
	stats = &counts->stats[region];
	err = fallback_add(profile,
			   map->counters[region].base +
			   (index << map->width_shift), nr, &added, &count);
	if (err) {
		stats->lost += nr;
		stats->state = err == -EACCES ? PROFIL_REGION_READONLY :
						PROFIL_REGION_UNMAPPED;
		return;
	}
	stats->counted += added;
	stats->clipped += nr - added;
	if (count >= profile->max && profile->flags & PROFIL_SET_SVR4_STOP)
		counts->full = true;
}
