// SPDX-License-Identifier: GPL-2.0-only
/*
 * preload.c - programs that do not know this library
 *
 * They are linked only with the C library and call its profil() and sprofil().
 * LD_PRELOAD=libprofil-preload.so replaces these by ours; the same programs
 * without it show that this makes a difference. PROFIL_BEHAVIOUR chooses the
 * behaviour.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "preload.h"

/* The exit status of a program in the directory of this one. */
static int run(const char *preload, const char *function)
{
	char path[4096];
	pid_t child;

	helper_path(path, sizeof(path), "unmodified");
	child = fork_child();
	if (!child) {
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		execl(path, path, function, NULL);
		_exit(127);
	}
	return wait_child(child);
}

TEST(profil_by_the_c_library)
{
	/* 2: its timer runs */
	EXPECT_EQ(2, run(NULL, "profil"));
}

TEST(profil_preloaded)
{
	EXPECT_EQ(0, run(PRELOAD, "profil"));
}

TEST(sprofil_preloaded)
{
	EXPECT_EQ(0, run(PRELOAD, "sprofil"));
}

/* Some real programs call profil() this way; most behaviours accept it. */
TEST(profil_of_each_byte_on_the_stack)
{
	static const char *const behaviours[] = {
		"", "svr4", "irix", "glibc",
	};
	int i;

	for (i = 0; i < 4; i++) {
		setenv("PROFIL_BEHAVIOUR", behaviours[i], 1);
		EXPECT_EQ(0, run(PRELOAD, "stack"));
	}
	/* There such a scale is too large, and the call fails. */
	setenv("PROFIL_BEHAVIOUR", "bsd", 1);
	EXPECT_EQ(30, run(PRELOAD, "stack"));
}

TEST(sprofil_of_many_regions)
{
	EXPECT_EQ(0, run(PRELOAD, "many"));
	setenv("PROFIL_BEHAVIOUR", "glibc", 1);
	EXPECT_EQ(0, run(PRELOAD, "many"));
}

/* The library itself exports the same two functions. */
TEST(library_preloaded)
{
	EXPECT_EQ(0, run("libprofil.so.0", "profil"));
	EXPECT_EQ(0, run("libprofil.so.0", "profil"));
	EXPECT_EQ(0, run("libprofil.so.0", "sprofil"));
}

/* Both outputs of a program that makes every kind of call. */
FIXTURE(said) {
	char out[1000];
	char err[1000];
};

FIXTURE_SETUP(said)
{
}

FIXTURE_TEARDOWN(said)
{
}

static void take(int fd, char *to, size_t size)
{
	ssize_t length = 0, more;

	do {
		more = read(fd, to + length, size - 1 - length);
		length += more > 0 ? more : 0;
	} while (more > 0);
	to[length] = '\0';
	close(fd);
}

static void start(const char *path, const char *preload, const char *library,
		  const char *behaviour)
{
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	unsetenv("PROFIL_BEHAVIOUR");
	if (behaviour)
		setenv("PROFIL_BEHAVIOUR", behaviour, 1);
	execl(path, path, library, NULL);
	_exit(127);
}

static void ask(struct __test_metadata *_metadata, FIXTURE_DATA(said) *self,
		const char *path, const char *preload, const char *library,
		const char *behaviour)
{
	int out[2], err[2];
	pid_t child;

	ASSERT_EQ(0, pipe(out));
	ASSERT_EQ(0, pipe(err));
	child = fork_child();
	if (!child) {
		dup2(out[1], 1);
		dup2(err[1], 2);
		start(path, preload, library, behaviour);
	}
	close(out[1]);
	close(err[1]);
	take(out[0], self->out, sizeof(self->out));
	take(err[0], self->err, sizeof(self->err));
	EXPECT_EQ(0, wait_child(child));
}

static void ask_preloaded(struct __test_metadata *_metadata,
			  FIXTURE_DATA(said) *self, const char *preload,
			  const char *behaviour)
{
	char path[4096];

	helper_path(path, sizeof(path), "behaviour");
	ask(_metadata, self, path, preload, NULL, behaviour);
}

#define BY_DEFAULT \
	" plain:0x1/2/10000 one:off large:0 null:off none:0 first:22" \
	" 0:0x0/2/10000 1:0x0/4/10000 2:0x0/2/1000 stop:off\n"

TEST_F(said, behaviour_by_default)
{
	ask_preloaded(_metadata, self, PRELOAD, NULL);
	EXPECT_STREQ(BY_DEFAULT, self->out);
	EXPECT_STREQ("", self->err);
	ask_preloaded(_metadata, self, PRELOAD, "");
	EXPECT_STREQ(BY_DEFAULT, self->out);
	EXPECT_STREQ("", self->err);
}

