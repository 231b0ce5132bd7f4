// SPDX-License-Identifier: GPL-2.0-only
/*
 * fallback.c - what only profiles in user space have to take care of
 *
 * Needs PROFIL_FALLBACK=always in the environment. The tests of the contract's
 * calls, such as selftests/guest/profil_call.c, run with that too; here are the
 * signal, the timers, the descriptors and the threads. "make test" runs this
 * twice: with a perf event for each thread, and with few descriptors and hence
 * without.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "kselftest_harness.h"

#include <profil.h>

#define MS	1000000ULL
#define PAGE	4096
#define ALL	2

static int (*profil_function)(unsigned short *buffer, size_t size,
			      size_t offset, unsigned int scale) = profil;

/* Two counters: the first of every pc, the second must stay as it is. */
static unsigned short counters[2];

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static void burn(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	volatile unsigned int i;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (i = 0; i < 10000; i++)
			;
}

static struct profil_status status_now(struct profil_region_status *region)
{
	struct profil_status status = { .size = sizeof(status) };

	if (profil_status(&status, region, 1))
		abort();
	return status;
}

/*
 * Spend CPU time until @nr ticks are counted. On a busy machine, timers alone
 * find a thread seldom.
 */
static bool burn_counted(uint64_t nr)
{
	int patience = 1000;

	do {
		burn(10 * MS);
	} while (status_now(NULL).counts.counted < nr && --patience);
	return patience;
}

static uint64_t sum(const struct profil_counts *counts)
{
	return counts->counted + counts->clipped + counts->outside +
	       counts->lost + counts->left_out;
}

static void start(struct __test_metadata *_metadata)
{
	memset(counters, 0, sizeof(counters));
	ASSERT_EQ(0, profil_function(counters, sizeof(counters), 0, ALL));
}

/*
 * One tick falls in each period: of a thread, from its start or the profile's
 * to its end, one more or less than its CPU time says.
 */
#define EXPECT_DUE(ticks, ns, threads) do { \
	double due = (ns) / 10e6; \
	TH_LOG("ticks: %llu, due %.1f", (unsigned long long)(ticks), due); \
	EXPECT_LE(due - (threads) - 1, ticks); \
	EXPECT_GE(due + (threads) + 1, ticks); \
} while (0)

TEST(info_says_that_user_space_counts)
{
	struct profil_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, profil_info(&info));
	EXPECT_EQ(PROFIL_CLOCK_USER, info.clock);
	EXPECT_EQ(4096, info.max_regions);
	EXPECT_EQ(10 * MS, info.default_period_ns);
	EXPECT_EQ(MS, info.fast_period_ns);
	EXPECT_EQ(0, info.watch_flags);
	EXPECT_EQ(0, info.max_watch_kb);
}

/* Programs that were compiled before info had anything about watches */
TEST(info_of_the_first_version)
{
	struct profil_info info = {
		.size = offsetof(struct profil_info, watch_flags),
		.watch_flags = 0x55,
		.max_watch_kb = 0x55,
	};

	ASSERT_EQ(0, profil_info(&info));
	EXPECT_EQ(offsetof(struct profil_info, watch_flags), info.size);
	EXPECT_EQ(PROFIL_CLOCK_USER, info.clock);
	EXPECT_EQ(1, info.fast);
	EXPECT_EQ(0x55, info.watch_flags);
	EXPECT_EQ(0x55, info.max_watch_kb);
	info.size--;
	EXPECT_EQ(-1, profil_info(&info));
	EXPECT_EQ(EINVAL, errno);
}

TEST(info_of_a_later_version)
{
	struct {
		struct profil_info info;
		unsigned char more[8];
	} longer = { .info.size = sizeof(longer), .info.watch_flags = 0x55 };

	ASSERT_EQ(0, profil_info(&longer.info));
	EXPECT_EQ(0, longer.info.watch_flags);
	longer.more[7] = 1;
	EXPECT_EQ(-1, profil_info(&longer.info));
	EXPECT_EQ(E2BIG, errno);
}

