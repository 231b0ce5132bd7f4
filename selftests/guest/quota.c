// SPDX-License-Identifier: GPL-2.0-only
/*
 * quota.c - the administrator changes limits while the module runs
 *
 * max_profiles: a user that has as many profiles as allowed gets no more, and
 * further children live without one. restrict_fastprof: users get no ticks
 * faster than the default. Neither affects a profile that already runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"

NEEDS_ROOT;

#define PARAMETERS	"/sys/module/profil/parameters/"

static uint32_t counter;

static int start(uint64_t period_ns)
{
	struct profil_region region = overflow_bin(&counter, sizeof(counter));

	return set_regions(&region, 1, sizeof(counter), period_ns, 0);
}

static int get(const char *name, char *value, size_t size)
{
	FILE *file = fopen(name, "r");
	int bad = !file || !fgets(value, size, file);

	if (file)
		fclose(file);
	return bad;
}

static int put(const char *name, const char *value)
{
	FILE *file = fopen(name, "w");
	int bad = !file || fputs(value, file) < 0;

	if (file)
		bad |= fclose(file);
	return bad;
}

FIXTURE(quota) {
	uid_t user;
	uid_t other_user;
	char max_profiles[20];
	char restrict_fastprof[20];
};

/*
 * New users for each test: the kernel frees the profile of a dead process a
 * little later, together with its memory.
 */
FIXTURE_SETUP(quota)
{
	self->user = 100000 + getpid();
	self->other_user = 200000 + getpid();
	ASSERT_EQ(0, get(PARAMETERS "max_profiles", self->max_profiles,
			 sizeof(self->max_profiles)));
	ASSERT_EQ(0, get(PARAMETERS "restrict_fastprof",
			 self->restrict_fastprof,
			 sizeof(self->restrict_fastprof)));
}

FIXTURE_TEARDOWN(quota)
{
	EXPECT_EQ(0, put(PARAMETERS "max_profiles", self->max_profiles));
	EXPECT_EQ(0, put(PARAMETERS "restrict_fastprof",
			 self->restrict_fastprof));
}

/* Children of one user, each with a profile, as long as the pipe is open. */
struct crowd {
	pid_t children[4];
	int ready[2];
	int leave[2];
};

static void join_crowd(struct crowd *crowd, int nr, uid_t user)
{
	char byte;

	crowd->children[nr] = fork_child();
	if (!crowd->children[nr]) {
		close(crowd->leave[1]);
		if (become(user) || start(0))
			_exit(errno);
		if (write(crowd->ready[1], "", 1) != 1 ||
		    read(crowd->leave[0], &byte, 1))
			_exit(200);
		_exit(burn_ticks(1) ? 0 : 201);
	}
	if (read(crowd->ready[0], &byte, 1) != 1)
		crowd->children[nr] = -1;
}

static void gather(struct __test_metadata *_metadata, struct crowd *crowd,
		   int nr, uid_t user)
{
	int i;

	ASSERT_EQ(0, pipe(crowd->ready));
	ASSERT_EQ(0, pipe(crowd->leave));
	for (i = 0; i < nr; i++) {
		join_crowd(crowd, i, user);
		ASSERT_LT(0, crowd->children[i]);
	}
}

static void dismiss(struct __test_metadata *_metadata, struct crowd *crowd,
		    int nr)
{
	int i;

	close(crowd->leave[1]);
	for (i = 0; i < nr; i++)
		EXPECT_EQ(0, wait_child(crowd->children[i]));
}

/* errno of a start by this user, in a new process; 0 if it succeeded */
static int start_as(uid_t user)
{
	pid_t child = fork_child();

	if (!child) {
		if (become(user))
			_exit(202);
		_exit(start(0) || profil_stop(NULL, NULL, 0) ? errno : 0);
	}
	return wait_child(child);
}

/*
 * The same after other processes have died: if one of them has a pending tick,
 * the kernel frees its memory and its profile only when it has flushed that
 * tick.
 */
