/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * profil.h - execution time profiles, counted by the kernel
 *
 * Declares the functions of the library other than profil() of <unistd.h> and
 * sprofil() of <sys/profil.h>, whose prototypes are those of the C library; and
 * these two as well where the C library has neither, as musl.
 * <linux/profil.h> documents the structures.
 *
 * Documentation/contract.rst states what profil() and sprofil() promise. Where
 * a system's manual page promises something else, a function with the system's
 * name keeps the promise. The manual pages are libprofil(3),
 * libprofil_profil(3), libprofil_sprofil(3), libprofil_requests(3),
 * libprofil_watch(3) and libprofil_fallback(7).
 *
 * The caller sets the member size of each structure to its sizeof before the
 * call, so the device knows which version of it the caller was compiled with:
 *
 *	struct profil_status status;
 *
 *	status.size = sizeof(status);
 *	if (profil_status(&status, NULL, 0))
 *		perror("profil_status");
 *
 * Every function may be called from a signal handler and by several threads at
 * a time, and none is a cancellation point. Calls for the caller's own profile
 * open PROFIL_DEVICE, unless that profile is counted in user space, make one
 * request and close it again; a watch has a descriptor, which profil_watch_open()
 * returns. So besides the errors of each function there are those of open(2):
 * ENOENT, ENODEV or ENXIO where the kernel has no such device, EACCES, EMFILE,
 * ENFILE; and EINTR after a fatal signal. A successful call does not change errno.
 *
 * Where the device cannot be opened profil(), sprofil() and the functions with
 * a system's name count in user space, unless PROFIL_FALLBACK=none is in the
 * environment; see libprofil_fallback(7). Their errors are then EBUSY, if the
 * program handles SIGURG itself, or if the process shares the memory of another
 * one that is profiled so, and EAGAIN, if the user has no timer left.
 */
#ifndef LIBPROFIL_H
#define LIBPROFIL_H

#include <sys/time.h>
#include <sys/types.h>

#ifdef __GLIBC__
#include <sys/profil.h>
#endif

#include <linux/profil.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef __GLIBC__
/* As the GNU C library has them in <sys/profil.h> and <unistd.h> */
struct prof {
	void *pr_base;
	size_t pr_size;
	size_t pr_off;
	unsigned long pr_scale;
};

#define PROF_USHORT	0
#define PROF_UINT	(1u << 0)
#define PROF_FAST	(1u << 1)

int profil(unsigned short *samples, size_t size, size_t offset,
	   unsigned int scale);
int sprofil(struct prof *profp, int profcnt, struct timeval *tvp,
	    unsigned int flags);
#endif

/* Flags of sprofil_irix(): 16-bit counters, 32-bit counters, ticks each 1 ms */
#define PROFIL_IRIX_USHORT	(1u << 0)
#define PROFIL_IRIX_UINT	(1u << 1)
#define PROFIL_IRIX_FAST	(1u << 2)

/**
 * profil_svr4() - start, replace or stop a profile, as System V profil(2)
 * @buffer: 16-bit counters
 * @size: bytes of @buffer; less than 2: no tick is counted
 * @offset: lowest program counter that is profiled
 * @scale: 16.16 fixed-point ratio of bytes of counters to bytes of text, up to
 *	131072: 65536 has one counter for 2 bytes of text, 2 one for 64 KiB,
 *	also with an @offset of 0. 0 and 1 stop
 *
 * A tick comes every 10 ms of CPU time on average. With d = pc - @offset it
 * increments counter ((d * @scale) >> 16) / 2. The profile stops for good when
 * a counter reaches 32767 (PROFIL_STATE_FULL). If @buffer is not writable, or
 * NULL, the first tick disables the profile.
 *
 * Returns nothing, as in System V. On failure errno is EINVAL if @scale is too
 * large or @buffer is at an odd address, EAGAIN if the user has as many profiles
 * as allowed, ENOMEM if there is no memory; the running profile goes on.
 */
void profil_svr4(unsigned short *buffer, size_t size, size_t offset,
		 unsigned int scale);

/**
 * profil_bsd() - start, replace or stop a profile, as 4.4BSD profil(2)
 * @samples: 16-bit counters
 * @size: bytes of @samples; less than 2: no tick is counted
 * @offset: lowest program counter that is profiled
 * @scale: 16.16 fixed-point ratio of 16-bit counters to pairs of bytes of text,
 *	up to 65536: 65536 has one counter for 2 bytes of text, 1 one for
 *	128 KiB. 0 stops
 *
 * A tick comes every 10 ms of CPU time on average. With d = pc - @offset it
 * increments counter ((d / 2) * @scale) >> 16. A full counter stays at 65535.
 *
 * Return: 0, or -1 with errno. EFAULT: @samples is not writable memory, or
 * NULL; the running profile is stopped. EINVAL: @scale is too large or @samples
 * is at an odd address. EAGAIN: the user has as many profiles as allowed.
 * ENOMEM: no memory. With these three the running profile goes on.
 */
