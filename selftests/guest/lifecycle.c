// SPDX-License-Identifier: GPL-2.0-only
/*
 * lifecycle.c - the life of a profile
 *
 * What happens to the profile at fork, vfork, clone, exec and exit; when
 * threads come and go; when descriptors are closed; when the program moves,
 * removes or touches the anchor; and when the device gets out of its reach.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

static uint32_t counter;
static char report[4096];

/* Count every tick of the process in one counter. */
static int start(void)
{
	struct profil_region region = overflow_bin(&counter, sizeof(counter));

	return set_regions(&region, 1, sizeof(counter), MS, 0);
}

FIXTURE(lifecycle) {
	struct profil_status before;
};

FIXTURE_SETUP(lifecycle)
{
	helper_path(report, sizeof(report), "report");
	ASSERT_EQ(0, start());
	ASSERT_TRUE(burn_ticks(5));
	self->before = status_now();
}

FIXTURE_TEARDOWN(lifecycle)
{
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

static void goes_on(struct __test_metadata *_metadata,
		    FIXTURE_DATA(lifecycle) *self)
{
	struct profil_status now = status_now();
	uint32_t counted = counter;

	EXPECT_EQ(PROFIL_STATE_ON, now.state);
	EXPECT_LE(self->before.counts.ticks, now.counts.ticks);
	EXPECT_LE(self->before.cpu_time_ns, now.cpu_time_ns);
	EXPECT_EQ(0, now.unfollowed + now.counts.lost);
	EXPECT_TRUE(burn_ticks(2));
	EXPECT_LE(counted + 2, counter);
}

static void is_off(struct __test_metadata *_metadata)
{
	uint32_t counted = counter;

	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	burn_thread_ns(20 * MS);
	EXPECT_EQ(counted, counter);
	EXPECT_EQ(0, status_now().counts.ticks);
}

TEST_F(lifecycle, fork_goes_on_in_both)
{
	uint32_t counted = counter;
	pid_t child = fork_child();

	ASSERT_LE(0, child);
	if (!child) {
		struct profil_status now = status_now();

		/*
		 * The counter is not cleared, but the stats are the child's
		 * own.
		 */
		EXPECT_LE(counted, counter);
		EXPECT_EQ(PROFIL_STATE_ON, now.state);
		EXPECT_EQ(MS, now.period_ns);
		EXPECT_EQ(0, now.unfollowed);
		EXPECT_TRUE(burn_ticks(20));
		now = status_now();
		EXPECT_LE(now.counts.counted, counter - counted);
		EXPECT_CONSERVED(&now);
		_exit(!__test_passed(_metadata));
	}
	EXPECT_EQ(0, wait_child(child));
	goes_on(_metadata, self);
}

TEST_F(lifecycle, child_starts_from_zero)
{
	pid_t child;

	EXPECT_TRUE(burn_ticks(500));
	child = fork_child();
	ASSERT_LE(0, child);
	if (!child) {
		struct profil_status now = status_now();

		/*
		 * However long the child has run, it is far from half a second.
		 */
		EXPECT_GT(process_cpu_ns() + 200 * MS, now.cpu_time_ns);
		EXPECT_GT(process_cpu_ns() + 200 * MS, now.counts.ticks * MS);
		_exit(!__test_passed(_metadata));
	}
	EXPECT_EQ(0, wait_child(child));
}

TEST_F(lifecycle, child_stops_for_itself)
{
	pid_t child = fork_child();

	ASSERT_LE(0, child);
	if (!child) {
		EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
		is_off(_metadata);
		_exit(!__test_passed(_metadata));
	}
	EXPECT_EQ(0, wait_child(child));
	goes_on(_metadata, self);
}

TEST_F(lifecycle, parent_stops_for_itself)
{
	int ends[2];
	pid_t child;
	char byte;

	ASSERT_EQ(0, pipe(ends));
	child = fork_child();
	ASSERT_LE(0, child);
	if (!child) {
		EXPECT_EQ(1, read(ends[0], &byte, 1));
		EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
		EXPECT_TRUE(burn_ticks(5));
		/* The child may replace and stop it, too. */
		EXPECT_EQ(0, start());
		EXPECT_TRUE(burn_ticks(5));
		EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
		is_off(_metadata);
		_exit(!__test_passed(_metadata));
	}
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	is_off(_metadata);
	ASSERT_EQ(1, write(ends[1], "", 1));
	EXPECT_EQ(0, wait_child(child));
	is_off(_metadata);
}

TEST_F(lifecycle, grandchildren_inherit_too)
{
	pid_t child = fork_child();

	ASSERT_LE(0, child);
	if (!child) {
		pid_t grandchild = fork_child();

		if (!grandchild) {
			EXPECT_TRUE(burn_ticks(5));
			_exit(!__test_passed(_metadata));
		}
		EXPECT_EQ(0, wait_child(grandchild));
		_exit(!__test_passed(_metadata));
	}
	EXPECT_EQ(0, wait_child(child));
	goes_on(_metadata, self);
}

TEST_F(lifecycle, vfork_shares_it)
{
	uint64_t ticks = 0;
	pid_t child;

	child = vfork();
	if (!child) {
		burn_thread_ns(50 * MS);
		_exit(0);
	}
	EXPECT_EQ(0, wait_child(child));
	ticks = status_now().counts.ticks;
	EXPECT_LT(self->before.counts.ticks + 10, ticks);
	goes_on(_metadata, self);
}

TEST_F(lifecycle, exec_after_vfork_ends_it_for_the_child)
{
	pid_t child = vfork();

	if (!child) {
		execl(report, report, NULL);
		_exit(127);
	}
	EXPECT_EQ(PROFIL_STATE_OFF, wait_child(child));
	goes_on(_metadata, self);
}

static int burn_50_ms(void *unused)
{
	(void)unused;
	burn_thread_ns(50 * MS);
	return 0;
}

static int exec_report(void *unused)
{
	(void)unused;
	execl(report, report, NULL);
	return 127;
}

static int stop_it(void *unused)
{
	(void)unused;
	return profil_stop(NULL, NULL, 0) ? 1 : 0;
}

/* IRIX's sproc(): a new process in the same memory. */
static int run_in_same_memory(int (*function)(void *))
{
	static char stack[65536] __attribute__((aligned(16)));

	return wait_child(clone(function, stack + sizeof(stack),
				CLONE_VM | SIGCHLD, NULL));
}

TEST_F(lifecycle, clone_vm_shares_it)
{
	EXPECT_EQ(0, run_in_same_memory(burn_50_ms));
	EXPECT_LT(self->before.counts.ticks + 10, status_now().counts.ticks);
	EXPECT_EQ(PROFIL_STATE_OFF, run_in_same_memory(exec_report));
	goes_on(_metadata, self);
	EXPECT_EQ(0, run_in_same_memory(stop_it));
	is_off(_metadata);
}

TEST_F(lifecycle, exec_ends_it)
{
	pid_t child = fork_child();

	ASSERT_LE(0, child);
	if (!child) {
		/* The profile of this very address space */
		EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
		execl(report, report, NULL);
		_exit(127);
	}
	EXPECT_EQ(PROFIL_STATE_OFF, wait_child(child));
	goes_on(_metadata, self);
}

TEST_F(lifecycle, exec_that_fails_changes_nothing)
{
	EXPECT_ERROR(ENOENT, execl("/no/such/program", "program", NULL));
	EXPECT_ERROR(EACCES, execl("/proc/self/status", "program", NULL));
	goes_on(_metadata, self);
}

static void *exec_in_thread(void *unused)
{
	(void)unused;
	execl(report, report, NULL);
	_exit(127);
}

TEST_F(lifecycle, exec_by_another_thread)
{
	pid_t child = fork_child();
	pthread_t thread;

	ASSERT_LE(0, child);
	if (!child) {
		pthread_create(&thread, NULL, exec_in_thread, NULL);
		for (;;)
			burn_thread_ns(SECOND);
	}
	EXPECT_EQ(PROFIL_STATE_OFF, wait_child(child));
	goes_on(_metadata, self);
}

TEST_F(lifecycle, death_by_signal)
{
	int i;

	for (i = 0; i < 20; i++) {
		pid_t child = fork_child();

		ASSERT_LE(0, child);
		if (!child)
			for (;;)
				burn_thread_ns(SECOND);
		burn_thread_ns(2 * MS);
		EXPECT_EQ(0, kill(child, SIGKILL));
		EXPECT_EQ(-SIGKILL, wait_child(child));
	}
	goes_on(_metadata, self);
}

/* As daemons do: every descriptor closed, a new session, two forks. */
TEST_F(lifecycle, daemon_closes_every_descriptor)
{
	uint32_t *result = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork_child();

	ASSERT_LE(0, child);
	if (!child) {
		setsid();
		child = fork_child();
		if (child)
			_exit(wait_child(child));
		if (syscall(SYS_close_range, 0, ~0U, 0) || chdir("/"))
			_exit(2);
		if (status_now().state != PROFIL_STATE_ON ||
		    !burn_ticks(5))
			_exit(3);
		*result = counter;
		_exit(profil_stop(NULL, NULL, 0) ? 4 : 0);
	}
	EXPECT_EQ(0, wait_child(child));
	EXPECT_LE(5, *result);
}

static void *burn_a_little(void *unused)
{
	burn_thread_ns(10 * MS);
	return unused;
}

TEST_F(lifecycle, threads_come_and_go)
{
	pthread_t threads[8];
	uint64_t ticks;
	int round, i;

	for (round = 0; round < 5; round++) {
		for (i = 0; i < 8; i++)
			ASSERT_EQ(0, pthread_create(&threads[i], NULL,
						    burn_a_little, NULL));
		for (i = 0; i < 8; i++)
			ASSERT_EQ(0, pthread_join(threads[i], NULL));
	}
	/* 400 ms of the threads */
	ticks = status_now().counts.ticks - self->before.counts.ticks;
	EXPECT_LT(200, ticks);
	goes_on(_metadata, self);
}

static void *start_in_thread(void *unused)
{
	return start() ? (void *)1 : unused;
}

TEST_F(lifecycle, thread_that_started_it_ends)
{
	pthread_t thread;
	void *failed;

	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, start_in_thread, NULL));
	ASSERT_EQ(0, pthread_join(thread, &failed));
	ASSERT_EQ(NULL, failed);
	EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
	EXPECT_TRUE(burn_ticks(5));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	is_off(_metadata);
}

