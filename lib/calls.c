// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * calls.c - profil() and sprofil(), and those of each system
 *
 * Entry points only: each names a behaviour, see behaviour.c.
 *
 * Must not see <unistd.h>: the C library declares the buffer as never NULL
 * there, and the compiler would take out the question whether it is.
 */
#include "behaviour.h"
#include "device.h"

/**
 * profil() - start, replace or stop an execution time profile
 * @buffer: 16-bit counters; NULL stops
 * @size: bytes of @buffer; less than 2: no tick is counted
 * @offset: lowest program counter that is profiled
 * @scale: 16.16 fixed-point ratio of 16-bit counters to pairs of bytes of
 *	text: 65536 has one counter for two bytes of text, 2 one for 64 KiB.
 *	0 and 1 stop. Up to 131072
 *
 * A tick comes every 10 ms of CPU time on average. To stop is to look at no
 * other argument. When the call returns, the counters of an earlier profile
 * are not written any more (SVR4, 4.4BSD).
 *
 * Return: 0, or -1 with errno EFAULT if @buffer is not writable memory; the
 * profile that was running is then stopped (4.4BSD). EINVAL if @scale is too
 * large or @buffer is at an odd address, EAGAIN or ENOMEM as for
 * PROFIL_IOC_SET; the profile that was running goes on.
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
 * @size: bytes of @buffer; less than 2: no tick is counted
 * @offset: lowest program counter that is profiled
 * @scale: 16.16 fixed-point ratio of bytes of counters to bytes of text: 65535
 *	(System V's largest) and 65536 have one counter for two bytes of text,
 *	2 one for 64 KiB. 0 and 1 stop. Up to 131072
 *
 * As System V's profil(2) has it: with d = pc - @offset the counter is
 * ((d * @scale) >> 16) / 2, for a scale of 2 and an offset of 0 too; when one
 * reaches 32767 the profile stops, see PROFIL_STATE_FULL; and if @buffer, NULL
 * or not, turns out not to be writable the profile goes off at its first tick.
 *
 * Returns nothing. Where it fails as profil() does, which System V could not,
 * errno is set and the profile that was running goes on; errno is left alone
 * otherwise.
 */
PROFIL_PUBLIC void profil_svr4(unsigned short *buffer, size_t size,
			       size_t offset, unsigned int scale)
{
	profil_by(&profil_behaviours[PROFIL_SVR4], buffer, size, offset, scale);
}

/**
 * profil_bsd() - profil() of 4.4BSD
 * @samples: 16-bit counters; its manual page has a pointer to char here, and
 *	regrets it
 * @size: bytes of @samples; less than 2: no tick is counted
 * @offset: lowest program counter that is profiled
 * @scale: as for profil(), but 1 is valid, one counter for 128 KiB of text,
 *	and 65536 is the largest; 2 is arithmetic with an offset of 0 too. 0
 *	stops, whatever the others
 *
 * Return: as profil(), and EFAULT also for NULL, if @scale is valid and not 0;
 * the profile that was running is then stopped.
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
 * @size: bytes of @buffer; less than 2: no tick is counted
 * @offset: lowest program counter that is profiled
 * @scale: as for profil()
 *
 * What the manual page of sprofil(2) says of it: the same as sprofil_irix()
 * with one region, NULL and PROFIL_IRIX_USHORT. If @buffer, NULL or not, turns
 * out not to be writable the profile goes off at its first tick.
 *
 * Return: as profil(), but never EFAULT.
 */
PROFIL_PUBLIC int profil_irix(unsigned short *buffer, size_t size,
			      size_t offset, unsigned int scale)
{
	return profil_by(&profil_behaviours[PROFIL_IRIX], buffer, size, offset,
			 scale);
}

/**
 * sprofil() - profile disjoint pieces of text
 * @profp: regions; those that overlap share by offset: the largest that is
 *	not above the program counter takes the tick, of equal ones the first.
 *	One with pr_off 0 and pr_scale 2, in the last place, takes in its first
 *	counter whatever no other takes
 * @profcnt: number of regions, from 1 to PROFIL_MAX, which is max_regions of
 *	profil_info(). 0 with @profp NULL stops; the other arguments are not
 *	looked at, and 0 is returned
 * @tvp: receives the true mean time between two ticks, or NULL. Written only
 *	when a profile has been started
 * @flags: PROF_USHORT (0) or PROF_UINT for the width of the counters, and
 *	PROF_FAST for a tick every millisecond of CPU time on average instead of
 *	every 10
 *
 * A region whose pr_scale is 0 or 1 is not enabled. One whose counters turn
 * out not to be writable goes off at its first tick (IRIX). When the call
 * returns, the counters of an earlier profile are not written any more.
 *
 * Return: 0, or -1 with errno; the profile that was running then goes on.
 * E2BIG: @profcnt is out of range. EINVAL: unknown flag, an overflow bin that
 * is not last, a scale of more than 65536 times the counter's width, counters
 * that are not aligned. EFAULT: @profp or @tvp is not valid memory. EACCES:
 * PROF_FAST is not allowed here. EAGAIN, ENOMEM: as for PROFIL_IOC_SET.
 */
PROFIL_PUBLIC int sprofil(struct prof *profp, int profcnt, struct timeval *tvp,
			  unsigned int flags)
{
	return sprofil_by(&profil_behaviours[PROFIL_DEFAULT], profp, profcnt,
			  tvp, flags);
}

/**
 * sprofil_irix() - sprofil() of IRIX
 * @profp: as for sprofil(). The members are those of the C library's struct
 *	prof; on 64-bit systems pr_size and pr_scale were of 32 bits on IRIX
 *	and are of 64 here
 * @profcnt: number of regions; 0 is E2BIG in any case. What stops is a region
 *	that is not enabled, or profil_irix()
 * @tvp: as for sprofil()
 * @flags: PROFIL_IRIX_USHORT or PROFIL_IRIX_UINT, of which there must be one,
 *	and PROFIL_IRIX_FAST
 *
 * Return: as sprofil(), and EINVAL if @flags has neither of the two or both.
 */
PROFIL_PUBLIC int sprofil_irix(struct prof *profp, int profcnt,
			       struct timeval *tvp, unsigned int flags)
{
	return sprofil_by(&profil_behaviours[PROFIL_IRIX], profp, profcnt, tvp,
			  flags);
}

/**
 * sprofil_glibc() - sprofil() of the GNU C library
 * @profp: as for sprofil(), but the overflow bin may be in any place; of
 *	several the first one counts
 * @profcnt: as for sprofil()
 * @tvp: as for sprofil()
 * @flags: as for sprofil(). PROF_FAST, which has no effect in the C library,
 *	has the one that it was named for
 *
 * What the C library's <sys/profil.h> says of the differences to IRIX.
 *
 * Return: as sprofil().
 */
PROFIL_PUBLIC int sprofil_glibc(struct prof *profp, int profcnt,
				struct timeval *tvp, unsigned int flags)
{
	return sprofil_by(&profil_behaviours[PROFIL_GLIBC], profp, profcnt,
			  tvp, flags);
}