int profil_bsd(unsigned short *samples, size_t size, size_t offset,
	       unsigned int scale);

/**
 * profil_irix() - start, replace or stop a profile, as IRIX sprofil(2) has it
 * @buffer: 16-bit counters
 * @size: bytes of @buffer; less than 2: no tick is counted
 * @offset: lowest program counter that is profiled
 * @scale: 16.16 fixed-point ratio of 16-bit counters to pairs of bytes of text,
 *	up to 131072: 65536 has one counter for 2 bytes of text, 2 one for
 *	64 KiB, or with an @offset of 0 one for every pc. 0 and 1 stop
 *
 * A tick comes every 10 ms of CPU time on average. With d = pc - @offset it
 * increments counter ((d / 2) * @scale) >> 16. A full counter stays at 65535.
 * If @buffer is not writable, or NULL, the first tick disables the profile.
 *
 * Return: 0, or -1 with errno; the running profile goes on. EINVAL: @scale is
 * too large or @buffer is at an odd address. EAGAIN: the user has as many
 * profiles as allowed. ENOMEM: no memory.
 */
int profil_irix(unsigned short *buffer, size_t size, size_t offset,
		unsigned int scale);

/**
 * profil_linux099() - start, replace or stop a profile, as Linux 0.99 profil(2)
 * @buffer: 16-bit counters
 * @size: bytes of @buffer; 0 stops
 * @offset: lowest program counter that is profiled
 * @scale: 16.16 fixed-point ratio of bytes of counters to bytes of text, up to
 *	131072: 65536 has one counter for 2 bytes of text, 2 one for 64 KiB,
 *	also with an @offset of 0. 0 and 1 stop
 *
 * A tick comes every 10 ms of CPU time in user mode on average; time in the
 * kernel does not count. With d = pc - @offset it increments counter
 * ((d * @scale) >> 16) / 2. A full counter stays at 65535. If @buffer is not
 * writable, or NULL, the first tick disables the profile.
 *
 * Return: 0, always. On failure errno is EINVAL if @scale is too large or
 * @buffer is at an odd address, EAGAIN if the user has as many profiles as
 * allowed, ENOMEM if there is no memory; the running profile goes on.
 */
int profil_linux099(unsigned short *buffer, size_t size, size_t offset,
		    unsigned int scale);

/**
 * sprofil_irix() - start or replace a profile of regions, as IRIX sprofil(2)
 * @profp: regions; <linux/profil.h> explains their members at struct
 *	profil_region. One with pr_off 0 and pr_scale 2 is the overflow bin, and
 *	must be the last
 * @profcnt: number of regions, from 1 to max_regions of profil_info()
 * @tvp: receives the true mean time between ticks, or NULL; written only on
 *	success
 * @flags: one of PROFIL_IRIX_USHORT and PROFIL_IRIX_UINT, for counters of 16 or
 *	32 bits, and PROFIL_IRIX_FAST for a tick every 1 ms of CPU time on
 *	average instead of every 10
 *
 * To stop, use profil_irix() or a region with a pr_scale of 0. If the counters
 * of a region are not writable, its first tick disables it.
 *
 * Return: 0, or -1 with errno; the running profile goes on. E2BIG: @profcnt is
 * out of range. EINVAL: @flags has neither width or both, or an unknown bit;
 * the overflow bin is not the last region; a scale is above 65536 times the
 * width of a counter in bytes; counters are not aligned. EFAULT: @profp or @tvp
 * is not valid memory. EACCES: ticks every 1 ms are forbidden. EAGAIN: the user
 * has as many profiles as allowed. ENOMEM: no memory.
 */
int sprofil_irix(struct prof *profp, int profcnt, struct timeval *tvp,
		 unsigned int flags);

/**
 * sprofil_glibc() - start, replace or stop a profile of regions, as the GNU C
 *	library's <sys/profil.h> has it
 * @profp: regions; <linux/profil.h> explains their members at struct
 *	profil_region. One with pr_off 0 and pr_scale 2 is the overflow bin; of
 *	several, the first takes the ticks
 * @profcnt: number of regions, from 1 to max_regions of profil_info(); 0 with
 *	@profp NULL stops
 * @tvp: receives the true mean time between ticks, or NULL; written only on
 *	success
 * @flags: PROF_USHORT (0) or PROF_UINT, for counters of 16 or 32 bits, and
 *	PROF_FAST for a tick every 1 ms of CPU time on average instead of every
 *	10
 *
 * If the counters of a region are not writable, its first tick disables it.
 *
 * Return: 0, or -1 with errno; the running profile goes on. E2BIG: @profcnt is
 * out of range. EINVAL: @flags has an unknown bit; a scale is above 65536 times
 * the width of a counter in bytes; counters are not aligned. EFAULT: @profp or
 * @tvp is not valid memory. EACCES: ticks every 1 ms are forbidden. EAGAIN: the
 * user has as many profiles as allowed. ENOMEM: no memory.
 */
