// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * gmon.c - profile programs compiled with -pg from start to exit
 *
 * Replaces the C library's functions of the same names. The startup code of a
 * program linked with -pg calls __monstartup() before main(), and _mcleanup()
 * at exit().
 *
 * All state is in one mapping. Its first page describes the text and is
 * inherited. The rest is counters, which the kernel clears in a forked child,
 * whatever call created it: the child counts only its own part, and nothing
 * that the parent counted is counted twice. So fork needs no handler, even if
 * other threads are counting at that moment.
 *
 * Mappings known to mcount are never unmapped, since a thread may be about to
 * count in one. Only programs that start profiling many times notice.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/gmon.h>
#include <sys/mman.h>

#include "device.h"
#include "gmon.h"

/* gmon.out must have a rate, even if there are no ticks. */
#define DEFAULT_RATE	100

/* The profile that was started and not yet written. */
static struct gmon *gmon_current;

struct gmon_place {
	uintptr_t address;
	uintptr_t load;
};

static bool gmon_in_segment(const struct dl_phdr_info *info, int segment,
			    uintptr_t address)
{
	uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[segment].p_vaddr;

	return info->dlpi_phdr[segment].p_type == PT_LOAD &&
		address - begin < info->dlpi_phdr[segment].p_memsz;
}

static int gmon_find_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct gmon_place *place = data;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		if (!gmon_in_segment(info, i, place->address))
			continue;
		place->load = info->dlpi_addr;
		return 1;
	}
	return 0;
}

/* Run-time minus link-time address of the DSO that contains @address. */
static uintptr_t gmon_load(uintptr_t address)
{
	struct gmon_place place = { .address = address };

	dl_iterate_phdr(gmon_find_object, &place);
	return place.load;
}

static uint32_t gmon_entry(uintptr_t low, size_t length)
{
	uintptr_t entry = getauxval(AT_ENTRY) - low;

	return entry < length ? entry : 0;
}

/*
 * Map counters that the kernel clears at fork, after a page that it does not.
 */
