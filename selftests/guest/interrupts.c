// SPDX-License-Identifier: GPL-2.0-only
/*
 * interrupts.c - requests interrupt no CPU that does not run the program
 *
 * A program on CPU 0 makes thousands of requests; the test counts function-call
 * interrupts (inter-processor interrupts, from /proc/interrupts) on CPU 1. The
 * kernel causes some of its own: the test allows as many as CPU 1 had before in
 * the same time, and a few more.
 *
 * A CPU that does run a thread of the program must be interrupted: the last
 * tests check that the profile covers such a thread as soon as SET returns, and
 * that a watch covers a process as soon as it has been moved to the watched
 * cgroup.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"

NEEDS_TWO_CPUS;

/* An emulator makes as many as it has time for. */
#define REQUESTS	2000
#define LEAST_REQUESTS	100
#define MOST_SECONDS	10

/*
 * Beyond the interrupts that CPU 1 has without requests, allow one for so many
 * requests, and so many in a second: a worker beside the program makes the
 * scheduler look for an idle CPU, and on a kernel with sanitizers a request
 * takes as long as 20 ms, in which workers run several times.
 */
#define PER_INTERRUPT	5
#define IN_A_SECOND	100

/* The shortest period: a program that makes requests has pending ticks. */
#define SHORTEST_NS	60000

#define CGROUPS		"/sys/fs/cgroup"
#define CGROUP		CGROUPS "/profil-interrupts"

static uint32_t counter;
static int device;
static struct watch watch;

static int set(uint64_t period_ns)
{
	struct profil_region all = overflow_bin(&counter, sizeof(counter));

	return set_region_by(device, &all, sizeof(counter), period_ns, 0);
}

/* Make one request; negative if it fails. */
static int set_slow(void)
{
	return set(MS);
}

static int set_with_ticks_pending(void)
{
	return set(SHORTEST_NS);
}

static int set_and_stop(void)
{
	return set(MS) ?: profil_stop(NULL, NULL, 0);
}

static int status(void)
{
	struct profil_status status = { .size = sizeof(status) };

	return ioctl(device, PROFIL_IOC_STATUS, &status);
}

static int nothing(void)
{
	struct profil_info info = { .size = sizeof(info) };

	return ioctl(device, PROFIL_IOC_INFO, &info);
}

/* To a cgroup and back; a worker on behalf of it has the time to run. */
static int move(void)
{
	int failed = enter_cgroup(0, CGROUP);

	usleep(500);
	return enter_cgroup(0, CGROUPS) || failed;
}

static int read_watch(void)
{
	return watch_status(&watch).size ? 0 : -1;
}

struct count {
	double interrupts;
	double seconds;
	int requests;
	int failed;
};

static struct count count_while(int (*request)(void), double least_seconds)
{
	struct count count = { .interrupts = -interrupts(1, "Function call") };
	uint64_t begin = monotonic_ns();

	while (count.requests < LEAST_REQUESTS ||
	       (count.seconds < MOST_SECONDS &&
		(count.requests < REQUESTS || count.seconds < least_seconds))) {
		count.failed += request() != 0;
		count.requests++;
		count.seconds = (monotonic_ns() - begin) / 1e9;
	}
	count.interrupts += interrupts(1, "Function call");
	return count;
}

/* What else goes on may begin with the requests, but not each time. */
static void interrupt_nobody(struct __test_metadata *_metadata,
			     int (*request)(void))
{
	struct count without, with;
	double noise;

	RUN_UNTIL(with.interrupts <= 2 * noise + with.requests / PER_INTERRUPT +
				     IN_A_SECOND * with.seconds, {
		without = count_while(nothing, 1);
		with = count_while(request, 0);
		noise = without.interrupts / without.seconds * with.seconds;
		TH_LOG("%d requests in %.1f s: %.0f function calls on CPU 1, %.0f without",
		       with.requests, with.seconds, with.interrupts, noise);
		EXPECT_EQ(0, with.failed);
		EXPECT_LE(LEAST_REQUESTS, with.requests);
	});
}

