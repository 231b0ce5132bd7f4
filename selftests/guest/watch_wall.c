// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_wall.c - watches of wall-clock time
 *
 * The ticks of a thread are its life over the period, whatever it does, so the
 * tests mostly need no bound but that of the law of ticks.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "load.h"
#include "needs.h"
#include "numbers.h"
#include "watch.h"

NEEDS_ROOT;

/* The system call of pause(), which has one of its own on x86 only. */
#ifdef SYS_pause
#define PAUSE	SYS_pause
#else
#define PAUSE	SYS_ppoll
#endif

FIXTURE(wall) {
	struct watch watch;
	struct child child;
	struct life since;
	struct profil_watch_status status;
};

FIXTURE_SETUP(wall)
{
	self->watch.fd = -1;
	self->child.pid = -1;
}

FIXTURE_TEARDOWN(wall)
{
	child_kill(&self->child);
	watch_end(&self->watch);
}

static void begin_with(struct __test_metadata *_metadata,
		       FIXTURE_DATA(wall) *self,
		       int (*function)(void *argument), void *argument,
		       struct profil_watch request)
{
	/* That of the last try */
	watch_end(&self->watch);
	self->child = child_begin(function, argument);
	request.size = sizeof(request);
	request.id = self->child.pid;
	request.flags |= PROFIL_WATCH_WALL;
	if (!request.period_ns)
		request.period_ns = MS;
	self->since.longest = monotonic_ns();
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	self->since.shortest = monotonic_ns();
}

static void begin(struct __test_metadata *_metadata, FIXTURE_DATA(wall) *self,
		  int (*function)(void *argument), void *argument)
{
	begin_with(_metadata, self, function, argument,
		   (struct profil_watch) { 0 });
}

static void log_status(struct __test_metadata *_metadata,
		       const struct profil_watch_status *status)
{
	TH_LOG("%llu ticks, %llu blocked (%llu idle), %llu runnable; asleep: %llu, %llu; %u threads",
	       status->ticks, status->blocked, status->idle, status->runnable,
	       status->asleep_blocked, status->asleep_runnable,
	       status->threads);
}

/* All that @nr threads have had since the watch began, and never more. */
#define EXPECT_LIVES(self, nr) do { \
	EXPECT_EQ(0, watch_missing(&(self)->watch, &(self)->since, (nr), \
				   &(self)->status)); \
	log_status(_metadata, &(self)->status); \
} while (0)

/* The child has ended. */
static void ended(struct __test_metadata *_metadata, FIXTURE_DATA(wall) *self)
{
	self->child.pid = -1;
	self->status = watch_settled(&self->watch, 0);
	log_status(_metadata, &self->status);
	EXPECT_SOUND(&self->watch, &self->status);
	EXPECT_EQ(0, self->status.asleep_blocked);
	EXPECT_EQ(0, self->status.asleep_runnable);
}

static void end(struct __test_metadata *_metadata, FIXTURE_DATA(wall) *self)
{
	EXPECT_EQ(0, child_end(&self->child));
	ended(_metadata, self);
}

static void end_by_kill(struct __test_metadata *_metadata,
			FIXTURE_DATA(wall) *self)
{
	EXPECT_EQ(-SIGKILL, child_kill(&self->child));
	ended(_metadata, self);
}

/* Let the child work; it has left the wait for that when this returns. */
static void go(struct __test_metadata *_metadata, FIXTURE_DATA(wall) *self)
{
	EXPECT_SOON(self, 10 <= self->status.asleep_blocked);
	child_go(&self->child);
	EXPECT_SOON(self, 0 < self->status.blocked);
}

/* In the first second of a watch, no wait is long. */
#define EXPECT_NOT_IDLE_YET(self) do { \
	if (monotonic_ns() < (self)->since.longest + SECOND) \
		EXPECT_EQ(0, (self)->status.idle); \
} while (0)

/* Ticks of waits of that kind, whether they were long or not. */
static uint64_t waits(const struct watch *watch, uint32_t offset)
{
	uint64_t ticks = 0;

	for (uint32_t i = 0; i < watch->table->max_buckets; i++) {
		const struct profil_watch_bucket *bucket =
			watch_bucket(watch, i);

		if (watch_in_use(bucket) &&
		    bucket->object == PROFIL_OBJECT_BLOCKED &&
		    (bucket->offset & ~PROFIL_WAIT_LONG) == offset)
			ticks += bucket->count;
	}
	return ticks;
}

static uint64_t waits_in(const struct watch *watch, long call)
{
	return waits(watch, PROFIL_WAIT_SYSCALL + call);
}

/* --- one thread */

static int sleep_often(void *unused __attribute__((unused)))
{
	__u64 state = 1;

	for (;;)
		sleep_ns(number_below(&state, 6 * MS));
	return 0;
}

TEST_F(wall, of_one_who_sleeps_often)
{
	uint64_t reads;

	begin(_metadata, self, sleep_often, NULL);
	EXPECT_LIVES(self, 1);
	go(_metadata, self);
	for (int i = 0; i < 20; i++) {
		sleep_ns(20 * MS);
		EXPECT_LIVES(self, 1);
	}
	end_by_kill(_metadata, self);
	/* Until it was let go */
	reads = waits_in(&self->watch, SYS_read);
	EXPECT_LT((self->status.blocked - reads) / 2,
		  waits_in(&self->watch, SYS_clock_nanosleep));
	EXPECT_NOT_IDLE_YET(self);
}

static int sleep_long(void *unused __attribute__((unused)))
{
	sleep_ns(100 * SECOND);
	return 0;
}

TEST_F(wall, of_one_who_sleeps_long)
{
	uint64_t asleep = SECOND / MS + CUT;

	begin(_metadata, self, sleep_long, NULL);
	go(_metadata, self);
	EXPECT_SOON(self, asleep <= self->status.asleep_blocked);
	EXPECT_LIVES(self, 1);
	EXPECT_EQ(1, self->status.threads);
	end_by_kill(_metadata, self);
	EXPECT_LE(asleep - CUT, waits_in(&self->watch, SYS_clock_nanosleep));
	EXPECT_LE(waits_in(&self->watch, SYS_clock_nanosleep),
		  self->status.idle);
}

