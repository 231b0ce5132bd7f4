// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * calls.c - profil() and sprofil(), and the variants of each system
 *
 * Entry points only: each selects a behaviour, see behaviour.c.
 *
 * Must not include <unistd.h>: there the C library declares the buffer as
 * nonnull, and the compiler would drop checks for NULL.
 */
#include "behaviour.h"
#include "device.h"

/**
 * profil() - start, replace or stop a profile
 * @buffer: 16-bit counters; NULL stops the profile
 * @size: size of @buffer, in bytes; below 2, no tick is counted
 * @offset: lowest program counter to profile
 * @scale: 16.16 fixed-point ratio of 16-bit counters to pairs of bytes of
 *	text: 65536 gives one counter for 2 bytes of text, 2 one for 64 KiB.
 *	0 and 1 stop the profile. At most 131072
 *
 * A tick comes every 10 ms of CPU time on average. A call that stops the
 * profile ignores the other arguments. After the call returns, the counters of
 * an earlier profile are no longer written (SVR4, 4.4BSD).
 *
 * Return: 0, or -1 with errno. EFAULT: @buffer is not writable memory; a
 * running profile is stopped (4.4BSD). After other errors a running profile
 * continues. EINVAL: @scale is too large, or @buffer is at an odd address.
 * EAGAIN: the user has as many profiles as max_profiles of the module allows.
 * ENOMEM: out of memory.
 */
PROFIL_PUBLIC int profil(unsigned short *buffer, size_t size, size_t offset,
			 unsigned int scale)
{
	return profil_by(&profil_behaviours[PROFIL_DEFAULT], buffer, size,
			 offset, scale);
}

/**
 * profil_svr4() - profil() of System V
 * @buffer: 16-bit counters
 * @size: size of @buffer, in bytes; below 2, no tick is counted
 * @offset: lowest program counter to profile
 * @scale: 16.16 fixed-point ratio of bytes of counters to bytes of text: 65535
 *	(System V's largest) and 65536 give one counter for 2 bytes of text, 2
 *	one for 64 KiB. 0 and 1 stop the profile. At most 131072
 *
 * Follows profil(2) of System V. With d = pc - @offset, the index of the
 * counter is ((d * @scale) >> 16) / 2, even if @scale is 2 and @offset is 0:
 * there is no overflow bin. When a counter reaches 32767 the profile stops, see
 * PROFIL_STATE_FULL. If @buffer is not writable, or NULL, the profile turns off
 * at its first tick.
 *
 * Returns nothing, as in System V. On failure it sets errno, and a running
 * profile continues; on success errno is unchanged. EINVAL: @scale is too
 * large, or @buffer is at an odd address. EAGAIN: the user has as many profiles
 * as max_profiles of the module allows. ENOMEM: out of memory.
 */
PROFIL_PUBLIC void profil_svr4(unsigned short *buffer, size_t size,
			       size_t offset, unsigned int scale)
{
	profil_by(&profil_behaviours[PROFIL_SVR4], buffer, size, offset, scale);
}

/**
 * profil_bsd() - profil() of 4.4BSD
 * @samples: 16-bit counters; a pointer to char in 4.4BSD, whose manual page
 *	regrets that
 * @size: size of @samples, in bytes; below 2, no tick is counted
 * @offset: lowest program counter to profile
 * @scale: 16.16 fixed-point ratio of 16-bit counters to pairs of bytes of
 *	text: 65536, the largest, gives one counter for 2 bytes of text, 2 one
 *	for 64 KiB, even if @offset is 0, and 1 one for 128 KiB. 0 stops the
 *	profile, whatever the other arguments
 *
 * Return: 0, or -1 with errno. EFAULT: @samples is NULL or not writable memory,
 * and @scale is valid and not 0; a running profile is stopped. After other
 * errors a running profile continues. EINVAL: @scale is too large, or @samples
 * is at an odd address. EAGAIN: the user has as many profiles as max_profiles
 * of the module allows. ENOMEM: out of memory.
 */