TEST(requests_of_the_device_never_fall_back)
{
	struct profil_region region = { (uintptr_t)counters, sizeof(counters),
					0, ALL };
	struct profil_set set = {
		.size = sizeof(set),
		.width = 2,
		.nr_regions = 1,
		.regions = (uintptr_t)&region,
	};
	struct profil_watch watch = { .size = sizeof(watch), .id = getpid() };

	if (!access(PROFIL_DEVICE, F_OK))
		SKIP(return, "there is a device");
	EXPECT_EQ(-1, profil_set(&set));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(-1, profil_watch_open(&watch));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(PROFIL_STATE_OFF, status_now(NULL).state);
}

TEST(ticks_are_due_and_all_accounted_for)
{
	struct profil_status last = { .size = sizeof(last) };
	struct profil_status status;

	start(_metadata);
	burn(500 * MS);
	status = status_now(NULL);
	EXPECT_EQ(PROFIL_STATE_ON, status.state);
	EXPECT_EQ(status.counts.ticks, sum(&status.counts));
	EXPECT_DUE(status.counts.ticks + status.pending, status.cpu_time_ns, 1);
	EXPECT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_EQ(last.counts.ticks, sum(&last.counts));
	EXPECT_EQ(last.counts.counted, counters[0]);
	EXPECT_EQ(PROFIL_STATE_OFF, status_now(NULL).state);
}

/* As the device: ioctl.device.stop_without_a_profile_gives_zeros */
TEST(stop_without_a_profile_gives_zeros)
{
	struct profil_region_status untouched = { .counted = 5 };
	struct profil_status last, zeros = {
		.size = sizeof(zeros),
		.regions = (uintptr_t)&untouched,
		.max_regions = 1,
	};

	memset(&last, 0xee, sizeof(last));
	last.size = sizeof(last);
	EXPECT_EQ(0, profil_stop(&last, &untouched, 1));
	EXPECT_EQ(0, memcmp(&zeros, &last, sizeof(last)));
	EXPECT_EQ(5, untouched.counted);
}

/* --- user mode, the kernel and the vDSO */

static void in_user_mode(void)
{
	volatile unsigned int i;

	for (i = 0; i < 40000; i++)
		;
}

static void in_the_kernel(int zero)
{
	static char buffer[1 << 14];
	int i;

	for (i = 0; i < 100; i++)
		if (read(zero, buffer, sizeof(buffer)) < 0)
			abort();
}

static void in_the_vdso(void)
{
	int i;

	for (i = 0; i < 1000; i++)
		clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of the thread by a system call that does not return in the vDSO */
static uint64_t called_cpu_ns(void)
{
	struct timespec time;

	syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/*
 * Five sigma: a correct library is beyond that in one of a million runs. Ticks of
 * one signal fall at one place: @at_once is their number.
 */
#define EXPECT_SHARE(what, nr, all, at_once, least, most) do { \
	double sigma = sqrt((all) * (at_once) * 0.25); \
	TH_LOG("%s: %llu of %llu ticks, due %.1f to %.1f, sigma %.1f", what, \
	       (unsigned long long)(nr), (unsigned long long)(all), \
	       (all) * (least), (all) * (most), sigma); \
	EXPECT_LE((all) * (least) - 5 * sigma - 1, nr); \
	EXPECT_GE((all) * (most) + 5 * sigma + 1, nr); \
} while (0)

/*
 * Each of them has a third of the time, more or less, by turns of a fraction of
 * a millisecond. Calls of the vDSO are partly in the C library.
 */
TEST(time_in_the_kernel_counts_where_it_returns)
{
	static unsigned short counters[2];
	struct prof regions[] = {
		{ &counters[0], 2, (size_t)in_user_mode & -4096UL, ALL },
		{ &counters[1], 2, getauxval(AT_SYSINFO_EHDR), ALL },
	};
	struct profil_status last = { .size = sizeof(last) };
	uint64_t begin, user_ns = 0, kernel_ns = 0, vdso_ns = 0, times[4];
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 20000 * MS;
	int zero = open("/dev/zero", O_RDONLY), last_sum = 0, new;
	double all_ns, all, squares = 0, at_once;

	ASSERT_EQ(0, sprofil(regions, 2, NULL, 0));
	begin = called_cpu_ns();
	do {
		times[0] = called_cpu_ns();
		in_user_mode();
		times[1] = called_cpu_ns();
		in_the_kernel(zero);
		times[2] = called_cpu_ns();
		in_the_vdso();
		times[3] = called_cpu_ns();
		user_ns += times[1] - times[0];
		kernel_ns += times[2] - times[1];
		vdso_ns += times[3] - times[2];
		new = counters[0] + counters[1] - last_sum;
		last_sum += new;
		squares += new * new;
	} while (times[3] - begin < 2500 * MS &&
		 clock_ns(CLOCK_MONOTONIC) < end);
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));
	close(zero);
	all_ns = user_ns + kernel_ns + vdso_ns;
	all = last.counts.counted + last.counts.outside;
	EXPECT_EQ(last.counts.counted, counters[0] + counters[1]);
	ASSERT_LT(0, last_sum);
	at_once = squares / last_sum;
	TH_LOG("%.1f ticks at once", at_once);
	EXPECT_SHARE("user mode", counters[0], all, at_once, user_ns / all_ns,
		     (user_ns + 0.2 * vdso_ns) / all_ns);
	EXPECT_SHARE("kernel", last.counts.outside, all, at_once,
		     kernel_ns / all_ns, (kernel_ns + 0.5 * vdso_ns) / all_ns);
	EXPECT_SHARE("vDSO", counters[1], all, at_once,
		     0.3 * vdso_ns / all_ns, vdso_ns / all_ns);
	EXPECT_DUE(last.counts.ticks, last.cpu_time_ns, 1);
}

