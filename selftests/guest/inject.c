// SPDX-License-Identifier: GPL-2.0-only
/*
 * inject.c - requests and forks survive failing allocations
 *
 * Makes the first, the second, the third... allocation or access to user memory
 * in a request or a fork fail, until one succeeds without any failure. A
 * failing request must return a clean error and leave the old profile running;
 * a failing fork either returns an error or makes a child without a profile,
 * which the status counts as unfollowed. Needs a kernel with fault injection.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

static uint32_t old_counter, new_counter;

/* Make the @nth possible failure of this thread happen; 0 for none. */
static bool fail_nth(int nth)
{
	char text[20];

	snprintf(text, sizeof(text), "%d", nth);
	return !write_file("/proc/thread-self/fail-nth", text);
}

/* False if the failure did not happen because there were not that many. */
static bool has_failed(void)
{
	int fd = open("/proc/thread-self/fail-nth", O_RDONLY | O_CLOEXEC);
	char text[20] = "1";

	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '1';
	close(fd);
	fail_nth(0);
	return atoi(text) == 0;
}

FIXTURE(inject) {
	bool possible;
	struct profil_status before;
};

static int start_old(void)
{
	struct profil_region region = overflow_bin(&old_counter,
						   sizeof(old_counter));

	return set_regions(&region, 1, 4, MS, 0);
}

FIXTURE_SETUP(inject)
{
	self->possible = fail_nth(0);
	/* By default, allocations that may sleep do not fail. */
	write_file("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	write_file("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	write_file("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	ASSERT_EQ(0, start_old());
	ASSERT_TRUE(burn_ticks(3));
	self->before = status_now();
}

FIXTURE_TEARDOWN(inject)
{
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
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
	EXPECT_CONSERVED(&now);
	self->before = now;
}

static bool is_clean(int error)
{
	return error == ENOMEM || error == EFAULT || error == EMFILE ||
	       error == ENFILE || error == EAGAIN;
}

/*
 * Start a profile with @flags and the @nth failure. Returns whether that
 * happened.
 */
static bool start_new(struct __test_metadata *_metadata, int nth,
		      unsigned int flags, int *result)
{
	struct profil_region regions[3] = {
		overflow_bin(&new_counter, 2), overflow_bin(&new_counter, 2),
		overflow_bin(&new_counter, 2),
	};
	int error;
	bool failed;

	regions[0].offset = 0x1000;
	regions[1].offset = 0x2000;
	ASSERT_TRUE(fail_nth(nth));
	*result = set_regions(regions, 3, 2, 2 * MS, flags);
	error = errno;
	failed = has_failed();
	if (*result) {
		EXPECT_TRUE(failed);
		EXPECT_TRUE(is_clean(error));
	} else {
		/* The kernel recovers from some failures in another way. */
		EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
		EXPECT_EQ(2, status_now().width);
	}
	return failed;
}

TEST_F(inject, replacing)
{
	int failures = 0, n = 1;
	int result;

	if (!self->possible)
		SKIP(return, "no fault injection in this kernel");
	while (start_new(_metadata, n++, 0, &result)) {
		failures += !!result;
		if (!result) {
			ASSERT_EQ(0, start_old());
			self->before = status_now();
		}
		goes_on(_metadata, self);
	}
	EXPECT_EQ(0, result);
	EXPECT_LT(5, failures);
	EXPECT_TRUE(burn_ticks(3));
	TH_LOG("%d of %d made it fail", failures, n - 2);
}

TEST_F(inject, starting)
{
	int failures = 0, n = 1;
	int result;

	if (!self->possible)
		SKIP(return, "no fault injection in this kernel");
	ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
	while (start_new(_metadata, n++, PROFIL_SET_CHECK, &result)) {
		failures += !!result;
		if (!result)
			ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
		EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	}
	EXPECT_EQ(0, result);
	EXPECT_LT(5, failures);
	EXPECT_TRUE(burn_ticks(3));
	TH_LOG("%d of %d made it fail", failures, n - 2);
}

TEST_F(inject, asking_and_stopping)
{
	struct profil_region_status region;
	struct profil_status status = { .size = sizeof(status) };
	int failures = 0, n;

	if (!self->possible)
		SKIP(return, "no fault injection in this kernel");
	for (n = 1; ; n++) {
		int result;

		ASSERT_TRUE(fail_nth(n));
		result = profil_status(&status, &region, 1);
		if (!has_failed())
			break;
		if (result)
			EXPECT_TRUE(is_clean(errno));
		goes_on(_metadata, self);
		failures++;
	}
	EXPECT_LT(2, failures);
	TH_LOG("%d failures", failures);
}

/*
 * Fork once with the @nth failure. Adds to the number of unfollowed children.
 */
static bool fork_once(struct __test_metadata *_metadata,
		      FIXTURE_DATA(inject) *self, int nth, int *unfollowed)
{
	pid_t child;
	bool failed;
	int state;

	ASSERT_TRUE(fail_nth(nth));
	child = fork();
	if (!child) {
		/* A failure that has not happened must not hit the child. */
		fail_nth(0);
		_exit(status_now().state);
	}
	failed = has_failed();
	goes_on(_metadata, self);
	/* A fork that fails late may have copied the profile before. */
	if (child < 0)
		return failed;
	state = wait_child(child);
	EXPECT_TRUE(state == PROFIL_STATE_ON || state == PROFIL_STATE_OFF);
	*unfollowed += state == PROFIL_STATE_OFF;
	return failed;
}

TEST_F(inject, forking)
{
	int unfollowed = 0, forks, rounds = 10;

	if (!self->possible)
		SKIP(return, "no fault injection in this kernel");
	/*
	 * Two of the allocations are the module's; their numbers differ from
	 * fork to fork, so a series may miss them.
	 */
	do {
		forks = 0;
		while (fork_once(_metadata, self, forks + 1, &unfollowed))
			forks++;
	} while (!unfollowed && --rounds);
	EXPECT_LT(20, forks);
	EXPECT_LT(0, unfollowed);
	EXPECT_LE(unfollowed, status_now().unfollowed);
	TH_LOG("%d failures, %d children without", forks, unfollowed);
	EXPECT_TRUE(burn_ticks(3));
}

TEST_HARNESS_MAIN