static int burn_a_second(void *unused __attribute__((unused)))
{
	burn_thread_ns(SECOND);
	return 0;
}

static int compute(void *unused __attribute__((unused)))
{
	burn_thread_ns(100 * SECOND);
	return 0;
}

/* It computes, and others do on its CPU: it waits for nothing else. */
TEST_F(wall, of_one_who_waits_for_a_cpu)
{
	struct child other;

	pin_to(1);
	other = child_begin(compute, NULL);
	begin(_metadata, self, burn_a_second, NULL);
	pin_to(0);
	EXPECT_LIVES(self, 1);
	child_go(&other);
	child_go(&self->child);
	for (int i = 0; i < 5; i++) {
		sleep_ns(50 * MS);
		EXPECT_LIVES(self, 1);
	}
	end(_metadata, self);
	EXPECT_EQ(-SIGKILL, child_kill(&other));
	EXPECT_LT(100, self->status.runnable);
	EXPECT_CHANCE("ticks", self->status.ticks,
		      (double)self->status.cpu_time_ns / MS,
		      (double)self->status.cpu_time_ns / MS);
	/* Until it was let go, which may take a while, it read; and then hardly */
	EXPECT_GT(waits_in(&self->watch, SYS_read) + 50, self->status.blocked);
}

/* --- stops */

static int never(void *unused __attribute__((unused)))
{
	for (;;)
		pause();
	return 0;
}

TEST_F(wall, of_one_who_is_stopped)
{
	begin(_metadata, self, compute, NULL);
	child_go(&self->child);
	sleep_ns(20 * MS);
	ASSERT_EQ(0, child_hold(&self->child));
	EXPECT_SOON(self, 300 <= self->status.asleep_blocked);
	EXPECT_LIVES(self, 1);
	ASSERT_EQ(0, kill(self->child.pid, SIGCONT));
	EXPECT_SOON(self, 300 - CUT <= waits(&self->watch, PROFIL_WAIT_STOPPED));
	EXPECT_LIVES(self, 1);
}

TEST_F(wall, of_one_who_is_traced)
{
	begin(_metadata, self, compute, NULL);
	child_go(&self->child);
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, self->child.pid, NULL, NULL));
	ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, self->child.pid, NULL, NULL));
	ASSERT_EQ(self->child.pid, waitpid(self->child.pid, NULL, 0));
	EXPECT_SOON(self, 300 <= self->status.asleep_blocked);
	EXPECT_LIVES(self, 1);
	ASSERT_EQ(0, ptrace(PTRACE_CONT, self->child.pid, NULL, NULL));
	EXPECT_SOON(self, 300 - CUT <= waits(&self->watch, PROFIL_WAIT_TRACED));
	EXPECT_LIVES(self, 1);
}

/* --- real-time tasks, which keep a CPU for as long as they want */

#define RT_RUNTIME	"/proc/sys/kernel/sched_rt_runtime_us"

FIXTURE(hog) {
	struct watch watch;
	struct child child;
	struct child hog;
	struct life since;
	struct profil_watch_status status;
	char runtime[20];
};

FIXTURE_SETUP(hog)
{
	FILE *file = fopen(RT_RUNTIME, "r");

	self->watch.fd = -1;
	self->child.pid = -1;
	self->hog.pid = -1;
	if (!file || !fgets(self->runtime, sizeof(self->runtime), file) ||
	    write_file(RT_RUNTIME, "-1"))
		SKIP(return, "real-time tasks have a limit");
	fclose(file);
}

FIXTURE_TEARDOWN(hog)
{
	child_kill(&self->hog);
	child_kill(&self->child);
	watch_end(&self->watch);
	write_file(RT_RUNTIME, self->runtime);
}

/* Until it is killed. */
static int hog_a_cpu(void *unused __attribute__((unused)))
{
	struct sched_param param = { .sched_priority = 50 };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		return 1;
	return compute(NULL);
}

/* Both have the second CPU; the rest of the test has the first one. */
static void begin_beside_hog(struct __test_metadata *_metadata,
			     FIXTURE_DATA(hog) *self,
			     int (*function)(void *argument))
{
	ASSERT_EQ(0, pin_to(1));
	self->child = child_begin(function, NULL);
	self->hog = child_begin(hog_a_cpu, NULL);
	ASSERT_EQ(0, pin_to(0));
	self->since.longest = monotonic_ns();
	ASSERT_EQ(0, watch_process(&self->watch, self->child.pid,
				   PROFIL_WATCH_WALL));
	self->since.shortest = monotonic_ns();
}

TEST_F(hog, that_preempts_one_who_computes)
{
	uint64_t before;

	begin_beside_hog(_metadata, self, compute);
	child_go(&self->child);
	sleep_ns(50 * MS);
	EXPECT_LIVES(self, 1);
	before = self->status.runnable + self->status.asleep_runnable;
	child_go(&self->hog);
	EXPECT_SOON(self, before + 400 <= self->status.runnable +
					  self->status.asleep_runnable);
	EXPECT_LIVES(self, 1);
}

/* Its wait ends while the hog has its CPU: from then on, it could run. */
TEST_F(hog, beside_one_who_wakes_up)
{
	begin_beside_hog(_metadata, self, compute);
	EXPECT_SOON(self, 100 <= self->status.asleep_blocked);
	child_go(&self->hog);
	sleep_ns(50 * MS);
	child_go(&self->child);
	EXPECT_SOON(self, 300 <= self->status.runnable +
				 self->status.asleep_runnable);
	EXPECT_LIVES(self, 1);
	child_kill(&self->hog);
	EXPECT_SOON(self, 100 - CUT <= waits_in(&self->watch, SYS_read));
}

static int collect_for_ever(void *fd)
{
	while (!ioctl((intptr_t)fd, PROFIL_IOC_WATCH_COLLECT, NULL))
		;
	return 1;
}

static int stop_it(void *fd)
{
	return ioctl((intptr_t)fd, PROFIL_IOC_WATCH_STOP, NULL) ? 1 : 0;
}

static bool ends_within(pid_t pid, uint64_t ns)
{
	uint64_t end = monotonic_ns() + ns;

	while (monotonic_ns() < end) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return true;
		sleep_ns(10 * MS);
	}
	return false;
}

