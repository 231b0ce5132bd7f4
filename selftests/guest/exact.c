// SPDX-License-Identifier: GPL-2.0-only
/*
 * exact.c - a program that stands still counts in exactly one counter
 *
 * A child jumps to an instruction that jumps to itself. From then on it has one
 * program counter, and the test chooses the region's offset so that the
 * distance between the two is any that it likes: so it checks every rule of the
 * arithmetic and of the choice of a region in real counters. No region but an
 * overflow bin gets the ticks from before the child stands still.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "vectors.h"

/* No other text is at this address. */
#define PC		0x500000000000UL
#define GIB		(1UL << 30)

/* Room for two regions with the largest counter index that a test expects. */
#define MOST		(2 << 20)

FIXTURE(exact) {
	void *loop;
	char *counters;
	struct profil_region regions[4];
	unsigned int nr;
	unsigned int width;
	unsigned int flags;
};

FIXTURE_SETUP(exact)
{
	self->loop = loop_at(PC);
	ASSERT_NE(NULL, self->loop);
	self->counters = NULL;
	self->nr = 0;
	self->width = 2;
	self->flags = 0;
}

FIXTURE_TEARDOWN(exact)
{
}

/* New memory, so that the last tick of an old child cannot reach it. */
static void fresh_counters(struct __test_metadata *_metadata,
		       FIXTURE_DATA(exact) *self)
{
	if (self->counters)
		munmap(self->counters, MOST);
	self->counters = mmap(NULL, MOST, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->counters);
}

/*
 * Region @nr; place_counters() puts its counters behind those of earlier
 * regions.
 */
static void add_region(FIXTURE_DATA(exact) *self, uint64_t offset,
		       uint64_t size, uint64_t scale)
{
	self->regions[self->nr++] = (struct profil_region) {
		.size = size,
		.offset = offset,
		.scale = scale,
	};
}

static void place_counters(FIXTURE_DATA(exact) *self)
{
	uint64_t at = (uintptr_t)self->counters;

	for (unsigned int i = 0; i < self->nr; i++) {
		self->regions[i].base = at;
		at += (self->regions[i].size + 7) & -8UL;
	}
}

/* Start the child; it runs until the test kills it. */
static pid_t start(FIXTURE_DATA(exact) *self)
{
	pid_t child = fork_child();

	if (child)
		return child;
	if (set_regions(self->regions, self->nr, self->width, MS / 5,
			self->flags))
		_exit(1);
	stand_still(self->loop);
}

/* Wait for two ticks in the counter: by then the child stands still. */
static bool wait_for(const volatile unsigned char *counter)
{
	int patience = 10000;

	while (*counter < 2 && --patience)
		usleep(500);
	return patience;
}

/*
 * All bytes of the region are zero but those of the counter @counter, if it has
 * it.
 */
static bool zero_but(const struct profil_region *region, const char *counter,
		     unsigned int width)
{
	const char *counters = (char *)region->base;

	for (uint64_t i = 0; i < region->size; i++)
		if (counters[i] && (counters + i < counter ||
				    counters + i >= counter + width))
			return false;
	return true;
}

/*
 * Skips overflow bins: they have the ticks from before the child stood still.
 */
static bool others_are_zero(FIXTURE_DATA(exact) *self, const char *counter)
{
	for (unsigned int i = 0; i < self->nr; i++) {
		struct profil_region *region = &self->regions[i];

		if ((region->offset || region->scale != 2) &&
		    !zero_but(region, counter, self->width))
			return false;
	}
	return true;
}

/* The child counts in counter @counter of region @region, and in no other. */
static void counts_in(struct __test_metadata *_metadata,
		      FIXTURE_DATA(exact) *self, unsigned int region,
		      uint64_t counter)
{
	struct profil_region *where = &self->regions[region];
	const char *expected;
	bool counted;
	pid_t child;

	fresh_counters(_metadata, self);
	place_counters(self);
	ASSERT_GE((uintptr_t)self->counters + MOST,
		  self->regions[self->nr - 1].base +
		  self->regions[self->nr - 1].size);
	expected = (char *)where->base + counter * self->width;
	child = start(self);
	ASSERT_LT(0, child);
	counted = wait_for((const unsigned char *)expected);
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_child(child));
	if (counted && others_are_zero(self, expected))
		return;
	TH_LOG("region %u, offset 0x%llx, scale 0x%llx: counter %lu has %d",
	       region,
	       where->offset, where->scale, counter, *expected);
	ASSERT_TRUE(counted);
	ASSERT_TRUE(others_are_zero(self, expected));
}

/* One region; the loop is @distance bytes behind its offset. */
static void one_region(struct __test_metadata *_metadata,
		       FIXTURE_DATA(exact) *self, uint64_t distance,
		       uint64_t scale, uint64_t counter)
{
	self->nr = 0;
	add_region(self, PC - distance, (counter + 2) * self->width, scale);
	counts_in(_metadata, self, 0, counter);
}

/* The loop is not in this region: the overflow bin takes its ticks. */
static void not_in_region(struct __test_metadata *_metadata,
			  FIXTURE_DATA(exact) *self, uint64_t offset,
			  uint64_t size, uint64_t scale)
{
	self->nr = 0;
	add_region(self, offset, size, scale);
	add_region(self, 0, self->width, 2);
	counts_in(_metadata, self, 1, 0);
}