static void *judge_alone(void *first)
{
	if (pthread_join(*(pthread_t *)first, NULL))
		_exit(2);
	_exit(status_now().state != PROFIL_STATE_ON || !burn_ticks(5));
}

/* The process lives on in its other thread. */
TEST_F(lifecycle, first_thread_ends)
{
	pthread_t first = pthread_self(), thread;
	pid_t child = fork_child();

	ASSERT_LE(0, child);
	if (!child) {
		pthread_create(&thread, NULL, judge_alone, &first);
		pthread_exit(NULL);
	}
	EXPECT_EQ(0, wait_child(child));
	goes_on(_metadata, self);
}

TEST_F(lifecycle, anchor_is_there_while_it_runs)
{
	void *first = find_anchor();

	EXPECT_NE(NULL, first);
	EXPECT_EQ(0, start());
	EXPECT_EQ(first, find_anchor());
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(NULL, find_anchor());
}

/* A tick from before may still be pending when the anchor goes away. */
static void comes_to_rest(struct __test_metadata *_metadata)
{
	int patience = 100;
	uint32_t counted;

	do {
		counted = counter;
		burn_thread_ns(20 * MS);
	} while (counted != counter && --patience);
	is_off(_metadata);
}

TEST_F(lifecycle, anchor_removed)
{
	ASSERT_EQ(0, munmap(find_anchor(), PAGE));
	comes_to_rest(_metadata);
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(0, start());
	EXPECT_TRUE(burn_ticks(5));
}

