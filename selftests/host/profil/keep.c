// SPDX-License-Identifier: GPL-2.0-only
/*
 * keep.c - limits of the process that reads names from files: whatever it does,
 * profil ends, and has its profile
 */
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "profil/keep.h"
#include "symbolize/collect.h"

#define CHUNK		(16ULL << 20)
#define MANY		512

/* What the child does, and what it says of that */
static void *(*act)(size_t *size);
static size_t *said;

/* Time passes so many times as fast for profil, once the child has begun. */
static unsigned int speed = 1;
static uint64_t begun_ns;

int __real_poll(struct pollfd *fds, nfds_t nr, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t nr, int timeout_ms)
{
	return __real_poll(fds, nr, *said ? timeout_ms / (int)speed : timeout_ms);
}

uint64_t __real_now_ns(void);
uint64_t __wrap_now_ns(void)
{
	uint64_t now = __real_now_ns();

	if (!*said)
		return now;
	if (!begun_ns)
		begun_ns = now;
	return now + (now - begun_ns) * (speed - 1);
}

void *__wrap_collect_names(const struct prf *prf, const bool *chosen,
			   const char *const *files, bool functions_only,
			   size_t most, size_t *size)
{
	++*said;
	return act(size);
}

static void *sleep_forever(size_t *size)
{
	while (pause() < 0)
		;
	return NULL;
}

static void *tell_pid(size_t *size)
{
	*said = getpid();
	return sleep_forever(size);
}

static void *hide(size_t *size)
{
	/* The pipe */
	close(STDIN_FILENO);
	return sleep_forever(size);
}

static void *take_memory(size_t *size)
{
	for (*said = 0; *said < MANY; ++*said)
		if (mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			 0) == MAP_FAILED)
			break;
	return NULL;
}

static void *crash(size_t *size)
{
	/* Without the report of a sanitizer */
	signal(SIGABRT, SIG_DFL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){});
	abort();
}

static void *write_nonsense(size_t *size)
{
	*size = 5;
	return strdup("none");
}

static size_t capabilities(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, data))
		return 0;
	return data[0].effective | data[0].permitted |
	       (size_t)(data[1].effective | data[1].permitted) << 32;
}

static void *tell_capabilities(size_t *size)
{
	*said = capabilities();
	return write_nonsense(size);
}

/* More than a profile may have */
static void *write_much(size_t *size)
{
	*size = PRF_NAMES_MOST + 4096;
	return calloc(1, *size);
}

static void *write_nothing(size_t *size)
{
	*size = 0;
	return calloc(1, 1);
}

/* A name that takes more than half of what a profile can have */
static void *name_much(size_t *size)
{
	static char name[PRF_NAMES_MOST / 2 + 4096];
	struct prf_function function = { 0, 16, name };
	struct prf_names names = { .nr_functions = 1, .functions = &function };

	memset(name, 'x', sizeof(name) - 1);
	return prf_names_pack(&names, 1, size);
}

/* Of two users' files, those of one end the process that reads them. */
#define HOSTILE_USER	12345

static void *name_little(size_t *size)
{
	struct prf_function function = { 0, 16, "main" };
	struct prf_names names = { .nr_functions = 1, .functions = &function };

	return prf_names_pack(&names, 1, size);
}

/* The other one is the first. */
static void *crash_or_name(size_t *size)
{
	return geteuid() != HOSTILE_USER ? crash(size) : name_little(size);
}

static void *sleep_or_name(size_t *size)
{
	return geteuid() != HOSTILE_USER ? sleep_forever(size) :
					   name_little(size);
}

static void *name_or_write_nonsense(size_t *size)
{
	return geteuid() == HOSTILE_USER ? write_nonsense(size) :
					   name_little(size);
}

static void *much_or_name(size_t *size)
{
	return geteuid() != HOSTILE_USER ? name_much(size) : name_little(size);
}

FIXTURE(keep)
{
	struct session session;
	struct prf prf;
};

/* A profile with a tick in this program */
FIXTURE_SETUP(keep)
{
	char path[PATH_MAX] = "";
	struct prf_dso *dso;

	said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, said);
	memset(&self->session, 0, sizeof(self->session));
	ASSERT_EQ(0, prf_init(&self->prf, "keep"));
	ASSERT_LT(0, readlink("/proc/self/exe", path, sizeof(path) - 1));
	dso = prf_add_dso(prf_add_exec(&self->prf, "keep", ""), path);
	ASSERT_NE(NULL, dso);
	dso->kind = PRF_PROGRAM;
	dso->end = 4096;
	dso->bucket_bytes = 4;
	ASSERT_EQ(0, prf_add_bucket(dso, 0, 1));
}

FIXTURE_TEARDOWN(keep)
{
	prf_free(&self->prf);
	munmap(said, sizeof(*said));
}

/* Has the profile no names, and is no child left? */
static bool nothing_is_kept(FIXTURE_DATA(keep) *self)
{
	keep_names(&self->session, &self->prf);
	return *said && !self->prf.nr_blocks &&
		waitpid(-1, NULL, WNOHANG) < 0;
}

TEST_F(keep, takes_no_longer_than_a_minute)
{
	act = sleep_forever;
	speed = 20;
	EXPECT_TRUE(nothing_is_kept(self));
	EXPECT_GT(600 * 1000000000ULL, __wrap_now_ns() - begun_ns);
}

static void *send_signal(void *unused)
{
	while (!*(volatile size_t *)said)
		usleep(1000);
	kill(getpid(), SIGTERM);
	return NULL;
}

