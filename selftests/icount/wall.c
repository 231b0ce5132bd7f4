// SPDX-License-Identifier: GPL-2.0-only
/*
 * wall.c - what a switch costs, and a watch of wall-clock time
 *
 * More than one of CPU time, in instructions: time counts these, 2 ns each, and
 * there is one CPU. And for how long others wait for it, beside any long request.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "watch.h"
#include "chains.h"

/* --- switches without a tick */

#define SWITCHES	20000

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/*
 * Two threads take turns. Return: nanoseconds for a switch, of which a turn may need
 * two with PREEMPT_RT.
 */
static double switch_ns(void)
{
	uint64_t begin = monotonic_ns();
	long before = switches();

	if (switch_threads(SWITCHES))
		return -1;
	return (double)(monotonic_ns() - begin) / (switches() - before);
}

/* @pid: whom to watch. Return: as switch_ns(). */
static double watched_switch_ns(struct __test_metadata *_metadata, pid_t pid,
				uint32_t flags)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS, pid,
						    flags);
	struct watch watch;
	double ns;

	request.period_ns = SECOND;
	ASSERT_EQ(0, watch_begin(&watch, &request));
	switch_ns();
	ns = switch_ns();
	watch_end(&watch);
	return ns;
}

static int wait_here(void *unused __attribute__((unused)))
{
	return 0;
}

/* Return: instructions more for a switch, of the process or of another one. */
static double switch_cost(struct __test_metadata *_metadata, pid_t pid,
			  const char *what)
{
	double plain = watched_switch_ns(_metadata, pid, 0);
	double wall = watched_switch_ns(_metadata, pid, PROFIL_WATCH_WALL);

	TH_LOG("%s: %.0f instructions, %+.0f", what, plain / 2,
	       (wall - plain) / 2);
	return (wall - plain) / 2;
}

TEST(a_switch_without_a_tick)
{
	struct child other = child_begin(wait_here, NULL);

	EXPECT_GT(20, switch_cost(_metadata, other.pid, "a switch of others"));
	EXPECT_GT(120 * slack(),
		  switch_cost(_metadata, getpid(), "a switch of two threads"));
	EXPECT_EQ(0, child_end(&other));
}

/* A profile goes on while the threads of a program take turns. */
TEST(a_switch_within_a_profile)
{
	static uint32_t outside;
	struct profil_region region = overflow_bin(&outside, sizeof(outside));
	double without, with;

	/* Bring up the clock */
	ASSERT_EQ(0, set_regions(&region, 1, sizeof(outside), SECOND, 0));
	EXPECT_OK(profil_stop(NULL, NULL, 0));
	switch_ns();
	without = switch_ns();
	ASSERT_EQ(0, set_regions(&region, 1, sizeof(outside), SECOND, 0));
	switch_ns();
	with = switch_ns();
	EXPECT_OK(profil_stop(NULL, NULL, 0));
	TH_LOG("%.0f instructions, %+.0f", without / 2, (with - without) / 2);
	EXPECT_GT(130 * slack(), (with - without) / 2);
}

/* --- waits that have a tick */

#define WAITS	1000

/* Never inline, and never the last thing that its caller does. */
static __attribute__((noinline)) void wait_often(int depth)
{
	struct timespec span = { 0, 500 * US };

	if (depth)
		wait_often(depth - 1);
	for (int i = 0; !depth && i < WAITS; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
	CALLED();
}

/* Return: nanoseconds of CPU time of a wait. */
static double wait_ns(struct __test_metadata *_metadata, int depth,
		      uint32_t flags)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(), flags);
	struct profil_watch_status status;
	struct watch watch;
	uint64_t ns;

	request.period_ns = 100 * US;
	ASSERT_EQ(0, watch_begin(&watch, &request));
	if (flags & PROFIL_WATCH_CHAINS)
		ASSERT_EQ(0, load_own_callers(&watch));
	/* So that all buckets are there */
	wait_often(depth);
	ns = thread_cpu_ns();
	wait_often(depth);
	ns = thread_cpu_ns() - ns;
	status = watch_stop(&watch);
	EXPECT_SOUND(&watch, &status);
	if (flags & PROFIL_WATCH_WALL)
		EXPECT_LE(2 * WAITS * 4, status.blocked);
	watch_end(&watch);
	return (double)ns / WAITS;
}