/* --- threads */

static void *burn_in_thread(void *ns)
{
	burn(*(uint64_t *)ns);
	return NULL;
}

TEST(every_thread_ticks_at_its_own_time)
{
	static uint64_t ns[4] = { 100 * MS, 200 * MS, 300 * MS, 400 * MS };
	struct profil_status last = { .size = sizeof(last) };
	pthread_t threads[4];
	int i;

	start(_metadata);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, burn_in_thread,
					    &ns[i]));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_join(threads[i], NULL));
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_DUE(last.counts.ticks, last.cpu_time_ns, 5);
	EXPECT_EQ(last.counts.counted, counters[0]);
	EXPECT_LT(0, last.counts.counted);
}

TEST(threads_that_existed_before_tick)
{
	struct profil_status last = { .size = sizeof(last) };
	static uint64_t ns = 400 * MS;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, burn_in_thread, &ns));
	start(_metadata);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	burn(50 * MS);
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_DUE(last.counts.ticks, last.cpu_time_ns, 2);
	EXPECT_EQ(last.counts.counted, counters[0]);
}

/* Nobody finds all of them; what is not counted is lost, and said. */
TEST(short_threads_are_counted_or_lost)
{
	struct profil_status last = { .size = sizeof(last) };
	static uint64_t ns = 3 * MS;
	pthread_t thread;
	int i;

	start(_metadata);
	for (i = 0; i < 400; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, burn_in_thread,
					    &ns));
		ASSERT_EQ(0, pthread_join(thread, NULL));
	}
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));
	TH_LOG("%llu ticks in %.0f ms, %llu of them lost", last.counts.ticks,
	       last.cpu_time_ns / 1e6, last.counts.lost);
	EXPECT_EQ(last.counts.ticks, sum(&last.counts));
	EXPECT_EQ(last.counts.counted, counters[0]);
	EXPECT_LE(0.5 * last.cpu_time_ns / (10 * MS), last.counts.ticks);
	EXPECT_GE(1.5 * last.cpu_time_ns / (10 * MS), last.counts.ticks);
}

/* As a kernel before Linux 6.4, or a timer set for the past, might do. */
static void *burn_and_sleep(void *unused)
{
	struct timespec while_ns = { 0, 100 * MS };

	burn(7 * MS);
	return (void *)(long)nanosleep(&while_ns, NULL);
}

TEST(threads_that_sleep_are_not_disturbed)
{
	pthread_t threads[10];
	int i, disturbed = 0;
	void *result;

	start(_metadata);
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, burn_and_sleep,
					    NULL));
	for (i = 0; i < 100; i++) {
		burn(MS);
		status_now(NULL);
	}
	for (i = 0; i < 10; i++) {
		pthread_join(threads[i], &result);
		disturbed += result != NULL;
	}
	TH_LOG("%d of 10 threads", disturbed);
	/* A tick may fall just when a thread falls asleep */
	EXPECT_GE(2, disturbed);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

