// SPDX-License-Identifier: GPL-2.0-only
/*
 * realtime.c - a request waits for no task on another CPU
 *
 * A real-time task that never leaves CPU 1 keeps every ordinary thread from
 * running there, including kernel threads, if the administrator has set no
 * limit for real-time tasks. A profile that starts on CPU 0 must not need any
 * of them.
 *
 * The test runs on CPU 0 at a higher priority than the task, and ends it after
 * a while whatever happens.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"

NEEDS_ROOT;
NEEDS_TWO_CPUS;

#define RT_RUNTIME	"/proc/sys/kernel/sched_rt_runtime_us"

/*
 * Seconds after which the module has taken back all that it had set up for the
 * last profile: only then is a SET a first one again.
 */
#define LINGER		15

/*
 * How long a first profile may take while the real-time task goes on: one that
 * needs CPU 1 hangs.
 */
#define HOG_NS		(15 * SECOND)

static int become_realtime(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param);
}

static bool read_runtime(char *value, size_t size)
{
	FILE *file = fopen(RT_RUNTIME, "r");
	bool read = file && fgets(value, size, file);

	if (file)
		fclose(file);
	return read;
}

FIXTURE(hog) {
	char runtime[20];
	pid_t pid;
};

FIXTURE_SETUP(hog)
{
	ASSERT_EQ(0, pin_to(0));
	ASSERT_EQ(0, become_realtime(60));
	if (!read_runtime(self->runtime, sizeof(self->runtime)) ||
	    write_file(RT_RUNTIME, "-1"))
		SKIP(return, RT_RUNTIME ": %s", strerror(errno));
}

FIXTURE_TEARDOWN(hog)
{
	if (self->pid > 0) {
		kill(self->pid, SIGKILL);
		wait_child(self->pid);
	}
	if (self->runtime[0])
		write_file(RT_RUNTIME, self->runtime);
}

static pid_t start_hog(void)
{
	pid_t child = fork_child();

	if (child)
		return child;
	if (pin_to(1) || become_realtime(50))
		_exit(1);
	for (;;)
		;
}

/* Does the real-time task keep CPU 1 for itself? */
static bool is_alone(pid_t hog)
{
	uint64_t begin, used;

	usleep(200000);
	begin = monotonic_ns();
	used = cpu_ns_of(hog);
	usleep(200000);
	used = cpu_ns_of(hog) - used;
	return used > 0.9 * (monotonic_ns() - begin);
}

/* Start the first profile, as an ordinary user. */
static pid_t start_first_profile(void)
{
	static uint32_t counter;
	struct profil_region all = overflow_bin(&counter, sizeof(counter));
	pid_t child = fork_child();

	if (child)
		return child;
	if (setresuid(NOBODY, NOBODY, NOBODY) ||
	    set_regions(&all, 1, sizeof(counter), MS, 0))
		_exit(1);
	/* Its ticks do not need CPU 1 either. */
	_exit(!burn_counted(10));
}

/* Wait until a child ends, but at most @ns. */
static bool ends_within(pid_t child, uint64_t ns, int *status)
{
	uint64_t end = monotonic_ns() + ns;

	do {
		if (waitpid(child, status, WNOHANG) == child)
			return true;
		usleep(10000);
	} while (monotonic_ns() < end);
	return false;
}

TEST_F(hog, does_not_keep_a_first_profile_from_beginning)
{
	int status = -1, tries = 20;
	uint64_t begin;
	pid_t child;
	bool ended;

	sleep(LINGER);
	self->pid = start_hog();
	ASSERT_LT(0, self->pid);
	/* The host may stop the guest between two readings of its clocks */
	while (!is_alone(self->pid) && --tries)
		;
	ASSERT_LT(0, tries);

	begin = monotonic_ns();
	child = start_first_profile();
	ASSERT_LT(0, child);
	ended = ends_within(child, HOG_NS, &status);
	TH_LOG("the profile %s %.2f s", ended ? "took" : "did not begin in",
	       (monotonic_ns() - begin) / 1e9);
	EXPECT_TRUE(ended);
	if (!ended) {
		kill(self->pid, SIGKILL);
		EXPECT_TRUE(ends_within(child, 60 * SECOND, &status));
		TH_LOG("it ended %.2f s after its begin",
		       (monotonic_ns() - begin) / 1e9);
	}
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