PROFIL_PUBLIC int profil_bsd(unsigned short *samples, size_t size,
			     size_t offset, unsigned int scale)
{
	return profil_by(&profil_behaviours[PROFIL_BSD], samples, size, offset,
			 scale);
}

/**
 * profil_irix() - profil() of IRIX
 * @buffer: 16-bit counters
 * @size: size of @buffer, in bytes; below 2, no tick is counted
 * @offset: lowest program counter to profile
 * @scale: 16.16 fixed-point ratio of 16-bit counters to pairs of bytes of
 *	text: 65536 gives one counter for 2 bytes of text, 2 one for 64 KiB.
 *	0 and 1 stop the profile. At most 131072
 *
 * Follows the manual page of sprofil(2), by which this is sprofil_irix() with
 * one region, NULL and PROFIL_IRIX_USHORT. If @buffer is not writable, or NULL,
 * the profile turns off at its first tick.
 *
 * Return: 0, or -1 with errno; a running profile then continues. EINVAL: @scale
 * is too large, or @buffer is at an odd address. EAGAIN: the user has as many
 * profiles as max_profiles of the module allows. ENOMEM: out of memory.
 */
PROFIL_PUBLIC int profil_irix(unsigned short *buffer, size_t size,
			      size_t offset, unsigned int scale)
{
	return profil_by(&profil_behaviours[PROFIL_IRIX], buffer, size, offset,
			 scale);
}

/**
 * profil_linux099() - profil() of Linux 0.99
 * @buffer: 16-bit counters
 * @size: size of @buffer, in bytes; 0 stops the profile
 * @offset: lowest program counter to profile
 * @scale: 16.16 fixed-point ratio of bytes of counters to bytes of text: 65536
 *	gives one counter for 2 bytes of text, 2 one for 64 KiB. 0 and 1 stop
 *	the profile. At most 131072
 *
 * Follows profil(2) of Linux 0.99.11. A tick comes every 10 ms of CPU time in
 * user mode; time in the kernel does not count. With d = pc - @offset, the index
 * of the counter is ((d * @scale) >> 16) / 2, even if @scale is 2 and @offset is
 * 0. If @buffer is not writable, or NULL, the profile turns off at its first
 * tick, where Linux 0.99 dumped core.
 *
 * Return: always 0. On failure it sets errno, and a running profile continues.
 * EINVAL: @scale is too large, or @buffer is at an odd address. EAGAIN: the user
 * has as many profiles as max_profiles of the module allows. ENOMEM: out of
 * memory.
 */
PROFIL_PUBLIC int profil_linux099(unsigned short *buffer, size_t size,
				  size_t offset, unsigned int scale)
{
	return profil_by(&profil_behaviours[PROFIL_LINUX099], buffer, size,
			 offset, scale);
}

/**
 * sprofil() - profile several ranges of text
 * @profp: regions. If some overlap, the tick counts in the one with the largest
 *	pr_off that is not above the program counter, or in the first of equal
 *	ones. The last region may be the overflow bin, with pr_off 0 and
 *	pr_scale 2: its first counter counts all ticks in no other region
 * @profcnt: number of regions, from 1 to PROFIL_MAX, which is max_regions of
 *	profil_info(). 0, with @profp NULL, stops the profile: the other
 *	arguments are ignored, and 0 is returned
 * @tvp: receives the actual mean time between ticks, if a profile is started;
 *	or NULL
 * @flags: PROF_USHORT (0) or PROF_UINT for the width of the counters; PROF_FAST
 *	for a tick every 1 ms of CPU time on average, instead of every 10 ms
 *
 * A region whose pr_scale is 0 or 1 is not enabled. A region whose counters are
 * not writable turns off at its first tick (IRIX). After the call returns, the
 * counters of an earlier profile are no longer written.
 *
 * Return: 0, or -1 with errno; a running profile then continues. E2BIG:
 * @profcnt is out of range. EINVAL: unknown flag, overflow bin not last, scale
 * above 65536 times the width of the counters, or misaligned counters. EFAULT:
 * @profp or @tvp is not valid memory. EACCES: PROF_FAST is not allowed here.
 * EAGAIN: the user has as many profiles as max_profiles of the module allows.
 * ENOMEM: out of memory.
 */