/* Return: instructions more for a wait with ticks. */
static double wait_cost(struct __test_metadata *_metadata, int depth,
			uint32_t flags)
{
	double plain = wait_ns(_metadata, depth, flags);
	double wall = wait_ns(_metadata, depth, flags | PROFIL_WATCH_WALL);

	TH_LOG("a wait, depth %d, flags %#x: %.0f instructions, %+.0f", depth,
	       flags, plain / 2, (wall - plain) / 2);
	return (wall - plain) / 2;
}

TEST(a_wait_with_ticks)
{
	EXPECT_GT(1200 * slack(), wait_cost(_metadata, 5, 0));
}

TEST(a_wait_with_ticks_and_its_chain)
{
	EXPECT_GT(3600 * slack(),
		  wait_cost(_metadata, 8, PROFIL_WATCH_CHAINS));
	EXPECT_GT(5000 * slack(),
		  wait_cost(_metadata, 21, PROFIL_WATCH_CHAINS));
}

/* --- threads */

#define THREADS	100
#define BATCHES	10

static void *do_nothing(void *unused __attribute__((unused)))
{
	return NULL;
}

/* Create threads, which end, and join them. Return: how long that took. */
static uint64_t batch_ns(struct __test_metadata *_metadata)
{
	uint64_t begin = monotonic_ns();
	pthread_t thread;

	for (int i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, do_nothing, NULL));
		pthread_join(thread, NULL);
	}
	return monotonic_ns() - begin;
}

/*
 * Return: nanoseconds of a thread that is created, ends, and is joined, in the shortest
 * batch: what else the kernel does meanwhile depends on when the host has read its files.
 */
static double thread_ns(struct __test_metadata *_metadata, uint32_t flags)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(), flags);
	uint64_t least = UINT64_MAX;
	struct watch watch;

	request.period_ns = SECOND;
	ASSERT_EQ(0, watch_begin(&watch, &request));
	for (int i = 0; i < BATCHES; i++) {
		uint64_t ns = batch_ns(_metadata);

		least = ns < least ? ns : least;
	}
	watch_end(&watch);
	return (double)least / THREADS;
}

TEST(a_thread)
{
	double plain = thread_ns(_metadata, 0);
	double wall = thread_ns(_metadata, PROFIL_WATCH_WALL);

	TH_LOG("a thread: %.0f instructions, %+.0f", plain / 2,
	       (wall - plain) / 2);
	EXPECT_GT(2500 * slack(), (wall - plain) / 2);
}

/* --- sleepers */

#define SLEEPERS	2000

TEST(threads_that_sleep)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(),
						    PROFIL_WATCH_WALL);
	struct profil_watch_status status;
	uint64_t begin, read_ns, stop_ns;
	struct watch watch;

	ASSERT_EQ(0, begin_sleepers(SLEEPERS));
	request.flags |= PROFIL_WATCH_CHAINS;
	ASSERT_EQ(0, watch_begin(&watch, &request));
	usleep(20000);
	begin = monotonic_ns();
	status = watch_status(&watch);
	read_ns = monotonic_ns() - begin;
	EXPECT_EQ(SLEEPERS + 1, status.threads);
	begin = monotonic_ns();
	ASSERT_EQ(0, ioctl(watch.fd, PROFIL_IOC_WATCH_STOP, NULL));
	stop_ns = monotonic_ns() - begin;
	status = watch_status(&watch);
	TH_LOG("of %u sleepers: a status takes %.0f instructions for each, a stop %.0f",
	       SLEEPERS, (double)read_ns / SLEEPERS / 2,
	       (double)stop_ns / SLEEPERS / 2);
	EXPECT_SOUND(&watch, &status);
	EXPECT_LE(SLEEPERS * 18, status.blocked);
	/* 2 ms for 10,000, and 2.4 us for each, if 2.5 instructions take 1 ns */
	EXPECT_GT(500 * slack(), read_ns / SLEEPERS / 2);
	EXPECT_GT(6000 * slack(), stop_ns / SLEEPERS / 2);
	watch_end(&watch);
}

static uint64_t collect_ns(const struct watch *watch)
{
	uint64_t begin = monotonic_ns();

	if (ioctl(watch->fd, PROFIL_IOC_WATCH_COLLECT, NULL))
		return 0;
	return monotonic_ns() - begin;
}