/*
 * Who collects gets no CPU any more, most likely before it has come back. Who
 * waits for that can be killed, and so can the collector, later on.
 */
TEST_F(hog, that_keeps_a_collection_from_its_end)
{
	struct child collector, stopper;

	begin_beside_hog(_metadata, self, never);
	ASSERT_EQ(0, pin_to(1));
	collector = child_begin(collect_for_ever,
				(void *)(intptr_t)self->watch.fd);
	ASSERT_EQ(0, pin_to(0));
	stopper = child_begin(stop_it, (void *)(intptr_t)self->watch.fd);
	child_go(&collector);
	sleep_ns(100 * MS);
	child_go(&self->hog);
	sleep_ns(100 * MS);
	child_go(&stopper);
	if (ends_within(stopper.pid, SECOND)) {
		TH_LOG("nobody was collecting, or no longer");
	} else {
		/* It may have stopped the watch by now, or not */
		kill(stopper.pid, SIGKILL);
		EXPECT_TRUE(ends_within(stopper.pid, 20 * SECOND));
	}
	kill(collector.pid, SIGKILL);
	child_kill(&self->hog);
	EXPECT_TRUE(ends_within(collector.pid, 60 * SECOND));
	self->status = watch_stop(&self->watch);
	EXPECT_SOUND(&self->watch, &self->status);
}

/* --- the ends of threads */

TEST_F(wall, of_one_who_is_killed_asleep)
{
	uint64_t least;

	begin(_metadata, self, never, NULL);
	go(_metadata, self);
	EXPECT_SOON(self, 200 <= self->status.asleep_blocked);
	least = (monotonic_ns() - self->since.shortest) / MS - CUT;
	end_by_kill(_metadata, self);
	EXPECT_LE(least, all_ticks(&self->status));
	EXPECT_LE(200 - CUT, waits_in(&self->watch, PAUSE));
}

#define SLEEPERS	10

/* Threads that sleep forever, and the process, which sleeps for a while. */
static int have_sleepers(void *ns)
{
	if (begin_sleepers(SLEEPERS))
		return 1;
	sleep_ns((uintptr_t)ns);
	return 0;
}

/* They may come late to their waits. */
TEST_F(wall, of_a_process_that_exits_with_sleepers)
{
	RUN_UNTIL(SLEEPERS * 250 <= waits_in(&self->watch, PAUSE), {
		begin(_metadata, self, have_sleepers, (void *)(500 * MS));
		end(_metadata, self);
	});
}

static void *execute(void *unused __attribute__((unused)))
{
	sleep_ns(300 * MS);
	execl("/bin/sleep", "sleep", "0.3", NULL);
	return NULL;
}

/* Another thread than the first executes a program: it becomes the first. */
static int have_a_thread_execute(void *unused)
{
	pthread_t thread;

	if (begin_sleepers(1) || pthread_create(&thread, NULL, execute, NULL))
		return 1;
	return never(unused);
}

TEST_F(wall, of_a_process_of_which_a_thread_executes)
{
	const struct profil_watch separate = { .flags = PROFIL_WATCH_SEPARATE };
	const struct profil_watch_image *image;
	uint32_t nr;

	/* All may come late to their waits */
	RUN_UNTIL(2 * 100 <= waits_in(&self->watch, PAUSE) &&
		  150 <= image->blocked, {
		begin_with(_metadata, self, have_a_thread_execute, NULL,
			   separate);
		end(_metadata, self);
		nr = watch_find_image(&self->watch, "sleep");
		ASSERT_NE(0, nr);
		image = watch_image(&self->watch, nr);
		EXPECT_LE(300 - CUT, image_ticks(image) + image->blocked +
				     image->runnable);
	});
}

static int vfork_often(void *unused __attribute__((unused)))
{
	for (int i = 0; i < 5; i++) {
		pid_t child = vfork();

		if (!child) {
			execl("/bin/sleep", "sleep", "0.1", NULL);
			_exit(1);
		}
		if (wait_child(child))
			return 1;
	}
	return 0;
}

TEST_F(wall, of_processes_by_vfork)
{
	begin_with(_metadata, self, vfork_often, NULL,
		   (struct profil_watch) { .flags = PROFIL_WATCH_CHILDREN });
	end(_metadata, self);
	EXPECT_LE(2 * 5 * (100 - CUT), all_ticks(&self->status));
	/* They may come late to their waits */
	EXPECT_LE(100, waits_in(&self->watch, SYS_wait4));
	EXPECT_LE(100, waits_in(&self->watch, SYS_clock_nanosleep));
}

static void *absent;

static int touch_it(void *unused __attribute__((unused)))
{
	*(volatile char *)absent = 1;
	return 0;
}

/* Nobody brings the page in before it is killed. */
TEST_F(wall, of_one_who_waits_for_a_page)
{
	int fds[2], fd;
	pid_t pid;

	absent = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_EQ(0, pipe(fds));
	/* A child has its own memory, and so its own descriptor */
	pid = fork_child();
	if (!pid) {
		char byte;

		fd = userfault(absent, 0);
		if (fd < 0 || read(fds[0], &byte, 1) != 1)
			_exit(1);
		_exit(touch_it(NULL));
	}
	self->child.pid = pid;
	self->since.longest = monotonic_ns();
	ASSERT_EQ(0, watch_process(&self->watch, pid, PROFIL_WATCH_WALL));
	self->since.shortest = monotonic_ns();
	ASSERT_EQ(1, write(fds[1], "", 1));
	EXPECT_SOON(self, !ioctl(self->watch.fd, PROFIL_IOC_WATCH_COLLECT, NULL) &&
			  waits(&self->watch, PROFIL_WAIT_FAULT) >= 200);
	EXPECT_LIVES(self, 1);
	close(fds[0]);
	close(fds[1]);
}

/* --- groups */

#define CGROUPS	"/sys/fs/cgroup"
#define CGROUP	CGROUPS "/profil-watch-wall"

FIXTURE(group) {
	struct watch watch;
	struct child child;
	struct life since;
	struct profil_watch_status status;
};