static void *gmon_map(size_t page, size_t counters)
{
	char *map = mmap(NULL, page + counters, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int error;

	if (map == MAP_FAILED)
		return NULL;
	error = errno;
	/* Huge pages would make a call wait until 2 MiB are cleared */
	madvise(map + page, counters, MADV_NOHUGEPAGE);
	errno = error;
	if (!madvise(map + page, counters, MADV_WIPEONFORK))
		return map;
	error = errno;
	munmap(map, page + counters);
	errno = error;
	return NULL;
}

/*
 * Whether this is a forked child: the first call sets a word that the kernel
 * clears at fork.
 */
static bool gmon_is_child(void)
{
	static uint32_t *original;
	uint32_t *page = __atomic_load_n(&original, __ATOMIC_ACQUIRE);

	if (page)
		return !*page;
	page = gmon_map(0, getauxval(AT_PAGESZ));
	if (page) {
		*page = 1;
		__atomic_store_n(&original, page, __ATOMIC_RELEASE);
	}
	return false;
}

/* @low and @length are multiples of GMON_COUNTER_TEXT. */
static struct gmon *gmon_new(uintptr_t low, size_t length)
{
	unsigned int bits = gmon_arcs_bits(length);
	size_t slots = sizeof(struct gmon_arc) << bits;
	size_t counters = length / GMON_COUNTER_TEXT * sizeof(uint16_t);
	size_t page = getauxval(AT_PAGESZ);
	struct gmon *gmon;

	if (length > UINT32_MAX) {
		errno = EFBIG;
		return NULL;
	}
	gmon = gmon_map(page, sizeof(struct gmon_own) + slots + counters);
	if (!gmon)
		return NULL;
	gmon->low = low;
	gmon->length = length;
	gmon->load = gmon_load(low);
	gmon->entry = gmon_entry(low, length);
	gmon->rate = DEFAULT_RATE;
	gmon->own = (void *)((char *)gmon + page);
	gmon->own->original = !gmon_is_child();
	gmon->arcs.slots = (void *)(gmon->own + 1);
	gmon->arcs.nr = (size_t)1 << bits;
	gmon->arcs.bits = bits;
	gmon->arcs.dropped = &gmon->own->dropped;
	gmon->counters = (void *)(gmon->arcs.slots + gmon->arcs.nr);
	gmon->nr_counters = length / GMON_COUNTER_TEXT;
	return gmon;
}

/* Warn only once: programs may call moncontrol() often. */
static void gmon_say_no_time(struct gmon *gmon)
{
	bool missing = errno == ENOENT || errno == ENODEV || errno == ENXIO;

	if (gmon->warned)
		return;
	gmon->warned = true;
	if (errno == EBUSY)
		gmon_say("calls are counted, time is not: the program handles SIGURG, which counting without " PROFIL_DEVICE " needs");
	else
		gmon_say("calls are counted, time is not: " PROFIL_DEVICE ": %s%s",
			 strerrordesc_np(errno),
			 missing ? "; run 'modprobe profil' as root, and start a container with '--device " PROFIL_DEVICE "'" : "");
}

/*
 * Two bytes of counter for four bytes of text is a scale of one half: exact, so
 * no rounding error grows towards the end of the text.
 */
static void gmon_profile(struct gmon *gmon)
{
	struct profil_region region = {
		.base = (uintptr_t)gmon->counters,
		.size = gmon->nr_counters * sizeof(*gmon->counters),
		.offset = gmon->low,
		.scale = 65536 * sizeof(*gmon->counters) / GMON_COUNTER_TEXT,
	};
	struct profil_set set = {
		.size = sizeof(set),
		.width = sizeof(*gmon->counters),
		.nr_regions = 1,
		.regions = (uintptr_t)&region,
	};

	gmon->on = !profil_start(&set);
	if (gmon->on)
		gmon->rate = (1000000000 + set.period_ns / 2) / set.period_ns;
	else
		gmon_say_no_time(gmon);
}

static void gmon_stop(struct gmon *gmon)
{
	struct profil_status last = { .size = sizeof(last) };

	if (profil_stop(&last, NULL, 0))
		gmon_say("the profile cannot be stopped: %s",
			 strerrordesc_np(errno));
	else if (gmon->on && !last.period_ns)
		gmon_say("time may be incomplete: the profile was stopped by the program, not inherited by fork, or is out of reach in a chroot");
	gmon->on = false;
}

/* Callers here use this name: the program may define a moncontrol() itself. */
static void gmon_control(int mode)
{
	struct gmon *gmon = __atomic_load_n(&gmon_current, __ATOMIC_ACQUIRE);
	int error = errno;

	__atomic_store_n(&gmon_counting, mode ? gmon : NULL, __ATOMIC_RELEASE);
	if (gmon && mode)
		gmon_profile(gmon);
	else if (gmon)
		gmon_stop(gmon);
	errno = error;
}

/**
 * moncontrol() - pause or resume counting of calls and time
 * @mode: 0 pauses, all other values resume
 *
 * Keeps all counts. Does nothing if profiling has not started.
 */
PROFIL_PUBLIC void moncontrol(int mode)
	__attribute__((weak, alias("gmon_control")));

/**
 * __monstartup() - start to count calls and time
 * @low: first address of the text
 * @high: first address after the text
 *
 * Replaces a profile that is running, unless out of memory.
 */
PROFIL_PUBLIC void __monstartup(unsigned long low, unsigned long high)
{
	int error = errno;
	struct gmon *gmon;

	low -= low % GMON_COUNTER_TEXT;
	high += -high % GMON_COUNTER_TEXT;
	gmon = gmon_new(low, high - low);
	if (gmon) {
		__atomic_store_n(&gmon_current, gmon, __ATOMIC_RELEASE);
		gmon_control(1);
	} else {
		gmon_say("nothing is counted: %s", strerrordesc_np(errno));
	}
	errno = error;
}

PROFIL_PUBLIC void monstartup(unsigned long low, unsigned long high)
	__attribute__((weak, alias("__monstartup")));

/**
 * _mcleanup() - stop counting, and write gmon.out
 *
 * A second call does nothing, unless profiling was started again.
 */
PROFIL_PUBLIC void _mcleanup(void)
{
	int error = errno;
	struct gmon *gmon;

	gmon_control(0);
	gmon = __atomic_exchange_n(&gmon_current, NULL, __ATOMIC_ACQ_REL);
	if (gmon)
		gmon_write(gmon);
	errno = error;
}