static int start_soon_as(uid_t user)
{
	int tries = 10000, error;

	while ((error = start_as(user)) == EAGAIN && --tries)
		usleep(1000);
	return error;
}

TEST_F(quota, as_many_profiles_as_allowed)
{
	struct crowd crowd;
	struct profil_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, put(PARAMETERS "max_profiles", "2"));
	EXPECT_OK(profil_info(&info));
	EXPECT_EQ(2, info.max_profiles);
	gather(_metadata, &crowd, 2, self->user);
	EXPECT_EQ(EAGAIN, start_as(self->user));
	EXPECT_EQ(0, start_as(self->other_user));
	dismiss(_metadata, &crowd, 2);
	EXPECT_EQ(0, start_soon_as(self->user));
}

/* The same in a PID namespace of root, as a set-user-ID program makes it. */
static int start_in_namespace_as(uid_t user)
{
	pid_t child = fork_child();

	if (!child)
		_exit(unshare(CLONE_NEWPID) ? 77 : start_as(user));
	return wait_child(child);
}

TEST_F(quota, is_for_all_pid_namespaces)
{
	struct crowd crowd;
	int result;

	ASSERT_EQ(0, put(PARAMETERS "max_profiles", "1"));
	gather(_metadata, &crowd, 1, self->user);
	result = start_in_namespace_as(self->other_user);
	if (result != 77) {
		EXPECT_EQ(0, result);
		EXPECT_EQ(EAGAIN, start_in_namespace_as(self->user));
	}
	dismiss(_metadata, &crowd, 1);
	if (result == 77)
		SKIP(return, "no PID namespaces");
}

/* The kernel forgets a user who has nothing: here another profile goes on. */
TEST_F(quota, one_that_ends_makes_room_beside_another)
{
	struct crowd crowd;

	ASSERT_EQ(0, put(PARAMETERS "max_profiles", "2"));
	gather(_metadata, &crowd, 2, self->user);
	EXPECT_EQ(EAGAIN, start_as(self->user));
	EXPECT_EQ(0, kill(crowd.children[1], SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_child(crowd.children[1]));
	EXPECT_EQ(0, start_soon_as(self->user));
	dismiss(_metadata, &crowd, 1);
}

/* A descriptor that a dead process used keeps nothing of it charged. */
TEST_F(quota, exit_frees_it_whatever_descriptors_are_open)
{
	struct profil_status status = { .size = sizeof(status) };
	int fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	struct profil_region region = overflow_bin(&counter, sizeof(counter));
	pid_t child;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, put(PARAMETERS "max_profiles", "1"));
	child = fork_child();
	ASSERT_LE(0, child);
	if (!child)
		_exit(become(self->user) ||
		      set_region_by(fd, &region, sizeof(counter), 0, 0));
	EXPECT_EQ(0, wait_child(child));
	EXPECT_EQ(0, start_soon_as(self->user));
	EXPECT_EQ(0, ioctl(fd, PROFIL_IOC_STATUS, &status));
	EXPECT_EQ(PROFIL_STATE_OFF, status.state);
	close(fd);
}

TEST_F(quota, replacing_is_always_allowed)
{
	pid_t child;

	ASSERT_EQ(0, put(PARAMETERS "max_profiles", "1"));
	child = fork_child();
	ASSERT_LE(0, child);
	if (!child) {
		EXPECT_EQ(0, become(self->user));
		EXPECT_OK(start(MS));
		EXPECT_OK(start(2 * MS));
		EXPECT_TRUE(burn_ticks(2));
		_exit(!__test_passed(_metadata));
	}
	EXPECT_EQ(0, wait_child(child));
}

TEST_F(quota, children_that_are_too_many_are_not_followed)
{
	pid_t child;
	int i;

	ASSERT_EQ(0, put(PARAMETERS "max_profiles", "1"));
	child = fork_child();
	ASSERT_LE(0, child);
	if (!child) {
		EXPECT_EQ(0, become(self->user));
		EXPECT_OK(start(MS));
		for (i = 1; i <= 10; i++) {
			pid_t grandchild = fork_child();

			ASSERT_LE(0, grandchild);
			if (!grandchild)
				_exit(status_now().state);
			EXPECT_EQ(PROFIL_STATE_OFF, wait_child(grandchild));
			EXPECT_EQ(i, status_now().unfollowed);
		}
		EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
		EXPECT_TRUE(burn_ticks(3));
		_exit(!__test_passed(_metadata));
	}
	EXPECT_EQ(0, wait_child(child));
}