FIXTURE_SETUP(group)
{
	self->watch.fd = -1;
	self->child.pid = -1;
	ASSERT_EQ(0, mkdir(CGROUP, 0755));
}

FIXTURE_TEARDOWN(group)
{
	child_kill(&self->child);
	watch_end(&self->watch);
	EXPECT_EQ(0, remove_cgroup(CGROUP));
}

static void begin_group(struct __test_metadata *_metadata,
			FIXTURE_DATA(group) *self)
{
	int fd = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct profil_watch request = watch_request(PROFIL_WATCH_CGROUP, fd,
						    PROFIL_WATCH_WALL);

	ASSERT_LE(0, fd);
	self->since.longest = monotonic_ns();
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	self->since.shortest = monotonic_ns();
	close(fd);
}

/* Only the time in the group counts, also of those who sleep all the time. */
TEST_F(group, that_sleepers_enter_and_leave)
{
	uint64_t least, most;

	self->child = child_begin(have_sleepers, (void *)(100 * SECOND));
	child_go(&self->child);
	ASSERT_EQ(0, wait_for_sleepers(self->child.pid, SLEEPERS + 1));
	begin_group(_metadata, self);
	EXPECT_EQ(0, watch_status(&self->watch).threads);
	self->since.longest = monotonic_ns();
	ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUP));
	self->since.shortest = monotonic_ns();
	sleep_ns(300 * MS);
	EXPECT_LIVES(self, SLEEPERS + 1);
	least = (monotonic_ns() - self->since.shortest) / MS;
	ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUPS));
	most = (monotonic_ns() - self->since.longest) / MS;
	sleep_ns(500 * MS);
	self->status = watch_status(&self->watch);
	log_status(_metadata, &self->status);
	EXPECT_LE((SLEEPERS + 1) * (least - CUT), self->status.blocked);
	EXPECT_GE((SLEEPERS + 1) * (most + CUT), self->status.blocked);
	EXPECT_EQ(0, self->status.asleep_blocked);
	EXPECT_SOUND(&self->watch, &self->status);
}

static int wake_up(pid_t pid)
{
	return kill(pid, SIGSTOP) || waitpid(pid, NULL, WUNTRACED) != pid ||
	       kill(pid, SIGCONT);
}

/*
 * They sleep all the time: what comes after they have left, and until they run
 * again after they have come back, does not count, and what came before does
 * once.
 */
TEST_F(group, that_sleepers_leave_and_return_to)
{
	uint64_t least = 0, most = 0;

	self->child = child_begin(have_sleepers, (void *)(100 * SECOND));
	child_go(&self->child);
	ASSERT_EQ(0, wait_for_threads(self->child.pid, SLEEPERS + 1));
	begin_group(_metadata, self);
	for (int i = 0; i < 5; i++) {
		uint64_t begin = monotonic_ns();

		ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUP));
		if (i)
			ASSERT_EQ(0, wake_up(self->child.pid));
		sleep_ns(100 * MS);
		if (i == 3)
			ASSERT_EQ(0, ioctl(self->watch.fd,
					   PROFIL_IOC_WATCH_COLLECT, NULL));
		least += 100 - CUT;
		ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUPS));
		/* Those that run leave once their CPUs have been interrupted */
		watch_status(&self->watch);
		most += (monotonic_ns() - begin) / MS + CUT;
		sleep_ns(100 * MS);
		self->status = watch_status(&self->watch);
		log_status(_metadata, &self->status);
		EXPECT_LE((SLEEPERS + 1) * least, all_ticks(&self->status));
		EXPECT_GE((SLEEPERS + 1) * most, all_ticks(&self->status));
		EXPECT_EQ(0, self->status.asleep_blocked);
	}
	ASSERT_EQ(0, wait_for_sleepers(self->child.pid, SLEEPERS + 1));
	ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUP));
	sleep_ns(100 * MS);
	EXPECT_EQ(0, watch_status(&self->watch).asleep_blocked);
	ASSERT_EQ(0, ioctl(self->watch.fd, PROFIL_IOC_WATCH_COLLECT, NULL));
	most = all_ticks(&self->status);
	self->status = watch_stop(&self->watch);
	EXPECT_EQ(most, all_ticks(&self->status));
	EXPECT_SOUND(&self->watch, &self->status);
}

/* A quarter of a CPU: for three quarters of the time it could run. */
TEST_F(group, that_has_a_quota)
{
	if (write_file(CGROUPS "/cgroup.subtree_control", "+cpu") ||
	    write_file(CGROUP "/cpu.max", "25000 100000"))
		SKIP(return, "no quota of CPU time here");
	self->child = child_begin(compute, NULL);
	ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUP));
	begin_group(_metadata, self);
	child_go(&self->child);
	EXPECT_SOON(self, 800 + self->status.ticks <=
			  self->status.runnable + self->status.asleep_runnable);
	EXPECT_LIVES(self, 1);
	/* But until it was let go */
	EXPECT_GE(waits_in(&self->watch, SYS_read) + 50,
		  self->status.blocked + self->status.asleep_blocked);
}

/* Frozen, it waits for nothing that it has asked for. */
TEST_F(group, that_is_frozen)
{
	self->child = child_begin(compute, NULL);
	ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUP));
	begin_group(_metadata, self);
	child_go(&self->child);
	sleep_ns(50 * MS);
	ASSERT_EQ(0, write_file(CGROUP "/cgroup.freeze", "1"));
	EXPECT_SOON(self, 200 <= self->status.asleep_blocked);
	EXPECT_LIVES(self, 1);
	ASSERT_EQ(0, write_file(CGROUP "/cgroup.freeze", "0"));
	EXPECT_SOON(self, 200 - CUT <= self->status.blocked);
	EXPECT_LIVES(self, 1);
}

/* Each watch of a thread has all its ticks. */
TEST_F(group, whose_process_has_a_watch_of_its_own)
{
	struct {
		struct watch watch;
		struct life since;
		struct profil_watch_status status;
	} other;

	self->child = child_begin(sleep_often, NULL);
	ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUP));
	begin_group(_metadata, self);
	other.since.longest = monotonic_ns();
	ASSERT_EQ(0, watch_process(&other.watch, self->child.pid,
				   PROFIL_WATCH_WALL));
	other.since.shortest = monotonic_ns();
	child_go(&self->child);
	sleep_ns(300 * MS);
	EXPECT_LIVES(self, 1);
	EXPECT_LIVES(&other, 1);
	watch_end(&other.watch);
	sleep_ns(50 * MS);
	EXPECT_LIVES(self, 1);
}

