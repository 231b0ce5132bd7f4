// SPDX-License-Identifier: GPL-2.0-only
/*
 * make.c - almost valid requests, in almost valid memory
 *
 * Make a valid request; then change nothing, a field, or any bit of it.
 * arena_place() chooses the addresses of its parts.
 */
#include <string.h>

#include <linux/profil.h>

#include "fuzz/make.h"

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

#define SECOND_NS	1000000000

/* A random element of @array. */
#define ONE_OF(array, state)	((array)[number_below((state), NR(array))])

/* The start of the program's text. */
extern const char __executable_start;

static bool once_in(__u64 *state, unsigned int n)
{
	return number_below(state, n) == 0;
}

/* Return: a boundary value, or any other number. */
uint64_t fuzz_number(__u64 *state)
{
	static const uint64_t numbers[] = {
		0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 32, 47, 48, 49, 63, 64,
		120, 4095, 4096, 4097, 9999, 10000, 59999, 60000, 65535, 65536,
		65537, 131072, 131073, 262144, 262145, 524288, 524289,
		10000000, SECOND_NS, SECOND_NS + 1, 0x7fffffff, 0x80000000,
		0xfffffffe, 0xffffffff, 0x100000000, 0x100000002,
		0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffffe,
		0xffffffffffffffff,
	};

	return once_in(state, 4) ? number_of_any_size(state) :
				   ONE_OF(numbers, state);
}

/* Set a field, or two adjacent ones of 4 bytes, to a number; or flip a bit. */
static void spoil(__u64 *state, void *structure, size_t size)
{
	uint8_t *bytes = structure;
	uint64_t number = fuzz_number(state);
	size_t width = once_in(state, 2) ? 4 : 8;
	size_t at = number_below(state, size / width) * width;

	if (once_in(state, 4))
		bytes[number_below(state, size)] ^=
			1 << number_below(state, 8);
	else
		memcpy(bytes + at, &number, width);
}

static void maybe_spoil(__u64 *state, void *structure, size_t size)
{
	while (once_in(state, 3))
		spoil(state, structure, size);
}

/* Return: mostly the right size of a structure, else mostly a wrong one. */
static uint32_t make_size(__u64 *state, uint32_t right)
{
	uint32_t sizes[] = {
		0, 1, 4, 8, right - 8, right - 1, right + 1, right + 8, 256,
		PAGE - 1, PAGE, PAGE + 1, 2 * PAGE, 0x7fffffff, 0x80000000,
		UINT32_MAX,
	};

	if (!once_in(state, 4))
		return right;
	return once_in(state, 3) ? number_below(state, PAGE + 8) :
				   ONE_OF(sizes, state);
}

/*
 * Place @structure, which begins with its size, somewhere; mostly zeros follow
 * up to that size.
 */
static uint64_t put_structure(struct arena *arena, __u64 *state,
			      const void *structure, size_t known)
{
	uint8_t bytes[PAGE + 8] = { 0 };
	uint32_t size;
	uint64_t arg;

	memcpy(bytes, structure, known);
	memcpy(&size, bytes, sizeof(size));
	if (size < known || size > sizeof(bytes))
		size = known;
	if (size > known && once_in(state, 4))
		bytes[known + number_below(state, size - known)] = 1;
	arg = arena_place(arena, state, size);
	arena_poke(arena, arg, bytes, size);
	return arg;
}

/* Make a region whose counters fit its page, or do not. */
static struct profil_region make_region(const struct arena *arena, __u64 *state,
					uint32_t width)
{
	uint64_t text = (uintptr_t)&__executable_start;
	uint64_t offsets[] = { 0, 1, 0x1000, text, text + 0x1001 };
	uint64_t scales[] = { 0, 1, 2, 3, 32768, 65535, 65536, 65536 * width };
	uint64_t sizes[] = { 0, 1, width, 64, 65, PAGE, 2 * PAGE };

	return (struct profil_region) {
		.base = arena_counters(arena, state),
		.size = ONE_OF(sizes, state),
		.offset = ONE_OF(offsets, state),
		.scale = ONE_OF(scales, state),
	};
}