static void *go_on_alone(void *unused)
{
	struct profil_status last = { .size = sizeof(last) };
	struct profil_region_status region;

	if (!burn_counted(5))
		_exit(1);
	status_now(&region);
	if (region.state != PROFIL_REGION_ON)
		_exit(2);
	if (profil_function(counters, sizeof(counters), 0, ALL))
		_exit(3);
	_exit(profil_stop(&last, NULL, 0) ? 4 : 0);
}

TEST(the_first_thread_may_end)
{
	pthread_t thread;
	int result;
	pid_t child;

	child = fork();
	if (!child) {
		if (profil_function(counters, sizeof(counters), 0, ALL) ||
		    pthread_create(&thread, NULL, go_on_alone, NULL))
			_exit(5);
		pthread_exit(NULL);
	}
	ASSERT_EQ(child, waitpid(child, &result, 0));
	EXPECT_EQ(0, result);
}

static bool is_refused(int result)
{
	return result == -1 && errno == EBUSY;
}

/* It has none of the timers, and would take the parent's threads for ended. */
TEST(a_child_in_the_same_memory_is_refused)
{
	struct profil_status status = { .size = sizeof(status) };
	uint64_t counted;
	int result;
	pid_t child;

	start(_metadata);
	ASSERT_TRUE(burn_counted(3));
	counted = status_now(NULL).counts.counted;
	child = vfork();
	if (!child)
		_exit(!is_refused(profil_status(&status, NULL, 0)) ||
		      !is_refused(profil_stop(NULL, NULL, 0)) ||
		      !is_refused(profil_function(counters, sizeof(counters),
						  0, ALL)));
	ASSERT_EQ(child, waitpid(child, &result, 0));
	EXPECT_EQ(0, result);
	EXPECT_TRUE(burn_counted(counted + 3));
	status = status_now(NULL);
	EXPECT_EQ(PROFIL_STATE_ON, status.state);
	EXPECT_EQ(status.counts.ticks, sum(&status.counts));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

static void *call_while_cancelled(void *unused)
{
	pthread_cancel(pthread_self());
	profil_function(counters, sizeof(counters), 0, ALL);
	pthread_testcancel();
	return NULL;
}

TEST(no_call_is_a_cancellation_point)
{
	pthread_t thread;
	void *result;

	ASSERT_EQ(0, pthread_create(&thread, NULL, call_while_cancelled, NULL));
	pthread_join(thread, &result);
	EXPECT_EQ(PTHREAD_CANCELED, result);
	EXPECT_EQ(PROFIL_STATE_ON, status_now(NULL).state);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

static void *burn_without_signals(void *ns)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	burn(*(uint64_t *)ns);
	return NULL;
}

/* Its ticks go to no counter of the place where it lets signals through. */
TEST(a_thread_that_blocks_the_signal_loses_its_ticks)
{
	struct profil_status last = { .size = sizeof(last) };
	static uint64_t ns = 500 * MS;
	pthread_t thread;

	start(_metadata);
	ASSERT_EQ(0, pthread_create(&thread, NULL, burn_without_signals, &ns));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));
	TH_LOG("%llu ticks, %llu lost", last.counts.ticks, last.counts.lost);
	EXPECT_LT(30, last.counts.lost);
	EXPECT_GT(20, last.counts.counted);
	EXPECT_EQ(last.counts.ticks, sum(&last.counts));
}

/* --- processes */

TEST(a_forked_child_counts_its_own)
{
	struct profil_status last = { .size = sizeof(last) };
	int result;
	pid_t child;

	start(_metadata);
	burn(200 * MS);
	child = fork();
	if (!child) {
		unsigned short before = counters[0];
		struct profil_status status = status_now(NULL);

		if (status.state != PROFIL_STATE_ON || status.counts.ticks > 2)
			_exit(1);
		if (!burn_counted(status.counts.counted + 10) ||
		    counters[0] - before < 10)
			_exit(2);
		if (profil_stop(NULL, NULL, 0))
			_exit(3);
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &result, 0));
	EXPECT_EQ(0, result);
	burn(100 * MS);
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_DUE(last.counts.ticks, last.cpu_time_ns, 1);
	EXPECT_EQ(last.counts.counted, counters[0]);
}

