// SPDX-License-Identifier: GPL-2.0-only
/*
 * inject.c - profiles and the module itself survive whatever can fail
 *
 * Makes the first, the second, the third... allocation or access to user memory
 * fail in each request of a profile, in system calls of a program that has one, and
 * when the module is loaded and unloaded, until none is left. A failing request must
 * return a clean error and leave the old profile running; a failing fork either
 * returns an error or makes a child without a profile, which the status counts as
 * unfollowed. Needs a kernel with fault injection, or fail.ko.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "inject.h"
#include "watch.h"

NEEDS_ROOT;

static void __attribute__((constructor)) need_injection(void)
{
	need(can_inject(), "fault injection");
}

/**
 * struct counters - in memory that others share, and in a page of its own
 * @old: of the profile that goes on
 * @new: of others
 */
struct counters {
	uint32_t old;
	uint16_t new[3];
};

FIXTURE(inject) {
	int fd;
	struct counters *counters;
	struct profil_status before;
};

static int start_old(FIXTURE_DATA(inject) *self)
{
	struct profil_region region = overflow_bin(&self->counters->old,
						   sizeof(uint32_t));

	return set_region_by(self->fd, &region, sizeof(uint32_t), MS, 0);
}

FIXTURE_SETUP(inject)
{
	self->counters = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->counters);
	self->fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, start_old(self));
	ASSERT_TRUE(burn_ticks(3));
	self->before = status_now();
}

/* Of all profiles that there were, none is left, and each has its account. */
FIXTURE_TEARDOWN(inject)
{
	struct profil_account account;

	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	account = account_after(self->fd, 0);
	EXPECT_EQ(0, account.running);
	EXPECT_LT(0, account.counts.ticks);
	EXPECT_CONSERVED(&account);
	close(self->fd);
}

/* The old profile still runs, and every tick has an outcome. */
static void goes_on(struct __test_metadata *_metadata,
		    FIXTURE_DATA(inject) *self)
{
	struct profil_status now = status_now();

	EXPECT_EQ(PROFIL_STATE_ON, now.state);
	EXPECT_EQ(4, now.width);
	EXPECT_LE(self->before.counts.ticks, now.counts.ticks);
	EXPECT_LE(self->before.cpu_time_ns, now.cpu_time_ns);
	EXPECT_EQ(0, now.counts.lost);
	EXPECT_CONSERVED(&now);
	self->before = now;
}

/* --- requests */

/* Start another profile with a failure. Return: whether it has started. */
static bool start_new(struct __test_metadata *_metadata,
		      FIXTURE_DATA(inject) *self, struct points *points,
		      unsigned int flags, bool *done)
{
	uint16_t *counters = self->counters->new;
	struct profil_region regions[3] = {
		overflow_bin(counters, 2), overflow_bin(counters + 1, 2),
		overflow_bin(counters + 2, 2),
	};
	int64_t timeval[2] = { 1, 2 };
	struct profil_set set = {
		.size = sizeof(set), .flags = flags, .width = 2,
		.nr_regions = 3, .regions = (uintptr_t)regions,
		.period_ns = 2 * MS, .timeval = (uintptr_t)timeval,
		.timeval_size = sizeof(timeval),
	};
	struct profil_set asked = set;
	bool failed;

	regions[0].offset = 0x1000;
	regions[1].offset = 0x2000;
	ASSERT_TRUE(fail_next(points));
	failed = ioctl(self->fd, PROFIL_IOC_SET, &set);
	*done = is_done(points, failed);
	if (failed) {
		EXPECT_TRUE(errno == ENOMEM || errno == EFAULT);
		EXPECT_EQ(0, memcmp(&set, &asked, sizeof(set)));
		EXPECT_TRUE(timeval[0] == 1 && timeval[1] == 2);
		return false;
	}
	/* The kernel recovers from some failures in another way. */
	EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
	EXPECT_EQ(2, status_now().width);
	return true;
}

TEST_F(inject, replacing)
{
	struct points points = { 0 };
	bool done;

	do {
		if (start_new(_metadata, self, &points, 0, &done)) {
			ASSERT_EQ(0, start_old(self));
			self->before = status_now();
		}
		goes_on(_metadata, self);
		EXPECT_EQ(1, account_of(self->fd).running);
	} while (!done);
	EXPECT_LT(5, points.failed);
	EXPECT_POINTS(&points, 8);
	EXPECT_TRUE(burn_ticks(3));
}