static uint64_t make_regions(struct arena *arena, __u64 *state,
			     const struct profil_set *set)
{
	struct profil_region regions[8];
	uint64_t where = arena_place(arena, state,
				     set->nr_regions * sizeof(regions[0]));
	uint32_t i;

	for (i = 0; i < set->nr_regions; i++) {
		regions[i] = make_region(arena, state, set->width);
		if (once_in(state, 16))
			regions[i].base = arena_nowhere(state);
	}
	if (once_in(state, 3)) {
		regions[i - 1].offset = 0;
		regions[i - 1].scale = 2;
	}
	if (once_in(state, 8))
		maybe_spoil(state, regions, i * sizeof(regions[0]));
	arena_poke(arena, where, regions, i * sizeof(regions[0]));
	return where;
}

static uint32_t make_flags(__u64 *state, uint32_t width)
{
	uint32_t flags = number_below(state, 128);

	if (width != 2)
		flags &= ~PROFIL_SET_SVR4_STOP;
	return once_in(state, 2) ? flags & ~PROFIL_SET_CHECK : flags;
}

/*
 * About the maximum number of regions. Skipping the first ones may extend the
 * array beyond its end.
 */
static void make_crowd(const struct arena *arena, __u64 *state,
		       struct profil_set *set)
{
	uint32_t skipped = number_below(state, 3);

	set->regions = (uintptr_t)arena->crowd +
		       skipped * sizeof(struct profil_region);
	set->nr_regions = arena->nr_crowd - number_below(state, 3);
}

static uint64_t make_set(struct arena *arena, __u64 *state)
{
	static const uint32_t widths[] = { 2, 4, 8 };
	static const uint64_t periods[] = {
		0, 60000, 500000, 1000000, 9999999, 10000000, SECOND_NS,
	};
	struct profil_set set = {
		.size = make_size(state, sizeof(set)),
		.width = ONE_OF(widths, state),
		.nr_regions = 1 + number_below(state, 8),
		.period_ns = ONE_OF(periods, state),
	};

	set.flags = make_flags(state, set.width);
	if (once_in(state, 32))
		make_crowd(arena, state, &set);
	else
		set.regions = make_regions(arena, state, &set);
	if (once_in(state, 2)) {
		set.timeval_size = once_in(state, 2) ? 8 : 16;
		set.timeval = arena_place(arena, state, set.timeval_size);
	}
	if (once_in(state, 3))
		spoil(state, &set, sizeof(set));
	return put_structure(arena, state, &set, sizeof(set));
}

/* Fields that the device does not read have any value. */
static uint64_t make_status(struct arena *arena, __u64 *state)
{
	static const uint32_t rooms[] = { 0, 1, 2, 3, 8, 4096, UINT32_MAX };
	uint32_t room = ONE_OF(rooms, state);
	struct profil_status status;

	memset(&status, number(state) & 0xff, sizeof(status));
	status.size = make_size(state, sizeof(status));
	status.max_regions = room;
	status.regions = once_in(state, 4) ? 0 :
		arena_place(arena, state, room % 9 *
			    sizeof(struct profil_region_status));
	if (once_in(state, 4))
		spoil(state, &status, sizeof(status));
	return put_structure(arena, state, &status, sizeof(status));
}

/* A structure for results, of which the device reads only the size. */
static uint64_t make_results(struct arena *arena, __u64 *state, size_t size)
{
	uint32_t words[64];

	memset(words, number(state) & 0xff, size);
	words[0] = make_size(state, size);
	if (once_in(state, 8))
		spoil(state, words, size);
	return put_structure(arena, state, words, size);
}

/* Request numbers that the device does not know, and those of other devices. */
static unsigned int make_request(__u64 *state)
{
	static const unsigned int types[] = {
		PROFIL_IOC_TYPE, PROFIL_IOC_TYPE - 1, PROFIL_IOC_TYPE + 1,
	};

	return _IOC(number_below(state, 4), ONE_OF(types, state),
		    number_below(state, 256), number_below(state, 1 << 14));
}

/* Any bytes, after a size that the device accepts, so that it reads them. */
static uint64_t make_garbage(struct arena *arena, __u64 *state)
{
	uint64_t words[PAGE / 64];

	for (size_t i = 0; i < NR(words); i++)
		words[i] = once_in(state, 4) ? fuzz_number(state) : 0;
	words[0] &= ~0xffffffffULL;
	words[0] |= make_size(state, 120);
	return put_structure(arena, state, words, sizeof(words));
}