PROFIL_PUBLIC int sprofil(struct prof *profp, int profcnt, struct timeval *tvp,
			  unsigned int flags)
{
	return sprofil_by(&profil_behaviours[PROFIL_DEFAULT], profp, profcnt,
			  tvp, flags);
}

/**
 * sprofil_irix() - sprofil() of IRIX
 * @profp: regions, in the C library's struct prof: pr_size and pr_scale have 64
 *	bits on 64-bit systems, 32 bits on IRIX. If some overlap, the tick
 *	counts in the one with the largest pr_off that is not above the program
 *	counter, or in the first of equal ones. The last region may be the
 *	overflow bin, with pr_off 0 and pr_scale 2: its first counter counts all
 *	ticks in no other region
 * @profcnt: number of regions, from 1 to PROFIL_MAX. 0 is always E2BIG: to stop
 *	the profile, pass a region that is not enabled, or call profil_irix()
 * @tvp: receives the actual mean time between ticks, if a profile is started;
 *	or NULL
 * @flags: PROFIL_IRIX_USHORT or PROFIL_IRIX_UINT, of which exactly one is
 *	required, and PROFIL_IRIX_FAST
 *
 * A region whose pr_scale is 0 or 1 is not enabled. A region whose counters are
 * not writable turns off at its first tick.
 *
 * Return: 0, or -1 with errno; a running profile then continues. E2BIG:
 * @profcnt is out of range. EINVAL: neither or both of the two required flags,
 * unknown flag, overflow bin not last, scale above 65536 times the width of the
 * counters, or misaligned counters. EFAULT: @profp or @tvp is not valid memory.
 * EACCES: PROFIL_IRIX_FAST is not allowed here. EAGAIN: the user has as many
 * profiles as max_profiles of the module allows. ENOMEM: out of memory.
 */
PROFIL_PUBLIC int sprofil_irix(struct prof *profp, int profcnt,
			       struct timeval *tvp, unsigned int flags)
{
	return sprofil_by(&profil_behaviours[PROFIL_IRIX], profp, profcnt, tvp,
			  flags);
}

/**
 * sprofil_glibc() - sprofil() of the GNU C library
 * @profp: regions. If some overlap, the tick counts in the one with the largest
 *	pr_off that is not above the program counter, or in the first of equal
 *	ones. One of them, in any place, may be the overflow bin, with pr_off 0
 *	and pr_scale 2: its first counter counts all ticks in no other region.
 *	Of several overflow bins, the first one counts
 * @profcnt: number of regions, from 1 to PROFIL_MAX. 0, with @profp NULL, stops
 *	the profile
 * @tvp: receives the actual mean time between ticks, if a profile is started;
 *	or NULL
 * @flags: PROF_USHORT (0) or PROF_UINT for the width of the counters; PROF_FAST
 *	for a tick every 1 ms of CPU time on average, instead of every 10 ms.
 *	The C library ignores PROF_FAST
 *
 * Follows what the C library's <sys/profil.h> says about differences to IRIX.
 *
 * Return: 0, or -1 with errno; a running profile then continues. E2BIG:
 * @profcnt is out of range. EINVAL: unknown flag, scale above 65536 times the
 * width of the counters, or misaligned counters. EFAULT: @profp or @tvp is not
 * valid memory. EACCES: PROF_FAST is not allowed here. EAGAIN: the user has as
 * many profiles as max_profiles of the module allows. ENOMEM: out of memory.
 */
PROFIL_PUBLIC int sprofil_glibc(struct prof *profp, int profcnt,
				struct timeval *tvp, unsigned int flags)
{
	return sprofil_by(&profil_behaviours[PROFIL_GLIBC], profp, profcnt,
			  tvp, flags);
}