int sprofil_glibc(struct prof *profp, int profcnt, struct timeval *tvp,
		  unsigned int flags);

/**
 * profil_set() - start a profile, or replace the one that runs
 * @set: every member set by the caller; see struct profil_set. On success its
 *	period_ns is the true mean time between ticks, in nanoseconds of CPU
 *	time
 *
 * Offers periods, 64-bit counters and flags beyond profil() and sprofil().
 *
 * Return: 0, or -1 with errno as listed at struct profil_set.
 */
int profil_set(struct profil_set *set);

/**
 * profil_stop() - stop the profile, and read its last stats
 * @last: receives the stats, or NULL; if there was no profile, they are zero
 * @regions: receives the stats of each region, or NULL; ignored if @last is
 *	NULL
 * @max: number of elements of @regions
 *
 * When the call returns, the counters are not written any more.
 *
 * Return: 0, also if there was no profile or there is no device, or -1 with
 * errno. EINVAL: the size of @last is not set. E2BIG: it is too large. EFAULT:
 * @regions is not writable. ENOMEM: no memory. The error of open(2), also ENOENT:
 * the profile goes on, and the program can open the device no longer.
 */
int profil_stop(struct profil_status *last,
		struct profil_region_status *regions, unsigned int max);

/**
 * profil_status() - read the stats of the profile
 * @status: receives the stats
 * @regions: receives the stats of each region, or NULL
 * @max: number of elements of @regions; status->nr_regions becomes the number
 *	of regions, of which at most @max have been written
 *
 * Return: 0, or -1 with errno. EINVAL: the size of @status is not set. E2BIG:
 * it is too large. EFAULT: @regions is not writable. ENOMEM: no memory.
 */
int profil_status(struct profil_status *status,
		  struct profil_region_status *regions, unsigned int max);

/**
 * profil_info() - read features and limits of the device, or of profiles that
 *	are counted in user space (PROFIL_CLOCK_USER)
 * @info: receives them
 *
 * Return: 0, or -1 with errno. EINVAL: the size of @info is not set. E2BIG: it
 * is too large. EFAULT: @info is not writable.
 */
int profil_info(struct profil_info *info);

/**
 * profil_watch_open() - start a watch: count the ticks of other processes
 * @watch: every member set by the caller, those without a meaning to it to 0;
 *	see struct profil_watch. On success the kernel has replaced each 0 by
 *	its default, and period_ns and map_size are set
 *
 * The watch lasts until profil_watch_stop(), or until the last descriptor of it
 * is closed and the last table is unmapped. There is no watch in user space
 * where the device cannot be opened, whatever PROFIL_FALLBACK says.
 *
 * Return: a descriptor with close-on-exec set, which the caller closes; or -1
 * with errno as listed at struct profil_watch.
 */
int profil_watch_open(struct profil_watch *watch);

/**
 * profil_watch_map() - map the table of a watch
 * @fd: descriptor of profil_watch_open()
 * @watch: what profil_watch_open() has stored
 *
 * The numbers of the table grow while the watch is on; reading it takes no
 * request. The table stays valid after profil_watch_stop() and close().
 *
 * Return: the table, until profil_watch_unmap(); or NULL with errno. EPROTO:
 * the table has a version that this library does not know, or is no table.
 * ENOMEM: no memory or address space. EBADF, EINVAL, EPERM: @fd is not a
 * descriptor of @watch.
 */
const struct profil_watch_table *
profil_watch_map(int fd, const struct profil_watch *watch);

/**
 * profil_watch_unmap() - unmap the table of a watch
 * @table: what profil_watch_map() has returned, or NULL
 * @watch: the same as for profil_watch_map()
 */
void profil_watch_unmap(const struct profil_watch_table *table,
			const struct profil_watch *watch);

/**
 * profil_watch_status() - read the stats of a watch, and bring the CPU times in
 *	its table up to date
 * @fd: descriptor of profil_watch_open()
 * @status: receives the stats
 *
 * All stats are zero if there was no watch.
 *
 * Return: 0, or -1 with errno. EINVAL: the size of @status is not set. E2BIG:
 * it is too large. EFAULT: @status is not writable. EBADF, ENOTTY: @fd is not a
 * descriptor of the device.
 */
int profil_watch_status(int fd, struct profil_watch_status *status);

