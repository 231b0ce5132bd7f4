// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * fallback.c - start, stop and read a profile that is counted in user space
 *
 * Checks requests as the device does, in the same order, with the device's own
 * source for regions.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "device.h"
#include "fallback.h"
#include "fallback_profile.h"

#define FALLBACK_MAX_REGIONS	4096
#define FALLBACK_PERIOD_NS	10000000
#define FALLBACK_FAST_NS	1000000

/* System V's largest count. */
#define FALLBACK_SVR4_MAX	32767

struct fallback_profile *fallback_current;

static enum fallback_mode mode;

/*
 * Read the variable at the start: getenv() is not safe in signal handlers. A
 * misspelt value has the effect of "none": the first call fails.
 */
static __attribute__((constructor)) void fallback_choose(void)
{
	const char *value = secure_getenv("PROFIL_FALLBACK");

	if (!FALLBACK_HAS_PC)
		mode = FALLBACK_NONE;
	else if (!value || !*value || !strcmp(value, "auto"))
		mode = FALLBACK_AUTO;
	else if (!strcmp(value, "always"))
		mode = FALLBACK_ALWAYS;
	else
		mode = FALLBACK_NONE;
}

/* The value of PROFIL_FALLBACK. -pg asks before the constructors have run. */
enum fallback_mode fallback_mode(void)
{
	if (mode == FALLBACK_UNREAD)
		fallback_choose();
	return mode;
}

/* --- making and freeing a profile */

static size_t fallback_round_up(size_t bytes)
{
	size_t page = getauxval(AT_PAGESZ);

	return (bytes + page - 1) / page * page;
}

/* Everything but the counts, which follow on pages of their own. */
static size_t fallback_fixed(u32 nr)
{
	return fallback_round_up(sizeof(struct fallback_profile) +
				 nr * sizeof(struct profil_counters) +
				 profil_map_max_segments(nr) *
				 sizeof(struct profil_segment));
}

static struct fallback_profile *fallback_map(u32 nr)
{
	size_t fixed = fallback_fixed(nr);
	size_t counts = fallback_round_up(sizeof(struct fallback_counts) +
					  nr * sizeof(struct fallback_stats));
	struct fallback_profile *profile;