/* Remove the anchor when the kernel asks for the page, then serve the page. */
struct late {
	int fd;
	char *page;
	void *anchor;
};

static void *remove_anchor(void *argument)
{
	struct late *late = argument;
	struct uffdio_zeropage zero = {
		.range = { (uintptr_t)late->page, PAGE },
	};
	struct uffd_msg message;

	if (read(late->fd, &message, sizeof(message)) == sizeof(message))
		munmap(late->anchor, PAGE);
	ioctl(late->fd, UFFDIO_ZEROPAGE, &zero);
	return NULL;
}

/*
 * In this case too the status is final: nothing is pending, and no tick
 * follows.
 */
TEST_F(lifecycle, anchor_removed_during_stop)
{
	struct profil_status last = { .size = sizeof(last) };
	struct late late;
	pthread_t thread;
	uint32_t counted;

	late.page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	late.fd = userfault(late.page, 0);
	if (late.fd < 0)
		SKIP(return, "userfaultfd: %s", strerror(errno));
	late.anchor = find_anchor();
	ASSERT_EQ(0, pthread_create(&thread, NULL, remove_anchor, &late));
	EXPECT_EQ(0, profil_stop(&last, (void *)late.page, 1));
	counted = counter;
	pthread_join(thread, NULL);
	EXPECT_EQ(PROFIL_STATE_OFF, last.state);
	EXPECT_EQ(0, last.pending);
	EXPECT_EQ(last.counts.counted, counted);
	EXPECT_CONSERVED(&last);
	is_off(_metadata);
}