static int collect_once(void *watch)
{
	return !collect_ns(watch);
}

/* Nobody is charged for a collection: the next one waits for as long as it took. */
TEST(a_collection_whose_caller_is_killed_is_followed_by_a_rest)
{
	static char stack[65536] __attribute__((aligned(16)));
	uint64_t alone, after;
	struct watch watch;
	pid_t caller;

	ASSERT_EQ(0, begin_sleepers(SLEEPERS));
	ASSERT_EQ(0, watch_process(&watch, getpid(), PROFIL_WATCH_WALL |
				   PROFIL_WATCH_CHAINS));
	usleep(20000);
	alone = collect_ns(&watch);
	ASSERT_NE(0, alone);
	usleep(100000);
	/* Without memory of its own, it ends at once */
	caller = clone(collect_once, stack + sizeof(stack), CLONE_VM | SIGCHLD,
		       &watch);
	ASSERT_LT(0, caller);
	usleep(alone / 2 / 1000);
	ASSERT_EQ(0, kill(caller, SIGKILL));
	after = collect_ns(&watch);
	ASSERT_EQ(caller, waitpid(caller, NULL, 0));
	TH_LOG("a collection takes %llu us, and %llu us after another one",
	       (unsigned long long)alone / 1000,
	       (unsigned long long)after / 1000);
	EXPECT_LT(alone + alone / 4, after);
	watch_end(&watch);
}

/* --- a server with idle connections */

#define CONNECTIONS	1000
#define WINDOW_S	4

static int sockets[CONNECTIONS][2];

static void *serve(void *connection)
{
	char byte;

	while (read(*(int *)connection, &byte, 1) == 1)
		;
	return NULL;
}

static int serve_all(void *unused __attribute__((unused)))
{
	pthread_t thread;

	for (int i = 0; i < CONNECTIONS; i++)
		if (pthread_create(&thread, NULL, serve, &sockets[i][0]))
			return 1;
	pause();
	return 1;
}

/* What happens while everybody sleeps */
struct quiet {
	double interrupts;
	uint64_t switches;
};

static struct quiet window(struct __test_metadata *_metadata, pid_t server,
			   const char *what, const struct watch *collected)
{
	struct quiet quiet;

	usleep(100000);
	quiet.switches = thread_switches(server);
	quiet.interrupts = interrupts(0, "");
	for (int i = 0; i < WINDOW_S; i++) {
		sleep(1);
		if (collected)
			ioctl(collected->fd, PROFIL_IOC_WATCH_COLLECT, NULL);
	}
	quiet.interrupts = interrupts(0, "") - quiet.interrupts;
	quiet.switches = thread_switches(server) - quiet.switches;
	TH_LOG("%s: %.0f interrupts, %llu switches of the server", what,
	       quiet.interrupts, (unsigned long long)quiet.switches);
	return quiet;
}

/* Nobody is woken, also when it is collected, and no timer runs meanwhile. */
TEST(a_server_with_idle_connections)
{
	const struct rlimit files = { 4 * CONNECTIONS, 4 * CONNECTIONS };
	struct quiet without, plain, wall, collected;
	struct profil_watch_status status;
	struct child server;
	struct watch watch;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	for (int i = 0; i < CONNECTIONS; i++)
		ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[i]));
	server = child_begin(serve_all, NULL);
	child_go(&server);
	ASSERT_EQ(0, wait_for_threads(server.pid, CONNECTIONS + 1));
	usleep(500000);
	without = window(_metadata, server.pid, "without a watch", NULL);
	ASSERT_EQ(0, watch_process(&watch, server.pid, 0));
	plain = window(_metadata, server.pid, "a watch of CPU time", NULL);
	watch_end(&watch);
	ASSERT_EQ(0, watch_process(&watch, server.pid, PROFIL_WATCH_WALL |
				   PROFIL_WATCH_CHAINS));
	wall = window(_metadata, server.pid, "a watch of wall-clock time",
		      NULL);
	collected = window(_metadata, server.pid,
			   "the same, collected each second", &watch);
	status = watch_stop(&watch);
	EXPECT_SOUND(&watch, &status);
	EXPECT_LE((CONNECTIONS + 1) * 2 * WINDOW_S * (SECOND / MS - 1),
		  status.blocked);
	watch_end(&watch);
	child_kill(&server);
	EXPECT_EQ(0, without.switches + plain.switches + wall.switches +
		     collected.switches);
	/* The kernel has some of its own; one for each connection is far more */
	EXPECT_GE(plain.interrupts + CONNECTIONS / 20, wall.interrupts);
	EXPECT_GE(without.interrupts + CONNECTIONS / 20, wall.interrupts);
}