TEST_F(quota, none_at_all)
{
	ASSERT_EQ(0, put(PARAMETERS "max_profiles", "0"));
	EXPECT_EQ(EAGAIN, start_as(self->user));
	EXPECT_EQ(EAGAIN, start_as(0));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
}

/* Running profiles go on when the limit sinks below their number. */
TEST_F(quota, limit_is_lowered_below_what_there_is)
{
	struct crowd crowd;

	gather(_metadata, &crowd, 3, self->user);
	ASSERT_EQ(0, put(PARAMETERS "max_profiles", "1"));
	EXPECT_EQ(EAGAIN, start_as(self->user));
	dismiss(_metadata, &crowd, 3);
}

TEST_F(quota, failed_starts_are_not_charged)
{
	struct profil_region bad = overflow_bin((void *)8, 4);
	pid_t child;
	int i;

	ASSERT_EQ(0, put(PARAMETERS "max_profiles", "1"));
	child = fork_child();
	ASSERT_LE(0, child);
	if (!child) {
		EXPECT_EQ(0, become(self->user));
		for (i = 0; i < 5; i++) {
			struct profil_set set = {
				.size = sizeof(set),
				.width = 4,
				.nr_regions = 1,
				.regions = (uintptr_t)&bad,
				.timeval = 8,
				.timeval_size = 16,
			};

			/*
			 * The kernel finds this error after it has charged the
			 * quota
			 */
			EXPECT_ERROR(EFAULT, profil_set(&set));
			EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
		}
		for (i = 0; i < 5; i++) {
			EXPECT_OK(start(0));
			EXPECT_OK(profil_stop(NULL, NULL, 0));
		}
		_exit(!__test_passed(_metadata));
	}
	EXPECT_EQ(0, wait_child(child));
}

TEST_F(quota, no_fast_ticks)
{
	struct prof prof = {
		.pr_base = &counter,
		.pr_size = sizeof(counter),
		.pr_scale = 2,
	};
	struct profil_info info = { .size = sizeof(info) };
	struct timeval time = { 77, 77 };
	uint32_t counted;

	ASSERT_EQ(0, start(2 * MS));
	ASSERT_EQ(0, put(PARAMETERS "restrict_fastprof", "Y"));
	EXPECT_OK(profil_info(&info));
	EXPECT_EQ(0, info.fast);
	EXPECT_ERROR(EACCES, start(MS));
	EXPECT_ERROR(EACCES, start(info.default_period_ns - 1));
	EXPECT_ERROR(EACCES, start(info.min_period_ns));
	EXPECT_ERROR(EINVAL, start(info.min_period_ns - 1));
	EXPECT_ERROR(EACCES, sprofil(&prof, 1, &time, PROF_UINT | PROF_FAST));
	EXPECT_EQ(77, time.tv_sec);
	EXPECT_EQ(77, time.tv_usec);

	/* The running profile goes on at its fast rate. */
	EXPECT_EQ(2 * MS, status_now().period_ns);
	counted = counter;
	EXPECT_TRUE(burn_ticks(3));
	EXPECT_LE(counted + 3, counter);

	EXPECT_OK(start(info.default_period_ns));
	EXPECT_OK(sprofil(&prof, 1, &time, PROF_UINT));
	EXPECT_EQ(10000, time.tv_usec);
	ASSERT_EQ(0, put(PARAMETERS "restrict_fastprof", "N"));
	EXPECT_OK(sprofil(&prof, 1, &time, PROF_UINT | PROF_FAST));
	EXPECT_EQ(1000, time.tv_usec);
}

TEST_HARNESS_MAIN
