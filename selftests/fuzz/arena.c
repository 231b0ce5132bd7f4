// SPDX-License-Identifier: GPL-2.0-only
/*
 * arena.c - memory with holes, for arguments that cross the edges of pages
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/profil.h>

#include "fuzz/arena.h"

static const char view_kinds[] = "-www-rwr.w.r-";
static const char counter_kinds[] = "wwrww.";

#define VIEW_PAGES	(sizeof(view_kinds) - 1)
#define VIEW_SIZE	(VIEW_PAGES * PAGE)
#define COUNTER_PAGES	(sizeof(counter_kinds) - 1)

/*
 * Inaccessible memory before and after each area, so that an address with a
 * flipped bit, or a tick far from its counters, hits no other memory.
 */
#define GUARD	(4UL << 30)

static int protection(char kind)
{
	switch (kind) {
	case ARENA_READ:
		return PROT_READ;
	case ARENA_WRITE:
		return PROT_READ | PROT_WRITE;
	default:
		return PROT_NONE;
	}
}

static bool protect(uint8_t *pages, const char *kinds)
{
	for (size_t i = 0; kinds[i]; i++) {
		void *page = pages + i * PAGE;
		int error;

		if (kinds[i] == ARENA_HOLE)
			error = munmap(page, PAGE);
		else
			error = mprotect(page, PAGE, protection(kinds[i]));
		if (error)
			return false;
	}
	return true;
}

static uint8_t *map(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Reserve @size bytes of address space, between guards. */
static uint8_t *reserve(size_t size)
{
	uint8_t *space = mmap(NULL, 2 * GUARD + size, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			      -1, 0);

	return space == MAP_FAILED ? NULL : space + GUARD;
}

static bool make_view(struct arena *arena)
{
	int fd = memfd_create("arena", MFD_CLOEXEC);
	bool ok;

	arena->view = reserve(VIEW_SIZE);
	arena->shadow = map(VIEW_SIZE);
	if (fd < 0 || ftruncate(fd, VIEW_SIZE) || !arena->view ||
	    arena->shadow == MAP_FAILED)
		return false;
	arena->memory = mmap(NULL, VIEW_SIZE, PROT_READ | PROT_WRITE,
			     MAP_SHARED, fd, 0);
	ok = arena->memory != MAP_FAILED &&
	     mmap(arena->view, VIEW_SIZE, PROT_NONE, MAP_SHARED | MAP_FIXED,
		  fd, 0) == arena->view &&
	     protect(arena->view, view_kinds);
	close(fd);
	return ok;
}

static bool make_counters(struct arena *arena)
{
	arena->counters = reserve(COUNTER_PAGES * PAGE);
	return arena->counters && protect(arena->counters, counter_kinds);
}

/* Place the regions at the end of a page, before an unmapped page. */
static bool make_crowd(struct arena *arena, uint32_t nr)
{
	size_t bytes = nr * sizeof(struct profil_region);
	size_t size = (bytes + 2 * PAGE - 1) / PAGE * PAGE;
	uint8_t *pages = map(size);
	struct profil_region *regions;

	if (pages == MAP_FAILED)
		return false;
	arena->crowd = pages + size - PAGE - bytes;
	arena->nr_crowd = nr;
	regions = (struct profil_region *)arena->crowd;
	for (uint32_t i = 0; i < nr; i++)
		regions[i] = (struct profil_region) {
			.base = (uintptr_t)arena->counters + i % 64 * 8,
			.size = 64,
			.offset = 0x1000 * (uint64_t)i,
			.scale = 65536,
		};
	return !mprotect(pages, size, PROT_READ) &&
	       !munmap(pages + size - PAGE, PAGE);
}

/* Return: whether there was enough memory. */
bool arena_make(struct arena *arena, uint32_t nr_crowd)
{
	return make_view(arena) && make_counters(arena) &&
	       make_crowd(arena, nr_crowd);
}

/* Fill the counters: values are zero, almost full or full at each width. */
static void shuffle_counters(struct arena *arena, __u64 *state)
{
	static const uint64_t interesting[] = {
		0, 0x7ffe7ffe7ffe7ffe, 0xfffefffefffefffe,
		0xfffffffefffffffe, UINT64_MAX,
	};

	for (size_t i = 0; i < COUNTER_PAGES; i++) {
		uint64_t *words = (uint64_t *)(arena->counters + i * PAGE);

		if (counter_kinds[i] != ARENA_WRITE)
			continue;
		for (size_t j = 0; j < PAGE / sizeof(*words); j++)
			words[j] = interesting[number_below(state, 5)];
	}
}

/* Fill the memory and the shadow with the same new contents. */
void arena_shuffle(struct arena *arena, __u64 *state)
{
	uint64_t *words = (uint64_t *)arena->memory;

	for (size_t i = 0; i < VIEW_SIZE / sizeof(*words); i++)
		words[i] = number(state);
	memcpy(arena->shadow, arena->memory, VIEW_SIZE);
	shuffle_counters(arena, state);
}

static bool within(const uint8_t *pages, uint64_t size, uint64_t addr)
{
	return addr - (uintptr_t)pages < size;
}

/* Return: whether any byte is in the view. The end may be beyond all memory. */
bool arena_views(const struct arena *arena, uint64_t addr, uint64_t size)
{
	return size && (within(arena->view, VIEW_SIZE, addr) ||
			(uintptr_t)arena->view - addr < size);
}

static char kind_at(const struct arena *arena, uint64_t addr)
{
	if (within(arena->view, VIEW_SIZE, addr))
		return view_kinds[(addr - (uintptr_t)arena->view) / PAGE];
	if (within(arena->counters, COUNTER_PAGES * PAGE, addr))
		return counter_kinds[(addr - (uintptr_t)arena->counters) /
				     PAGE];
	if (within(arena->crowd, arena->nr_crowd * 32ULL, addr))
		return ARENA_READ;
	return ARENA_HOLE;
}

/* Return: whether every page is readable and, if @writable, also writable. */
static bool is_kind(const struct arena *arena, uint64_t addr, uint64_t size,
		    bool writable)
{
	uint64_t last = addr + size - 1;

	if (!size)
		return true;
	if (last < addr)
		return false;
	for (;;) {
		char kind = kind_at(arena, addr);

		if (kind != ARENA_WRITE && (writable || kind != ARENA_READ))
			return false;
		if (last - addr < PAGE - addr % PAGE)
			return true;
		addr += PAGE - addr % PAGE;
	}
}

bool arena_readable(const struct arena *arena, uint64_t addr, uint64_t size)
{
	return is_kind(arena, addr, size, false);
}

bool arena_writable(const struct arena *arena, uint64_t addr, uint64_t size)
{
	return is_kind(arena, addr, size, true);
}

/* Read what a call would read at a readable address. */
void arena_get(const struct arena *arena, uint64_t addr, void *to, size_t size)
{
	if (within(arena->view, VIEW_SIZE, addr))
		memcpy(to, arena->shadow + (addr - (uintptr_t)arena->view),
		       size);
	else
		memcpy(to, (void *)(uintptr_t)addr, size);
}

/* Record in the shadow what a call should write. */
void arena_put(struct arena *arena, uint64_t addr, const void *from,
	       size_t size)
{
	memcpy(arena->shadow + (addr - (uintptr_t)arena->view), from, size);
}

/* Write an argument, except for bytes outside the view. */
void arena_poke(struct arena *arena, uint64_t addr, const void *from,
		size_t size)
{
	const uint8_t *bytes = from;

	for (size_t i = 0; i < size; i++) {
		uint64_t at = addr + i - (uintptr_t)arena->view;

		if (at >= VIEW_SIZE)
			continue;
		arena->memory[at] = bytes[i];
		arena->shadow[at] = bytes[i];
	}
}

/* Accept whatever a call has written here to writable pages. */
void arena_accept(struct arena *arena, uint64_t addr, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++) {
		uint64_t at = addr + i - (uintptr_t)arena->view;

		if (at < VIEW_SIZE && view_kinds[at / PAGE] == ARENA_WRITE)
			arena->shadow[at] = arena->memory[at];
	}
}

