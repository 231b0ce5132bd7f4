// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - the table of a watch is read as it says that it is laid out
 *
 * The tables are made here: those that are mapped in a file without a name,
 * the others in memory of exactly their size, beyond which the address
 * sanitizer reports every read.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include <profil.h>

#define IMAGES		3
#define OBJECTS		(PROFIL_OBJECT_FILES + 2)
#define BUCKETS		64
#define NAMES		64

/* What a member of each structure has, for the structure's index */
#define MARK(index)	(1000 + (index))

/**
 * struct layout - a table to make
 * @longer: bytes by which each structure is longer than ours
 * @gap: bytes between its parts
 */
struct layout {
	uint32_t longer;
	uint32_t gap;
};

static const struct layout ours, later = { .longer = 40, .gap = 16 };

FIXTURE(table)
{
	struct profil_watch_table *table;
};

FIXTURE_VARIANT(table)
{
	const struct layout *layout;
};

FIXTURE_VARIANT_ADD(table, ours)
{
	.layout = &ours,
};

FIXTURE_VARIANT_ADD(table, later)
{
	.layout = &later,
};

/* Give a part of the table its place, after those before it. */
static uint64_t place(uint64_t *end, uint64_t size, const struct layout *layout)
{
	uint64_t at = *end + layout->gap;

	*end = at + size;
	return at;
}

/* Paths come last, so that a path without an end is one beyond the table. */
static struct profil_watch_table lay_out(const struct layout *layout,
					 uint64_t *end)
{
	struct profil_watch_table table = {
		.version = PROFIL_WATCH_VERSION,
		.nr_images = IMAGES,
		.nr_objects = OBJECTS,
		.max_buckets = BUCKETS,
		.image_size = sizeof(struct profil_watch_image) +
			      layout->longer,
		.object_size = sizeof(struct profil_watch_object) +
			       layout->longer,
		.bucket_size = sizeof(struct profil_watch_bucket) +
			       layout->longer,
		.names_size = NAMES,
	};

	*end = sizeof(table) + layout->longer;
	table.buckets = place(end, BUCKETS * table.bucket_size, layout);
	table.objects = place(end, OBJECTS * table.object_size, layout);
	table.images = place(end, IMAGES * table.image_size, layout);
	table.names = place(end, table.names_size, layout);
	return table;
}

static void *at(struct profil_watch_table *table, uint64_t offset)
{
	return (char *)table + offset;
}

static struct profil_watch_bucket *bucket_at(struct profil_watch_table *table,
					     uint32_t index)
{
	return at(table, table->buckets + index * table->bucket_size);
}

static struct profil_watch_object *object_at(struct profil_watch_table *table,
					     uint32_t index)
{
	return at(table, table->objects + index * table->object_size);
}

static struct profil_watch_image *image_at(struct profil_watch_table *table,
					   uint32_t index)
{
	return at(table, table->images + index * table->image_size);
}

static char *names_of(struct profil_watch_table *table)
{
	return at(table, table->names);
}

/* Whatever a reader takes from the wrong place is 0xee. */
static void fill(struct profil_watch_table *table, uint64_t size,
		 const struct profil_watch_table *header)
{
	uint32_t i;

	memset(table, 0xee, size);
	*table = *header;
	for (i = 0; i < table->nr_images; i++)
		image_at(table, i)->pid = MARK(i);
	for (i = 0; i < table->nr_objects; i++) {
		object_at(table, i)->inode = MARK(i);
		object_at(table, i)->path = 0;
	}
	for (i = 0; i < table->max_buckets; i++)
		bucket_at(table, i)->object = 0;
}

static void use_bucket(struct profil_watch_table *table, uint32_t index,
		       uint32_t object)
{
	struct profil_watch_bucket *bucket = bucket_at(table, index);

	bucket->image = 1;
	bucket->offset = MARK(index);
	bucket->count = 1;
	__atomic_store_n(&bucket->object, object, __ATOMIC_RELEASE);
}

FIXTURE_SETUP(table)
{
	struct profil_watch_table header;
	uint64_t size;

	header = lay_out(variant->layout, &size);
	self->table = malloc(size);
	ASSERT_TRUE(self->table != NULL);
	fill(self->table, size, &header);
}

FIXTURE_TEARDOWN(table)
{
	free(self->table);
}