/* --- others, beside requests of a watch of many sleepers */

#define MANY		10000

/* How long a real-time thread has waited for its CPU, at most. */
static volatile uint64_t latest_ns;

static void *be_real_time(void *unused)
{
	struct sched_param param = { .sched_priority = 10 };
	struct timespec at;
	uint64_t due, late;

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		return "";
	for (due = monotonic_ns();;) {
		due += 100 * US;
		at = (struct timespec) { due / SECOND, due % SECOND };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		late = monotonic_ns() - due;
		if (late > latest_ns)
			latest_ns = late;
		if (late > 100 * US)
			due += late;
	}
	return unused;
}

static int wake_up_in_time(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, be_real_time, NULL);
}

static double wait_of_another(void)
{
	double ns;

	usleep(1000);
	ns = latest_ns;
	latest_ns = 0;
	/* Else it does not run */
	return ns ? ns / 2 : INFINITY;
}

/* Log how long a request took that began at @before, and check that it has paused. */
#define EXPECT_SHORT(what, before, longest) do { \
	double steps = (double)(monotonic_ns() - (before)) / MANY / 2; \
	double wait = wait_of_another(); \
	TH_LOG("a %s: %.0f instructions for each sleeper; others wait for %.0f", \
	       (what), steps, wait); \
	EXPECT_GT((longest) * slack(), wait); \
} while (0)

/*
 * Return: for how long another waits while the kernel allocates and maps as much
 * memory, for a watch of CPU time. At its end some kernels take longer to free that,
 * but the module has no loop over all of it without a pause.
 */
static double waits_of_memory(struct __test_metadata *_metadata,
			      struct profil_watch request)
{
	struct watch watch;
	double begin, end;

	/* The number of threads takes the memory of others */
	request.processes = request.threads * 2;
	request.flags &= ~PROFIL_WATCH_WALL;
	request.threads = 0;
	wait_of_another();
	ASSERT_EQ(0, watch_begin(&watch, &request));
	begin = wait_of_another();
	watch_end(&watch);
	usleep(20000);
	end = wait_of_another();
	TH_LOG("a watch of CPU time: others wait for %.0f and %.0f", begin,
	       end);
	EXPECT_GT(3000000 * slack(), end);
	return begin;
}

TEST(many_threads_that_sleep)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(),
						    PROFIL_WATCH_WALL |
						    PROFIL_WATCH_CHAINS);
	struct profil_watch_status status;
	struct watch watch;
	uint64_t before;
	double memory;

	if (write_file("/proc/sys/kernel/threads-max", "20000"))
		SKIP(return, "cannot have so many threads");
	ASSERT_EQ(0, begin_sleepers(MANY));
	ASSERT_EQ(0, wake_up_in_time());
	usleep(20000);
	TH_LOG("without a request, others wait for %.0f", wait_of_another());
	request.threads = MANY + 2;
	memory = waits_of_memory(_metadata, request);
	before = monotonic_ns();
	ASSERT_EQ(0, watch_begin(&watch, &request));
	EXPECT_SHORT("begin", before, memory + 100000);
	usleep(20000);
	before = monotonic_ns();
	status = watch_status(&watch);
	EXPECT_SHORT("status", before, 50000);
	EXPECT_EQ(MANY + 2, status.threads);
	before = monotonic_ns();
	ASSERT_EQ(0, ioctl(watch.fd, PROFIL_IOC_WATCH_COLLECT, NULL));
	EXPECT_SHORT("collection", before, 50000);
	usleep(20000);
	before = monotonic_ns();
	ASSERT_EQ(0, ioctl(watch.fd, PROFIL_IOC_WATCH_STOP, NULL));
	EXPECT_SHORT("stop", before, 50000);
	status = watch_status(&watch);
	EXPECT_SOUND(&watch, &status);
	watch_end(&watch);
	ASSERT_EQ(0, watch_begin(&watch, &request));
	wait_of_another();
	before = monotonic_ns();
	watch_end(&watch);
	EXPECT_SHORT("close", before, 50000);
}