/* The profile itself is complete, and is written. */
TEST_F(keep, ends_by_a_signal)
{
	int messages = memfd_create("messages", 0), before;
	char text[256] = "";
	pthread_t thread;

	act = sleep_forever;
	session_heed();
	before = dup(STDERR_FILENO);
	ASSERT_LE(0, dup2(messages, STDERR_FILENO));
	ASSERT_EQ(0, pthread_create(&thread, NULL, send_signal, NULL));
	EXPECT_TRUE(nothing_is_kept(self));
	pthread_join(thread, NULL);
	dup2(before, STDERR_FILENO);
	EXPECT_LT(0, pread(messages, text, sizeof(text) - 1, 0));
	EXPECT_NE(NULL, strstr(text, "not in the profile: a signal came\n"));
}

TEST_F(keep, does_not_go_on_when_it_has_closed_the_pipe)
{
	act = hide;
	EXPECT_TRUE(nothing_is_kept(self));
}

TEST_F(keep, ends_with_profil)
{
	pid_t profil, reader, ended = 0;
	int i;

	/* Its own child is this process's, then */
	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
	act = tell_pid;
	profil = fork();
	ASSERT_LE(0, profil);
	if (!profil) {
		keep_names(&self->session, &self->prf);
		_exit(0);
	}
	while (*(volatile size_t *)said <= 1)
		usleep(1000);
	reader = *said;
	kill(profil, SIGKILL);
	ASSERT_EQ(profil, waitpid(profil, NULL, 0));
	for (i = 0; i < 200 && !ended; i++) {
		usleep(50000);
		ended = waitpid(reader, NULL, WNOHANG);
	}
	EXPECT_EQ(reader, ended);
	if (!ended)
		kill(reader, SIGKILL);
}

TEST_F(keep, has_no_more_than_a_gibibyte_of_memory)
{
	act = take_memory;
	EXPECT_TRUE(nothing_is_kept(self));
	EXPECT_LE(*said * CHUNK, 1ULL << 30);
	EXPECT_GE(*said * CHUNK, 900ULL << 20);
}

TEST_F(keep, may_crash)
{
	act = crash;
	EXPECT_TRUE(nothing_is_kept(self));
}

TEST_F(keep, may_write_more_than_a_profile_can_have)
{
	act = write_much;
	EXPECT_TRUE(nothing_is_kept(self));
}

TEST_F(keep, may_write_what_are_no_names)
{
	act = write_nonsense;
	EXPECT_TRUE(nothing_is_kept(self));
}

TEST_F(keep, may_write_nothing)
{
	act = write_nothing;
	EXPECT_TRUE(nothing_is_kept(self));
}

TEST_F(keep, has_no_capability_but_to_read_files)
{
	if (geteuid())
		SKIP(return, "needs root");
	act = tell_capabilities;
	keep_names(&self->session, &self->prf);
	/* Root of a container may lack that one */
	EXPECT_EQ(capabilities() & 1UL << CAP_DAC_READ_SEARCH, *said);
}

/* Have a tick in a file of another user, too: root reads that on its own. */
static int add_file(struct prf *prf, char *path)
{
	int fd = mkstemp(path);
	struct prf_dso *dso = prf_add_dso(&prf->execs[0], path);

	if (fd < 0 || !dso || fchown(fd, HOSTILE_USER, HOSTILE_USER))
		return -1;
	dso->kind = PRF_LIBRARY;
	dso->start = 1 << 20;
	dso->end = dso->start + 4096;
	dso->bucket_bytes = 4;
	return prf_add_bucket(dso, 0, 1) || close(fd) ? -1 : 0;
}

/* Nor does a file of one container take the names of others: all are read as nobody. */
TEST_F(keep, reads_each_mount_namespace_on_its_own)
{
	char path[] = "/nonexistent";
	struct prf_dso *dso;
	int i;

	if (geteuid())
		SKIP(return, "needs root");
	self->session.target = TARGET_MACHINE;
	for (i = 1; i < 5; i++) {
		dso = prf_add_dso(&self->prf.execs[0], path);
		ASSERT_NE(NULL, dso);
		dso->kind = PRF_LIBRARY;
		dso->mount_ns = i / 2 + 1;
		ASSERT_EQ(0, prf_add_bucket(dso, 0, 1));
	}
	act = write_nonsense;
	keep_names(&self->session, &self->prf);
	EXPECT_EQ(4, *said);
}

/* Whatever the reader of one user's files does, the other one's names are kept. */
TEST_F(keep, costs_the_files_of_others_no_names)
{
	static void *(*const acts[])(size_t *size) = {
		crash_or_name, sleep_or_name, name_or_write_nonsense,
		much_or_name,
	};
	const struct keep_limits limits = {
		.seconds = 60, .bytes = 1ULL << 30,
	};
	char path[] = "/tmp/profil-keep-XXXXXX";
	size_t i;

	if (geteuid())
		SKIP(return, "needs root");
	self->session.target = TARGET_MACHINE;
	ASSERT_EQ(0, add_file(&self->prf, path));
	for (i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		act = acts[i];
		/* But those that read must have the time that they need */
		speed = act == sleep_or_name ? 3 : 1;
		*said = 0;
		EXPECT_NE(NULL, keep_within(&self->session, &self->prf,
					    &limits));
		EXPECT_EQ(2, *said);
		EXPECT_EQ(1, self->prf.nr_blocks);
		prf_drop_names(&self->prf);
	}
	speed = 1;
	unlink(path);
}

TEST_HARNESS_MAIN
