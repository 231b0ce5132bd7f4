// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf.c - tests of the parts of the perf backend that need no events
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "profil/perf_period.h"
#include "profil/perf_rings.c"
#include "profil/perf_space.h"
#include "profil/perf_table.h"

static bool is_prime(uint64_t number)
{
	uint64_t divisor;

	for (divisor = 2; divisor < number; divisor++)
		if (number % divisor == 0)
			return false;
	return number > 1;
}

TEST(periods_are_primes_near_the_wanted_one)
{
	static const uint64_t wanted[] = { 60, 100, 250, 1000, 10000, 1000000 };
	size_t i;
	int draw;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		for (draw = 0; draw < 20; draw++) {
			uint64_t period = perf_period_us(wanted[i]);

			EXPECT_TRUE(is_prime(period));
			EXPECT_LE(wanted[i] * 9 / 10, period);
			EXPECT_GE(wanted[i] * 11 / 10, period);
		}
	}
}

TEST(periods_differ)
{
	uint64_t first = perf_period_us(10000);
	int draw;

	for (draw = 0; draw < 1000; draw++)
		if (perf_period_us(10000) != first)
			return;
	EXPECT_TRUE(false);
}

/* A prime next to a multiple of a rhythm is as bad as the multiple. */
TEST(periods_keep_off_round_numbers)
{
	int draw;

	for (draw = 0; draw < 200; draw++) {
		uint64_t period = perf_period_us(10000);

		EXPECT_FALSE(period > 9985 && period < 10015);
	}
}

static int map(struct space **space, uint64_t start, uint64_t end,
	       uint64_t offset, uint32_t object)
{
	return space_map(space, &(struct mapping) {
		.start = start,
		.end = end,
		.offset = offset,
		.object = object,
	});
}

/* Object and offset at an address; 0 if there is no mapping */
static uint64_t at(const struct space *space, uint64_t address)
{
	const struct mapping *mapping = space_find(space, address);

	return mapping ? (uint64_t)mapping->object << 32 |
		(address - mapping->start + mapping->offset) : 0;
}

#define AT(object, offset)	((uint64_t)(object) << 32 | (offset))

TEST(mappings_are_found)
{
	struct space *space = NULL;

	EXPECT_EQ(0, at(space, 0x1000));
	ASSERT_EQ(0, map(&space, 0x3000, 0x5000, 0x100, 7));
	ASSERT_EQ(0, map(&space, 0x1000, 0x2000, 0, 8));
	EXPECT_EQ(0, at(space, 0xfff));
	EXPECT_EQ(AT(8, 0), at(space, 0x1000));
	EXPECT_EQ(AT(8, 0xfff), at(space, 0x1fff));
	EXPECT_EQ(0, at(space, 0x2000));
	EXPECT_EQ(AT(7, 0x100), at(space, 0x3000));
	EXPECT_EQ(AT(7, 0x20ff), at(space, 0x4fff));
	EXPECT_EQ(0, at(space, 0x5000));
	space_put(space);
}

/* What is mapped over a mapping takes its place, and leaves the rest. */
TEST(mappings_replace_others)
{
	struct space *space = NULL;

	ASSERT_EQ(0, map(&space, 0x1000, 0x9000, 0, 7));
	ASSERT_EQ(0, map(&space, 0x3000, 0x4000, 0, 8));
	EXPECT_EQ(3, space->nr);
	EXPECT_EQ(AT(7, 0x1fff), at(space, 0x2fff));
	EXPECT_EQ(AT(8, 0), at(space, 0x3000));
	EXPECT_EQ(AT(7, 0x3000), at(space, 0x4000));
	ASSERT_EQ(0, map(&space, 0x2000, 0x5000, 0, 9));
	EXPECT_EQ(3, space->nr);
	EXPECT_EQ(AT(9, 0x1000), at(space, 0x3000));
	EXPECT_EQ(AT(7, 0x4000), at(space, 0x5000));
	ASSERT_EQ(0, map(&space, 0, 0x10000, 0, 10));
	EXPECT_EQ(1, space->nr);
	space_put(space);
}

