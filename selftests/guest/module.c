// SPDX-License-Identifier: GPL-2.0-only
/*
 * module.c - loading and unloading the module
 *
 * The module cannot be unloaded while any process is profiled, whether or not a
 * descriptor is open, and can be once none is. Its parameters show the values
 * that they have, and reject invalid ones. Leaves the module loaded with the
 * parameters that it had. refuse.ko is in the directory of this program.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"

NEEDS_ROOT;

static void __attribute__((constructor)) need_file(void)
{
	need(!access(profil_file(), R_OK), "profil.ko: set PROFIL_KO to its path");
}

static uint32_t counter;

static int start(uint64_t period_ns)
{
	struct profil_region region = overflow_bin(&counter, sizeof(counter));

	return set_regions(&region, 1, sizeof(counter), period_ns, 0);
}

FIXTURE(module) {
	char parameters[1000];
};

FIXTURE_SETUP(module)
{
	read_parameters(self->parameters, sizeof(self->parameters));
	ASSERT_NE(NULL, strstr(self->parameters, "clock="));
}

FIXTURE_TEARDOWN(module)
{
	char now[1000];

	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	if (unload_helper("refuse"))
		EXPECT_EQ(ENOENT, errno);
	if (unload_profil_soon())
		EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(0, load_profil(self->parameters));
	read_parameters(now, sizeof(now));
	EXPECT_STREQ(self->parameters, now);
}

TEST_F(module, is_held_by_a_descriptor)
{
	int fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_ERROR(EWOULDBLOCK, unload_profil());
	close(fd);
	EXPECT_EQ(0, unload_profil_soon());
}

TEST_F(module, is_held_by_a_profile)
{
	ASSERT_EQ(0, start(MS));
	/* No descriptor is open, here or elsewhere. */
	ASSERT_EQ(0, syscall(SYS_close_range, 3, ~0U, 0));
	EXPECT_ERROR(EWOULDBLOCK, unload_profil());
	EXPECT_TRUE(burn_ticks(3));
	EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(0, unload_profil_soon());
	EXPECT_ERROR(ENOENT, start(MS));
	/* Without a device there is nothing to stop. */
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

/* By its descriptor, and without one by its mapping. */
TEST_F(module, is_held_by_a_watch)
{
	struct watch watch;

	ASSERT_EQ(0, watch_process(&watch, getpid(), 0));
	EXPECT_ERROR(EWOULDBLOCK, unload_profil());
	EXPECT_EQ(PROFIL_STATE_OFF, watch_stop(&watch).state);
	EXPECT_ERROR(EWOULDBLOCK, unload_profil());
	close(watch.fd);
	watch.fd = -1;
	EXPECT_ERROR(EWOULDBLOCK, unload_profil());
	watch_end(&watch);
	EXPECT_EQ(0, unload_profil_soon());
}

/* Its last ticks, and what it has begun to look up, do not need the module. */
TEST_F(module, is_not_held_by_what_was_watched)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_MACHINE, 0, 0);
	struct watch watch;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, watch_begin(&watch, &request));
		burn_process_ns(20 * MS);
		watch_end(&watch);
		EXPECT_EQ(0, unload_profil_soon());
		ASSERT_EQ(0, load_profil(self->parameters));
	}
}

/* Nor do threads that wait need it, which it has seen. */
TEST_F(module, is_not_held_by_threads_that_wait)
{
	struct child child = child_begin(wait_for_signal, NULL);
	struct watch watch;

	child_go(&child);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, watch_process(&watch, child.pid,
					   PROFIL_WATCH_WALL));
		usleep(20000);
		ASSERT_EQ(0, ioctl(watch.fd, PROFIL_IOC_WATCH_COLLECT, NULL));
		EXPECT_ERROR(EWOULDBLOCK, unload_profil());
		watch_end(&watch);
		EXPECT_EQ(0, unload_profil_soon());
		ASSERT_EQ(0, load_profil(self->parameters));
	}
	child_kill(&child);
}

TEST_F(module, is_held_by_a_child)
{
	int ends[2];
	pid_t child;
	char byte;

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, start(MS));
	child = fork_child();
	ASSERT_LE(0, child);
	if (!child) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) || !burn_ticks(3));
	}
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_ERROR(EWOULDBLOCK, unload_profil());
	close(ends[1]);
	EXPECT_EQ(0, wait_child(child));
	EXPECT_EQ(0, unload_profil_soon());
}

TEST_F(module, is_not_held_by_the_killed)
{
	pid_t child = fork_child();

	ASSERT_LE(0, child);
	if (!child) {
		if (start(MS))
			_exit(1);
		raise(SIGSTOP);
		_exit(2);
	}
	ASSERT_EQ(child, waitpid(child, NULL, WUNTRACED));
	EXPECT_ERROR(EWOULDBLOCK, unload_profil());
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_child(child));
	EXPECT_EQ(0, unload_profil_soon());
}