/**
 * profil_watch_stop() - stop a watch, and read its last stats
 * @fd: descriptor of profil_watch_open(); the caller still has to close it
 * @last: receives the stats, or NULL
 *
 * The table stays as it is, for those who have mapped it.
 *
 * Return: 0, also if the watch was stopped before or there was none, or -1 with
 * errno. EINVAL: the size of @last is not set. E2BIG: it is too large. EFAULT:
 * @last is not writable. EBADF, ENOTTY: @fd is not a descriptor of the device.
 */
int profil_watch_stop(int fd, struct profil_watch_status *last);

/**
 * profil_watch_collect() - count the ticks of threads that wait now, in a watch
 *	with PROFIL_WATCH_WALL; else those are counted when the wait ends
 * @fd: descriptor of profil_watch_open()
 * @status: receives the stats afterwards, or NULL
 *
 * No thread is woken. A collection takes some microseconds for each such thread.
 * Those of a user, in all watches, take place one at a time, and after each of them
 * the next one waits for as long as that took. profil_watch_stop() does it itself.
 *
 * Return: 0, also if there is nothing to count, or -1 with errno, as
 * profil_watch_stop().
 */
int profil_watch_collect(int fd, struct profil_watch_status *status);

/**
 * profil_watch_unwind() - load a table that finds the callers in code of a file,
 *	for a watch with PROFIL_WATCH_CHAINS
 * @fd: descriptor of profil_watch_open()
 * @file: descriptor of an executable or a library; -1 for the vDSO
 * @table: the table, as <linux/profil.h> describes it; the kernel copies it
 * @bytes: its length
 *
 * Return: 0, or -1 with errno as listed at struct profil_watch_unwind.
 */
int profil_watch_unwind(int fd, int file, const void *table, size_t bytes);

/**
 * profil_watch_image() - find an image in the table of a watch
 * @table: the table
 * @index: index of the image, such as the image of a bucket
 *
 * Return: the image, whose numbers grow; or NULL if @index is that of no image
 * yet.
 */
const struct profil_watch_image *
profil_watch_image(const struct profil_watch_table *table, unsigned int index);

/**
 * profil_watch_object() - find an object in the table of a watch
 * @table: the table
 * @index: index of the object, such as the object of a bucket; those below
 *	PROFIL_OBJECT_FILES are not files
 *
 * Return: the object, or NULL if @index is that of no object yet.
 */
const struct profil_watch_object *
profil_watch_object(const struct profil_watch_table *table, unsigned int index);

/**
 * profil_watch_path() - find the path of an object
 * @table: the table
 * @object: an object of @table
 *
 * Return: the path as the mount namespace of the object's pid has it, perhaps
 * with " (deleted)" at its end; or NULL if the object is not a file, there was
 * no room for its path, or the kernel has not stored that yet, as in the first
 * milliseconds.
 */
const char *profil_watch_path(const struct profil_watch_table *table,
			      const struct profil_watch_object *object);

/**
 * profil_watch_next() - find the next bucket in use
 * @table: the table
 * @position: where to go on; 0 at first, then what the last call has stored
 *
 * Buckets stay where they are, and new ones come after all others. So a reader that
 * begins again at 0 sees every bucket of before, with the same or a larger count.
 *
 * Return: the bucket, of whose members only count and below still grow; NULL if
 * there are no more yet.
 */
const struct profil_watch_bucket *
profil_watch_next(const struct profil_watch_table *table, size_t *position);

/**
 * profil_watch_chain() - find the chain of callers of a bucket
 * @table: the table, of a watch with or without PROFIL_WATCH_CHAINS
 * @bucket: a bucket that profil_watch_next() has returned
 * @chain: receives the bucket, then the one of its caller, and so on
 * @max: room in @chain; PROFIL_MAX_FRAMES + 1 is always enough
 *
 * The member caller of the last one is 0 if the chain is complete, and
 * PROFIL_CALLER_UNKNOWN if it was cut there. Without PROFIL_WATCH_CHAINS the
 * bucket is alone, and has no such member.
 *
 * Return: how many buckets there are in @chain.
 */
unsigned int profil_watch_chain(const struct profil_watch_table *table,
				const struct profil_watch_bucket *bucket,
				const struct profil_watch_bucket **chain,
				unsigned int max);

/**
 * profil_state_string() - describe the state of a profile
 * @state: enum profil_state
 *
 * Return: a constant string, also for an unknown state.
 */
const char *profil_state_string(unsigned int state);

/**
 * profil_region_state_string() - describe the state of a region
 * @state: enum profil_region_state
 *
 * Return: a constant string, also for an unknown state.
 */
const char *profil_region_state_string(unsigned int state);

#ifdef __cplusplus
}
#endif

#endif /* LIBPROFIL_H */