/* Return: offset of the first byte with an unexpected value; 0 if none. */
size_t arena_difference(const struct arena *arena)
{
	size_t at = 0;

	if (!memcmp(arena->memory, arena->shadow, VIEW_SIZE))
		return 0;
	while (arena->memory[at] == arena->shadow[at])
		at++;
	return at;
}

/* Return: an address where no program has memory. */
uint64_t arena_nowhere(__u64 *state)
{
	static const uint64_t addresses[] = {
		0, 1, 8, 0xfff, 0x7fffffffefff, 0x7ffffffff000,
		0x7fffffffffff, 0x800000000000, 0x8000000000000000,
		0xffff7fffffffffff, 0xffff800000000000, 0xffff888000000000,
		0xffffffff81000000, 0xffffffffff600000, 0xfffffffffffff000,
		0xffffffffffffffe0, 0xfffffffffffffff8, 0xffffffffffffffff,
	};

	return addresses[number_below(state, sizeof(addresses) /
				      sizeof(addresses[0]))];
}

/* Return: an address for @size bytes: mostly valid, else invalid in any way. */
uint64_t arena_place(const struct arena *arena, __u64 *state, size_t size)
{
	uint64_t view = (uintptr_t)arena->view;
	uint64_t edge = view + (1 + number_below(state, VIEW_PAGES - 1)) * PAGE;

	switch (number_below(state, 16)) {
	case 0:
		return edge - size;
	case 1:
		return edge;
	case 2:
		return edge - number_below(state, size + 1);
	case 3:
		return view + number_below(state, VIEW_SIZE);
	case 4:
		return arena_nowhere(state);
	case 5:
		return view + PAGE + number_below(state, ARENA_ROOM - size);
	default:
		return view + PAGE + number_below(state, ARENA_ROOM - size) /
				     8 * 8;
	}
}

/* Return: an address for counters, on a page of any kind. */
uint64_t arena_counters(const struct arena *arena, __u64 *state)
{
	return (uintptr_t)arena->counters +
	       number_below(state, COUNTER_PAGES * PAGE) / 8 * 8;
}