TEST_F(inject, starting)
{
	struct points points = { 0 };
	bool done;

	ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
	do {
		if (start_new(_metadata, self, &points, PROFIL_SET_CHECK,
			      &done))
			ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
		EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
		EXPECT_EQ(0, account_of(self->fd).running);
	} while (!done);
	EXPECT_LT(5, points.failed);
	EXPECT_POINTS(&points, 10);
}

TEST_F(inject, asking)
{
	struct profil_region_status region;
	struct profil_status status = { .size = sizeof(status) };
	struct points points = { 0 };
	bool failed, done;

	status.regions = (uintptr_t)&region;
	status.max_regions = 1;
	do {
		ASSERT_TRUE(fail_next(&points));
		failed = ioctl(self->fd, PROFIL_IOC_STATUS, &status);
		done = is_done(&points, failed);
		if (failed)
			EXPECT_TRUE(errno == ENOMEM || errno == EFAULT);
		goes_on(_metadata, self);
	} while (!done);
	EXPECT_FALSE(failed);
	EXPECT_POINTS(&points, 3);
}

/*
 * A status brings in the pages of counters, as far as it can. What it cannot stays
 * pending; the work has a second for it.
 */
TEST_F(inject, asking_while_a_page_is_missing)
{
	struct profil_status status = { .size = sizeof(status) };
	struct points points = { 0 };
	uint32_t *counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct profil_region region = overflow_bin(counter, sizeof(*counter));
	bool failed, done;

	ASSERT_NE(MAP_FAILED, counter);
	ASSERT_EQ(0, set_region_by(self->fd, &region, sizeof(*counter), MS,
				   0));
	self->before = status_now();
	ASSERT_EQ(0, inject_user_pages(true));
	do {
		ASSERT_EQ(0, madvise(counter, PAGE, MADV_DONTNEED));
		burn_thread_ns(4 * MS);
		ASSERT_TRUE(fail_next(&points));
		failed = ioctl(self->fd, PROFIL_IOC_STATUS, &status);
		done = is_done(&points, failed);
		goes_on(_metadata, self);
	} while (!done);
	EXPECT_EQ(0, inject_user_pages(false));
	EXPECT_FALSE(failed);
	EXPECT_POINTS(&points, 3);
}

/*
 * The status is written before the stop, too, so that a caller whose status cannot
 * be written finds the profile as it was. If its memory goes in between, the profile
 * has stopped.
 */
TEST_F(inject, stopping)
{
	struct profil_region_status region;
	struct profil_status status = { .size = sizeof(status) };
	struct points points = { 0 };
	bool failed, done;
	int late = 0;

	status.regions = (uintptr_t)&region;
	status.max_regions = 1;
	do {
		ASSERT_TRUE(fail_next(&points));
		failed = ioctl(self->fd, PROFIL_IOC_STOP, &status);
		done = is_done(&points, failed);
		if (failed)
			EXPECT_TRUE(errno == ENOMEM || errno == EFAULT);
		if (failed && status_now().state == PROFIL_STATE_ON) {
			goes_on(_metadata, self);
		} else {
			late += failed;
			EXPECT_EQ(0, account_of(self->fd).running);
			ASSERT_EQ(0, start_old(self));
			self->before = status_now();
		}
	} while (!done);
	EXPECT_FALSE(failed);
	/* Of the status, and of its regions */
	EXPECT_EQ(2, late);
	EXPECT_POINTS(&points, 5);
}

TEST_F(inject, opening)
{
	struct points points = { 0 };
	bool done;
	int fd;

	if (inject_everywhere())
		SKIP(return, "only what the module does may fail here");
	do {
		ASSERT_TRUE(fail_next(&points));
		fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
		done = is_done(&points, fd < 0);
		EXPECT_TRUE(fd >= 0 || is_clean(errno));
		if (fd >= 0)
			close(fd);
		goes_on(_metadata, self);
	} while (!done);
	EXPECT_LE(0, fd);
	EXPECT_POINTS(&points, 2);
}

/* --- system calls of a program that is profiled */

/*
 * Fork once with a failure. Return: whether that happened; adds to the number of
 * unfollowed children.
 */