	profile = mmap(NULL, fixed + counts, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (profile == MAP_FAILED)
		return NULL;
	profile->bytes = fixed + counts;
	profile->counts = (void *)((char *)profile + fixed);
	profile->map.counters = (void *)(profile + 1);
	profile->map.segments = (void *)(profile->map.counters + nr);
	if (!madvise(profile->counts, counts, MADV_WIPEONFORK))
		return profile;
	munmap(profile, fixed + counts);
	return NULL;
}

static void fallback_free(struct fallback_profile *profile)
{
	if (profile)
		munmap(profile, profile->bytes);
}

static bool fallback_is_user_range(const struct profil_counters *counters,
				   u32 width_shift)
{
	u64 size = counters->nr << width_shift;

	return size - 1 <= UINTPTR_MAX &&
	       counters->base <= UINTPTR_MAX - (size - 1);
}

static int fallback_read_region(const struct profil_set *set, u32 i,
				struct profil_region *region)
{
	return fallback_read(region, set->regions + i * sizeof(*region),
			     sizeof(*region));
}

/*
 * Memory that the program has unmapped may be where the profile is going to be
 * mapped, and would be readable then.
 */
static int fallback_check_request(const struct profil_set *set)
{
	struct profil_region region;
	int err = 0;
	u32 i;

	if (!set->nr_regions || set->nr_regions > FALLBACK_MAX_REGIONS)
		return -E2BIG;
	for (i = 0; i < set->nr_regions && !err; i++)
		err = fallback_read_region(set, i, &region);
	return err;
}

static int fallback_add_regions(struct fallback_profile *profile,
				const struct profil_set *set)
{
	struct profil_map *map = &profile->map;
	u32 nr = set->nr_regions;
	u32 i;

	for (i = 0; i < nr; i++) {
		struct profil_counters *counters = &map->counters[i];
		struct profil_region region;
		int err;

		err = fallback_read_region(set, i, &region);
		if (!err)
			err = profil_map_add(map, &region, i == nr - 1);
		if (err)
			return err;
		if (counters->nr &&
		    !fallback_is_user_range(counters, map->width_shift))
			counters->state = PROFIL_REGION_UNMAPPED;
	}
	return 0;
}

static int fallback_build(struct fallback_profile *profile)
{
	size_t bytes = 2 * sizeof(u32) * profile->map.nr_regions;
	u32 *scratch = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (scratch == MAP_FAILED)
		return -ENOMEM;
	profil_map_build(&profile->map, scratch,
			 scratch + profile->map.nr_regions);
	munmap(scratch, bytes);
	return 0;
}

static int fallback_fill(struct fallback_profile *profile,
			 const struct profil_set *set)
{
	int err;

	profile->flags = set->flags;
	profile->width = set->width;
	profile->max = set->flags & PROFIL_SET_SVR4_STOP ? FALLBACK_SVR4_MAX :
		set->width == 2 ? UINT16_MAX : UINT32_MAX;
	profile->period_ns = set->period_ns ? set->period_ns :
					      FALLBACK_PERIOD_NS;
	profile->map.flags = set->flags;
	profile->map.width_shift = set->width == 2 ? 1 : 2;
	profile->map.overflow = PROFIL_NO_REGION;
	err = fallback_add_regions(profile, set);
	if (!err)
		err = fallback_build(profile);
	return err;
}

/* --- starting and stopping */

static void fallback_replace(struct fallback_profile *profile)
{
	struct fallback_profile *old = fallback_current;

	__atomic_store_n(&fallback_current, profile, __ATOMIC_RELEASE);
	fallback_free(old);
}

/* Context: the lock is held. */
static void fallback_end(void)
{
	if (!fallback_current)
		return;
	fallback_clock_stop();
	fallback_replace(NULL);
}

static int fallback_start(struct fallback_profile *profile)
{
	int err = 0;

	if (profile->flags & PROFIL_SET_CHECK) {
		err = fallback_check(profile);
		if (err)
			fallback_end();
	}
	if (!err)
		err = fallback_clock_start(profile);
	if (!err)
		fallback_replace(profile);
	return err;
}

/* Whether @timeval can be written, without changing it. */
static int fallback_check_timeval(u64 timeval)
{
	struct timeval time;
	int err;

	if (!timeval)
		return 0;
	err = fallback_read(&time, timeval, sizeof(time));
	return err ? err : fallback_write(timeval, &time, sizeof(time));
}

static void fallback_tell(struct profil_set *set, u32 period_ns)
{
	struct timeval time = { .tv_usec = period_ns / 1000 };

	if (set->timeval)
		fallback_write(set->timeval, &time, sizeof(time));
	set->period_ns = period_ns;
}

static int fallback_try(struct profil_set *set)
{
	struct fallback_profile *profile;
	sigset_t mask;
	int err;

	err = fallback_check_request(set);
	if (err)
		return err;
	profile = fallback_map(set->nr_regions);
	if (!profile)
		return -ENOMEM;
	err = fallback_fill(profile, set);
	if (!err)
		err = fallback_check_timeval(set->timeval);
	if (!err)
		err = fallback_lock(&mask);
	if (err) {
		fallback_free(profile);
		return err;
	}
	err = fallback_start(profile);
	if (err)
		fallback_free(profile);
	else
		fallback_tell(set, profile->period_ns);
	/* Another thread may replace the profile, and free it, from now on */
	fallback_unlock(&mask);
	return err;
}

/* As the requests of the device return: a success leaves errno alone. */
static int fallback_return(int err, int saved)
{
	errno = err ? -err : saved;
	return err ? -1 : 0;
}

/**
 * fallback_set() - PROFIL_IOC_SET in user space
 * @set: request, as the library makes it: valid but for what a caller of
 *	profil() or sprofil() can do wrong
 *
 * Return: 0, or -1 with errno. EBUSY: the program uses the signal itself, or the
 * running profile is that of another process, whose memory this one shares.
 */
int fallback_set(struct profil_set *set)
{
	int saved = errno;

	return fallback_return(fallback_try(set), saved);
}

/* Whether a profile is counted in user space. */
bool fallback_is_on(void)
{
	return __atomic_load_n(&fallback_current, __ATOMIC_ACQUIRE);
}

static int fallback_try_off(void)
{
	sigset_t mask;
	int err;

	if (!fallback_is_on())
		return 0;
	err = fallback_lock(&mask);
	if (err)
		return err;
	fallback_end();
	fallback_unlock(&mask);
	return 0;
}

/* Stop the profile, if there is one. */
void fallback_off(void)
{
	int error = errno;

	fallback_try_off();
	errno = error;
}

/* --- status */

/* Read the stats of a region, and add them to those of the profile. */
static struct profil_region_status
fallback_region_status(const struct fallback_profile *profile, u32 region,
		       struct profil_counts *sum)
{
	const struct fallback_stats *stats = &profile->counts->stats[region];
	u32 initial = profile->map.counters[region].state;

	sum->counted += stats->counted;
	sum->clipped += stats->clipped;
	sum->lost += stats->lost;
	return (struct profil_region_status){
		.counted = stats->counted,
		.clipped = stats->clipped,
		.lost = stats->lost,
		.state = stats->state ? stats->state : initial,
	};
}

static int fallback_report(const struct fallback_profile *profile,
			   struct profil_status *status, bool stop)
{
	struct profil_counts *counts = &status->counts;
	struct fallback_time time;
	int err = 0;
	u32 i;