static struct attempt any_attempt(struct arena *arena, __u64 *state)
{
	static const unsigned int requests[] = {
		PROFIL_IOC_SET, PROFIL_IOC_STOP, PROFIL_IOC_STATUS,
		PROFIL_IOC_INFO, PROFIL_IOC_ACCOUNT,
	};
	unsigned int request = ONE_OF(requests, state);

	switch (number_below(state, 16)) {
	case 0:
		return (struct attempt) { request,
					  make_garbage(arena, state) };
	case 1:
		return (struct attempt) { make_request(state),
					  make_status(arena, state) };
	case 2:
		return (struct attempt) { PROFIL_IOC_INFO,
					  make_results(arena, state,
						sizeof(struct profil_info)) };
	case 3:
		return (struct attempt) { PROFIL_IOC_STOP, 0 };
	case 4:
		return (struct attempt) { PROFIL_IOC_ACCOUNT,
					  make_results(arena, state,
						sizeof(struct profil_account)) };
	case 5:
		return (struct attempt) { PROFIL_IOC_STOP,
					  make_status(arena, state) };
	case 6:
	case 7:
	case 8:
		return (struct attempt) { PROFIL_IOC_STATUS,
					  make_status(arena, state) };
	default:
		return (struct attempt) { PROFIL_IOC_SET,
					  make_set(arena, state) };
	}
}

/* Flip bits at the beginning of an argument. */
static void change(struct arena *arena, __u64 *state, uint64_t arg)
{
	do {
		uint64_t at = arg + number_below(state, 128);
		uint8_t byte;

		if (!arena_views(arena, at, 1) || !arena_readable(arena, at, 1))
			continue;
		arena_get(arena, at, &byte, 1);
		byte ^= 1 << number_below(state, 8);
		arena_poke(arena, at, &byte, 1);
	} while (!once_in(state, 3));
}

/* Make a region of a PROFIL_IOC_SET empty. Return: whether there was one to. */
static bool empty_region(struct arena *arena, uint64_t arg)
{
	struct profil_region region;
	struct profil_set set;

	if (!arena_readable(arena, arg, sizeof(set)))
		return false;
	arena_get(arena, arg, &set, sizeof(set));
	for (uint32_t i = 0; i < set.nr_regions; i++) {
		uint64_t at = set.regions + i * sizeof(region);

		if (!arena_views(arena, at, sizeof(region)) ||
		    !arena_readable(arena, at, sizeof(region)))
			return false;
		arena_get(arena, at, &region, sizeof(region));
		if (!arena_views(arena, region.base, region.size))
			continue;
		region.size = 0;
		arena_poke(arena, at, &region, sizeof(region));
		return true;
	}
	return false;
}

/**
 * fuzz_attempt() - make a call
 * @arena: the memory
 * @state: of the random numbers
 * @kept: that state before a call that is to be made again, with a change; or 0
 *
 * The regions of a call may be what earlier calls have left there. Ticks would
 * change memory whose contents the model predicts, if one had it for counters.
 *
 * Return: the call.
 */
struct attempt fuzz_attempt(struct arena *arena, __u64 *state, __u64 kept)
{
	struct attempt attempt = any_attempt(arena, kept ? &kept : state);

	if (kept)
		change(arena, state, attempt.arg);
	while (attempt.request == PROFIL_IOC_SET &&
	       empty_region(arena, attempt.arg))
		;
	return attempt;
}

/* Not so large that a guest has no memory for a few of them. */
static uint32_t limit_size(uint32_t size)
{
	return size > 1 << 18 && size <= 1 << 26 ? size >> 8 : size;
}

static uint32_t make_id(__u64 *state, const struct fuzz_targets *targets,
			uint32_t target)
{
	switch (target) {
	case PROFIL_WATCH_PROCESS:
		return targets->processes[number_below(state,
						       targets->nr_processes)];
	case PROFIL_WATCH_USER:
		return targets->user;
	case PROFIL_WATCH_CGROUP:
		return once_in(state, 4) ? 0 : targets->cgroup;
	default:
		return 0;
	}
}

