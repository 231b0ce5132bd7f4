// SPDX-License-Identifier: GPL-2.0-only
/*
 * save.c - profiles that cannot be written as they are
 */
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "profil/save.h"
#include "util/file.h"

#define PATH	"/tmp/profil-save-%d.prf"

FIXTURE(save)
{
	struct session session;
	struct prf_exec *exec;
	struct prf_dso *dso;
};

FIXTURE_SETUP(save)
{
	ASSERT_LE(0, asprintf(&self->session.output, PATH, getpid()));
	ASSERT_EQ(0, save_check(&self->session));
	self->session.no_names = true;
	self->session.prf.period_ns = 1000000;
	self->session.prf.clock = PRF_CLOCK_PERF;
	self->session.prf.command = strdup("program");
	self->exec = prf_add_exec(&self->session.prf, "program", "");
	ASSERT_NE(NULL, self->exec);
	self->dso = prf_add_dso(self->exec, "/nonexistent");
	ASSERT_NE(NULL, self->dso);
	self->dso->kind = PRF_PROGRAM;
	self->dso->bucket_bytes = 4;
	self->dso->start = 4096;
	self->dso->end = 1 << 20;
	self->exec->ticks = 3;
	self->exec->counted = 3;
	ASSERT_EQ(0, prf_add_bucket(self->dso, 64, 3));
}

FIXTURE_TEARDOWN(save)
{
	prf_free(&self->session.prf);
	unlink(self->session.output);
	free(self->session.output);
}

/* As those of a build of some hours, by perf events */
TEST_F(save, without_chains_if_there_are_too_many)
{
	struct prf *prf = &self->session.prf, read = {};
	struct prf_error error;
	uint32_t caller = 0;
	size_t size, i;
	void *data;

	prf->flags |= PRF_FLAG_CHAINS;
	for (i = 1; i < PRF_CHAIN_DEPTH; i++) {
		ASSERT_NE(NULL, prf_add_node(self->exec, caller, 0, 8 * i, 0, 0));
		caller = i;
	}
	for (i = 0; i <= PRF_FRAMES_MOST / PRF_CHAIN_DEPTH; i++)
		if (!prf_add_node(self->exec, caller, 0, 64, i ? 0 : 3, 0))
			abort();
	EXPECT_EQ(0, save_run(&self->session));
	data = file_read(self->session.output, &size);
	ASSERT_NE(NULL, data);
	ASSERT_EQ(0, prf_read(data, size, &read, &error));
	free(data);
	EXPECT_EQ(0, read.flags & PRF_FLAG_CHAINS);
	ASSERT_EQ(1, read.nr);
	EXPECT_EQ(3, read.execs[0].ticks);
	EXPECT_EQ(3, prf_dso_ticks(&read.execs[0].dsos[0]));
	prf_free(&read);
}

/* Save as on a disk that is full. */
static int save_without_room(FIXTURE_DATA(save) *self)
{
	struct rlimit limit, less;
	int failed;

	signal(SIGXFSZ, SIG_IGN);
	if (getrlimit(RLIMIT_FSIZE, &limit))
		abort();
	less = limit;
	less.rlim_cur = 64;
	if (setrlimit(RLIMIT_FSIZE, &less))
		abort();
	failed = save_run(&self->session);
	if (setrlimit(RLIMIT_FSIZE, &limit))
		abort();
	return failed;
}

/* Files with the name of the profile, or with one that begins so */
static size_t count_files(FIXTURE_DATA(save) *self)
{
	char pattern[PATH_MAX];
	glob_t found;
	size_t nr;

	snprintf(pattern, sizeof(pattern), "%s*", self->session.output);
	nr = glob(pattern, 0, NULL, &found) ? 0 : found.gl_pathc;
	globfree(&found);
	return nr;
}

/* Is there a profile of so many ticks? */
static bool has_ticks(FIXTURE_DATA(save) *self, uint64_t ticks)
{
	struct prf_error error;
	struct prf read = {};
	bool has = false;
	size_t size;
	void *data = file_read(self->session.output, &size);

	if (data && !prf_read(data, size, &read, &error)) {
		has = read.nr == 1 && read.execs[0].ticks == ticks;
		prf_free(&read);
	}
	free(data);
	return has;
}

TEST_F(save, and_leave_no_part_of_a_file)
{
	self->session.made = false;
	EXPECT_EQ(-1, save_without_room(self));
	EXPECT_EQ(0, count_files(self));
}

TEST_F(save, in_the_place_of_a_whole_profile_only)
{
	struct stat status;

	ASSERT_EQ(0, save_run(&self->session));
	self->session.made = false;
	ASSERT_EQ(0, chmod(self->session.output, 0640));
	self->exec->ticks = 4;
	self->exec->lost = 1;
	EXPECT_EQ(-1, save_without_room(self));
	EXPECT_TRUE(has_ticks(self, 3));
	EXPECT_EQ(0, save_run(&self->session));
	EXPECT_TRUE(has_ticks(self, 4));
	EXPECT_EQ(1, count_files(self));
	ASSERT_EQ(0, stat(self->session.output, &status));
	EXPECT_EQ(0640, status.st_mode & 07777);
}

/* The file that a link leads to has the profile, and the link stays. */
TEST_F(save, where_a_link_leads)
{
	struct stat status;
	char *target;

	ASSERT_LE(0, asprintf(&target, "%s.target", self->session.output));
	ASSERT_EQ(0, rename(self->session.output, target));
	ASSERT_EQ(0, symlink(target, self->session.output));
	self->session.named = true;
	EXPECT_EQ(0, save_run(&self->session));
	EXPECT_TRUE(has_ticks(self, 3));
	ASSERT_EQ(0, lstat(self->session.output, &status));
	EXPECT_TRUE(S_ISLNK(status.st_mode));
	EXPECT_EQ(2, count_files(self));
	unlink(target);
	free(target);
}

/* Another name beside one of the greatest length would be too long. */
TEST_F(save, into_the_file_itself_where_none_can_be_beside_it)
{
	struct stat status;
	ino_t inode;
	char *path;

	ASSERT_LE(0, asprintf(&path, "/tmp/profil-save-%0*d", NAME_MAX - 12,
			      getpid()));
	ASSERT_EQ(0, rename(self->session.output, path));
	free(self->session.output);
	self->session.output = path;
	ASSERT_EQ(0, stat(path, &status));
	inode = status.st_ino;
	EXPECT_EQ(0, save_run(&self->session));
	EXPECT_TRUE(has_ticks(self, 3));
	ASSERT_EQ(0, stat(path, &status));
	EXPECT_EQ(inode, status.st_ino);
}

TEST_HARNESS_MAIN