/* What one watch has no room for, it has not again when another one begins. */
TEST_F(group, with_more_threads_than_there_is_room_for)
{
	int fd = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct profil_watch request = watch_request(PROFIL_WATCH_CGROUP, fd,
						    PROFIL_WATCH_WALL);
	struct watch other;

	self->child = child_begin(have_sleepers, (void *)(100 * SECOND));
	child_go(&self->child);
	ASSERT_EQ(0, wait_for_threads(self->child.pid, SLEEPERS + 1));
	ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUP));
	request.threads = 3;
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	close(fd);
	ASSERT_EQ(0, watch_process(&other, self->child.pid,
				   PROFIL_WATCH_WALL));
	self->status = watch_status(&other);
	EXPECT_EQ(SLEEPERS + 1, self->status.threads);
	EXPECT_EQ(0, self->status.unfollowed_threads);
	watch_end(&other);
	self->status = watch_stop(&self->watch);
	EXPECT_EQ(SLEEPERS - 2, self->status.unfollowed_threads);
	EXPECT_SOUND(&self->watch, &self->status);
}

/* Its ticks have no program, but they count until it leaves. */
TEST_F(group, that_leaves_without_room_for_its_program)
{
	int fd = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct profil_watch request = watch_request(PROFIL_WATCH_CGROUP, fd,
						    PROFIL_WATCH_WALL);
	struct child first = child_begin(compute, NULL);
	uint64_t least;

	/* One is for those without, and the first one gets the other */
	request.images = 2;
	ASSERT_EQ(0, mkdir(CGROUP "/one", 0755));
	ASSERT_EQ(0, enter_cgroup(first.pid, CGROUP "/one"));
	self->child = child_begin(have_sleepers, (void *)(100 * SECOND));
	child_go(&self->child);
	ASSERT_EQ(0, wait_for_sleepers(self->child.pid, SLEEPERS + 1));
	ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUP));
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	close(fd);
	self->since.shortest = monotonic_ns();
	sleep_ns(300 * MS);
	least = (monotonic_ns() - self->since.shortest) / MS;
	ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUPS));
	self->status = watch_status(&self->watch);
	log_status(_metadata, &self->status);
	EXPECT_LE((SLEEPERS + 1) * (least - CUT), self->status.blocked);
	EXPECT_SOUND(&self->watch, &self->status);
	child_kill(&first);
	EXPECT_EQ(0, remove_cgroup(CGROUP "/one"));
}

/* More than a move looks at */
#define MANY_SLEEPERS	1100

/* Beside a process that forks all the time. */
static int have_many_sleepers(void *unused)
{
	pid_t parent = getpid();

	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			if (!fork())
				_exit(0);
			else
				wait(NULL);
		_exit(0);
	}
	if (begin_sleepers(MANY_SLEEPERS))
		return 1;
	return never(unused);
}

/* They are in the watch already. */
TEST_F(group, with_more_threads_than_a_move_looks_at)
{
	struct profil_watch_status status;
	struct watch other;

	self->child = child_begin(have_many_sleepers, NULL);
	child_go(&self->child);
	ASSERT_EQ(0, wait_for_threads(self->child.pid, MANY_SLEEPERS + 1));
	ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUP));
	begin_group(_metadata, self);
	ASSERT_EQ(0, watch_process(&other, self->child.pid, PROFIL_WATCH_WALL));
	EXPECT_EQ(MANY_SLEEPERS + 1, watch_status(&other).threads);
	/* Out of the one, and back; it stays in the other */
	ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUPS));
	ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUP));
	self->status = watch_stop(&self->watch);
	status = watch_stop(&other);
	EXPECT_EQ(0, self->status.unfollowed_threads);
	EXPECT_EQ(0, status.unfollowed_threads);
	EXPECT_SOUND(&self->watch, &self->status);
	EXPECT_SOUND(&other, &status);
	watch_end(&other);
}

/*
 * There is room for one thread: when it has ended, another one that runs already gets
 * its place when its process is moved, and a tick comes before its CPU is
 * refreshed.
 */
TEST_F(group, whose_thread_is_followed_while_it_runs)
{
	static const char one[] = CGROUP "/one", other[] = CGROUP "/other";
	char parameters[100];
	struct child first;
	struct profil_watch request;
	int fd = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	snprintf(parameters, sizeof(parameters),
		 "symbol=profil_clock_refresh_process pid=%d", getpid());
	if (load_helper("delay", parameters))
		SKIP(return, "delay.ko: %s", strerror(errno));
	ASSERT_EQ(0, mkdir(one, 0755) | mkdir(other, 0755));
	for (int i = 0; i < 12; i++) {
		first = child_begin(compute, NULL);
		pin_to(1);
		self->child = child_begin(compute, NULL);
		pin_to(0);
		ASSERT_EQ(0, enter_cgroup(first.pid, one));
		ASSERT_EQ(0, enter_cgroup(self->child.pid, one));
		request = watch_request(PROFIL_WATCH_CGROUP, fd,
					PROFIL_WATCH_WALL);
		request.threads = 1;
		ASSERT_EQ(0, watch_begin(&self->watch, &request));
		EXPECT_EQ(1, watch_status(&self->watch).unfollowed_threads);
		child_go(&self->child);
		child_kill(&first);
		EXPECT_SOON(self, !self->status.threads);
		EXPECT_EQ(0, enter_cgroup(self->child.pid, other));
		EXPECT_EQ(1, watch_status(&self->watch).threads);
		self->status = watch_stop(&self->watch);
		EXPECT_EQ(1, self->status.unfollowed_threads);
		EXPECT_SOUND(&self->watch, &self->status);
		watch_end(&self->watch);
		child_kill(&self->child);
	}
	EXPECT_EQ(0, unload_helper("delay"));
	close(fd);
	EXPECT_EQ(0, remove_cgroup(one));
	EXPECT_EQ(0, remove_cgroup(other));
}

/* --- many threads */