FIXTURE(cpu_1) {
};

FIXTURE_SETUP(cpu_1)
{
	ASSERT_LT(0, interrupts(0, "Function call"));
	ASSERT_EQ(0, pin_to(0));
	device = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, device);
}

FIXTURE_TEARDOWN(cpu_1)
{
	profil_stop(NULL, NULL, 0);
	close(device);
}

/*
 * While idle, CPU 1 keeps the thread's address space until it runs another one.
 */
static void *sleep_there(void *unused)
{
	pin_to(1);
	for (;;)
		pause();
	return unused;
}

static void have_a_thread_sleep_there(struct __test_metadata *_metadata)
{
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_there, NULL));
	usleep(50000);
}

/* Run another program there, profiled if there is a period. */
static pid_t have_a_program_run_there(struct __test_metadata *_metadata,
				      uint64_t period_ns)
{
	pid_t child = fork_child();

	ASSERT_LE(0, child);
	if (child) {
		usleep(50000);
		return child;
	}
	if (pin_to(1) || (period_ns && set(period_ns)))
		_exit(1);
	for (;;)
		burn_process_ns(SECOND);
}

static void kill_it(struct __test_metadata *_metadata, pid_t child)
{
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_child(child));
}

TEST_F(cpu_1, idle_and_one_thread_sets_with_ticks_pending)
{
	interrupt_nobody(_metadata, set_with_ticks_pending);
}

TEST_F(cpu_1, idle_after_a_thread_went_to_sleep_and_another_sets)
{
	have_a_thread_sleep_there(_metadata);
	interrupt_nobody(_metadata, set_slow);
}

TEST_F(cpu_1, idle_after_a_thread_went_to_sleep_and_another_sets_and_stops)
{
	have_a_thread_sleep_there(_metadata);
	interrupt_nobody(_metadata, set_and_stop);
}

TEST_F(cpu_1, idle_after_a_thread_went_to_sleep_and_another_asks_status)
{
	have_a_thread_sleep_there(_metadata);
	ASSERT_EQ(0, set(MS));
	interrupt_nobody(_metadata, status);
}

TEST_F(cpu_1, busy_with_another_program_while_one_sets)
{
	pid_t other = have_a_program_run_there(_metadata, 0);

	have_a_thread_sleep_there(_metadata);
	interrupt_nobody(_metadata, set_slow);
	kill_it(_metadata, other);
}

TEST_F(cpu_1, busy_with_another_profile_while_one_sets)
{
	pid_t other = have_a_program_run_there(_metadata, MS);

	have_a_thread_sleep_there(_metadata);
	interrupt_nobody(_metadata, set_slow);
	kill_it(_metadata, other);
}

FIXTURE(watched_cpu_1) {
	pid_t there;
	int directory;
};

FIXTURE_SETUP(watched_cpu_1)
{
	struct profil_watch of_cgroup;

	rmdir(CGROUP);
	ASSERT_EQ(0, mkdir(CGROUP, 0755));
	self->directory = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	of_cgroup = watch_request(PROFIL_WATCH_CGROUP, self->directory, 0);
	ASSERT_LT(0, interrupts(0, "Function call"));
	ASSERT_EQ(0, pin_to(0));
	self->there = have_a_program_run_there(_metadata, 0);
	ASSERT_EQ(0, watch_begin(&watch, &of_cgroup));
}

FIXTURE_TEARDOWN(watched_cpu_1)
{
	kill_it(_metadata, self->there);
	watch_end(&watch);
	close(self->directory);
	EXPECT_EQ(0, remove_cgroup(CGROUP));
}

TEST_F(watched_cpu_1, busy_with_a_member_while_another_process_moves)
{
	ASSERT_EQ(0, enter_cgroup(self->there, CGROUP));
	interrupt_nobody(_metadata, move);
}

