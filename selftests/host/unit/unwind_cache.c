// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind_cache.c - tables of callers on disk: who may use them, and how many
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "unwind.h"
#include "unwind/cache.h"
#include "unwind/file.h"

static const uint8_t id[] = { 0xab, 0xcd, 1, 2 };

#define NAME	"abcd0102.2"

/* A table of one block, whose only rule is @mark above the stack pointer */
struct table {
	struct profil_unwind_head head;
	struct profil_unwind_index index[2];
	struct profil_unwind_row rows[2];
	struct profil_unwind_rule rules[1];
};

static struct table table_of(int32_t mark)
{
	return (struct table) {
		.head = { .blocks = 1, .rows = 1, .rules = 1 },
		.index[1] = { .row = 1 },
		.rules[0] = { .cfa = PROFIL_UNWIND_SP, .offset = mark },
	};
}

/* Each test has a home of its own. */
FIXTURE(cache)
{
	char home[64];
	char directory[128];
	int fd;
};

FIXTURE_SETUP(cache)
{
	strcpy(self->home, "/tmp/profil-cache-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->home));
	snprintf(self->directory, sizeof(self->directory),
		 "%s/.cache/profil/unwind", self->home);
	setenv("HOME", self->home, 1);
	unsetenv("XDG_CACHE_HOME");
	self->fd = unwind_cache_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(cache)
{
	char command[128];

	close(self->fd);
	snprintf(command, sizeof(command), "rm -rf %s", self->home);
	EXPECT_EQ(0, system(command));
}

/* What the table in the cache has been marked with; 0 if there is none */
static int32_t get(int fd)
{
	size_t bytes = 0;
	struct table *table = unwind_cache_get(fd, id, sizeof(id), &bytes);
	int32_t mark = table ? table->rules[0].offset : 0;

	if (table && bytes != sizeof(*table))
		mark = -1;
	free(table);
	return mark;
}

static void put(int fd, int32_t mark)
{
	struct table table = table_of(mark);

	unwind_cache_put(fd, id, sizeof(id), &table, sizeof(table));
}

static unsigned int count_entries(const char *directory)
{
	DIR *list = opendir(directory);
	unsigned int nr = 0;

	while (readdir(list))
		nr++;
	closedir(list);
	return nr - 2;
}

TEST_F(cache, returns_what_was_put)
{
	struct stat status;
	char path[PATH_MAX];

	EXPECT_EQ(0, get(self->fd));
	put(self->fd, 7);
	EXPECT_EQ(7, get(self->fd));
	put(self->fd, 8);
	EXPECT_EQ(8, get(self->fd));
	EXPECT_EQ(1, count_entries(self->directory));
	snprintf(path, sizeof(path), "%s/" NAME, self->directory);
	ASSERT_EQ(0, stat(path, &status));
	EXPECT_EQ(0600, status.st_mode & 07777);
	ASSERT_EQ(0, stat(self->directory, &status));
	EXPECT_EQ(0700, status.st_mode & 07777);
}

TEST_F(cache, returns_the_files_of_a_program)
{
	static const char files[] = "/usr/bin/as\n/usr/bin/ld\n";
	char *kept;

	EXPECT_EQ(NULL, unwind_cache_get_files(self->fd, id, sizeof(id)));
	put(self->fd, 7);
	unwind_cache_put_files(self->fd, id, sizeof(id), files);
	kept = unwind_cache_get_files(self->fd, id, sizeof(id));
	EXPECT_STREQ(files, kept);
	EXPECT_EQ(7, get(self->fd));
	free(kept);
	unwind_cache_put_files(self->fd, id, sizeof(id), "");
	EXPECT_EQ(NULL, unwind_cache_get_files(self->fd, id, sizeof(id)));
	EXPECT_EQ(2, count_entries(self->directory));
}

TEST_F(cache, is_where_the_environment_says)
{
	char path[PATH_MAX];
	int fd;

	put(self->fd, 7);
	snprintf(path, sizeof(path), "%s/other", self->home);
	ASSERT_EQ(0, mkdir(path, 0700));
	setenv("XDG_CACHE_HOME", path, 1);
	fd = unwind_cache_open();
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, get(fd));
	close(fd);
	/* Not in a relative path, see the XDG specification */
	setenv("XDG_CACHE_HOME", "other", 1);
	fd = unwind_cache_open();
	EXPECT_EQ(7, get(fd));
	close(fd);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	EXPECT_EQ(-1, unwind_cache_open());
	setenv("HOME", "/nonexistent", 1);
	EXPECT_EQ(-1, unwind_cache_open());
}

TEST_F(cache, is_made_where_the_environment_says)
{
	char path[PATH_MAX];
	struct stat status;
	int fd;

	snprintf(path, sizeof(path), "%s/new", self->home);
	setenv("XDG_CACHE_HOME", path, 1);
	fd = unwind_cache_open();
	ASSERT_LE(0, fd);
	close(fd);
	ASSERT_EQ(0, stat(path, &status));
	EXPECT_EQ(0700, status.st_mode & 07777);
}

TEST_F(cache, without_one_there_are_no_tables)
{
	put(-1, 7);
	EXPECT_EQ(0, get(-1));
}

/* Any byte may be wrong: what the reader takes is a table nevertheless. */
TEST_F(cache, damaged_tables_are_not_returned)
{
	const struct table table = table_of(7);
	size_t size;
	int fd;

	for (size = 0; size <= sizeof(table); size++) {
		fd = openat(self->fd, NAME, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		ASSERT_EQ(size, write(fd, &table, size));
		close(fd);
		EXPECT_EQ(size < sizeof(table) ? 0 : 7, get(self->fd));
	}
	fd = openat(self->fd, NAME, O_WRONLY);
	ASSERT_EQ(4, pwrite(fd, "\xff\xff\xff\xff", 4,
			    offsetof(struct table, index[1])));
	close(fd);
	EXPECT_EQ(0, get(self->fd));
	put(self->fd, 8);
	EXPECT_EQ(8, get(self->fd));
}

TEST_F(cache, what_others_may_write_is_not_used)
{
	put(self->fd, 7);
	ASSERT_EQ(0, fchmodat(self->fd, NAME, 0620, 0));
	EXPECT_EQ(0, get(self->fd));
	ASSERT_EQ(0, fchmodat(self->fd, NAME, 0602, 0));
	EXPECT_EQ(0, get(self->fd));
	ASSERT_EQ(0, fchmodat(self->fd, NAME, 0600, 0));
	EXPECT_EQ(7, get(self->fd));
	ASSERT_EQ(0, renameat(self->fd, NAME, self->fd, "target"));
	ASSERT_EQ(0, symlinkat("target", self->fd, NAME));
	EXPECT_EQ(0, get(self->fd));
	ASSERT_EQ(0, chmod(self->directory, 0720));
	EXPECT_EQ(-1, unwind_cache_open());
}

TEST_F(cache, what_belongs_to_others_is_not_used)
{
	char path[PATH_MAX];

	if (getuid())
		SKIP(return, "needs root");
	put(self->fd, 7);
	ASSERT_EQ(0, fchownat(self->fd, NAME, 65534, 65534, 0));
	EXPECT_EQ(0, get(self->fd));
	snprintf(path, sizeof(path), "%s/.cache", self->home);
	ASSERT_EQ(0, chown(path, 65534, 65534));
	EXPECT_EQ(-1, unwind_cache_open());
	/* Nor is anything made in it */
	ASSERT_EQ(0, chown(self->home, 65534, 65534));
	snprintf(path, sizeof(path), "rm -rf %s/.cache", self->home);
	ASSERT_EQ(0, system(path));
	EXPECT_EQ(-1, unwind_cache_open());
	EXPECT_EQ(0, count_entries(self->home));
}

/* Of a file system that is full, or read-only */
TEST_F(cache, without_room_nothing_is_left)
{
	if (getuid())
		SKIP(return, "needs root");
	if (unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", self->directory, "tmpfs", 0,
		  "size=4k,mode=700,nr_inodes=2"))
		SKIP(return, "needs a mount namespace");
	close(self->fd);
	self->fd = unwind_cache_open();
	ASSERT_LE(0, self->fd);
	put(self->fd, 7);
	EXPECT_EQ(7, get(self->fd));
	put(self->fd, 8);
	EXPECT_EQ(7, get(self->fd));
	EXPECT_EQ(1, count_entries(self->directory));
	ASSERT_EQ(0, mount("tmpfs", self->directory, NULL,
			   MS_REMOUNT | MS_RDONLY, NULL));
	EXPECT_EQ(7, get(self->fd));
	put(self->fd, 8);
	EXPECT_EQ(7, get(self->fd));
	EXPECT_EQ(0, umount2(self->directory, MNT_DETACH));
}

/* Files of 8 MB each, without contents, used one after another */
static void fill(struct __test_metadata *_metadata, int cache, unsigned int nr)
{
	struct timespec used[2] = { 0 };
	char name[16];
	unsigned int i;
	int fd;

	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%02x.2", i);
		fd = openat(cache, name, O_WRONLY | O_CREAT, 0600);
		ASSERT_LE(0, fd);
		used[1].tv_sec = used[0].tv_sec = 1000 + i;
		ASSERT_EQ(0, ftruncate(fd, 8 << 20));
		ASSERT_EQ(0, futimens(fd, used));
		close(fd);
	}
}