static void *sleep_5_ms(void *unused __attribute__((unused)))
{
	sleep_ns(5 * MS);
	return NULL;
}

/* Four at a time. */
static int create_threads(void *nr)
{
	pthread_t threads[4];

	for (uintptr_t i = 0; i < (uintptr_t)nr; i += 4) {
		for (int k = 0; k < 4; k++)
			if (pthread_create(&threads[k], NULL, sleep_5_ms, NULL))
				return 1;
		for (int k = 0; k < 4; k++)
			pthread_join(threads[k], NULL);
	}
	sleep_ns(500 * MS);
	return 0;
}

TEST_F(wall, of_threads_that_come_and_go)
{
	begin_with(_metadata, self, create_threads, (void *)400,
		   (struct profil_watch) { .threads = 401 });
	child_go(&self->child);
	end(_metadata, self);
	EXPECT_EQ(0, self->status.unfollowed_threads);
	EXPECT_EQ(0, self->status.threads);
	EXPECT_LE(400 * (5 - CUT),
		  waits_in(&self->watch, SYS_clock_nanosleep));
}

/* For those that find no room only CPU time counts. */
TEST_F(wall, of_more_threads_than_there_is_room_for)
{
	begin_with(_metadata, self, have_sleepers, (void *)(100 * SECOND),
		   (struct profil_watch) { .threads = 3 });
	child_go(&self->child);
	ASSERT_EQ(0, wait_for_sleepers(self->child.pid, SLEEPERS + 1));
	self->status = watch_status(&self->watch);
	EXPECT_EQ(3, self->status.threads);
	EXPECT_EQ(SLEEPERS - 2, self->status.unfollowed_threads);
	/* They may all sleep at once */
	sleep_ns(250 * MS);
	end_by_kill(_metadata, self);
	EXPECT_GE(3 * ((monotonic_ns() - self->since.longest) / MS + CUT),
		  self->status.blocked);
	EXPECT_LE(2 * 200, waits_in(&self->watch, PAUSE));
}

/*
 * Of a process that has its threads already, all of which sleep. @room: for so
 * many; 0: the default
 */
static void begin_with_sleepers(struct __test_metadata *_metadata,
				FIXTURE_DATA(wall) *self, unsigned int room)
{
	struct profil_watch request;

	self->child = child_begin(have_sleepers, (void *)(100 * SECOND));
	child_go(&self->child);
	ASSERT_EQ(0, wait_for_sleepers(self->child.pid, SLEEPERS + 1));
	request = watch_request(PROFIL_WATCH_PROCESS, self->child.pid,
				PROFIL_WATCH_WALL);
	request.threads = room;
	self->since.longest = monotonic_ns();
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	self->since.shortest = monotonic_ns();
}

TEST_F(wall, of_more_threads_than_there_is_room_for_at_the_begin)
{
	begin_with_sleepers(_metadata, self, 3);
	sleep_ns(100 * MS);
	EXPECT_LIVES(self, 3);
	EXPECT_EQ(3, self->status.threads);
	EXPECT_EQ(SLEEPERS - 2, self->status.unfollowed_threads);
}

/*
 * From Linux 6.12 on, a thread that blocks may stay in the queue of a CPU, and be
 * moved to that of another one.
 */
TEST_F(wall, of_threads_that_there_are_already)
{
	begin_with_sleepers(_metadata, self, 0);
	sleep_ns(300 * MS);
	EXPECT_LIVES(self, SLEEPERS + 1);
	EXPECT_EQ(SLEEPERS + 1, self->status.threads);
	EXPECT_EQ(0, self->status.asleep_runnable);
}

/* Beside a thread that only sleeps */
static int burn_and_sleep(void *unused __attribute__((unused)))
{
	if (begin_sleepers(1))
		return 1;
	for (;;) {
		burn_thread_ns(400 * MS);
		sleep_ns(MS);
	}
	return 0;
}

/*
 * It is switched in before it has its entry, and its CPU is refreshed some time after
 * that, when the other thread has one, too. Until then it has the ticks of the CPU,
 * and only these.
 */
TEST_F(wall, that_begins_while_a_thread_runs)
{
	char parameters[100];
	uint64_t life, ticks;

	snprintf(parameters, sizeof(parameters),
		 "symbol=profil_thread_add pid=%d ms=500 times=2", getpid());
	for (int i = 0; i < 3; i++) {
		if (load_helper("delay", parameters))
			SKIP(return, "delay.ko: %s", strerror(errno));
		pin_to(1);
		self->child = child_begin(burn_and_sleep, NULL);
		pin_to(0);
		child_go(&self->child);
		ASSERT_EQ(0, wait_for_threads(self->child.pid, 2));
		self->since.longest = monotonic_ns();
		ASSERT_EQ(0, watch_process(&self->watch, self->child.pid,
					   PROFIL_WATCH_WALL));
		EXPECT_EQ(0, unload_helper("delay"));
		sleep_ns(50 * MS);
		self->status = watch_stop(&self->watch);
		life = (monotonic_ns() - self->since.longest) / MS;
		ticks = all_ticks(&self->status) - waits_in(&self->watch, PAUSE);
		TH_LOG("%llu ticks of a thread, in %llu ms",
		       (unsigned long long)ticks, (unsigned long long)life);
		EXPECT_GE(life + CUT, ticks);
		EXPECT_SOUND(&self->watch, &self->status);
		watch_end(&self->watch);
		child_kill(&self->child);
	}
}

/* Some end at once, and others stay. */
#define CREATORS	4
#define STAYING		100

static void *return_at_once(void *unused __attribute__((unused)))
{
	return NULL;
}

/* @done: shared, counts those that have created all of theirs */
static void *create_some_more(void *done)
{
	pthread_t thread;

	for (int i = 0; i < STAYING; i++) {
		for (int k = 0; k < 3; k++) {
			if (pthread_create(&thread, NULL, return_at_once, NULL))
				return NULL;
			pthread_join(thread, NULL);
		}
		if (begin_sleepers(1))
			return NULL;
	}
	__atomic_add_fetch((int *)done, 1, __ATOMIC_RELEASE);
	never(NULL);
	return NULL;
}