static bool fork_once(struct __test_metadata *_metadata,
		      FIXTURE_DATA(inject) *self, struct points *points,
		      int *unfollowed)
{
	pid_t child;
	bool done;
	int state;

	ASSERT_TRUE(fail_next(points));
	child = fork();
	if (!child)
		_exit(status_now().state);
	done = is_done(points, child < 0);
	/* A fork that fails late may have copied the profile before. */
	if (child >= 0) {
		state = wait_child(child);
		EXPECT_TRUE(state == PROFIL_STATE_ON ||
			    state == PROFIL_STATE_OFF);
		*unfollowed += state == PROFIL_STATE_OFF;
	}
	goes_on(_metadata, self);
	EXPECT_EQ(1, account_after(self->fd, 1).running);
	return !done;
}

TEST_F(inject, forking)
{
	struct points points = { 0 };
	int unfollowed = 0;

	if (inject_everywhere())
		SKIP(return, "only what the module does may fail here");
	while (fork_once(_metadata, self, &points, &unfollowed))
		;
	EXPECT_LE(unfollowed, status_now().unfollowed);
	EXPECT_POINTS(&points, 20);
	EXPECT_TRUE(burn_ticks(3));
}

/*
 * Each of the module's own two allocations in a fork costs the child its profile.
 * The kernel may have to make room for an object now and then, and can do without.
 */
TEST_F(inject, forking_without_memory_for_the_profile)
{
	struct points points = { 0 };
	int unfollowed = 0, all = 0;

	ASSERT_EQ(0, inject_in_profil());
	TRY_UNTIL(unfollowed == 2) {
		points.nth = 0;
		unfollowed = 0;
		while (fork_once(_metadata, self, &points, &unfollowed))
			;
		all += unfollowed;
	}
	EXPECT_EQ(2, unfollowed);
	EXPECT_EQ(all, status_now().unfollowed);
	EXPECT_POINTS(&points, 2);
}

TEST_F(inject, executing_programs)
{
	struct points points = { 0 };
	bool executed;
	int left;

	if (inject_everywhere())
		SKIP(return, "only what the module does may fail here");
	ASSERT_EQ(0, prepare_program());
	do {
		executed = execute_with(++points.nth, &left);
		ASSERT_LE(0, left);
		points.failed += !executed;
		goes_on(_metadata, self);
		EXPECT_EQ(1, account_after(self->fd, 1).running);
	} while (!left);
	EXPECT_TRUE(executed);
	remove_program();
	EXPECT_POINTS(&points, 20);
}

TEST_F(inject, exiting)
{
	struct points points = { 0 };
	int left;

	if (inject_everywhere())
		SKIP(return, "only what the module does may fail here");
	do {
		left = exit_with(++points.nth);
		ASSERT_LE(0, left);
		goes_on(_metadata, self);
		EXPECT_EQ(1, account_after(self->fd, 1).running);
	} while (!left);
	EXPECT_POINTS(&points, 0);
}

/* The anchor goes elsewhere, or stays. */
TEST_F(inject, moving_the_anchor)
{
	char *place = mmap(NULL, 3 * PAGE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct points points = { 0 };
	void *moved;
	bool done;

	if (inject_everywhere())
		SKIP(return, "only what the module does may fail here");
	ASSERT_NE(MAP_FAILED, place);
	do {
		char *anchor = find_anchor();

		ASSERT_NE(NULL, anchor);
		ASSERT_TRUE(fail_next(&points));
		moved = mremap(anchor, PAGE, PAGE, MREMAP_MAYMOVE |
			       MREMAP_FIXED, anchor == place ?
			       place + 2 * PAGE : place);
		done = is_done(&points, moved == MAP_FAILED);
		if (moved == MAP_FAILED)
			EXPECT_TRUE(is_clean(errno));
		goes_on(_metadata, self);
	} while (!done);
	EXPECT_NE(MAP_FAILED, moved);
	EXPECT_POINTS(&points, 3);
}

/* The profile ends with the anchor, and not without it. */
TEST_F(inject, unmapping_the_anchor)
{
	struct points points = { 0 };
	bool failed, done;

	if (inject_everywhere())
		SKIP(return, "only what the module does may fail here");
	do {
		void *anchor = find_anchor();

		ASSERT_NE(NULL, anchor);
		ASSERT_TRUE(fail_next(&points));
		failed = munmap(anchor, PAGE);
		done = is_done(&points, failed);
		if (failed) {
			EXPECT_TRUE(is_clean(errno));
			goes_on(_metadata, self);
			continue;
		}
		EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
		EXPECT_EQ(0, account_after(self->fd, 0).running);
		ASSERT_EQ(0, start_old(self));
		self->before = status_now();
	} while (!done);
	EXPECT_FALSE(failed);
	EXPECT_POINTS(&points, 1);
}

/* --- the module */

/* In memory, as other file systems may fail for everybody */
#define FILE_OF_MODULE	"/dev/shm/profil-inject.ko"

FIXTURE(module) {
	char parameters[1000];
};

FIXTURE_SETUP(module)
{
	if (access(profil_file(), R_OK))
		SKIP(return, "profil.ko: set PROFIL_KO to its path");
	read_parameters(self->parameters, sizeof(self->parameters));
	ASSERT_NE(NULL, strstr(self->parameters, "clock="));
	ASSERT_EQ(0, copy_file(profil_file(), FILE_OF_MODULE, 0600));
	ASSERT_EQ(0, unload_profil_soon());
}

FIXTURE_TEARDOWN(module)
{
	if (unload_profil_soon())
		EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(0, load_profil(self->parameters));
	EXPECT_EQ(0, unlink(FILE_OF_MODULE));
}

/*
 * A module that is loaded works, with whatever clock. But the kernel may have had no
 * memory for the file of the device.
 */
static void works(struct __test_metadata *_metadata)
{
	uint32_t counter = 0;
	struct profil_region region = overflow_bin(&counter, sizeof(counter));
	int fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		EXPECT_EQ(ENOENT, errno);
		return;
	}
	EXPECT_EQ(0, set_region_by(fd, &region, sizeof(counter), MS, 0));
	EXPECT_TRUE(burn_ticks(3));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_LT(0, counter);
	close(fd);
}