static uint64_t make_watch(struct arena *arena, __u64 *state,
			   const struct fuzz_targets *targets)
{
	static const uint64_t periods[] = {
		0, 60000, 1000000, 9999999, 10000000, SECOND_NS,
	};
	static const uint32_t buckets[] = { 0, 64, 65, 4096 };
	struct profil_watch watch = {
		.size = make_size(state, sizeof(watch)),
		.target = once_in(state, 2) ? number_below(state, 4) : 0,
		.period_ns = ONE_OF(periods, state),
		.bucket_shift = number_below(state, 13),
		.processes = number_below(state, 3) * 1000,
		.images = once_in(state, 2) ? 0 : 2,
		.objects = once_in(state, 2) ? 0 : 8,
		.buckets = ONE_OF(buckets, state),
		.names = once_in(state, 2) ? 0 : 4096,
		.map_size = number(state),
	};

	watch.id = make_id(state, targets, watch.target);
	watch.flags = number_below(state, 128);
	if (!once_in(state, 4) && !(watch.flags & PROFIL_WATCH_CHAINS))
		watch.flags &= ~PROFIL_WATCH_CALL_SITES;
	if (watch.target != PROFIL_WATCH_PROCESS)
		watch.flags &= ~(PROFIL_WATCH_CHILDREN | PROFIL_WATCH_AT_EXEC);
	if (watch.flags & PROFIL_WATCH_WALL)
		watch.threads = number_below(state, 3) * 100;
	if (once_in(state, 2))
		spoil(state, &watch, sizeof(watch));
	watch.processes = limit_size(watch.processes);
	watch.images = limit_size(watch.images);
	watch.objects = limit_size(watch.objects);
	watch.buckets = limit_size(watch.buckets);
	watch.threads = limit_size(watch.threads);
	return put_structure(arena, state, &watch, sizeof(watch));
}

static uint64_t make_callers(struct arena *arena, __u64 *state)
{
	struct fuzz_callers callers = {
		.head = { .blocks = 1, .rows = 1, .rules = 1 },
		.index = { { 0, 0 }, { 1, 0 } },
		.rule = { .cfa = PROFIL_UNWIND_SP, .offset = 8 },
	};
	uint64_t where = arena_place(arena, state, sizeof(callers));

	if (once_in(state, 4))
		spoil(state, &callers, sizeof(callers));
	arena_poke(arena, where, &callers, sizeof(callers));
	return where;
}

/* A descriptor that any number names may be that of anything. */
static uint64_t make_unwind(struct arena *arena, __u64 *state,
			    const struct fuzz_targets *targets)
{
	const int32_t fds[] = {
		-1, -1, targets->file, targets->file, targets->cgroup, -2, 999,
	};
	struct profil_watch_unwind unwind = {
		.size = make_size(state, sizeof(unwind)),
		.bytes = sizeof(struct fuzz_callers),
		.table = make_callers(arena, state),
	};

	if (once_in(state, 8))
		spoil(state, &unwind, sizeof(unwind));
	unwind.fd = ONE_OF(fds, state);
	return put_structure(arena, state, &unwind, sizeof(unwind));
}

static struct attempt watch_attempt(struct arena *arena, __u64 *state,
				    const struct fuzz_targets *targets)
{
	size_t size = sizeof(struct profil_watch_status);

	switch (number_below(state, 13)) {
	case 12:
		return (struct attempt) { PROFIL_IOC_WATCH_COLLECT,
					  once_in(state, 2) ? 0 :
					  make_results(arena, state, size) };
	case 0:
		return (struct attempt) { PROFIL_IOC_WATCH_STOP, 0 };
	case 1:
		return (struct attempt) { PROFIL_IOC_WATCH_STOP,
					  make_results(arena, state, size) };
	case 2:
	case 3:
		return (struct attempt) { PROFIL_IOC_WATCH_STATUS,
					  make_results(arena, state, size) };
	case 4:
	case 5:
	case 6:
	case 7:
		return (struct attempt) { PROFIL_IOC_WATCH_UNWIND,
					  make_unwind(arena, state, targets) };
	default:
		return (struct attempt) { PROFIL_IOC_WATCH,
					  make_watch(arena, state, targets) };
	}
}

/* The same as fuzz_attempt(), for the calls that watches have. */
struct attempt fuzz_watch_attempt(struct arena *arena, __u64 *state,
				  const struct fuzz_targets *targets,
				  __u64 kept)
{
	struct attempt attempt = watch_attempt(arena, kept ? &kept : state,
					       targets);

	if (kept)
		change(arena, state, attempt.arg);
	return attempt;
}
