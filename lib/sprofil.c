// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * sprofil.c - sprofil(2) of all systems
 *
 * Profiles several regions, as on IRIX, given in struct prof of the C library's
 * <sys/profil.h>.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "behaviour.h"
#include "device.h"

/* IRIX documents a tick every millisecond. */
#define PROF_FAST_NS	1000000

#if UINTPTR_MAX == UINT64_MAX

#define SAME_MEMBER(a, b) \
	(offsetof(struct prof, a) == offsetof(struct profil_region, b) && \
	 sizeof(((struct prof *)0)->a) == sizeof(((struct profil_region *)0)->b))

_Static_assert(sizeof(struct prof) == sizeof(struct profil_region) &&
	       SAME_MEMBER(pr_base, base) && SAME_MEMBER(pr_size, size) &&
	       SAME_MEMBER(pr_off, offset) && SAME_MEMBER(pr_scale, scale),
	       "struct prof is not struct profil_region");

/* The device reads @profp itself: a bad address is EFAULT, not a crash. */
static int sprofil_set(struct profil_set *set, const struct prof *profp)
{
	set->regions = (uintptr_t)profp;
	return profil_start(set);
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
 * Uses mmap(): malloc() is not safe in a signal handler, and there may be too
 * many regions for the stack.
 */
static int sprofil_set(struct profil_set *set, const struct prof *profp)
{
	struct profil_info info = { .size = sizeof(info) };
	struct profil_region *regions;
	int result, error;
	size_t bytes;

	if (profil_info(&info))
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
	result = profil_start(set);
	error = errno;
	munmap(regions, bytes);
	errno = error;
	return result;
}

#endif

/* Width of the counters in bytes, or 0 if the flags are invalid. */
static unsigned int sprofil_width(const struct profil_behaviour *how,
				  unsigned int flags)
{
	flags &= ~how->fast;
	if (flags == how->of_16_bits)
		return 2;
	return flags == how->of_32_bits ? 4 : 0;
}

/**
 * sprofil_by() - sprofil() with the behaviour of a system
 * @how: the behaviour
 * @profp: regions
 * @profcnt: number of regions
 * @tvp: receives the actual mean time between ticks, or NULL
 * @flags: width of the counters and rate of the ticks; flags of @how
 *
 * Return: 0, or -1 with errno.
 */
int sprofil_by(const struct profil_behaviour *how, struct prof *profp,
	       int profcnt, struct timeval *tvp, unsigned int flags)
{
	struct profil_set set = {
		.size = sizeof(set),
		.flags = how->sprofil_flags,
		.width = sprofil_width(how, flags),
		.nr_regions = profcnt,
		.period_ns = flags & how->fast ? PROF_FAST_NS : 0,
		.timeval = (uintptr_t)tvp,
		.timeval_size = tvp ? sizeof(*tvp) : 0,
	};

	if (!profp && profcnt == 0 && how->none_stops)
		return profil_end(NULL);
	if (profcnt <= 0) {
		errno = E2BIG;
		return -1;
	}
	if (!set.width) {
		errno = EINVAL;
		return -1;
	}
	return sprofil_set(&set, profp);
}