TEST_F(table, images)
{
	const struct profil_watch_image *image;
	uint32_t i;

	for (i = 0; i < IMAGES; i++) {
		image = profil_watch_image(self->table, i);
		ASSERT_TRUE(image != NULL);
		EXPECT_EQ(MARK(i), image->pid);
	}
	EXPECT_TRUE(!profil_watch_image(self->table, IMAGES));
	EXPECT_TRUE(!profil_watch_image(self->table, UINT32_MAX));
}

TEST_F(table, an_image_comes_into_use)
{
	self->table->nr_images = IMAGES - 1;
	EXPECT_TRUE(!profil_watch_image(self->table, IMAGES - 1));
	self->table->nr_images = IMAGES;
	EXPECT_TRUE(profil_watch_image(self->table, IMAGES - 1) != NULL);
}

TEST_F(table, objects)
{
	const struct profil_watch_object *object;
	uint32_t i;

	for (i = 0; i < OBJECTS; i++) {
		object = profil_watch_object(self->table, i);
		ASSERT_TRUE(object != NULL);
		EXPECT_EQ(MARK(i), object->inode);
	}
	EXPECT_TRUE(!profil_watch_object(self->table, OBJECTS));
	EXPECT_TRUE(!profil_watch_object(self->table, UINT32_MAX));
}

TEST_F(table, paths)
{
	const struct profil_watch_object *object =
		profil_watch_object(self->table, PROFIL_OBJECT_FILES);

	strcpy(names_of(self->table) + 1, "/bin/true");
	EXPECT_TRUE(!profil_watch_path(self->table, object));
	object_at(self->table, PROFIL_OBJECT_FILES)->path = 1;
	EXPECT_STREQ("/bin/true", profil_watch_path(self->table, object));
}

/* The last byte of the names is in use. */
TEST_F(table, the_last_path)
{
	struct profil_watch_object *object = object_at(self->table, 4);

	strcpy(names_of(self->table) + NAMES - sizeof("/x"), "/x");
	object->path = NAMES - sizeof("/x");
	EXPECT_STREQ("/x", profil_watch_path(self->table, object));
	object->path = NAMES - 1;
	EXPECT_STREQ("", profil_watch_path(self->table, object));
}

TEST_F(table, paths_that_are_not_in_the_table)
{
	struct profil_watch_object *object = object_at(self->table, 4);
	static const uint32_t paths[] = {
		NAMES, NAMES + 1, INT32_MAX, UINT32_MAX
	};
	int i;

	for (i = 0; i < 4; i++) {
		object->path = paths[i];
		EXPECT_TRUE(!profil_watch_path(self->table, object));
	}
}

TEST_F(table, a_path_without_an_end)
{
	struct profil_watch_object *object = object_at(self->table, 4);

	object->path = 1;
	EXPECT_TRUE(!profil_watch_path(self->table, object));
	object->path = NAMES - 1;
	EXPECT_TRUE(!profil_watch_path(self->table, object));
	self->table->names_size = 0;
	EXPECT_TRUE(!profil_watch_path(self->table, object));
}

TEST_F(table, no_bucket_is_in_use)
{
	size_t position = 0;

	EXPECT_TRUE(!profil_watch_next(self->table, &position));
	EXPECT_TRUE(!profil_watch_next(self->table, &position));
}

TEST_F(table, every_bucket_once)
{
	const struct profil_watch_bucket *bucket;
	size_t position = 0;
	uint32_t i;

	for (i = 0; i < BUCKETS; i++)
		use_bucket(self->table, i, 1 + i % (OBJECTS - 1));
	for (i = 0; i < BUCKETS; i++) {
		bucket = profil_watch_next(self->table, &position);
		ASSERT_TRUE(bucket != NULL);
		EXPECT_EQ(MARK(i), bucket->offset);
		EXPECT_EQ(1 + i % (OBJECTS - 1), bucket->object);
	}
	EXPECT_TRUE(!profil_watch_next(self->table, &position));
}

TEST_F(table, buckets_end_with_the_first_one_that_is_not_in_use)
{
	const struct profil_watch_bucket *bucket;
	size_t position = 0;

	use_bucket(self->table, 0, PROFIL_OBJECT_FILES);
	use_bucket(self->table, 2, PROFIL_OBJECT_FILES);
	EXPECT_TRUE(profil_watch_next(self->table, &position) != NULL);
	EXPECT_TRUE(!profil_watch_next(self->table, &position));
	EXPECT_TRUE(!profil_watch_next(self->table, &position));
	use_bucket(self->table, 1, PROFIL_OBJECT_FILES);
	bucket = profil_watch_next(self->table, &position);
	ASSERT_TRUE(bucket != NULL);
	EXPECT_EQ(MARK(1), bucket->offset);
}