/* Keep starting and stopping profiles until the test kills this process. */
static void come_and_go(void)
{
	for (;;) {
		if (start(MS) && errno != ENOENT && errno != ENODEV &&
		    errno != ENXIO)
			_exit(1);
		burn_thread_ns(3 * MS);
		if (profil_stop(NULL, NULL, 0))
			_exit(2);
		/* Otherwise a profile would run at any time. */
		usleep(2000);
	}
}

static void burn_for_ever(void)
{
	for (;;)
		burn_thread_ns(SECOND);
}

/*
 * Keep other functions on the tracepoint of the context switch: events have two
 * there. Then the kernel need not patch the instructions of the switch when a
 * clock comes or goes. An emulated machine with several CPUs may hang if that
 * happens often: before version 8.1, QEMU can go on with the breakpoint that
 * was there for a moment.
 */
#define INSTANCE	"/sys/kernel/tracing/instances/profil-module"

static void keep_the_switch_traced(void)
{
	if (system("mkdir " INSTANCE " 2>/dev/null && cd " INSTANCE " && "
		   "echo 0 > tracing_on && "
		   "echo 1 > events/sched/sched_switch/enable"))
		fprintf(stderr, "# cannot trace\n");
}

TEST_F(module, is_loaded_and_unloaded_all_the_time)
{
	void (*const busy[])(void) = {
		burn_for_ever, burn_for_ever, come_and_go, come_and_go,
	};
	uint64_t end = monotonic_ns() + 2 * SECOND;
	pid_t children[4];
	int i;

	keep_the_switch_traced();
	for (i = 0; i < 4; i++) {
		children[i] = fork_child();
		ASSERT_LE(0, children[i]);
		if (!children[i])
			busy[i]();
	}
	/* On a busy host fewer rounds will do. */
	for (i = 0; i < 100 && (i < 5 || monotonic_ns() < end); i++) {
		ASSERT_EQ(0, unload_profil_soon());
		ASSERT_EQ(0, load_profil(self->parameters));
		/* In some rounds a profile runs for certain */
		if (i % 5)
			continue;
		ASSERT_EQ(0, start(MS));
		EXPECT_TRUE(burn_ticks(1));
		EXPECT_ERROR(EWOULDBLOCK, unload_profil());
		EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	}
	TH_LOG("%d times", i);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, kill(children[i], SIGKILL));
		EXPECT_EQ(-SIGKILL, wait_child(children[i]));
	}
	rmdir(INSTANCE);
}

TEST_F(module, refuses_wrong_parameters)
{
	static const char *const wrong[] = {
		"clock=tsc", "clock=", "clock=Perf", "max_regions=0",
		"max_regions=65537", "max_regions=x", "min_period_us=9",
		/* PROF_FAST, 1 ms, is never too short. */
		"min_period_us=0", "min_period_us=1001",
		"restrict_fastprof=x", "max_profiles=-1",
	};
	size_t i;

	ASSERT_EQ(0, unload_profil_soon());
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		EXPECT_ERROR(EINVAL, load_profil(wrong[i]));
		if (!__test_passed(_metadata))
			TH_LOG("with %s", wrong[i]);
		EXPECT_NE(0, access(PROFIL_DEVICE, F_OK));
	}
}

/* SYSLOG_ACTION_READ_ALL, for which the C library has no name. */
#define SYSLOG_READ_ALL	3

/* Count the occurrences of @text in the kernel's log. */
static int count_in_log(const char *text)
{
	static char log[4 << 20];
	int size = klogctl(SYSLOG_READ_ALL, log, sizeof(log) - 1);
	const char *at = log;
	int nr = 0;

	log[size < 0 ? 0 : size] = '\0';
	for (; (at = strstr(at, text)); at += strlen(text))
		nr++;
	return nr;
}

TEST_F(module, names_the_parameter_that_is_out_of_range)
{
	ASSERT_EQ(0, unload_profil_soon());
	EXPECT_ERROR(EINVAL, load_profil("max_regions=65537"));
	EXPECT_LT(0, count_in_log("profil: max_regions=65537: must be from 1 to 65536"));
	EXPECT_ERROR(EINVAL, load_profil("min_period_us=9"));
	EXPECT_LT(0, count_in_log("profil: min_period_us=9: must be from 10 to 1000"));
	EXPECT_ERROR(EINVAL, load_profil("clock=tsc"));
	EXPECT_LT(0, count_in_log("profil: clock=tsc: must be perf or hrtimer"));
}