TEST_F(watched_cpu_1, busy_with_one_that_has_left_while_the_watch_is_read)
{
	ASSERT_EQ(0, enter_cgroup(self->there, CGROUP));
	while (!watch_status(&watch).cpu_time_ns)
		usleep(1000);
	ASSERT_EQ(0, enter_cgroup(self->there, CGROUPS));
	interrupt_nobody(_metadata, read_watch);
}

/* The control: rounds in which a thread runs on CPU 1 without a pause. */
#define ROUNDS		20
#define ROUND_US	20000

static volatile bool running;

static void *run_there(void *unused)
{
	pin_to(1);
	running = true;
	for (;;)
		;
	return unused;
}

/* Shares the C library's memory too, so it calls nothing there. */
static int run_in_shared_memory(void *unused)
{
	running = true;
	for (;;)
		;
	return !unused;
}

/* Return: in how many rounds less than half was covered. */
static int cover_less(struct __test_metadata *_metadata)
{
	double covered = 0, passed = 0;
	int less = 0;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t begin, ns, status_ns;

		ASSERT_EQ(0, set(MS));
		begin = monotonic_ns();
		usleep(ROUND_US);
		ns = monotonic_ns() - begin;
		status_ns = status_now().cpu_time_ns;
		ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
		less += status_ns < ns / 2;
		covered += status_ns;
		passed += ns;
	}
	TH_LOG("%.1f ms covered of %.1f ms, less than half in %d of %d rounds",
	       covered / 1e6, passed / 1e6, less, ROUNDS);
	return less;
}

/*
 * The caller sleeps nearly all of the time between SET and STATUS. If the
 * profile covered a thread only from the thread's next context switch on, it
 * would miss all of its time, as there is none. In some rounds, something else
 * may run there.
 */
static void cover_at_once(struct __test_metadata *_metadata)
{
	int less = ROUNDS;

	while (!running)
		usleep(1000);
	TRY_UNTIL(less < ROUNDS / 2)
		less = cover_less(_metadata);
	EXPECT_GT(ROUNDS / 2, less);
}

/* The move returns while the process runs on, without a context switch. */
TEST_F(watched_cpu_1, running_a_process_is_covered_when_it_has_been_moved)
{
	uint64_t covered = 0, passed = SECOND;

	TRY_UNTIL(passed / 2 <= covered) {
		uint64_t before = watch_status(&watch).cpu_time_ns;

		passed = 0;
		for (int i = 0; i < ROUNDS; i++) {
			uint64_t begin;

			ASSERT_EQ(0, enter_cgroup(self->there, CGROUP));
			begin = monotonic_ns();
			usleep(ROUND_US);
			passed += monotonic_ns() - begin;
			ASSERT_EQ(0, enter_cgroup(self->there, CGROUPS));
		}
		covered = watch_status(&watch).cpu_time_ns - before;
		TH_LOG("%.1f ms covered of %.1f ms", covered / 1e6,
		       passed / 1e6);
	}
	EXPECT_LE(passed / 2, covered);
}

TEST_F(cpu_1, running_a_thread_is_covered_when_set_returns)
{
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, run_there, NULL));
	cover_at_once(_metadata);
}

TEST_F(cpu_1, running_a_process_in_the_same_memory_is_covered_when_set_returns)
{
	static char stack[65536] __attribute__((aligned(16)));
	cpu_set_t one;
	pid_t process;

	process = clone(run_in_shared_memory, stack + sizeof(stack),
			CLONE_VM | SIGCHLD, NULL);
	ASSERT_LT(0, process);
	CPU_ZERO(&one);
	CPU_SET(1, &one);
	EXPECT_EQ(0, sched_setaffinity(process, sizeof(one), &one));
	cover_at_once(_metadata);
	kill_it(_metadata, process);
}

TEST_HARNESS_MAIN