static int create_all_the_time(void *done)
{
	pthread_t thread;

	for (int i = 0; i < CREATORS; i++)
		if (pthread_create(&thread, NULL, create_some_more, done))
			return 1;
	return never(NULL);
}

/* At the end, each thread that there is has one entry. */
TEST_F(wall, that_begins_while_threads_come_and_go)
{
	enum { ALL = 1 + CREATORS + CREATORS * STAYING };
	int *done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, done);
	for (int i = 0; i < 8; i++) {
		uint64_t begin, before;
		int tries = 600;

		*done = 0;
		self->child = child_begin(create_all_the_time, done);
		child_go(&self->child);
		/* Each time, some more are there already */
		while (threads_of(self->child.pid) < 1 + i * ALL / 10)
			sched_yield();
		ASSERT_EQ(0, watch_process(&self->watch, self->child.pid,
					   PROFIL_WATCH_WALL));
		/* It may have as many before, and then others */
		while (__atomic_load_n(done, __ATOMIC_ACQUIRE) < CREATORS)
			sleep_ns(MS);
		ASSERT_EQ(0, wait_for_threads(self->child.pid, ALL));
		/* Entries of those that have ended are free some time later */
		while (watch_status(&self->watch).threads > ALL && --tries)
			sleep_ns(100 * MS);
		begin = monotonic_ns();
		self->status = watch_status(&self->watch);
		EXPECT_EQ(ALL, self->status.threads);
		EXPECT_EQ(0, self->status.unfollowed_threads);
		before = all_ticks(&self->status);
		sleep_ns(100 * MS);
		self->status = watch_status(&self->watch);
		EXPECT_LE(ALL * (100 - CUT),
			  all_ticks(&self->status) - before);
		EXPECT_GE(ALL * ((monotonic_ns() - begin) / MS + CUT),
			  all_ticks(&self->status) - before);
		child_kill(&self->child);
		self->status = watch_settled(&self->watch, 0);
		EXPECT_SOUND(&self->watch, &self->status);
		watch_end(&self->watch);
	}
}

static void begin_with_workers(struct __test_metadata *_metadata,
			       FIXTURE_DATA(wall) *self)
{
	struct profil_watch request;

	self->child = child_begin(be_threads, NULL);
	child_go(&self->child);
	ASSERT_EQ(0, wait_for_threads(self->child.pid, WORKERS + 1));
	request = watch_request(PROFIL_WATCH_PROCESS, self->child.pid,
				PROFIL_WATCH_WALL);
	self->since.longest = monotonic_ns();
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	self->since.shortest = monotonic_ns();
}

TEST_F(wall, of_threads_that_do_everything)
{
	begin_with_workers(_metadata, self);
	for (int i = 0; i < 20; i++) {
		sleep_ns(50 * MS);
		if (i % 4 == 0)
			ASSERT_EQ(0, ioctl(self->watch.fd,
					   PROFIL_IOC_WATCH_COLLECT, NULL));
		EXPECT_LIVES(self, WORKERS + 1);
	}
	EXPECT_SOON(self, self->status.ticks && self->status.runnable &&
			  waits_in(&self->watch, SYS_clock_nanosleep) &&
			  waits_in(&self->watch, SYS_futex));
}

/* A CPU goes away and comes back meanwhile. */
TEST_F(wall, while_a_cpu_goes_and_comes)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";

	if (access(online, W_OK))
		SKIP(return, "cannot write %s", online);
	begin_with_workers(_metadata, self);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(0, write_file(online, "0"));
		sleep_ns(100 * MS);
		EXPECT_LIVES(self, WORKERS + 1);
		EXPECT_EQ(0, write_file(online, "1"));
		sleep_ns(100 * MS);
		EXPECT_LIVES(self, WORKERS + 1);
	}
}

/*
 * The first part of a suspend: all processes are frozen for a second. The guest
 * does not survive the rest, in which its root file system goes.
 */
TEST_F(wall, while_a_suspend_freezes_all)
{
	if (write_file("/sys/power/pm_test", "freezer") ||
	    write_file("/sys/module/suspend/parameters/pm_test_delay", "1"))
		SKIP(return, "needs CONFIG_PM_DEBUG");
	begin_with_workers(_metadata, self);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, write_file("/sys/power/state", "freeze"));
		EXPECT_LIVES(self, WORKERS + 1);
		sleep_ns(50 * MS);
		EXPECT_LIVES(self, WORKERS + 1);
	}
	EXPECT_EQ(0, write_file("/sys/power/pm_test", "none"));
}

/* --- counting what goes on */

TEST_F(wall, is_collected)
{
	struct profil_watch_status status = { .size = sizeof(status) };

	begin_with_sleepers(_metadata, self, 0);
	EXPECT_SOON(self, (SLEEPERS + 1) * 200 <= self->status.asleep_blocked);
	ASSERT_EQ(0, ioctl(self->watch.fd, PROFIL_IOC_WATCH_COLLECT, &status));
	log_status(_metadata, &status);
	EXPECT_LE(self->status.asleep_blocked, status.blocked);
	EXPECT_LIVES(self, SLEEPERS + 1);
	EXPECT_LE(SLEEPERS * 200, waits_in(&self->watch, PAUSE));
	ASSERT_EQ(0, ioctl(self->watch.fd, PROFIL_IOC_WATCH_COLLECT, NULL));
	EXPECT_LIVES(self, SLEEPERS + 1);
}

/* A part of the wait counts as long, once it is. */
TEST_F(wall, is_collected_while_a_wait_gets_long)
{
	uint64_t before;

	begin(_metadata, self, never, NULL);
	go(_metadata, self);
	EXPECT_SOON(self, 200 <= self->status.asleep_blocked);
	ASSERT_EQ(0, ioctl(self->watch.fd, PROFIL_IOC_WATCH_COLLECT, NULL));
	self->status = watch_status(&self->watch);
	EXPECT_LE(200, self->status.blocked);
	EXPECT_NOT_IDLE_YET(self);
	before = self->status.blocked - self->status.idle;
	EXPECT_SOON(self, SECOND / MS <= self->status.asleep_blocked);
	ASSERT_EQ(0, ioctl(self->watch.fd, PROFIL_IOC_WATCH_COLLECT, NULL));
	EXPECT_LIVES(self, 1);
	EXPECT_LE(SECOND / MS, self->status.idle);
	EXPECT_EQ(before, self->status.blocked - self->status.idle);
}