TEST_F(table, a_position_beyond_the_end)
{
	size_t position = SIZE_MAX;

	use_bucket(self->table, BUCKETS - 1, 1);
	EXPECT_TRUE(!profil_watch_next(self->table, &position));
	position = BUCKETS;
	EXPECT_TRUE(!profil_watch_next(self->table, &position));
	position = BUCKETS - 1;
	EXPECT_TRUE(profil_watch_next(self->table, &position) != NULL);
}

/* Readers keep what they have found: it is the table itself. */
TEST_F(table, counts_grow)
{
	const struct profil_watch_bucket *bucket;
	size_t position = 0;

	use_bucket(self->table, 0, 1);
	bucket = profil_watch_next(self->table, &position);
	ASSERT_TRUE(bucket != NULL);
	EXPECT_EQ(1, bucket->count);
	bucket_at(self->table, 0)->count += 41;
	EXPECT_EQ(42, bucket->count);
}

/* --- chains */

static void call_bucket(struct profil_watch_table *table, uint32_t index,
			uint32_t caller)
{
	use_bucket(table, index, 1);
	bucket_at(table, index)->caller = caller;
}

TEST_F(table, a_chain_of_callers)
{
	const struct profil_watch_bucket *chain[BUCKETS];
	static const uint32_t at[] = { 7, BUCKETS - 1, 0 };
	int i;

	call_bucket(self->table, 7, BUCKETS);
	call_bucket(self->table, BUCKETS - 1, 1);
	call_bucket(self->table, 0, 0);
	ASSERT_EQ(3, profil_watch_chain(self->table, bucket_at(self->table, 7),
					chain, BUCKETS));
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(chain[i] == bucket_at(self->table, at[i]));
	EXPECT_EQ(0, chain[2]->caller);
}

TEST_F(table, a_chain_that_was_cut)
{
	const struct profil_watch_bucket *chain[2];

	call_bucket(self->table, 3, PROFIL_CALLER_UNKNOWN);
	call_bucket(self->table, 4, 4);
	ASSERT_EQ(2, profil_watch_chain(self->table, bucket_at(self->table, 4),
					chain, 2));
	EXPECT_EQ(PROFIL_CALLER_UNKNOWN, chain[1]->caller);
}

TEST_F(table, a_chain_that_there_is_no_room_for)
{
	const struct profil_watch_bucket *chain[1];

	call_bucket(self->table, 3, 0);
	call_bucket(self->table, 4, 4);
	EXPECT_EQ(1, profil_watch_chain(self->table, bucket_at(self->table, 4),
					chain, 1));
	EXPECT_EQ(0, profil_watch_chain(self->table, bucket_at(self->table, 4),
					chain, 0));
}

/* It ends where the table does, however wrong it is. */
TEST_F(table, a_chain_that_leaves_the_table)
{
	const struct profil_watch_bucket *chain[BUCKETS];

	call_bucket(self->table, 3, BUCKETS + 1);
	EXPECT_EQ(1, profil_watch_chain(self->table, bucket_at(self->table, 3),
					chain, BUCKETS));
	call_bucket(self->table, 5, 5);
	EXPECT_EQ(1, profil_watch_chain(self->table, bucket_at(self->table, 5),
					chain, BUCKETS));
	call_bucket(self->table, 6, 7);
	EXPECT_EQ(BUCKETS, profil_watch_chain(self->table,
					      bucket_at(self->table, 6), chain,
					      BUCKETS));
}

/* Buckets of a watch without chains have no such member. */
TEST(a_chain_without_chains)
{
	struct profil_watch_table table = {
		.max_buckets = 1,
		.bucket_size = offsetof(struct profil_watch_bucket, caller),
	};
	void *bucket = malloc(table.bucket_size);
	const struct profil_watch_bucket *chain[2];

	ASSERT_TRUE(bucket != NULL);
	EXPECT_EQ(1, profil_watch_chain(&table, bucket, chain, 2));
	EXPECT_TRUE(chain[0] == bucket);
	free(bucket);
}

/* --- while the kernel writes */

static void *write_buckets(void *argument)
{
	uint32_t i;

	for (i = 0; i < BUCKETS; i++)
		use_bucket(argument, i, 1);
	return NULL;
}

