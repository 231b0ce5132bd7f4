// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * calls.c - profil() and sprofil(), and the variants of each system
 *
 * Entry points only: each selects a behaviour, see behaviour.c. profil.h
 * documents those with the name of a system. In libprofil-preload.so, those of
 * preload.c take the place of profil() and sprofil(), which are weak for that.
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
PROFIL_PUBLIC __attribute__((weak))
int profil(unsigned short *buffer, size_t size, size_t offset,
	   unsigned int scale)
{
	return profil_by(&profil_behaviours[PROFIL_DEFAULT], buffer, size,
			 offset, scale);
}

PROFIL_PUBLIC void profil_svr4(unsigned short *buffer, size_t size,
			       size_t offset, unsigned int scale)
{
	profil_by(&profil_behaviours[PROFIL_SVR4], buffer, size, offset, scale);
}

PROFIL_PUBLIC int profil_bsd(unsigned short *samples, size_t size,
			     size_t offset, unsigned int scale)
{
	return profil_by(&profil_behaviours[PROFIL_BSD], samples, size, offset,
			 scale);
}

PROFIL_PUBLIC int profil_irix(unsigned short *buffer, size_t size,
			      size_t offset, unsigned int scale)
{
	return profil_by(&profil_behaviours[PROFIL_IRIX], buffer, size, offset,
			 scale);
}

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
PROFIL_PUBLIC __attribute__((weak))
int sprofil(struct prof *profp, int profcnt, struct timeval *tvp,
	    unsigned int flags)
{
	return sprofil_by(&profil_behaviours[PROFIL_DEFAULT], profp, profcnt,
			  tvp, flags);
}

PROFIL_PUBLIC int sprofil_irix(struct prof *profp, int profcnt,
			       struct timeval *tvp, unsigned int flags)
{
	return sprofil_by(&profil_behaviours[PROFIL_IRIX], profp, profcnt, tvp,
			  flags);
}

PROFIL_PUBLIC int sprofil_glibc(struct prof *profp, int profcnt,
				struct timeval *tvp, unsigned int flags)
{
	return sprofil_by(&profil_behaviours[PROFIL_GLIBC], profp, profcnt,
			  tvp, flags);
}