static int descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int nr = 0;

	while (readdir(directory))
		nr++;
	closedir(directory);
	return nr;
}

/* The events of the parent's threads are not the child's. */
TEST(descriptors_do_not_add_up_in_children)
{
	int i, nr, result;
	pid_t child;

	start(_metadata);
	nr = descriptors();
	for (i = 0; i < 5; i++) {
		child = fork();
		if (child) {
			waitpid(child, &result, 0);
			if (i)
				_exit(WEXITSTATUS(result));
			break;
		}
		if (descriptors() > nr)
			_exit(1);
		if (i == 4)
			_exit(0);
	}
	EXPECT_EQ(0, WEXITSTATUS(result));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_GE(nr, descriptors());
}

/* Whatever it was that made the child, it is unharmed, and may start anew. */
TEST(a_child_by_clone_is_unharmed)
{
	int result;
	pid_t child;

	start(_metadata);
	child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!child) {
		burn(50 * MS);
		if (status_now(NULL).state != PROFIL_STATE_ON)
			_exit(1);
		if (profil_function(counters, sizeof(counters), 0, ALL))
			_exit(2);
		_exit(burn_counted(5) ? 0 : 3);
	}
	ASSERT_EQ(child, waitpid(child, &result, 0));
	EXPECT_EQ(0, result);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

TEST(another_program_is_unharmed)
{
	int i, result;
	pid_t child;

	for (i = 0; i < 20; i++) {
		child = fork();
		if (!child) {
			sigset_t set;

			if (profil_function(counters, sizeof(counters), 0, ALL))
				_exit(1);
			sigfillset(&set);
			if (i % 2)
				sigprocmask(SIG_SETMASK, &set, NULL);
			burn((20 + i) * MS);
			execl("/bin/sh", "sh", "-c", "i=0; "
			      "while [ $i -lt 5000 ]; do i=$((i+1)); done; "
			      "exit 7", NULL);
			_exit(2);
		}
		ASSERT_EQ(child, waitpid(child, &result, 0));
		EXPECT_TRUE(WIFEXITED(result));
		EXPECT_EQ(7, WEXITSTATUS(result));
	}
}

/* --- what is the program's own */

static atomic_int urgent, prof;

static void on_urgent(int number)
{
	urgent++;
}

static void on_prof(int number)
{
	prof++;
}

TEST(a_program_with_a_handler_of_its_own_gets_EBUSY)
{
	struct sigaction action;

	signal(SIGURG, on_urgent);
	EXPECT_EQ(-1, profil_function(counters, sizeof(counters), 0, ALL));
	EXPECT_EQ(EBUSY, errno);
	burn(50 * MS);
	EXPECT_EQ(0, urgent);
	EXPECT_EQ(0, sigaction(SIGURG, NULL, &action));
	EXPECT_TRUE(action.sa_handler == on_urgent);
	raise(SIGURG);
	EXPECT_EQ(1, urgent);
}

TEST(a_handler_that_comes_later_is_left_alone)
{
	struct sigaction action;

	start(_metadata);
	signal(SIGURG, on_urgent);
	burn(50 * MS);
	EXPECT_EQ(-1, profil_function(counters, sizeof(counters), 0, ALL));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(0, sigaction(SIGURG, NULL, &action));
	EXPECT_TRUE(action.sa_handler == on_urgent);
}

TEST(the_signal_does_again_what_it_did_before)
{
	struct sigaction action;

	signal(SIGURG, SIG_IGN);
	start(_metadata);
	raise(SIGURG);
	burn(50 * MS);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(0, sigaction(SIGURG, NULL, &action));
	EXPECT_TRUE(action.sa_handler == SIG_IGN);
}

TEST(sigprof_and_its_timer_are_the_programs)
{
	struct itimerval timer = { { 0, 20000 }, { 0, 20000 } };
	struct profil_status last = { .size = sizeof(last) };
	int patience;

	signal(SIGPROF, on_prof);
	ASSERT_EQ(0, setitimer(ITIMER_PROF, &timer, NULL));
	start(_metadata);
	for (patience = 1000; prof < 3 && patience; patience--)
		burn(10 * MS);
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_LE(3, prof);
	EXPECT_DUE(last.counts.ticks, last.cpu_time_ns, 1);
}