static void vectors_of(struct __test_metadata *_metadata,
		       FIXTURE_DATA(exact) *self, bool svr4)
{
	self->flags = svr4 ? PROFIL_SET_SVR4_ARITH : 0;
	for (unsigned int v = 0; v < ARRAY_SIZE(vectors); v++)
		for (unsigned int d = 0; d < NR_DISTANCES; d++)
			one_region(_metadata, self, distances[d],
				   vectors[v].scale,
				   svr4 ? vectors[v].svr4[d] :
					  vectors[v].counters[d]);
}

TEST_F(exact, vectors)
{
	vectors_of(_metadata, self, false);
}

TEST_F(exact, vectors_of_svr4)
{
	vectors_of(_metadata, self, true);
}

TEST_F(exact, widths)
{
	for (self->width = 2; self->width <= 8; self->width *= 2) {
		uint64_t largest = 65536 * self->width;

		one_region(_metadata, self, 24, 65536, 24 / self->width);
		one_region(_metadata, self, 23, 65536, 23 / self->width);
		one_region(_metadata, self, 24, largest, 24);
	}
}

TEST_F(exact, pc_8_gib_above)
{
	/* The old formula, in an int, gives counter 2048 for both. */
	self->nr = 0;
	add_region(self, PC - 8192, 8192, 0x8000);
	counts_in(_metadata, self, 0, 2048);
	not_in_region(_metadata, self, PC - 8 * GIB - 8192, 8192, 0x8000);
	/* Counters exist at that distance, if the scale is small enough. */
	one_region(_metadata, self, 8 * GIB, 2, 8 * GIB / 65536);
	one_region(_metadata, self, 32 * GIB - 1, 2, 32 * GIB / 65536 - 1);
}

TEST_F(exact, pc_below_the_offset)
{
	not_in_region(_metadata, self, PC + 1, 64, 65536);
	not_in_region(_metadata, self, PC + 8 * GIB, 64, 2);
	not_in_region(_metadata, self, UINT64_MAX, 64, 0x20000);
	not_in_region(_metadata, self, 1UL << 63, 64, 2);
}

TEST_F(exact, pc_equal_to_the_offset)
{
	one_region(_metadata, self, 0, 2, 0);
	one_region(_metadata, self, 0, 65536, 0);
	one_region(_metadata, self, 0, 0x20000, 0);
}

TEST_F(exact, pc_beyond_the_last_counter)
{
	/* In the last counter, and just beyond it. */
	self->nr = 0;
	add_region(self, PC - 63, 64, 65536);
	counts_in(_metadata, self, 0, 31);
	not_in_region(_metadata, self, PC - 64, 64, 65536);
	/* An odd size loses its last byte. */
	not_in_region(_metadata, self, PC - 64, 65, 65536);
	not_in_region(_metadata, self, PC, 1, 65536);
	not_in_region(_metadata, self, PC, 0, 65536);
}

/* gmon computes its scales from sizes, so they are no powers of two. */
TEST_F(exact, gmon_scales)
{
	one_region(_metadata, self, 0x20000, 0x81b4, 0x81b4);
	one_region(_metadata, self, 0xffff, 0x81b4, 16601);
	one_region(_metadata, self, 0x20000, 0x8037, 0x8037);
	one_region(_metadata, self, 0xffff, 0x8037, 16410);
}

/* 4.4BSD: 128 KiB of text in each counter. */
TEST_F(exact, scale_1_of_bsd)
{
	self->flags = PROFIL_SET_SCALE_ONE;
	one_region(_metadata, self, 0x1ffff, 1, 0);
	one_region(_metadata, self, 0x20000, 1, 1);
	self->flags = 0;
	not_in_region(_metadata, self, PC - 0x20000, 64, 1);
}

TEST_F(exact, scale_2_at_offset_0_takes_every_pc)
{
	add_region(self, 0, 4096, 2);
	counts_in(_metadata, self, 0, 0);
	EXPECT_TRUE(zero_but(&self->regions[0], self->counters, 2));
}

TEST_F(exact, largest_offset_wins)
{
	add_region(self, PC - 20, 64, 65536);
	add_region(self, PC - 4, 64, 65536);
	add_region(self, PC - 12, 64, 65536);
	add_region(self, PC + 1, 64, 65536);
	counts_in(_metadata, self, 1, 2);
}

TEST_F(exact, first_of_equal_offsets_wins)
{
	add_region(self, PC - 4, 4, 65536);
	add_region(self, PC - 4, 64, 0x8000);
	add_region(self, PC - 4, 64, 65536);
	counts_in(_metadata, self, 1, 1);
}

TEST_F(exact, outer_region_resumes)
{
	add_region(self, PC - 20, 64, 65536);
	add_region(self, PC - 12, 12, 65536);
	add_region(self, PC - 8, 4, 65536);
	counts_in(_metadata, self, 0, 10);
}

TEST_F(exact, overflow_bin_takes_the_rest)
{
	not_in_region(_metadata, self, PC + 2, 64, 65536);
	self->nr = 0;
	add_region(self, PC - 4, 64, 65536);
	add_region(self, 0, 64, 2);
	counts_in(_metadata, self, 0, 2);
}

/* Regions with scale 0 or 1 do not exist, whatever their offset. */
TEST_F(exact, overflow_bin_takes_what_is_not_enabled)
{
	for (unsigned int scale = 0; scale < 2; scale++)
		not_in_region(_metadata, self, PC - 4, 64, scale);
}

/* The C library accepts the overflow bin at any index. */
TEST_F(exact, overflow_bin_that_is_first)
{
	self->flags = PROFIL_SET_OVERFLOW_ANYWHERE;
	add_region(self, 0, 8, 2);
	add_region(self, PC + 2, 64, 65536);
	counts_in(_metadata, self, 0, 0);
}

TEST_HARNESS_MAIN