static void load_with(struct __test_metadata *_metadata, const char *parameters,
		      struct profil_info *info)
{
	ASSERT_EQ(0, unload_profil_soon());
	ASSERT_EQ(0, load_profil(parameters));
	info->size = sizeof(*info);
	ASSERT_EQ(0, profil_info(info));
}

TEST_F(module, either_clock)
{
	struct profil_info info;

	load_with(_metadata, "clock=perf", &info);
	EXPECT_EQ(PROFIL_CLOCK_PERF, info.clock);
	EXPECT_EQ(0, start(MS));
	EXPECT_TRUE(burn_ticks(10));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	load_with(_metadata, "clock=hrtimer", &info);
	EXPECT_EQ(PROFIL_CLOCK_HRTIMER, info.clock);
	EXPECT_EQ(0, start(MS));
	EXPECT_TRUE(burn_ticks(10));
}

TEST_F(module, defaults)
{
	struct profil_info info;

	load_with(_metadata, "", &info);
	EXPECT_EQ(PROFIL_CLOCK_PERF, info.clock);
	EXPECT_EQ(4096, info.max_regions);
	EXPECT_EQ(4096, info.max_profiles);
	EXPECT_EQ(60000, info.min_period_ns);
	EXPECT_EQ(1, info.fast);
}

/* Run a profile and wait until the module has stopped its clock, too. */
static void run_the_clock(struct __test_metadata *_metadata)
{
	ASSERT_EQ(0, start(MS));
	EXPECT_TRUE(burn_ticks(20));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	sleep(2);
}

#define REFUSED		"profil: perf has no counter for CPU "

/* The module logs this once, however often the kernel refuses. */
TEST_F(module, has_its_own_timers_when_perf_refuses)
{
	struct profil_info info;
	int before = count_in_log(REFUSED);

	if (load_helper("refuse", "") && errno == ENOENT)
		SKIP(return, "there is no refuse.ko for this kernel");
	load_with(_metadata, "clock=perf", &info);
	EXPECT_EQ(PROFIL_CLOCK_HRTIMER, info.clock);
	run_the_clock(_metadata);
	run_the_clock(_metadata);
	EXPECT_EQ(before + 1, count_in_log(REFUSED));
}

static int set_many(unsigned int nr)
{
	struct profil_region *regions = calloc(nr, sizeof(*regions));
	unsigned int i;
	int result, error;

	for (i = 0; i < nr; i++) {
		regions[i] = overflow_bin(&counter, sizeof(counter));
		regions[i].offset = i + 1;
	}
	result = set_regions(regions, nr, sizeof(counter), 0, 0);
	error = errno;
	free(regions);
	errno = error;
	return result;
}

TEST_F(module, max_regions)
{
	struct profil_info info;

	load_with(_metadata, "max_regions=1", &info);
	EXPECT_EQ(1, info.max_regions);
	EXPECT_ERROR(E2BIG, set_many(2));
	EXPECT_EQ(0, set_many(1));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));

	load_with(_metadata, "max_regions=65536", &info);
	EXPECT_EQ(65536, info.max_regions);
	EXPECT_EQ(0, set_many(65536));
	EXPECT_EQ(65536, status_now().nr_regions);
	EXPECT_TRUE(burn_ticks(2));
	EXPECT_ERROR(E2BIG, set_many(65537));
	EXPECT_EQ(65536, status_now().nr_regions);
}

TEST_F(module, min_period_us)
{
	struct profil_info info;

	load_with(_metadata, "min_period_us=500", &info);
	EXPECT_EQ(MS / 2, info.min_period_ns);
	EXPECT_ERROR(EINVAL, start(MS / 2 - 1));
	EXPECT_EQ(0, start(MS / 2));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));

	load_with(_metadata, "min_period_us=10", &info);
	EXPECT_EQ(10000, info.min_period_ns);
	EXPECT_ERROR(EINVAL, start(9999));
	EXPECT_EQ(0, start(100000));
}

TEST_F(module, restrict_fastprof)
{
	struct profil_info info;

	load_with(_metadata, "restrict_fastprof=1", &info);
	EXPECT_EQ(0, info.fast);
	EXPECT_ERROR(EACCES, start(MS));
	EXPECT_EQ(0, start(0));
}

TEST_F(module, max_watch_kb)
{
	struct profil_info info;

	load_with(_metadata, "max_watch_kb=100", &info);
	EXPECT_EQ(100, info.max_watch_kb);
}

TEST_F(module, max_profiles)
{
	struct profil_info info;

	load_with(_metadata, "max_profiles=0", &info);
	EXPECT_EQ(0, info.max_profiles);
	EXPECT_ERROR(EAGAIN, start(0));
}

TEST_HARNESS_MAIN