/* --- waits that end while a watch does */

#define POLLERS		10

/* Wake up at any time of a collection. */
static void *poll_forever(void *ms)
{
	for (;;)
		poll(NULL, 0, (uintptr_t)ms);
	return NULL;
}

static uint64_t waits_in(const struct watch *watch, long call)
{
	uint64_t wait = PROFIL_WAIT_SYSCALL + call;

	return watch_ticks_at(watch, PROFIL_OBJECT_BLOCKED, wait, wait + 1);
}

/* Threads that wake up while others are collected have no more ticks than they. */
TEST(no_wait_is_counted_beyond_the_end)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(),
						    PROFIL_WATCH_WALL |
						    PROFIL_WATCH_CHAINS);
	struct watch watch;
	double polls, pauses;
	pthread_t thread;

	if (write_file("/proc/sys/kernel/threads-max", "20000"))
		SKIP(return, "cannot have so many threads");
	ASSERT_EQ(0, begin_sleepers(MANY));
	for (uintptr_t i = 0; i < POLLERS; i++)
		ASSERT_EQ(0, pthread_create(&thread, NULL, poll_forever,
					    (void *)(40 + 4 * i)));
	usleep(20000);
	request.threads = MANY + POLLERS + 1;
	ASSERT_EQ(0, watch_begin(&watch, &request));
	usleep(50000);
	ASSERT_EQ(0, ioctl(watch.fd, PROFIL_IOC_WATCH_STOP, NULL));
	polls = (double)waits_in(&watch, SYS_poll) / POLLERS;
	pauses = (double)waits_in(&watch, SYS_pause) / MANY;
	TH_LOG("%.1f ticks of each thread that wakes up, %.1f of each other",
	       polls, pauses);
	EXPECT_LT(10, pauses);
	EXPECT_GE(pauses + 3, polls);
	watch_end(&watch);
}

/* --- chains of one watch, beside another */

static void *nap_forever(void *unused)
{
	for (;;)
		sleep_ns(100 * US);
	return unused;
}

static int nap_together(void *unused __attribute__((unused)))
{
	pthread_t thread;

	for (int i = 0; i < 20; i++)
		if (pthread_create(&thread, NULL, nap_forever, NULL))
			return 1;
	pause();
	return 1;
}

static int nap_often(void *unused __attribute__((unused)))
{
	for (int i = 0; i < 50; i++)
		sleep_ns(5 * MS);
	return 0;
}

/* However many waits a watch without chains has, it takes no time for chains. */
TEST(waits_without_chains_take_none_from_others)
{
	struct child other = child_begin(nap_together, NULL);
	struct child child = child_begin(nap_often, NULL);
	struct profil_watch without = watch_request(PROFIL_WATCH_PROCESS,
						    other.pid,
						    PROFIL_WATCH_WALL);
	struct profil_watch with = watch_request(PROFIL_WATCH_PROCESS, child.pid,
						 PROFIL_WATCH_WALL |
						 PROFIL_WATCH_CHAINS);
	struct profil_watch_status status;
	struct watch plain, watch;

	if (is_preempt_rt() || is_linux_before(6, 1))
		SKIP(return, "no chains of waits");
	without.period_ns = 100 * US;
	ASSERT_EQ(0, watch_begin(&plain, &without));
	ASSERT_EQ(0, watch_begin(&watch, &with));
	child_go(&other);
	EXPECT_EQ(0, child_end(&child));
	status = watch_settled(&watch, 0);
	TH_LOG("%llu ticks of waits without chains; of %llu others, %llu have none",
	       watch_status(&plain).blocked, status.blocked,
	       status.chains[PROFIL_CHAIN_BUSY]);
	EXPECT_LT(1000, watch_status(&plain).blocked);
	EXPECT_LT(200, status.blocked);
	EXPECT_GT(status.blocked / 10, status.chains[PROFIL_CHAIN_BUSY]);
	child_kill(&other);
	watch_end(&plain);
	watch_end(&watch);
}

