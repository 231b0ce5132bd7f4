// SPDX-License-Identifier: GPL-2.0-only
/*
 * preload.c - programs that do not know this library
 *
 * They are linked only with the C library and call its profil() and sprofil().
 * LD_PRELOAD=libprofil-preload.so replaces these by ours; the same programs
 * without it show that this makes a difference. PROFIL_BEHAVIOUR chooses the
 * behaviour.
 */
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

/* Both outputs of a program */
struct said {
	char out[1000];
	char err[1000];
};

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

static struct said ask(struct __test_metadata *_metadata, const char *path,
		       const char *preload, const char *library,
		       const char *behaviour)
{
	int out[2], err[2];
	struct said said;
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
	take(out[0], said.out, sizeof(said.out));
	take(err[0], said.err, sizeof(said.err));
	EXPECT_EQ(0, wait_child(child));
	return said;
}

/* Of a program that makes every kind of call */
static struct said ask_preloaded(struct __test_metadata *_metadata,
				 const char *preload, const char *behaviour)
{
	char path[4096];

	helper_path(path, sizeof(path), "behaviour");
	return ask(_metadata, path, preload, NULL, behaviour);
}

#define BY_DEFAULT \
	" plain:0x1/2/10000 one:off large:0 null:off none:0 first:22" \
	" 0:0x0/2/10000 1:0x0/4/10000 2:0x0/2/1000 stop:off\n"

FIXTURE(behaviour) {
};

/* @name: in PROFIL_BEHAVIOUR, which is not set for NULL */
FIXTURE_VARIANT(behaviour) {
	const char *name;
	const char *out;
	const char *err;
};

FIXTURE_SETUP(behaviour)
{
}

FIXTURE_TEARDOWN(behaviour)
{
}

FIXTURE_VARIANT_ADD(behaviour, by_default) {
	NULL, BY_DEFAULT, ""
};

FIXTURE_VARIANT_ADD(behaviour, without_a_name) {
	"", BY_DEFAULT, ""
};

FIXTURE_VARIANT_ADD(behaviour, of_svr4) {
	"svr4",
	" plain:0x4c/2/10000 one:off large:0 null:0x4c/2/10000 none:0 first:22 0:0x0/2/10000 1:0x0/4/10000 2:0x0/2/1000 stop:off\n",
	""
};

FIXTURE_VARIANT_ADD(behaviour, of_bsd) {
	"bsd",
	" plain:0x51/2/10000 one:0x51/2/10000 large:22 null:14 none:0 first:22 0:0x0/2/10000 1:0x0/4/10000 2:0x0/2/1000 stop:off\n",
	""
};

FIXTURE_VARIANT_ADD(behaviour, of_irix) {
	"irix",
	" plain:0x0/2/10000 one:off large:0 null:0x0/2/10000 none:7 first:22 0:22 1:0x0/2/10000 2:0x0/4/10000 stop:off\n",
	""
};

FIXTURE_VARIANT_ADD(behaviour, of_glibc) {
	"glibc",
	" plain:0x1/2/10000 one:off large:0 null:off none:0 first:0x20/4/10000 0:0x20/2/10000 1:0x20/4/10000 2:0x20/2/1000 stop:off\n",
	""
};

FIXTURE_VARIANT_ADD(behaviour, of_linux099) {
	"linux099",
	" plain:0x46/2/10000 one:off large:0 null:0x46/2/10000 none:0 first:22 0:0x0/2/10000 1:0x0/4/10000 2:0x0/2/1000 stop:off\n",
	""
};

/* Every call fails, and one line gives the reason. */
FIXTURE_VARIANT_ADD(behaviour, of_nobody) {
	"svr5",
	" plain:22 one:22 large:22 null:22 none:22 first:22 0:22 1:22 2:22 stop:22\n",
	"libprofil-preload.so: PROFIL_BEHAVIOUR is none of svr4, bsd, irix, glibc, linux099: there is no profile\n"
};

TEST_F(behaviour, of_every_call)
{
	struct said said = ask_preloaded(_metadata, PRELOAD, variant->name);

	EXPECT_STREQ(variant->out, said.out);
	EXPECT_STREQ(variant->err, said.err);
}

/* A program that does not profile gets no message. */
TEST(behaviour_of_nobody_but_no_profile)
{
	struct said said = ask(_metadata, "/bin/true", PRELOAD, NULL, "svr5");

	EXPECT_STREQ("", said.err);
}

/* A program that is linked with the library has chosen its entry point. */
TEST(behaviour_is_of_no_concern_to_the_library)
{
	struct said said = ask_preloaded(_metadata, "libprofil.so.0", "bsd");

	EXPECT_STREQ(BY_DEFAULT, said.out);
	said = ask_preloaded(_metadata, "libprofil.so.0", "svr5");
	EXPECT_STREQ(BY_DEFAULT, said.out);
	EXPECT_STREQ("", said.err);
}

/*
 * A program with other rights than its caller's. The dynamic linker preloads
 * only installed libraries into such programs, so this one loads the library
 * itself.
 */
TEST(behaviour_in_secure_execution)
{
	const char *directory = getenv("LD_LIBRARY_PATH");
	char path[] = "/tmp/profil-XXXXXX";
	char library[4096], helper[4096], program[100];
	struct said said;

	if (geteuid() || !directory)
		SKIP(return, "needs root, and the library's place");
	snprintf(library, sizeof(library), "%.*s/%s",
		 (int)strcspn(directory, ":"), directory, PRELOAD);
	helper_path(helper, sizeof(helper), "behaviour");
	ASSERT_TRUE(mkdtemp(path));
	EXPECT_EQ(0, chmod(path, 0755));
	snprintf(program, sizeof(program), "%s/behaviour", path);
	ASSERT_EQ(0, copy_file(helper, program, 0755));

	said = ask(_metadata, program, NULL, library, "svr5");
	EXPECT_STRNE("", said.err);
	EXPECT_EQ(0, chown(program, NOBODY, NOBODY));
	EXPECT_EQ(0, chmod(program, 04755));
	said = ask(_metadata, program, NULL, library, "svr5");
	EXPECT_STREQ(BY_DEFAULT, said.out);
	EXPECT_STREQ("", said.err);

	unlink(program);
	rmdir(path);
}

TEST_HARNESS_MAIN