TEST_F(cache, removes_what_was_not_used_for_longest)
{
	put(self->fd, 7);
	fill(_metadata, self->fd, 15);
	put(self->fd, 7);
	EXPECT_EQ(16, count_entries(self->directory));
	fill(_metadata, self->fd, 18);
	put(self->fd, 8);
	/* 96 MB of files are left, with that which is in use */
	EXPECT_EQ(12, count_entries(self->directory));
	EXPECT_EQ(8, get(self->fd));
	EXPECT_NE(0, faccessat(self->fd, "06.2", F_OK, 0));
	EXPECT_EQ(0, faccessat(self->fd, "07.2", F_OK, 0));
}

TEST_F(cache, use_is_a_reason_to_stay)
{
	const struct timespec long_ago[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	put(self->fd, 7);
	ASSERT_EQ(0, utimensat(self->fd, NAME, long_ago, 0));
	EXPECT_EQ(7, get(self->fd));
	fill(_metadata, self->fd, 18);
	unwind_cache_put(self->fd, (const uint8_t *)"x", 1, "", 1);
	EXPECT_EQ(7, get(self->fd));
}

/* Readers never see a part of a table. */
TEST_F(cache, many_writers_and_a_reader)
{
	unsigned int i, none = 0;
	int status;

	put(self->fd, 1);
	for (i = 1; i <= 3; i++) {
		if (fork())
			continue;
		for (int j = 0; j < 300; j++)
			put(self->fd, i);
		_exit(0);
	}
	for (i = 0; i < 1000; i++)
		none += get(self->fd) < 1;
	EXPECT_EQ(0, none);
	while (wait(&status) > 0)
		EXPECT_EQ(0, status);
	EXPECT_EQ(1, count_entries(self->directory));
}

/* --- tables of files */

static size_t bytes_of(const char *path, bool is_ours)
{
	int fd = open(path, O_RDONLY);
	size_t bytes = 0;
	void *table = fd < 0 ? NULL : unwind_file(fd, is_ours, &bytes);
	struct profil_unwind_table checked;

	if (table && !profil_unwind_open(&checked, table, bytes))
		bytes = 0;
	free(table);
	close(fd);
	return table ? bytes : 0;
}

TEST_F(cache, has_tables_of_files)
{
	size_t bytes = bytes_of("/proc/self/exe", true);

	EXPECT_LT(0, bytes);
	EXPECT_EQ(1, count_entries(self->directory));
	EXPECT_EQ(bytes, bytes_of("/proc/self/exe", true));
	EXPECT_EQ(0, bytes_of("/etc/passwd", true));
	EXPECT_EQ(1, count_entries(self->directory));
}

/* It could claim to be the C library, for all other programs. */
TEST_F(cache, has_no_tables_of_files_of_others)
{
	char path[128], command[384];

	if (getuid())
		SKIP(return, "needs root");
	snprintf(path, sizeof(path), "%s/program", self->home);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s && chown 65534 %s",
		 getpid(), path, path);
	ASSERT_EQ(0, system(command));
	EXPECT_LT(0, bytes_of(path, true));
	EXPECT_EQ(0, count_entries(self->directory));
}

/* The root of a container may give it any owner. */
TEST_F(cache, has_no_tables_of_files_of_containers)
{
	EXPECT_LT(0, bytes_of("/proc/self/exe", false));
	EXPECT_EQ(0, count_entries(self->directory));
}

TEST_HARNESS_MAIN