TEST_F(module, is_loaded)
{
	struct points points = { 0 };
	bool failed, done;

	if (inject_everywhere())
		SKIP(return, "only what the module does may fail here");
	do {
		ASSERT_TRUE(fail_next(&points));
		failed = load_file(FILE_OF_MODULE, self->parameters);
		done = is_done(&points, failed);
		if (failed) {
			EXPECT_NE(0, access(PROFIL_DEVICE, F_OK));
			EXPECT_ERROR(ENOENT, unload_profil());
		} else {
			works(_metadata);
			EXPECT_EQ(0, unload_profil_soon());
		}
	} while (!done);
	EXPECT_FALSE(failed);
	EXPECT_POINTS(&points, 20);
}

TEST_F(module, is_unloaded)
{
	struct points points = { 0 };
	bool failed, done;

	if (inject_everywhere())
		SKIP(return, "only what the module does may fail here");
	do {
		ASSERT_EQ(0, load_profil(self->parameters));
		ASSERT_TRUE(fail_next(&points));
		failed = unload_profil();
		done = is_done(&points, failed);
		if (failed) {
			works(_metadata);
			EXPECT_EQ(0, unload_profil_soon());
		}
	} while (!done);
	EXPECT_FALSE(failed);
	EXPECT_POINTS(&points, 1);
}

/*
 * The first profile and the first watch have the tracepoints registered, that of
 * chains gets memory on each CPU.
 */
static int request_first(int fd, bool watch)
{
	static uint32_t counter;
	struct profil_region region = overflow_bin(&counter, sizeof(counter));
	struct profil_watch request =
		watch_request(PROFIL_WATCH_PROCESS, getpid(),
			      PROFIL_WATCH_WALL | WATCH_CHAINS);

	return watch ? ioctl(fd, PROFIL_IOC_WATCH, &request) :
		       set_region_by(fd, &region, sizeof(counter), MS, 0);
}

static void first(struct __test_metadata *_metadata,
		  FIXTURE_DATA(module) *self, bool watch)
{
	struct points points = { 0 };
	bool failed, done;

	do {
		int fd;

		ASSERT_EQ(0, load_file(FILE_OF_MODULE, self->parameters));
		ASSERT_EQ(0, inject_in_profil());
		fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
		ASSERT_TRUE(fail_next(&points));
		failed = request_first(fd, watch);
		done = is_done(&points, failed);
		if (failed) {
			EXPECT_TRUE(errno == ENOMEM || errno == EFAULT);
			EXPECT_EQ(0, request_first(fd, watch));
		}
		EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
		close(fd);
		EXPECT_EQ(0, unload_profil_soon());
	} while (!done);
	EXPECT_FALSE(failed);
	EXPECT_POINTS(&points, 8);
}

TEST_F(module, has_its_first_profile)
{
	first(_metadata, self, false);
}

TEST_F(module, has_its_first_watch)
{
	first(_metadata, self, true);
}

TEST_HARNESS_MAIN