TEST(forked_spaces_are_their_own)
{
	struct space *parent = NULL, *child;

	ASSERT_EQ(0, map(&parent, 0x1000, 0x2000, 0, 7));
	child = space_get(parent);
	ASSERT_EQ(0, map(&child, 0x1000, 0x2000, 0, 8));
	EXPECT_EQ(AT(7, 0), at(parent, 0x1000));
	EXPECT_EQ(AT(8, 0), at(child, 0x1000));
	space_put(parent);
	EXPECT_EQ(AT(8, 0), at(child, 0x1000));
	space_put(child);
}

#define BUCKETS	100000

static uint64_t count_of(const struct table *table, uint32_t image,
			 uint32_t object, uint64_t offset)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < table->nr_buckets; i++) {
		const struct profil_watch_bucket *bucket = &table->buckets[i];

		if (bucket->object == object && bucket->image == image &&
		    bucket->offset == offset >> table->shift)
			count += bucket->count;
	}
	return count;
}

TEST(no_tick_is_lost_when_the_table_grows)
{
	struct table table;
	uint64_t sum = 0;
	size_t i;

	ASSERT_EQ(0, table_init(&table, 2));
	for (i = 0; i < BUCKETS; i++)
		ASSERT_EQ(0, table_count(&table, 1 + i % 3, 4, i / 2 * 4,
					 0));
	for (i = 0; i < table.nr_buckets; i++)
		sum += table.buckets[i].count;
	EXPECT_EQ(BUCKETS, sum);
	/* Of ticks 6 to 11, 6 and 7 are at 12, and of images 1 and 2 */
	EXPECT_EQ(1, count_of(&table, 1, 4, 12));
	EXPECT_EQ(1, count_of(&table, 2, 4, 12));
	EXPECT_EQ(0, count_of(&table, 3, 4, 12));
	table_free(&table);
}

/* A frame is a bucket of its own for each caller, and stays where it is. */
TEST(buckets_have_callers)
{
	struct profil_watch_table *frozen;
	struct profil_watch_bucket *buckets;
	uint32_t first, second, caller, i;
	struct table table;

	ASSERT_EQ(0, table_init(&table, 2));
	first = table_node(&table, 1, 4, 16, 0);
	second = table_node(&table, 1, 4, 32, first);
	EXPECT_EQ(1, first);
	EXPECT_EQ(2, second);
	for (i = 0, caller = second; i < BUCKETS; i++)
		caller = table_node(&table, 1, 4, 48, caller);
	EXPECT_EQ(BUCKETS + 2, caller);
	EXPECT_EQ(0, table_count(&table, 1, 4, 48, second));
	EXPECT_EQ(0, table_count(&table, 1, 4, 48, PROFIL_CALLER_UNKNOWN));
	EXPECT_EQ(0, table_count(&table, 1, 4, 48, 0));
	EXPECT_EQ(first, table_node(&table, 1, 4, 16, 0));
	EXPECT_EQ(second, table_node(&table, 1, 4, 32, first));
	EXPECT_EQ(3, count_of(&table, 1, 4, 48));
	frozen = table_freeze(&table);
	ASSERT_NE(NULL, frozen);
	ASSERT_LE(BUCKETS + 4, frozen->max_buckets);
	buckets = (void *)((char *)frozen + frozen->buckets);
	EXPECT_EQ(second, buckets[2].caller);
	EXPECT_EQ(1, buckets[2].count);
	EXPECT_EQ(first, buckets[second - 1].caller);
	EXPECT_EQ(0, buckets[first - 1].caller);
	EXPECT_EQ(0, buckets[frozen->max_buckets - 1].object);
	free(frozen);
	table_free(&table);
}