TEST_F(lifecycle, anchor_mapped_over)
{
	void *at = find_anchor();

	ASSERT_EQ(at, mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			   MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	comes_to_rest(_metadata);
	EXPECT_EQ(0, start());
	EXPECT_NE(at, find_anchor());
	EXPECT_TRUE(burn_ticks(5));
	/* Stopping that profile leaves the mapping that is there now. */
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	memset(at, 1, PAGE);
}

TEST_F(lifecycle, anchor_moved)
{
	void *to = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	void *from = find_anchor();
	pid_t child;

	ASSERT_EQ(to, mremap(from, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			     to));
	EXPECT_EQ(to, find_anchor());
	goes_on(_metadata, self);
	EXPECT_EQ(0, start());
	EXPECT_EQ(to, find_anchor());

	child = fork_child();
	ASSERT_LE(0, child);
	if (!child) {
		EXPECT_TRUE(burn_ticks(5));
		EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
		EXPECT_EQ(NULL, find_anchor());
		is_off(_metadata);
		_exit(!__test_passed(_metadata));
	}
	EXPECT_EQ(0, wait_child(child));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(NULL, find_anchor());
	is_off(_metadata);
}

TEST_F(lifecycle, anchor_cannot_be_doubled)
{
	errno = 0;
	EXPECT_EQ(MAP_FAILED, mremap(find_anchor(), PAGE, 2 * PAGE,
				     MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
	errno = 0;
	EXPECT_EQ(MAP_FAILED, mremap(find_anchor(), 0, PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(EINVAL, errno);
	errno = 0;
	EXPECT_EQ(MAP_FAILED, mremap(find_anchor(), PAGE, PAGE, MREMAP_MAYMOVE |
				     MREMAP_DONTUNMAP));
	EXPECT_EQ(EINVAL, errno);
	goes_on(_metadata, self);
}

/* The program itself asks that children do not inherit the anchor. */
TEST_F(lifecycle, anchor_not_for_children)
{
	pid_t child;

	ASSERT_EQ(0, madvise(find_anchor(), PAGE, MADV_DONTFORK));
	child = fork_child();
	ASSERT_LE(0, child);
	if (!child) {
		EXPECT_EQ(NULL, find_anchor());
		is_off(_metadata);
		EXPECT_EQ(0, start());
		EXPECT_TRUE(burn_ticks(2));
		_exit(!__test_passed(_metadata));
	}
	EXPECT_EQ(0, wait_child(child));
	goes_on(_metadata, self);
}

static sigjmp_buf after_fault;
static volatile sig_atomic_t fault_signal;

static void on_fault(int number)
{
	fault_signal = number;
	siglongjmp(after_fault, 1);
}

/* A program that makes the anchor accessible finds nothing in it. */
TEST_F(lifecycle, anchor_touched)
{
	struct sigaction action = { .sa_handler = on_fault };
	volatile char *at = find_anchor();

	ASSERT_EQ(0, sigaction(SIGSEGV, &action, NULL));
	ASSERT_EQ(0, sigaction(SIGBUS, &action, NULL));
	if (!sigsetjmp(after_fault, 1))
		(void)*at;
	EXPECT_EQ(SIGSEGV, fault_signal);

	fault_signal = 0;
	EXPECT_EQ(0, mprotect((void *)at, PAGE, PROT_READ | PROT_WRITE));
	if (!sigsetjmp(after_fault, 1))
		*at = 1;
	EXPECT_EQ(SIGBUS, fault_signal);
	goes_on(_metadata, self);
}

/* Counters in the very page that is the anchor. */
TEST_F(lifecycle, anchor_as_counters)
{
	struct profil_region_status region;
	struct profil_status status = { .size = sizeof(status) };
	struct profil_region regions = overflow_bin(find_anchor(), 4);

	ASSERT_EQ(0, mprotect(find_anchor(), PAGE, PROT_READ | PROT_WRITE));
	ASSERT_EQ(0, set_regions(&regions, 1, 4, MS, 0));
	EXPECT_TRUE(burn_ticks(5));
	EXPECT_EQ(0, profil_stop(&status, &region, 1));
	EXPECT_EQ(PROFIL_REGION_DEVICE, region.state);
	EXPECT_EQ(0, status.counts.counted);
}

TEST_F(lifecycle, everything_locked_in_memory)
{
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
	EXPECT_EQ(0, start());
	EXPECT_TRUE(burn_ticks(5));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	munlockall();
}

TEST_F(lifecycle, no_room_for_the_anchor)
{
	struct rlimit limit;

	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	ASSERT_EQ(0, getrlimit(RLIMIT_AS, &limit));
	limit.rlim_cur = 0;
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &limit));
	EXPECT_ERROR(ENOMEM, start());
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	limit.rlim_cur = limit.rlim_max;
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &limit));
	EXPECT_EQ(0, start());
	EXPECT_TRUE(burn_ticks(5));
}

TEST_F(lifecycle, many_children_at_once)
{
	enum { NR = 200 };
	pid_t children[NR];
	int ends[2], i;
	char byte;

	ASSERT_EQ(0, pipe(ends));
	for (i = 0; i < NR; i++) {
		children[i] = fork_child();
		ASSERT_LE(0, children[i]);
		if (children[i])
			continue;
		close(ends[1]);
		/* The end of the pipe: by now all children are alive. */
		EXPECT_EQ(0, read(ends[0], &byte, 1));
		EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
		EXPECT_TRUE(burn_ticks(2));
		_exit(!__test_passed(_metadata));
	}
	close(ends[1]);
	for (i = 0; i < NR; i++)
		EXPECT_EQ(0, wait_child(children[i]));
	goes_on(_metadata, self);
}

TEST_F(lifecycle, fork_refused_to_the_user)
{
	struct rlimit limit = { 0, 0 };
	pid_t child;

	if (geteuid())
		SKIP(return, "needs root");
	child = fork_child();
	ASSERT_LE(0, child);
	if (!child) {
		int i;

		EXPECT_EQ(0, setresuid(54322, 54322, 54322));
		EXPECT_EQ(0, setrlimit(RLIMIT_NPROC, &limit));
		for (i = 0; i < 100; i++)
			EXPECT_ERROR(EAGAIN, fork());
		EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
		EXPECT_EQ(0, status_now().unfollowed);
		EXPECT_TRUE(burn_ticks(5));
		_exit(!__test_passed(_metadata));
	}
	EXPECT_EQ(0, wait_child(child));
	goes_on(_metadata, self);
}

/* --- the device for root only */

FIXTURE(reach) {
	struct stat device;
};

FIXTURE_SETUP(reach)
{
	ASSERT_EQ(0, stat(PROFIL_DEVICE, &self->device));
}

FIXTURE_TEARDOWN(reach)
{
	EXPECT_EQ(0, seteuid(0));
	EXPECT_EQ(0, chmod(PROFIL_DEVICE, self->device.st_mode & 07777));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
}

/* Tests with this fixture begin so. */
#define FOR_ROOT_ONLY() do { \
	if (geteuid() || in_user_space()) \
		SKIP(return, "needs root and the device"); \
	ASSERT_EQ(0, chmod(PROFIL_DEVICE, 0600)); \
} while (0)

