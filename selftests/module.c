// SPDX-License-Identifier: GPL-2.0-only
/*
 * module.c - loading and unloading
 *
 * The module cannot be unloaded while anybody is profiled, whether or not
 * there is a descriptor, and can be as soon as nobody is. Its parameters are
 * what they say, and wrong ones are refused. Leaves the module loaded with the
 * parameters that it had. $PROFIL_KO names its file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

static uint32_t bin;

static int start(uint64_t period_ns)
{
	struct profil_region region = overflow_bin(&bin, sizeof(bin));

	return set_regions(&region, 1, sizeof(bin), period_ns, 0);
}

static int load(const char *parameters)
{
	int fd = open(getenv("PROFIL_KO"), O_RDONLY | O_CLOEXEC);
	int result = syscall(SYS_finit_module, fd, parameters, 0);
	int error = errno;

	close(fd);
	errno = error;
	return result;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "profil", O_NONBLOCK);
}

/* What a process had that has just died is given back a little later. */
static int unload_soon(void)
{
	while (unload()) {
		if (errno != EWOULDBLOCK)
			return -1;
		usleep(1000);
	}
	return 0;
}

/* name=value for every parameter, as the module was loaded or changed */
static void read_parameters(char *parameters, size_t size)
{
	FILE *all = popen("cd /sys/module/profil/parameters && grep -H . * | "
			  "sed 's/:/=/' | tr '\n' ' '", "r");

	parameters[fread(parameters, 1, size - 1, all)] = '\0';
	pclose(all);
}

FIXTURE(module) {
	char parameters[1000];
};

FIXTURE_SETUP(module)
{
	/* As selftests/vm/run sets it */
	ASSERT_NE(NULL, getenv("PROFIL_KO"));
	read_parameters(self->parameters, sizeof(self->parameters));
	ASSERT_NE(NULL, strstr(self->parameters, "clock="));
}

FIXTURE_TEARDOWN(module)
{
	char now[1000];

	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	if (unload_soon())
		EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(0, load(self->parameters));
	read_parameters(now, sizeof(now));
	EXPECT_STREQ(self->parameters, now);
}

TEST_F(module, is_held_by_a_descriptor)
{
	int fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_ERROR(EWOULDBLOCK, unload());
	close(fd);
	EXPECT_EQ(0, unload_soon());
}

TEST_F(module, is_held_by_a_profile)
{
	ASSERT_EQ(0, start(MS));
	/* No descriptor is open, here or elsewhere. */
	ASSERT_EQ(0, syscall(SYS_close_range, 3, ~0U, 0));
	EXPECT_ERROR(EWOULDBLOCK, unload());
	EXPECT_TRUE(burn_ticks(3));
	EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(0, unload_soon());
	EXPECT_ERROR(ENOENT, start(MS));
	/* Where there is no device there is nothing to be stopped. */
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
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
	EXPECT_ERROR(EWOULDBLOCK, unload());
	close(ends[1]);
	EXPECT_EQ(0, wait_child(child));
	EXPECT_EQ(0, unload_soon());
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
	EXPECT_ERROR(EWOULDBLOCK, unload());
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_child(child));
	EXPECT_EQ(0, unload_soon());
}

/* Start and stop as long as there is anything to start and stop. */
static void come_and_go(void)
{
	for (;;) {
		if (start(MS) && errno != ENOENT && errno != ENODEV &&
		    errno != ENXIO)
			_exit(1);
		burn_thread_ns(3 * MS);
		if (profil_stop(NULL, NULL, 0))
			_exit(2);
		/* Otherwise there is no time without a profile. */
		usleep(2000);
	}
}

static void burn_for_ever(void)
{
	for (;;)
		burn_thread_ns(SECOND);
}

/*
 * Have the tracepoint of the context switch called by others all the time:
 * events have two functions there. Then a clock that comes or goes does not
 * have the kernel patch the instructions of the switch, which an emulated
 * machine of several processors may hang on, if done often: before version 8.1
 * QEMU can go on with the breakpoint that was there for a moment.
 */
static void keep_the_switch_traced(void)
{
	if (system("cd /sys/kernel/tracing 2>/dev/null && echo 0 > tracing_on "
		   "&& echo 1 > events/sched/sched_switch/enable"))
		fprintf(stderr, "# cannot trace\n");
}

TEST_F(module, is_loaded_and_unloaded_all_the_time)
{
	void (*const busy[])(void) = {
		burn_for_ever, burn_for_ever, come_and_go, come_and_go,
	};
	uint64_t end = monotonic_ns() + 60 * SECOND;
	pid_t children[4];
	int i;

	keep_the_switch_traced();
	for (i = 0; i < 4; i++) {
		children[i] = fork_child();
		ASSERT_LE(0, children[i]);
		if (!children[i])
			busy[i]();
	}
	/* On a busy host be content with less than that. */
	for (i = 0; i < 100 && (i < 10 || monotonic_ns() < end); i++) {
		ASSERT_EQ(0, unload_soon());
		ASSERT_EQ(0, load(self->parameters));
		/* Every few rounds with somebody for sure */
		if (i % 10)
			continue;
		ASSERT_EQ(0, start(MS));
		EXPECT_TRUE(burn_ticks(1));
		EXPECT_ERROR(EWOULDBLOCK, unload());
		EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	}
	TH_LOG("%d times", i);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, kill(children[i], SIGKILL));
		EXPECT_EQ(-SIGKILL, wait_child(children[i]));
	}
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

	ASSERT_EQ(0, unload_soon());
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		EXPECT_ERROR(EINVAL, load(wrong[i]));
		if (!_metadata->passed)
			TH_LOG("with %s", wrong[i]);
		EXPECT_NE(0, access(PROFIL_DEVICE, F_OK));
	}
}

static void load_with(struct __test_metadata *_metadata, const char *parameters,
		      struct profil_info *info)
{
	ASSERT_EQ(0, unload_soon());
	ASSERT_EQ(0, load(parameters));
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
	EXPECT_EQ(PROFIL_CLOCK_HRTIMER, info.clock);
	EXPECT_EQ(4096, info.max_regions);
	EXPECT_EQ(4096, info.max_profiles);
	EXPECT_EQ(60000, info.min_period_ns);
	EXPECT_EQ(1, info.fast);
}

static int set_many(unsigned int nr)
{
	struct profil_region *regions = calloc(nr, sizeof(*regions));
	unsigned int i;
	int result, error;

	for (i = 0; i < nr; i++) {
		regions[i] = overflow_bin(&bin, sizeof(bin));
		regions[i].offset = i + 1;
	}
	result = set_regions(regions, nr, sizeof(bin), 0, 0);
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

TEST_F(module, max_profiles)
{
	struct profil_info info;

	load_with(_metadata, "max_profiles=0", &info);
	EXPECT_EQ(0, info.max_profiles);
	EXPECT_ERROR(EAGAIN, start(0));
}

TEST_HARNESS_MAIN