static void *write_images(void *argument)
{
	struct profil_watch_table *table = argument;
	uint32_t i;

	for (i = 0; i < IMAGES; i++) {
		image_at(table, i)->pid = MARK(i);
		__atomic_store_n(&table->nr_images, i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void *write_objects(void *argument)
{
	struct profil_watch_table *table = argument;
	uint32_t i;

	for (i = 0; i < OBJECTS; i++) {
		object_at(table, i)->inode = MARK(i);
		__atomic_store_n(&table->nr_objects, i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void *write_paths(void *argument)
{
	struct profil_watch_table *table = argument;
	uint32_t i, path;

	/* The thread sanitizer does not see what strcpy() becomes */
	for (i = 0; i < OBJECTS; i++) {
		path = 1 + 2 * i;
		names_of(table)[path] = 'x';
		names_of(table)[path + 1] = '\0';
		__atomic_store_n(&object_at(table, i)->path, path,
				 __ATOMIC_RELEASE);
	}
	return NULL;
}

/*
 * The readers return how many they have found, or more if one is not whole;
 * the thread sanitizer reports what they read too early.
 */
static uint32_t read_buckets(const struct profil_watch_table *table)
{
	const struct profil_watch_bucket *bucket;
	size_t position = 0;
	uint32_t nr;

	for (nr = 0; (bucket = profil_watch_next(table, &position)); nr++)
		if (bucket->image != 1 || bucket->offset != MARK(position - 1))
			return UINT32_MAX;
	return nr;
}

static uint32_t read_images(const struct profil_watch_table *table)
{
	const struct profil_watch_image *image;
	uint32_t nr;

	for (nr = 0; (image = profil_watch_image(table, nr)); nr++)
		if (image->pid != MARK(nr))
			return UINT32_MAX;
	return nr;
}

static uint32_t read_objects(const struct profil_watch_table *table)
{
	const struct profil_watch_object *object;
	uint32_t nr;

	for (nr = 0; (object = profil_watch_object(table, nr)); nr++)
		if (object->inode != MARK(nr))
			return UINT32_MAX;
	return nr;
}

static uint32_t read_paths(const struct profil_watch_table *table)
{
	const char *path;
	uint32_t nr;

	for (nr = 0; nr < OBJECTS; nr++) {
		path = profil_watch_path(table, profil_watch_object(table, nr));
		if (!path)
			break;
		if (strcmp(path, "x"))
			return UINT32_MAX;
	}
	return nr;
}

/* Read until all are there; never fewer than before. Return: success. */
static bool read_while_written(struct profil_watch_table *table,
			       void *(*writer)(void *argument),
			       uint32_t (*reader)(const struct
						  profil_watch_table *table),
			       uint32_t all)
{
	uint32_t found = 0, before;
	pthread_t thread;

	if (pthread_create(&thread, NULL, writer, table))
		return false;
	do {
		before = found;
		found = reader(table);
	} while (found < all && before <= found);
	pthread_join(thread, NULL);
	return found == all;
}

TEST_F(table, buckets_are_read_while_written)
{
	EXPECT_TRUE(read_while_written(self->table, write_buckets,
				       read_buckets, BUCKETS));
}

TEST_F(table, images_are_read_while_written)
{
	self->table->nr_images = 0;
	EXPECT_TRUE(read_while_written(self->table, write_images, read_images,
				       IMAGES));
}

TEST_F(table, objects_are_read_while_written)
{
	self->table->nr_objects = 0;
	EXPECT_TRUE(read_while_written(self->table, write_objects,
				       read_objects, OBJECTS));
}

TEST_F(table, paths_are_read_while_written)
{
	EXPECT_TRUE(read_while_written(self->table, write_paths, read_paths,
				       OBJECTS));
}

/* --- mapping */

FIXTURE(mapping)
{
	struct profil_watch_table header;
	struct profil_watch watch;
	int fd;
};

FIXTURE_SETUP(mapping)
{
	self->header = lay_out(&ours, (uint64_t *)&self->watch.map_size);
	self->watch.images = IMAGES;
	self->watch.objects = OBJECTS;
	self->fd = memfd_create("table", MFD_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ftruncate(self->fd, self->watch.map_size));
}

/* The permissions of our mapping as in /proc/self/maps; "" if there is none. */
static const char *permissions(void)
{
	static char found[5];
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];

	found[0] = '\0';
	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "/memfd:table"))
			sscanf(line, "%*s %4s", found);
	fclose(maps);
	return found;
}

FIXTURE_TEARDOWN(mapping)
{
	EXPECT_STREQ("", permissions());
	close(self->fd);
}

static const struct profil_watch_table *
map_it(FIXTURE_DATA(mapping) *self)
{
	if (pwrite(self->fd, &self->header, sizeof(self->header), 0) !=
	    sizeof(self->header))
		abort();
	errno = 0;
	return profil_watch_map(self->fd, &self->watch);
}

/* Return: the error of a table whose header is as it is now; 0 if it is good. */
static int map_error(FIXTURE_DATA(mapping) *self)
{
	const struct profil_watch_table *table = map_it(self);

	profil_watch_unmap(table, &self->watch);
	return errno;
}

/* The error of a table with another value in a member of its header */
#define ERROR_WITH(member, value) ({ \
	__typeof__(self->header.member) right = self->header.member; \
	int error; \
	self->header.member = (value); \
	error = map_error(self); \
	self->header.member = right; \
	error; \
})

TEST_F(mapping, is_read_only_and_shared)
{
	const struct profil_watch_table *table = map_it(self);

	ASSERT_TRUE(table != NULL);
	EXPECT_EQ(0, errno);
	EXPECT_EQ(0, memcmp(table, &self->header, sizeof(*table)));
	EXPECT_STREQ("r--s", permissions());
	profil_watch_unmap(table, &self->watch);
	profil_watch_unmap(NULL, &self->watch);
}

TEST_F(mapping, versions)
{
	EXPECT_EQ(0, map_error(self));
	EXPECT_EQ(EPROTO, ERROR_WITH(version, 0));
	EXPECT_EQ(EPROTO, ERROR_WITH(version, PROFIL_WATCH_VERSION + 1));
}

TEST_F(mapping, structures_that_are_too_short)
{
	EXPECT_EQ(EPROTO, ERROR_WITH(image_size, 0));
	EXPECT_EQ(EPROTO, ERROR_WITH(object_size, 0));
	EXPECT_EQ(EPROTO, ERROR_WITH(bucket_size, 0));
	EXPECT_EQ(EPROTO, ERROR_WITH(image_size,
				     offsetof(struct profil_watch_image, comm) +
				     8));
	EXPECT_EQ(EPROTO, ERROR_WITH(object_size,
				     sizeof(struct profil_watch_object) - 8));
	EXPECT_EQ(EPROTO, ERROR_WITH(bucket_size,
				     offsetof(struct profil_watch_bucket, caller) -
				     8));
}

TEST_F(mapping, parts_beyond_the_end)
{
	uint64_t size = self->watch.map_size;

	EXPECT_EQ(EPROTO, ERROR_WITH(images, size));
	EXPECT_EQ(EPROTO, ERROR_WITH(objects, size));
	EXPECT_EQ(EPROTO, ERROR_WITH(buckets, size));
	EXPECT_EQ(EPROTO, ERROR_WITH(names, size));
	EXPECT_EQ(EPROTO, ERROR_WITH(images, -(uint64_t)8));
	EXPECT_EQ(EPROTO, ERROR_WITH(names, -(uint64_t)8));
	EXPECT_EQ(EPROTO, ERROR_WITH(names_size, NAMES + 1));
	EXPECT_EQ(EPROTO, ERROR_WITH(names_size, UINT64_MAX));
	EXPECT_EQ(EPROTO, ERROR_WITH(max_buckets, UINT32_MAX));
	EXPECT_EQ(EPROTO, ERROR_WITH(image_size, UINT32_MAX - 7));
	self->watch.images = IMAGES + 1;
	EXPECT_EQ(EPROTO, map_error(self));
}

TEST_F(mapping, parts_at_odd_addresses)
{
	EXPECT_EQ(EPROTO, ERROR_WITH(images, self->header.images - 4));
	EXPECT_EQ(EPROTO, ERROR_WITH(bucket_size,
				     sizeof(struct profil_watch_bucket) + 4));
}

TEST_F(mapping, without_a_table)
{
	struct profil_watch none = { .map_size = 0 };

	EXPECT_TRUE(!profil_watch_map(self->fd, &none));
	EXPECT_EQ(EINVAL, errno);
	none.map_size = sizeof(struct profil_watch_table) - 1;
	EXPECT_TRUE(!profil_watch_map(self->fd, &none));
	EXPECT_EQ(EPROTO, errno);
	/* A size whose lower half is good */
	none = self->watch;
	none.map_size += sizeof(size_t) == 4 ? 1ULL << 32 : 1ULL << 63;
	EXPECT_TRUE(!profil_watch_map(self->fd, &none));
	EXPECT_EQ(ENOMEM, errno);
	EXPECT_TRUE(!profil_watch_map(-1, &self->watch));
	EXPECT_EQ(EBADF, errno);
}

TEST_HARNESS_MAIN