/* No request succeeds that has not reached the profile, and no other begins. */
TEST_F(reach, profile_goes_on_out_of_it)
{
	static unsigned short buffer[8];
	struct profil_status status = { .size = sizeof(status) };

	FOR_ROOT_ONLY();
	ASSERT_EQ(0, start());
	ASSERT_EQ(0, seteuid(NOBODY));
	EXPECT_ERROR(EACCES, profil_stop(NULL, NULL, 0));
	EXPECT_ERROR(EACCES, profil_status(&status, NULL, 0));
	EXPECT_ERROR(EACCES, profil(buffer, sizeof(buffer), 0, 65536));
	ASSERT_EQ(0, seteuid(0));
	EXPECT_TRUE(burn_ticks(5));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));

	/* Without a profile the library counts in user space, as ever. */
	ASSERT_EQ(0, seteuid(NOBODY));
	EXPECT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(0, profil(buffer, sizeof(buffer), 0, 65536));
}

/* A bad buffer ends the running profile, wherever that is counted (4.4BSD). */
TEST_F(reach, bad_buffer_ends_a_profile_in_user_space)
{
	static unsigned short buffer[8];

	FOR_ROOT_ONLY();
	ASSERT_EQ(0, seteuid(NOBODY));
	ASSERT_EQ(0, profil(buffer, sizeof(buffer), 0, 65536));
	EXPECT_EQ(PROFIL_STATE_ON, status_now().state);
	ASSERT_EQ(0, seteuid(0));
	EXPECT_ERROR(EFAULT, profil((void *)PAGE, 16, 0, 65536));
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
}

TEST_HARNESS_MAIN