TEST_F(wall, is_collected_at_a_stop)
{
	uint64_t least, most;

	begin_with_sleepers(_metadata, self, 0);
	sleep_ns(300 * MS);
	least = (monotonic_ns() - self->since.shortest) / MS;
	self->status = watch_stop(&self->watch);
	most = (monotonic_ns() - self->since.longest) / MS;
	log_status(_metadata, &self->status);
	EXPECT_SOUND(&self->watch, &self->status);
	EXPECT_LE((SLEEPERS + 1) * (least - CUT), all_ticks(&self->status));
	EXPECT_GE((SLEEPERS + 1) * (most + CUT), all_ticks(&self->status));
	EXPECT_LE(SLEEPERS * (least - CUT), waits_in(&self->watch, PAUSE));
	EXPECT_EQ(0, self->status.asleep_blocked);
	/* It is over */
	ASSERT_EQ(0, ioctl(self->watch.fd, PROFIL_IOC_WATCH_COLLECT, NULL));
}

/* What is forked meanwhile is not missing in the watch. */
TEST_F(group, that_is_collected_at_a_stop_beside_forks)
{
	self->child = child_begin(have_many_sleepers, NULL);
	ASSERT_EQ(0, enter_cgroup(self->child.pid, CGROUP));
	child_go(&self->child);
	ASSERT_EQ(0, wait_for_threads(self->child.pid, MANY_SLEEPERS + 1));
	for (int i = 0; i < 20; i++) {
		begin_group(_metadata, self);
		sleep_ns(20 * MS);
		self->status = watch_stop(&self->watch);
		EXPECT_EQ(0, self->status.unfollowed);
		watch_end(&self->watch);
	}
}

/* Return: 0, or the number of the step that failed. */
static int watch_as_nobody(void)
{
	struct profil_watch_status status;
	struct profil_watch request;
	struct child child;
	struct watch watch;
	uint64_t begin;

	if (become(NOBODY))
		return 1;
	child = child_begin(have_sleepers, (void *)(100 * SECOND));
	child_go(&child);
	if (wait_for_threads(child.pid, SLEEPERS + 1))
		return 6;
	request = watch_request(PROFIL_WATCH_PROCESS, child.pid,
				PROFIL_WATCH_WALL);
	begin = monotonic_ns();
	if (watch_begin(&watch, &request))
		return 2;
	sleep_ns(200 * MS);
	status = watch_stop(&watch);
	if (all_ticks(&status) < (SLEEPERS + 1) * (200 - CUT))
		return 3;
	if (all_ticks(&status) >
	    (SLEEPERS + 1) * ((monotonic_ns() - begin) / MS + CUT))
		return 4;
	child_kill(&child);
	/* Those of others are out of reach */
	request.id = getppid();
	return watch_try(&request) == EPERM ? 0 : 5;
}

TEST_F(wall, is_for_every_user)
{
	pid_t pid = fork_child();

	if (!pid)
		_exit(watch_as_nobody());
	EXPECT_EQ(0, wait_child(pid));
}

static int have_sleepers_as_nobody(void *ns)
{
	return become(NOBODY) ? 1 : have_sleepers(ns);
}

/* Return: 0, or the number of the step that failed. */
static int watch_too(pid_t pid)
{
	struct profil_watch_status status;
	uint64_t begin = monotonic_ns();
	struct watch watch;

	if (become(NOBODY) || watch_process(&watch, pid, PROFIL_WATCH_WALL))
		return 1;
	for (int i = 1; i <= 5; i++) {
		sleep_ns(100 * MS);
		if (ioctl(watch.fd, PROFIL_IOC_WATCH_COLLECT, NULL))
			return 2;
		status = watch_status(&watch);
		if (all_ticks(&status) < (SLEEPERS + 1) * (i * 100 - CUT))
			return 3;
		if (all_ticks(&status) > (SLEEPERS + 1) *
		    ((monotonic_ns() - begin) / MS + CUT))
			return 4;
	}
	status = watch_stop(&watch);
	return watch_fault(&watch, &status) ? 5 : 0;
}

/* Root and the process's user: each has all ticks, no matter who collects. */
TEST_F(wall, of_two_users)
{
	pid_t other;

	self->child = child_begin(have_sleepers_as_nobody,
				  (void *)(100 * SECOND));
	child_go(&self->child);
	ASSERT_EQ(0, wait_for_sleepers(self->child.pid, SLEEPERS + 1));
	self->since.longest = monotonic_ns();
	ASSERT_EQ(0, watch_process(&self->watch, self->child.pid,
				   PROFIL_WATCH_WALL));
	self->since.shortest = monotonic_ns();
	other = fork_child();
	if (!other)
		_exit(watch_too(self->child.pid));
	for (int i = 0; i < 10; i++) {
		sleep_ns(50 * MS);
		ASSERT_EQ(0, ioctl(self->watch.fd, PROFIL_IOC_WATCH_COLLECT,
				   NULL));
		EXPECT_LIVES(self, SLEEPERS + 1);
	}
	EXPECT_EQ(0, wait_child(other));
	EXPECT_LIVES(self, SLEEPERS + 1);
}

TEST_F(wall, collecting_is_nothing_without_it)
{
	struct profil_watch_status status = { .size = sizeof(status) };
	struct profil_watch request;
	int fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, ioctl(fd, PROFIL_IOC_WATCH_COLLECT, &status));
	EXPECT_EQ(0, ioctl(fd, PROFIL_IOC_WATCH_COLLECT, NULL));
	close(fd);
	self->child = child_begin(never, NULL);
	request = watch_request(PROFIL_WATCH_PROCESS, self->child.pid, 0);
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	child_go(&self->child);
	sleep_ns(100 * MS);
	ASSERT_EQ(0, ioctl(self->watch.fd, PROFIL_IOC_WATCH_COLLECT, &status));
	EXPECT_EQ(0, status.blocked);
	EXPECT_EQ(0, status.asleep_blocked);
}

TEST_HARNESS_MAIN
