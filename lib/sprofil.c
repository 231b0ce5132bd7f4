// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * sprofil.c - sprofil(2)
 *
 * Several regions, as on IRIX, with the flags of the C library's
 * <sys/profil.h>.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "device.h"

/* IRIX promises one tick every millisecond. */
#define PROF_FAST_NS	1000000

#if UINTPTR_MAX == UINT64_MAX

#define SAME_MEMBER(a, b) \
	(offsetof(struct prof, a) == offsetof(struct profil_region, b) && \
	 sizeof(((struct prof *)0)->a) == sizeof(((struct profil_region *)0)->b))

_Static_assert(sizeof(struct prof) == sizeof(struct profil_region) &&
	       SAME_MEMBER(pr_base, base) && SAME_MEMBER(pr_size, size) &&
	       SAME_MEMBER(pr_off, offset) && SAME_MEMBER(pr_scale, scale),
	       "struct prof is not struct profil_region");

/* The device reads @profp itself, so that a bad one is EFAULT and no crash. */
static int sprofil_set(struct profil_set *set, const struct prof *profp)
{
	set->regions = (uintptr_t)profp;
	return profil_device(PROFIL_IOC_SET, set);
}

#else

static void sprofil_convert(struct profil_region *regions,
			    const struct prof *profp, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		regions[i].base = (uintptr_t)profp[i].pr_base;
		regions[i].size = profp[i].pr_size;
		regions[i].offset = profp[i].pr_off;
		regions[i].scale = profp[i].pr_scale;
	}
}

/*
 * malloc() must not be called in a signal handler, and the regions may be too
 * many for the stack.
 */
static int sprofil_set(struct profil_set *set, const struct prof *profp)
{
	struct profil_info info = { .size = sizeof(info) };
	struct profil_region *regions;
	int result, error;
	size_t bytes;

	if (profil_device(PROFIL_IOC_INFO, &info))
		return -1;
	if (set->nr_regions > info.max_regions ||
	    set->nr_regions > SIZE_MAX / sizeof(*regions)) {
		errno = E2BIG;
		return -1;
	}

	bytes = set->nr_regions * sizeof(*regions);
	regions = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (regions == MAP_FAILED)
		return -1;
	sprofil_convert(regions, profp, set->nr_regions);
	set->regions = (uintptr_t)regions;
	result = profil_device(PROFIL_IOC_SET, set);
	error = errno;
	munmap(regions, bytes);
	errno = error;
	return result;
}

#endif

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
	struct profil_set set = {
		.size = sizeof(set),
		.width = flags & PROF_UINT ? 4 : 2,
		.nr_regions = profcnt,
		.period_ns = flags & PROF_FAST ? PROF_FAST_NS : 0,
		.timeval = (uintptr_t)tvp,
		.timeval_size = tvp ? sizeof(*tvp) : 0,
	};

	if (!profp && profcnt == 0)
		return profil_device_stop(NULL);
	if (profcnt <= 0) {
		errno = E2BIG;
		return -1;
	}
	if (flags & ~(unsigned int)(PROF_UINT | PROF_FAST)) {
		errno = EINVAL;
		return -1;
	}
	return sprofil_set(&set, profp);
}