/* --- others, beside requests that take long */

TEST(a_status_of_a_watch_with_much_room_and_others_run)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(), PROFIL_WATCH_WALL);
	struct watch watch;
	double wait;

	ASSERT_EQ(0, wake_up_in_time());
	usleep(20000);
	request.threads = 500000;
	ASSERT_EQ(0, watch_begin(&watch, &request));
	usleep(20000);
	wait_of_another();
	watch_status(&watch);
	wait = wait_of_another();
	TH_LOG("others wait for %.0f", wait);
	EXPECT_GT(50000 * slack(), wait);
	watch_end(&watch);
}

#define MANY_PROCESSES	200000

TEST(a_watch_of_many_processes_begins_and_others_run)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(), 0);

	ASSERT_EQ(0, wake_up_in_time());
	usleep(20000);
	request.threads = MANY_PROCESSES / 2;
	/* Most of it is the kernel's own, to map the memory */
	EXPECT_GT(1000000 * slack(), waits_of_memory(_metadata, request));
}

TEST(a_profile_of_many_regions_begins_and_others_run)
{
	static struct profil_region regions[4096];
	static uint32_t counter;
	double wait;

	for (size_t i = 0; i < ARRAY_SIZE(regions); i++) {
		regions[i] = counter_of(&__executable_start, &etext, &counter,
					sizeof(counter));
		regions[i].offset -= i * 0x100000UL;
	}
	ASSERT_EQ(0, wake_up_in_time());
	usleep(20000);
	wait_of_another();
	ASSERT_EQ(0, set_regions(regions, ARRAY_SIZE(regions), sizeof(counter),
				 SECOND, 0));
	wait = wait_of_another();
	TH_LOG("%zu regions: others wait for %.0f", ARRAY_SIZE(regions), wait);
	EXPECT_GT(1000000 * slack(), wait);
}

/* --- moves to another cgroup */

#define CGROUPS		"/sys/fs/cgroup"
#define CGROUP		CGROUPS "/profil-wall"

/* Both are more than the module follows */
#define FEW_MOVED	2000
#define MANY_MOVED	8000

/* Into the group and out again. Return: instructions. */
static double move_cost(struct __test_metadata *_metadata)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t ns = monotonic_ns();

		ASSERT_EQ(0, enter_cgroup(0, CGROUP));
		ASSERT_EQ(0, enter_cgroup(0, CGROUPS));
		ns = monotonic_ns() - ns;
		if (ns < least)
			least = ns;
	}
	return least / 2;
}

/* Return: instructions more for a move of this process, with so many threads. */
static double watched_move_cost(struct __test_metadata *_metadata, int threads)
{
	int group = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct profil_watch request = watch_request(PROFIL_WATCH_CGROUP, group,
						    PROFIL_WATCH_WALL);
	double plain = move_cost(_metadata), wall;
	struct profil_watch_status status;
	struct watch watch;

	request.period_ns = SECOND;
	ASSERT_EQ(0, watch_begin(&watch, &request));
	wall = move_cost(_metadata);
	status = watch_status(&watch);
	TH_LOG("a move of %d threads: %.0f instructions, %+.0f; %llu are not followed",
	       threads, plain, wall - plain, status.unfollowed_threads);
	/* And not once more in each of five moves */
	EXPECT_EQ(threads - status.threads, status.unfollowed_threads);
	watch_end(&watch);
	close(group);
	return wall - plain;
}

/* The kernel has interrupts off meanwhile, and holds locks. */
TEST(a_move_of_many_threads_is_bounded)
{
	double few, many;

	if (write_file("/proc/sys/kernel/threads-max", "20000"))
		SKIP(return, "cannot have so many threads");
	rmdir(CGROUP);
	ASSERT_EQ(0, mkdir(CGROUP, 0755));
	ASSERT_EQ(0, begin_sleepers(FEW_MOVED - 1));
	usleep(20000);
	few = watched_move_cost(_metadata, FEW_MOVED);
	ASSERT_EQ(0, begin_sleepers(MANY_MOVED - FEW_MOVED));
	usleep(20000);
	many = watched_move_cost(_metadata, MANY_MOVED);
	rmdir(CGROUP);
	EXPECT_GT(few + 20000 * slack(), many);
}

TEST_HARNESS_MAIN