TEST(a_program_may_close_all_descriptors)
{
	struct profil_status last = { .size = sizeof(last) };
	int fd, end, null = open("/dev/null", O_RDONLY);

	start(_metadata);
	EXPECT_EQ(null + 1, dup(null));
	syscall(SYS_close_range, null, ~0U, 0);
	/*
	 * Descriptors of the program's own with those numbers stay as they are
	 */
	for (end = 500; end < 530; end++)
		if (dup2(STDERR_FILENO, end) < 0)
			break;
	EXPECT_TRUE(burn_counted(20));
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));
	EXPECT_DUE(last.counts.ticks, last.cpu_time_ns, 1);
	for (fd = 500; fd < end; fd++)
		EXPECT_LE(0, fcntl(fd, F_GETFD));
}

static void stop_and_start(int number)
{
	if (profil_function(counters, 2, 0, ALL))
		_exit(1);
}

/* From a handler, whatever it interrupted: malloc(), the library, a tick. */
TEST(calls_are_safe_in_signal_handlers)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 300 * MS;
	struct profil_status status;

	signal(SIGALRM, stop_and_start);
	start(_metadata);
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
		void *volatile memory = malloc(100000);

		free(memory);
		status = status_now(NULL);
		ASSERT_EQ(status.counts.ticks, sum(&status.counts));
		ASSERT_EQ(0, profil_function(counters, 2, 0, ALL));
	}
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

static void *start_often(void *stop)
{
	while (!*(atomic_bool *)stop)
		if (profil_function(counters, 2, 0, ALL))
			return (void *)1;
	return NULL;
}

/* When a call that stops returns, no thread writes the old counters. */
TEST(no_counter_is_written_after_the_stop)
{
	static uint64_t ns = 600 * MS;
	pthread_t threads[3];
	int i, counted = 0;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, burn_in_thread,
					    &ns));
	for (i = 0; i < 100; i++) {
		unsigned short *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct prof region = { page, PAGE, 0, ALL };
		unsigned short before;

		ASSERT_EQ(0, sprofil(&region, 1, NULL, PROF_FAST));
		burn(3 * MS);
		ASSERT_EQ(0, sprofil(NULL, 0, NULL, 0));
		before = page[0];
		burn(MS);
		EXPECT_EQ(before, page[0]);
		counted += before;
		munmap(page, PAGE);
	}
	EXPECT_LT(0, counted);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

TEST(many_threads_may_start_profiles_at_once)
{
	static atomic_bool stop;
	pthread_t threads[4];
	void *failed;
	int i;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, start_often,
					    &stop));
	burn(300 * MS);
	stop = true;
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &failed);
		EXPECT_EQ(NULL, failed);
	}
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

/* --- counters that go away */

static void goes_off(struct __test_metadata *_metadata,
		     enum profil_region_state why)
{
	struct profil_region_status region;
	struct profil_status status;
	int patience = 1000;

	do {
		burn(10 * MS);
		status = status_now(&region);
	} while (region.state == PROFIL_REGION_ON && --patience);
	EXPECT_EQ(why, region.state);
	EXPECT_LE(1, status.counts.lost);
	for (patience = 1000; !status.counts.outside && patience; patience--) {
		burn(10 * MS);
		status = status_now(&region);
	}
	EXPECT_LE(1, status.counts.outside);
	EXPECT_EQ(status.counts.ticks, sum(&status.counts));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

static void *map_file(size_t size, int *fd)
{
	*fd = memfd_create("counters", 0);
	if (*fd < 0 || ftruncate(*fd, size))
		return MAP_FAILED;
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
}

TEST(counters_that_are_unmapped_go_off)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_EQ(0, profil_function((void *)page, PAGE, 0, ALL));
	munmap(page, PAGE);
	goes_off(_metadata, PROFIL_REGION_UNMAPPED);
}

TEST(counters_that_become_read_only_go_off)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_EQ(0, profil_function((void *)page, PAGE, 0, ALL));
	ASSERT_EQ(0, mprotect(page, PAGE, PROT_READ));
	goes_off(_metadata, PROFIL_REGION_READONLY);
}