	fallback_clock_read(profile, &time,
			    stop ? (uintptr_t)fallback_report : 0);
	for (i = 0; i < profile->map.nr_regions; i++) {
		struct profil_region_status region =
			fallback_region_status(profile, i, counts);

		if (i < status->max_regions && status->regions && !err)
			err = fallback_write(status->regions +
					     i * sizeof(region), &region,
					     sizeof(region));
	}
	counts->outside = profile->counts->outside;
	counts->lost += profile->counts->unseen;
	counts->ticks = counts->counted + counts->clipped + counts->outside +
			counts->lost;
	status->state = profile->counts->full ? PROFIL_STATE_FULL :
						PROFIL_STATE_ON;
	status->flags = profile->flags;
	status->width = profile->width;
	status->period_ns = profile->period_ns;
	status->cpu_time_ns = time.covered_ns;
	status->pending = time.due;
	status->nr_regions = profile->map.nr_regions;
	return err;
}

/*
 * Check the size of a caller's structure, which had @least bytes in the first
 * version of the interface, and of which @known bytes are known here: every
 * other byte must be zero.
 */
static int fallback_check_size(const void *structure, u32 size, u32 least,
			       u32 known)
{
	u64 at = (uintptr_t)structure;
	char byte = 0;
	u32 i;

	if (size < least)
		return -EINVAL;
	if (size > getauxval(AT_PAGESZ))
		return -E2BIG;
	for (i = known; i < size; i++) {
		int err = fallback_read(&byte, at + i, 1);

		if (err || byte)
			return err ? err : -E2BIG;
	}
	return 0;
}

/* Read the status of the current profile, if there is one, and maybe stop it. */
static int fallback_take_status(struct profil_status *status, bool stop)
{
	sigset_t mask;
	int err;

	memset(&status->state, 0, offsetof(struct profil_status, regions) -
				  offsetof(struct profil_status, state));
	status->nr_regions = 0;
	if (!fallback_is_on())
		return 0;
	err = fallback_lock(&mask);
	if (err)
		return err;
	if (fallback_current)
		err = fallback_report(fallback_current, status, stop);
	if (stop && fallback_current) {
		/* The ticks that are due now will never be counted */
		status->counts.lost += status->pending;
		status->counts.ticks += status->pending;
		status->pending = 0;
		fallback_end();
	}
	fallback_unlock(&mask);
	return err;
}

static int fallback_read_status(struct profil_status *to, bool stop)
{
	struct profil_status status;
	int err;

	err = fallback_read(&status.size, (uintptr_t)to, sizeof(status.size));
	if (!err)
		err = fallback_check_size(to, status.size, sizeof(status),
					  sizeof(status));
	if (!err)
		err = fallback_read(&status, (uintptr_t)to, sizeof(status));
	if (!err)
		err = fallback_take_status(&status, stop);
	return err ? err : fallback_write((uintptr_t)to, &status,
					  sizeof(status));
}

/* PROFIL_IOC_STOP in user space. */
int fallback_stop(struct profil_status *last)
{
	int saved = errno;

	return fallback_return(last ? fallback_read_status(last, true) :
				      fallback_try_off(), saved);
}

/* PROFIL_IOC_STATUS in user space. */
int fallback_status(void *status)
{
	int saved = errno;

	return fallback_return(fallback_read_status(status, false), saved);
}

/* PROFIL_IOC_INFO in user space: nothing about watches, which need the device. */
int fallback_info(void *to)
{
	struct profil_info info = {
		.set_flags = PROFIL_SET_CHECK | PROFIL_SET_USER_ONLY |
			     PROFIL_SET_SVR4_ARITH | PROFIL_SET_SVR4_STOP |
			     PROFIL_SET_SCALE_ONE |
			     PROFIL_SET_OVERFLOW_ANYWHERE |
			     PROFIL_SET_NO_OVERFLOW,
		.clock = PROFIL_CLOCK_USER,
		.max_regions = FALLBACK_MAX_REGIONS,
		.default_period_ns = FALLBACK_PERIOD_NS,
		.fast_period_ns = FALLBACK_FAST_NS,
		.min_period_ns = FALLBACK_FAST_NS,
		.max_period_ns = FALLBACK_PERIOD_NS,
		.max_profiles = 1,
		.fast = 1,
	};
	int saved = errno;
	int err;

	err = fallback_read(&info.size, (uintptr_t)to, sizeof(info.size));
	if (!err)
		err = fallback_check_size(to, info.size,
					  offsetof(struct profil_info,
						   watch_flags), sizeof(info));
	if (!err)
		err = fallback_write((uintptr_t)to, &info,
				     info.size < sizeof(info) ? info.size :
								sizeof(info));
	return fallback_return(err, saved);
}