TEST(objects_are_files)
{
	struct mapped file = { .seen.device = 1, .seen.inode = 2 };
	struct profil_watch_table *frozen;
	const struct profil_watch_object *object;
	struct table table;
	int first, second;

	ASSERT_EQ(0, table_init(&table, 0));
	first = table_object(&table, &file, "/first");
	EXPECT_EQ(PROFIL_OBJECT_FILES, first);
	EXPECT_EQ(first, table_object(&table, &file, "/link"));
	/* The inode has a generation, which /proc/PID/maps does not have */
	file.seen.generation = 7;
	EXPECT_EQ(first, table_object(&table, &file, "/first"));
	/* This is another file with the same inode number */
	file.seen.generation++;
	EXPECT_EQ(first + 1, table_object(&table, &file, "/again"));
	file.seen.generation = 0;
	file.seen.inode++;
	second = table_object(&table, &file, "/second");
	EXPECT_EQ(first + 2, second);
	frozen = table_freeze(&table);
	ASSERT_TRUE(frozen != NULL);
	EXPECT_EQ(second + 1, frozen->nr_objects);
	object = (void *)((char *)frozen + frozen->objects +
			  second * frozen->object_size);
	EXPECT_STREQ("/second", (char *)frozen + frozen->names + object->path);
	free(frozen);
	table_free(&table);
}

/* As the module's: unless they are to be separate, same programs share one. */
TEST(images_are_programs)
{
	struct profil_watch_image image = { .exe = 5, .comm = "one" };
	struct table table;
	int first;

	ASSERT_EQ(0, table_init(&table, 0));
	first = table_image(&table, &image, false);
	EXPECT_EQ(1, first);
	EXPECT_EQ(first, table_image(&table, &image, false));
	EXPECT_EQ(2, table_image(&table, &image, true));
	strcpy(image.comm, "other");
	EXPECT_EQ(3, table_image(&table, &image, false));
	image.exe = 6;
	EXPECT_EQ(4, table_image(&table, &image, false));
	EXPECT_EQ(4, table_image(&table, &image, false));
	/* Of programs that ran before, nobody knows whether they are the same */
	image.exe = 0;
	EXPECT_EQ(5, table_image(&table, &image, false));
	EXPECT_EQ(6, table_image(&table, &image, false));
	table_free(&table);
}

/* --- rings */

#define RING		4096

/* A sample of a stack that is no multiple of 8 bytes, as a 32-bit program may have */
struct odd {
	struct sample sample;
	char stack[12];
} __attribute__((packed));

static void take_next(void *context, const struct perf_event_header *record)
{
	const struct sample *sample = (const void *)record;
	uint64_t *next = context;

	*next += sample->ip == *next && sample->time == *next;
}

TEST(records_may_end_anywhere)
{
	struct ring ring = { .size = RING };
	struct rings rings = { .nr_cpus = 1, .rings = &ring, .ready = -1 };
	uint64_t nr, next = 0;
	char *data;

	ring.page = aligned_alloc(page_size(), page_size() + RING);
	ASSERT_NE(NULL, ring.page);
	memset(ring.page, 0, page_size() + RING);
	data = (char *)ring.page + page_size();
	for (nr = 0; nr < RING / sizeof(struct odd); nr++) {
		struct odd odd = {
			.sample.header.type = PERF_RECORD_SAMPLE,
			.sample.header.size = sizeof(odd),
			.sample.ip = nr,
			.sample.time = nr,
		};

		memcpy(data + nr * sizeof(odd), &odd, sizeof(odd));
	}
	ring.page->data_head = nr * sizeof(struct odd);
	rings_read(&rings, UINT64_MAX, take_next, &next);
	EXPECT_EQ(nr, next);
	EXPECT_EQ(0, rings.used);
	free(rings.entries);
	free(rings.data);
	free(ring.page);
}

TEST_HARNESS_MAIN