TEST(counters_in_a_truncated_file_go_off)
{
	char *page;
	int fd;

	page = map_file(PAGE, &fd);
	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, profil_function((void *)page, PAGE, 0, ALL));
	ASSERT_EQ(0, ftruncate(fd, 0));
	goes_off(_metadata, PROFIL_REGION_UNMAPPED);
}

TEST(a_full_counter_stays_full_beside_its_neighbour)
{
	struct profil_status last = { .size = sizeof(last) };
	int i, patience;

	for (i = 0; i < 2; i++) {
		static _Alignas(4) unsigned short pair[2];

		memset(pair, 0, sizeof(pair));
		pair[i] = 65530;
		pair[!i] = 4711;
		ASSERT_EQ(0, profil_function(&pair[i], 2, 0, ALL));
		EXPECT_TRUE(burn_counted(5));
		for (patience = 1000; !status_now(NULL).counts.clipped &&
		     patience; patience--)
			burn(10 * MS);
		ASSERT_EQ(0, profil_stop(&last, NULL, 0));
		EXPECT_EQ(65535, pair[i]);
		EXPECT_EQ(4711, pair[!i]);
		EXPECT_EQ(5, last.counts.counted);
	}
}

TEST(system_v_stops_when_a_counter_is_full)
{
	size_t low = (size_t)burn & ~0xfffULL;
	struct profil_status status;

	/* Without an overflow bin: one counter for 64 KiB from @low */
	counters[0] = 32760;
	profil_svr4(counters, 2, low, ALL);
	EXPECT_TRUE(burn_counted(7));
	status = status_now(NULL);
	EXPECT_EQ(PROFIL_STATE_FULL, status.state);
	EXPECT_EQ(7, status.counts.counted);
	EXPECT_EQ(32767, counters[0]);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

TEST(a_bad_timeval_starts_nothing)
{
	struct prof region = { counters, sizeof(counters), 0, ALL };

	start(_metadata);
	EXPECT_EQ(-1, sprofil(&region, 1, (void *)8, PROF_FAST));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(10 * MS, status_now(NULL).period_ns);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

/* --- Linux 0.99 */

TEST(linux099_returns_0_whatever_happens)
{
	EXPECT_EQ(0, profil_linux099(counters, sizeof(counters), 0, ALL));
	EXPECT_EQ(PROFIL_STATE_ON, status_now(NULL).state);
	EXPECT_EQ(0, profil_linux099(counters, sizeof(counters), 0, 0x20001));
	EXPECT_EQ(PROFIL_STATE_ON, status_now(NULL).state);
	EXPECT_EQ(0, profil_linux099(counters, sizeof(counters), 0, 1));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now(NULL).state);
	EXPECT_EQ(0, profil_linux099(counters, sizeof(counters), 0, ALL));
	EXPECT_EQ(0, profil_linux099(counters, 0, 0, ALL));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now(NULL).state);
}

/* The kernel's number of the user time of this process, see posix-timers.h */
#define USER_TIME	((clockid_t)-7)

/*
 * The kernel charges a whole tick to user or to system time, so the shares of
 * both are as they may be on a busy machine; but the profile has no other.
 */
TEST(linux099_counts_user_time_only)
{
	struct profil_status last = { .size = sizeof(last) };
	uint64_t begin, all_ns, user_ns = clock_ns(USER_TIME);

	EXPECT_EQ(0, profil_linux099(counters, sizeof(counters), 0, ALL));
	begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	do {
		static char zeros[1 << 16];
		int fd = open("/dev/zero", O_RDONLY);

		for (int i = 0; i < 500; i++)
			if (read(fd, zeros, sizeof(zeros)) < 0)
				abort();
		close(fd);
		burn(MS);
		all_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	} while (all_ns < 800 * MS);
	ASSERT_EQ(0, profil_stop(&last, NULL, 0));
	user_ns = clock_ns(USER_TIME) - user_ns;
	TH_LOG("user time %.3f s of %.3f s", last.cpu_time_ns / 1e9,
	       all_ns / 1e9);
	EXPECT_DUE(last.counts.ticks, last.cpu_time_ns, 1);
	EXPECT_GE(user_ns, last.cpu_time_ns);
}

TEST_HARNESS_MAIN