TEST_F(said, behaviour_of_svr4)
{
	ask_preloaded(_metadata, self, PRELOAD, "svr4");
	EXPECT_STREQ(" plain:0x4c/2/10000 one:off large:0 null:0x4c/2/10000 none:0 first:22 0:0x0/2/10000 1:0x0/4/10000 2:0x0/2/1000 stop:off\n",
		     self->out);
	EXPECT_STREQ("", self->err);
}

TEST_F(said, behaviour_of_bsd)
{
	ask_preloaded(_metadata, self, PRELOAD, "bsd");
	EXPECT_STREQ(" plain:0x51/2/10000 one:0x51/2/10000 large:22 null:14 none:0 first:22 0:0x0/2/10000 1:0x0/4/10000 2:0x0/2/1000 stop:off\n",
		     self->out);
	EXPECT_STREQ("", self->err);
}

TEST_F(said, behaviour_of_irix)
{
	ask_preloaded(_metadata, self, PRELOAD, "irix");
	EXPECT_STREQ(" plain:0x0/2/10000 one:off large:0 null:0x0/2/10000 none:7 first:22 0:22 1:0x0/2/10000 2:0x0/4/10000 stop:off\n",
		     self->out);
	EXPECT_STREQ("", self->err);
}

TEST_F(said, behaviour_of_glibc)
{
	ask_preloaded(_metadata, self, PRELOAD, "glibc");
	EXPECT_STREQ(" plain:0x1/2/10000 one:off large:0 null:off none:0 first:0x20/4/10000 0:0x20/2/10000 1:0x20/4/10000 2:0x20/2/1000 stop:off\n",
		     self->out);
	EXPECT_STREQ("", self->err);
}

/* Every call fails, and one line gives the reason. */
TEST_F(said, behaviour_of_nobody)
{
	ask_preloaded(_metadata, self, PRELOAD, "svr5");
	EXPECT_STREQ(" plain:22 one:22 large:22 null:22 none:22 first:22 0:22 1:22 2:22 stop:22\n",
		     self->out);
	EXPECT_STREQ("libprofil-preload.so: PROFIL_BEHAVIOUR is none of svr4, bsd, irix, glibc, linux099: there is no profile\n",
		     self->err);
}

/* A program that does not profile gets no message. */
TEST_F(said, behaviour_of_nobody_but_no_profile)
{
	ask(_metadata, self, "/bin/true", PRELOAD, NULL, "svr5");
	EXPECT_STREQ("", self->err);
}

/* A program that is linked with the library has chosen its entry point. */
TEST_F(said, behaviour_is_of_no_concern_to_the_library)
{
	ask_preloaded(_metadata, self, "libprofil.so.0", "bsd");
	EXPECT_STREQ(BY_DEFAULT, self->out);
	ask_preloaded(_metadata, self, "libprofil.so.0", "svr5");
	EXPECT_STREQ(BY_DEFAULT, self->out);
	EXPECT_STREQ("", self->err);
}

static void copy(struct __test_metadata *_metadata, const char *to,
		 const char *from)
{
	char buffer[65536];
	int in = open(from, O_RDONLY);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0755);
	ssize_t length;

	ASSERT_LE(0, in);
	ASSERT_LE(0, out);
	while ((length = read(in, buffer, sizeof(buffer))) > 0)
		ASSERT_EQ(length, write(out, buffer, length));
	close(in);
	close(out);
}

/*
 * A program with other rights than its caller's. The dynamic linker preloads
 * only installed libraries into such programs, so this one loads the library
 * itself.
 */
TEST_F(said, behaviour_in_secure_execution)
{
	const char *directory = getenv("LD_LIBRARY_PATH");
	char path[] = "/tmp/profil-XXXXXX";
	char library[4096], helper[4096], program[100];

	if (geteuid() || !directory)
		SKIP(return, "needs root, and the library's place");
	snprintf(library, sizeof(library), "%.*s/%s",
		 (int)strcspn(directory, ":"), directory, PRELOAD);
	helper_path(helper, sizeof(helper), "behaviour");
	ASSERT_TRUE(mkdtemp(path));
	EXPECT_EQ(0, chmod(path, 0755));
	snprintf(program, sizeof(program), "%s/behaviour", path);
	copy(_metadata, program, helper);

	ask(_metadata, self, program, NULL, library, "svr5");
	EXPECT_STRNE("", self->err);
	EXPECT_EQ(0, chown(program, NOBODY, NOBODY));
	EXPECT_EQ(0, chmod(program, 04755));
	ask(_metadata, self, program, NULL, library, "svr5");
	EXPECT_STREQ(BY_DEFAULT, self->out);
	EXPECT_STREQ("", self->err);

	unlink(program);
	rmdir(path);
}

TEST_HARNESS_MAIN
