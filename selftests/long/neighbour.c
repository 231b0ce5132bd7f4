// SPDX-License-Identifier: GPL-2.0-only
/*
 * neighbour.c - whatever one user does, another's ticks are right
 *
 * An innocent user has profiles, and a watch of threads and what they wait for, and
 * makes requests, while a hostile one, or the administrator, does one thing after
 * the other that could get in the way. All that the one has counted must add up
 * then, and no request may fail; and when both have gone, nothing is left in the
 * module. How late its timers are and what CPU time it gets depends on the host:
 * that is printed, and first of all what it is without an attack.
 *
 * One of its programs, programs/bystander.c, counts on pages that are missing: it
 * loses no tick, and the kernel frees its memory while the attack goes on. Until then
 * its executable is busy (ETXTBSY).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "chains.h"
#include "load.h"
#include "needs.h"
#include "numbers.h"
#include "watch.h"
#include "programs/bystander.h"
#include "programs/spread.h"

NEEDS_ROOT;
NEEDS_TWO_CPUS;

#define HOSTILE		100001
#define INNOCENT	100002
#define STRANGER	100003

/* How long an attack goes on at least, once it has begun */
#define ATTACK_NS	(10 * SECOND)

/* A workqueue runs at most 256 works for a CPU, and 512 unbound ones. */
#define CROWD		280
#define LEAVERS		720

/* Counters of a hostile process, each on a page of its own if possible. */
#define PARTS		SPREAD_LOOPS
#define COUNTERS_SIZE	((PARTS + 1) * PAGE)

/* Not the shortest period: there an emulated CPU does little but take ticks. */
#define PERIOD_NS	200000

/* What the module should give back at once, it keeps if it has not by then. */
#define PATIENCE_NS	(60 * SECOND)

/* The most that an idle machine may use, in CPUs. */
#define IDLE_CPUS	0.25

/* Of threads that are there to be watched */
#define NICE		10

#define CGROUPS		"/sys/fs/cgroup"
#define GROUP		CGROUPS "/profil-neighbour"
#define CPU1		"/sys/devices/system/cpu/cpu1/online"

#define HUNG_TASK	"/proc/sys/kernel/hung_task_timeout_secs"

#define HUGE_PARTS	8

#define PUNCHED_SIZE	(128 << 20)

/**
 * struct stage - memory that all processes share
 * @ready: hostile processes that have made everything ready
 * @done: how often they have done what they want
 * @is_over: they are to take no more ticks
 * @has_begun: the innocent user has
 * @ends: and is to end
 * @counter: of all ticks of its profiles
 * @waits: ticks of its threads that waited
 * @requests: how many it has made
 * @naps: of 1 ms, of one of its threads
 * @late_ns: how much later they have ended, all together
 * @latest_ns: and the latest
 * @cpu_ns: what a thread has got that always computes
 */
static struct stage {
	atomic_int ready;
	atomic_ulong done;
	atomic_bool is_over;
	atomic_bool has_begun;
	atomic_bool ends;
	uint32_t counter;
	atomic_ulong waits;
	atomic_ulong requests;
	atomic_ulong naps;
	atomic_ulong late_ns;
	atomic_ulong latest_ns;
	atomic_ulong cpu_ns;
} *stage;

/* The kernel forgets what it charges to a user who has nothing any more. */
struct kept {
	uid_t user;
	int fd;
};

#define USERS	3

FIXTURE(neighbour) {
	struct kept kept[USERS];
	char parameters[1000];
	char max_profiles[20];
	struct footprint before;
	int64_t clock_ns;
	int go[2];
	pid_t crowd[LEAVERS];
	int nr_crowd;
	pid_t others[2];
	pid_t server;
	struct child innocent;
	struct busy busy;
	int device;
	int file;
	bool has_group;
	bool is_moved;
};

typedef bool step_fn(FIXTURE_DATA(neighbour) *self);
typedef void work_fn(FIXTURE_DATA(neighbour) *self, int nr);

/*
 * An attack: find() finds what it needs, or the test is skipped; gather() makes
 * processes that wait, before the innocent user begins, and strike() has them begin
 * after that; or so many processes just begin to work().
 */
FIXTURE_VARIANT(neighbour) {
	const char *name;
	const char *parameter;
	const char *max_profiles;
	step_fn *find;
	step_fn *gather;
	step_fn *strike;
	work_fn *work;
	int nr;
	bool becomes_idle;
};

#define ATTACK(id, ...) \
	FIXTURE_VARIANT_ADD(neighbour, id) { .name = #id, __VA_ARGS__ }

static int64_t realtime_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

static int set_realtime(int64_t ns)
{
	struct timespec time = { ns / SECOND, ns % SECOND };

	return clock_settime(CLOCK_REALTIME, &time);
}

/* Load the module again, with a parameter besides those that it had. */
static int load_again(const char *former, const char *parameter)
{
	char parameters[1100];

	snprintf(parameters, sizeof(parameters), "%s %s", former, parameter);
	return unload_profil_soon() ?: load_profil(parameters);
}

/* The smallest watch. */
static struct profil_watch little(uint32_t target, uint32_t id, uint32_t flags)
{
	struct profil_watch request = watch_request(target, id, flags);

	request.processes = 1;
	request.images = 2;
	request.objects = 8;
	request.buckets = 64;
	request.names = 4096;
	return request;
}

/* Begin a watch by a descriptor of the test's, which keeps it. */
static int keep_little(void *kept)
{
	const struct kept *mine = kept;
	struct profil_watch request = little(PROFIL_WATCH_PROCESS, getpid(), 0);

	return become(mine->user) ||
	       ioctl(mine->fd, PROFIL_IOC_WATCH, &request);
}

FIXTURE_SETUP(neighbour)
{
	static const uid_t users[USERS] = { STRANGER, HOSTILE, INNOCENT };

	/* What hostile processes leave behind is to be waited for, too */
	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
	read_parameters(self->parameters, sizeof(self->parameters));
	ASSERT_EQ(0, get_parameter("max_profiles", self->max_profiles,
				   sizeof(self->max_profiles)));
	if (variant->parameter)
		ASSERT_EQ(0, load_again(self->parameters, variant->parameter));
	/* A crowd waits for as long as an attack takes, and others for a CPU */
	if (variant->gather)
		write_file(HUNG_TASK, "0");
	if (variant->max_profiles)
		ASSERT_EQ(0, put_parameter("max_profiles",
					   variant->max_profiles));
	self->clock_ns = realtime_ns() - monotonic_ns();
	self->file = -1;
	self->device = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->device);
	self->busy.device = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->busy.device);
	for (int i = 0; i < USERS; i++) {
		struct child child;

		self->kept[i].user = users[i];
		self->kept[i].fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
		child = child_begin(keep_little, &self->kept[i]);
		ASSERT_EQ(0, child_end(&child));
	}
	self->before = footprint();
	stage = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, stage);
	self->busy.counter = &stage->counter;
	ASSERT_EQ(0, pipe(self->go));
	/* A crowd works on CPU 0. */
	ASSERT_EQ(0, pin_to(1));
}

/* A profile, and then the smallest watch. Return: 0, or the error. */
static int have_little(void *user)
{
	struct profil_watch request = little(PROFIL_WATCH_PROCESS, getpid(), 0);
	uint32_t counter;
	struct profil_region all = overflow_bin(&counter, sizeof(counter));

	if (become((uintptr_t)user) ||
	    set_regions(&all, 1, sizeof(counter), 0, 0) ||
	    profil_stop(NULL, NULL, 0))
		return errno;
	return watch_try(&request);
}

/* Return: with how much memory the user can have that; 0 if with none. */
static int least_kb(uintptr_t user)
{
	char kb[20];

	for (int i = 4; i < 1024; i += 4) {
		struct child child = child_begin(have_little, (void *)user);

		snprintf(kb, sizeof(kb), "%d", i);
		if (put_parameter("max_watch_kb", kb))
			break;
		if (!child_end(&child))
			return i;
	}
	return 0;
}

/* A user can have as much as one who never had anything. */
static void nothing_is_charged(struct __test_metadata *_metadata,
			       FIXTURE_DATA(neighbour) *self)
{
	char profiles[20], kb[20];
	int least, now = -1;

	EXPECT_EQ(0, get_parameter("max_profiles", profiles, sizeof(profiles)));
	EXPECT_EQ(0, get_parameter("max_watch_kb", kb, sizeof(kb)));
	EXPECT_EQ(0, put_parameter("max_profiles", "1"));
	least = least_kb(self->kept[0].user);
	EXPECT_LT(0, least);
	for (int i = 1; i < USERS; i++) {
		/* The kernel frees memory a little later */
		TRY_UNTIL((now = least_kb(self->kept[i].user)) == least)
			usleep(100000);
		EXPECT_EQ(least, now);
	}
	EXPECT_EQ(0, put_parameter("max_profiles", profiles));
	EXPECT_EQ(0, put_parameter("max_watch_kb", kb));
}

/* Not all processes, which -1 stands for */
static void kill_if_any(pid_t child)
{
	if (child > 0)
		kill(child, SIGKILL);
}

/* Leave nothing of this attack to the next one, and nothing in the module. */
FIXTURE_TEARDOWN(neighbour)
{
	/* Before the end of the crowd, which may wait for it */
	if (self->server > 0)
		unmount_silent_fs(self->server);
	child_kill(&self->innocent);
	for (int i = 0; i < 2; i++)
		kill_if_any(self->others[i]);
	if (self->has_group)
		write_file(GROUP "/memory.high", "max");
	for (int i = 0; i < self->nr_crowd; i++)
		kill_if_any(self->crowd[i]);
	while (wait(NULL) > 0)
		;
	EXPECT_EQ(0, account_after(self->device, 0).running);
	rmdir(GROUP "/ours");
	if (self->has_group)
		EXPECT_EQ(0, rmdir(GROUP));
	write_file(CPU1, "1");
	EXPECT_EQ(0, set_realtime(self->clock_ns + monotonic_ns()));
	EXPECT_FOOTPRINT(&self->before);
	nothing_is_charged(_metadata, self);
	for (int i = 0; i < USERS; i++)
		close(self->kept[i].fd);
	close(self->device);
	close(self->busy.device);
	/* That of selftests/vm/run */
	if (variant->gather)
		write_file(HUNG_TASK, "300");
	if (variant->parameter)
		EXPECT_EQ(0, load_again(self->parameters, ""));
	EXPECT_EQ(0, put_parameter("max_profiles", self->max_profiles));
}

/* --- hostile processes */

static void run_anywhere(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), &all))
		_exit(99);
}

static void *map(int flags, int fd)
{
	return mmap(NULL, COUNTERS_SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static void *map_private(void)
{
	return map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void burn_spread(uint64_t ns)
{
	uint64_t end = thread_cpu_ns() + ns;

	while (thread_cpu_ns() < end)
		spread();
}

/* Take ticks whose pages are missing as soon as the test closes the pipe. */
static void tick_when_asked(FIXTURE_DATA(neighbour) *self)
{
	char byte;

	close(self->go[1]);
	stage->ready++;
	if (read(self->go[0], &byte, 1))
		_exit(1);
	burn_spread(2 * MS);
	stage->done++;
}

/* Then take some more every two seconds. */
static void keep_ticking(FIXTURE_DATA(neighbour) *self, void *memory,
			 size_t size)
{
	tick_when_asked(self);
	while (!stage->is_over) {
		usleep(2000000);
		madvise(memory, size, MADV_DONTNEED);
		burn_spread(MS);
	}
}

/* Is the process in uninterruptible sleep? */
static bool waits(pid_t pid)
{
	return process_state(pid) == 'D';
}

/* Start one more hostile process, which is not part of the crowd. */
static pid_t start(FIXTURE_DATA(neighbour) *self,
		   void (*work)(FIXTURE_DATA(neighbour) *self))
{
	pid_t child = fork_child();

	if (child)
		return child;
	close(self->go[1]);
	work(self);
	_exit(1);
}

static void gather(FIXTURE_DATA(neighbour) *self, int nr, work_fn *work)
{
	while (nr--) {
		pid_t child = fork_child();

		if (!child) {
			pin_to(0);
			work(self, self->nr_crowd);
			for (;;)
				pause();
		}
		self->crowd[self->nr_crowd++] = child;
	}
}

/* Return: has a process ended that has not done what it wants? */
static bool one_has_failed(FIXTURE_DATA(neighbour) *self)
{
	for (int i = 0; i < self->nr_crowd; i++) {
		siginfo_t ended = { 0 };

		waitid(P_PID, self->crowd[i], &ended,
		       WEXITED | WNOHANG | WNOWAIT);
		if (ended.si_pid && ended.si_status)
			return true;
	}
	return false;
}

/* Wait until the whole crowd is ready; false if a process has given up. */
static bool all_ready(FIXTURE_DATA(neighbour) *self)
{
	uint64_t end = monotonic_ns() + 3 * PATIENCE_NS;

	while (stage->ready < self->nr_crowd && monotonic_ns() < end &&
	       !one_has_failed(self))
		usleep(100000);
	if (stage->ready == self->nr_crowd)
		return true;
	printf("# %d of %d are ready\n", stage->ready, self->nr_crowd);
	fflush(stdout);
	return false;
}

/* Start the attack. A module that it overloads delays the crowd as well. */
static bool have_them_tick(FIXTURE_DATA(neighbour) *self)
{
	int tries = 2000;

	close(self->go[1]);
	while (stage->done < self->nr_crowd && --tries)
		usleep(1000);
	return true;
}

/* --- the innocent user: its profile and watch, its requests, and its time */

static void *nap(void *unused)
{
	for (;;) {
		uint64_t begin = monotonic_ns(), late;

		sleep_ns(MS);
		late = monotonic_ns() - begin - MS;
		stage->naps++;
		stage->late_ns += late;
		if (late > stage->latest_ns)
			stage->latest_ns = late;
	}
	return unused;
}

static void *compute(void *unused)
{
	for (;;) {
		burn_thread_ns(MS);
		stage->cpu_ns = thread_cpu_ns();
	}
	return unused;
}

/* Stop a watch. Return: what is wrong with it, or NULL. */
static const char *fault_at_end(struct watch *watch)
{
	struct profil_watch_status status = watch_stop(watch);
	const char *fault = NULL;

	if (status.state != PROFIL_STATE_OFF)
		return "stop";
	status = watch_settled(watch, UINT32_MAX);
	if (watch->as.flags & PROFIL_WATCH_CHAINS &&
	    chain_sum(&status) != status.ticks - status.unresolved +
				  status.blocked + status.runnable)
		fault = "sum of chains";
	fault = watch_fault(watch, &status) ?: fault;
	watch_end(watch);
	return fault;
}

/* Each of the requests. Return: what is wrong, or NULL. */
static const char *make_requests(const struct busy *busy, pid_t pid)
{
	struct profil_status status = { .size = sizeof(status) };
	struct profil_watch_status seen;
	struct watch watch;

	if (busy_begin(busy))
		return "SET";
	if (ioctl(busy->device, PROFIL_IOC_STATUS, &status))
		return "STATUS";
	if (status.counts.ticks != status.counts.counted)
		return "outcomes of ticks";
	if (watch_process(&watch, pid, PROFIL_WATCH_CHILDREN |
				       PROFIL_WATCH_CHAINS))
		return "WATCH";
	seen = watch_status(&watch);
	if (!watch_conserved(&seen) || seen.processes < 1)
		return "WATCH_STATUS";
	stage->requests += 5;
	return fault_at_end(&watch);
}

/**
 * struct innocent - what the innocent user has
 * @busy: a process that forks and executes, with a profile
 * @threads: a process with threads that wait for each other
 * @watch: a watch of these
 * @since: when it began
 */
struct innocent {
	struct child busy;
	struct child threads;
	struct watch watch;
	struct life since;
};

static const char *begin_all(struct innocent *mine, struct busy *busy)
{
	pthread_t thread;

	mine->threads = child_begin(be_threads, NULL);
	/* They could use all CPUs */
	setpriority(PRIO_PROCESS, mine->threads.pid, NICE);
	child_go(&mine->threads);
	if (wait_for_threads(mine->threads.pid, WORKERS + 1))
		return "threads";
	mine->since.longest = monotonic_ns();
	if (watch_process(&mine->watch, mine->threads.pid,
			  PROFIL_WATCH_CHAINS | PROFIL_WATCH_WALL))
		return "WATCH";
	mine->since.shortest = monotonic_ns();
	if (load_own_callers(&mine->watch))
		return "tables of callers";
	mine->busy = child_begin(be_busy, busy);
	child_go(&mine->busy);
	return pthread_create(&thread, NULL, nap, NULL) ||
	       pthread_create(&thread, NULL, compute, NULL) ? "threads" : NULL;
}

/* What must hold at any time. Return: what is wrong, or NULL. */
static const char *fault_until_now(const struct innocent *mine)
{
	struct profil_watch_status status;

	if (watch_missing(&mine->watch, &mine->since, WORKERS + 1, &status))
		return "ticks of threads that live";
	if (!watch_conserved(&status))
		return "outcomes of ticks in the watch";
	stage->waits = all_ticks(&status) - status.ticks;
	return child_has_ended(&mine->busy) || child_has_ended(&mine->threads) ?
		"a process that has failed" : NULL;
}

static int be_innocent(void *neighbour)
{
	FIXTURE_DATA(neighbour) *self = neighbour;
	struct innocent mine = { 0 };
	const char *fault;

	close(self->go[1]);
	run_anywhere();
	if (self->is_moved && enter_cgroup(0, GROUP))
		return 1;
	if (become(INNOCENT))
		return 2;
	fault = begin_all(&mine, &self->busy);
	stage->has_begun = true;
	while (!fault && !stage->ends) {
		fault = make_requests(&self->busy, mine.busy.pid) ?:
			fault_until_now(&mine);
		usleep(5000);
	}
	fault = fault ?: fault_at_end(&mine.watch);
	child_kill(&mine.busy);
	child_kill(&mine.threads);
	if (!fault)
		return 0;
	printf("# innocent: %s: %s\n", fault, strerror(errno));
	fflush(stdout);
	return 3;
}

/* --- the bystander, another of its programs */

static void copy_bystander(struct __test_metadata *_metadata, char *path,
			   size_t size)
{
	char helper[4096];
	static int number;

	helper_path(helper, sizeof(helper), "bystander");
	snprintf(path, size, "/run/profil-bystander-%d-%d", getpid(), number++);
	ASSERT_EQ(0, copy_file(helper, path, 0755));
}

static int run_bystander(const char *path, int device, int memory)
{
	char numbers[2][20];
	pid_t child = fork_child();

	if (child)
		return wait_child(child);
	snprintf(numbers[0], sizeof(numbers[0]), "%d", device);
	snprintf(numbers[1], sizeof(numbers[1]), "%d", memory);
	pin_to(0);
	if (become(INNOCENT))
		_exit(100);
	execl(path, path, numbers[0], numbers[1], NULL);
	_exit(101);
}

/* As long as the memory exists the executable cannot be opened for writing. */
static bool is_held(int device, const char *path)
{
	int fd;

	if (account_of(device).running)
		return true;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	close(fd);
	return false;
}

static uint64_t wait_while_held(int device, const char *path)
{
	uint64_t begin = monotonic_ns(), end = begin + PATIENCE_NS;

	while (is_held(device, path) && monotonic_ns() < end)
		usleep(1000);
	return monotonic_ns() - begin;
}

static uint64_t sum_pages(const char *counters)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i <= BYSTANDER_PARTS; i++)
		sum += *(uint64_t *)(counters + i * BYSTANDER_PAGE);
	return sum;
}

/* Ticks after exit_mm() are outside; all others are in the counters. */
static void judge_counts(struct __test_metadata *_metadata,
			 const struct bystander_report *report,
			 const struct profil_counts *all)
{
	const struct profil_counts *first = &report->counts;
	uint64_t in_counters = sum_pages((const char *)report + BYSTANDER_PAGE);

	EXPECT_LT(0, first->kernel);
	EXPECT_LT(0, first->counted);
	EXPECT_EQ(0, first->lost);
	EXPECT_EQ(first->ticks, first->counted);
	EXPECT_EQ(first->counted, report->in_counters);
	/* Of processes that end */
	EXPECT_TRUE(!all->lost || is_linux_before(5, 16));
	EXPECT_EQ(all->ticks, all->counted + all->outside + all->lost);
	EXPECT_EQ(all->counted - first->counted, in_counters);
}

/**
 * struct visits - what the bystander has noticed, most of the time
 * @late: part of its ticks that came when it read the counters
 * @held_ns: how long its memory was there after it
 * @lost: ticks that have been lost
 */
struct visits {
	double late;
	uint64_t held_ns;
	uint64_t lost;
};

static void visit(struct __test_metadata *_metadata, struct visits *visits)
{
	size_t size = (BYSTANDER_PARTS + 2) * BYSTANDER_PAGE;
	int device = open(PROFIL_DEVICE, O_RDONLY);
	int memory = memfd_create("bystander", 0);
	struct bystander_report *report;
	char path[100];
	uint64_t held_ns;

	EXPECT_EQ(0, ftruncate(memory, size));
	copy_bystander(_metadata, path, sizeof(path));
	EXPECT_EQ(0, run_bystander(path, device, memory));
	held_ns = wait_while_held(device, path);
	report = mmap(NULL, size, PROT_READ, MAP_SHARED, memory, 0);
	visits->late = fmax(visits->late,
			    (double)report->late / report->counts.ticks);
	visits->held_ns = fmax(visits->held_ns, held_ns);
	EXPECT_GT(PATIENCE_NS, held_ns);
	if (held_ns < PATIENCE_NS) {
		struct profil_account account = account_of(device);

		judge_counts(_metadata, report, &account.counts);
		visits->lost += account.counts.lost;
	}
	munmap(report, size);
	close(memory);
	close(device);
	unlink(path);
}

/* --- the machine */

/* Idle time of all CPUs, which includes waiting for I/O. */
static double idle_seconds(void)
{
	unsigned long long idle = 0, iowait = 0;
	FILE *file = fopen("/proc/stat", "r");

	if (file) {
		if (fscanf(file, "cpu %*u %*u %*u %llu %llu", &idle,
			   &iowait) != 2)
			idle = 0;
		fclose(file);
	}
	return (double)(idle + iowait) / sysconf(_SC_CLK_TCK);
}

static double busy_cpus(void)
{
	double idle = idle_seconds();
	uint64_t begin = monotonic_ns();

	usleep(1500000);
	idle = idle_seconds() - idle;
	return sysconf(_SC_NPROCESSORS_ONLN) -
	       idle / ((monotonic_ns() - begin) / 1e9);
}

/*
 * After a second the module has given up all pending ticks, and does nothing. If the
 * host runs others, their time looks like the guest's.
 */
static void machine_becomes_idle(struct __test_metadata *_metadata)
{
	double least = 1000;

	usleep(2500000);
	TRY_UNTIL(least <= IDLE_CPUS)
		least = fmin(least, busy_cpus());
	TH_LOG("%.2f CPUs are busy", least);
	EXPECT_GE(IDLE_CPUS, least);
}

/* --- an attack */

/* What the innocent user has noticed up to now */
struct noticed {
	uint64_t time_ns;
	unsigned long requests;
	unsigned long naps;
	unsigned long late_ns;
	unsigned long cpu_ns;
	uint64_t interrupts;
};

static struct noticed noticed_now(void)
{
	return (struct noticed) {
		.time_ns = monotonic_ns(),
		.requests = stage->requests,
		.naps = stage->naps,
		.late_ns = stage->late_ns,
		.cpu_ns = stage->cpu_ns,
		.interrupts = number_of("/proc/stat", "intr "),
	};
}

static void print_row(const char *name, const struct noticed *from,
		      const struct noticed *to, const struct visits *visits,
		      const struct profil_account *account)
{
	double seconds = (to->time_ns - from->time_ns) / 1e9;
	double due = (double)account->cpu_time_ns / MS;

	if (!strcmp(name, "nobody"))
		printf("# %-26s %8s %6s %6s %7s %6s %6s %6s %5s %6s %5s %6s %4s %6s\n",
		       "attack", "done", "ticks", "sigma", "waits", "req/s",
		       "nap us", "latest", "CPU %", "irqs/s", "late%",
		       "freed", "lost", "module");
	printf("# %-26s %8lu %6llu %+6.2f %7lu %6.0f %6.0f %6.0f %5.1f %6.0f %5.1f %6.0f %4llu %6llu\n",
	       name, stage->done, account->counts.ticks,
	       sigmas(account->counts.ticks, due, fmax(due, 40)),
	       stage->waits, (to->requests - from->requests) / seconds,
	       (to->late_ns - from->late_ns) / 1e3 / (to->naps - from->naps),
	       stage->latest_ns / 1e3,
	       (to->cpu_ns - from->cpu_ns) / 1e7 / seconds,
	       (to->interrupts - from->interrupts) / seconds,
	       100 * visits->late, visits->held_ns / 1e6,
	       (unsigned long long)visits->lost,
	       (unsigned long long)footprint().bytes >> 10);
	fflush(stdout);
}

/* Its processes have ended. */
static struct profil_account judge_account(struct __test_metadata *_metadata,
					   FIXTURE_DATA(neighbour) *self)
{
	struct profil_account account = account_after(self->busy.device, 0);

	EXPECT_EQ(0, account.running);
	EXPECT_CONSERVED(&account);
	EXPECT_EQ(stage->counter, account.counts.counted);
	EXPECT_EQ(account.counts.ticks,
		  account.counts.counted + account.counts.outside);
	EXPECT_EQ(0, account.unfollowed);
	EXPECT_TRUE(is_due(account.counts.ticks,
			   (double)account.cpu_time_ns / MS));
	return account;
}

static void begin_innocent(FIXTURE_DATA(neighbour) *self)
{
	self->innocent = child_begin(be_innocent, self);
	child_go(&self->innocent);
	while (!stage->has_begun && !child_has_ended(&self->innocent))
		usleep(10000);
}

/* Has it gone on for long enough, and has it done anything until then? */
static bool has_been(const char *name, const struct noticed *from,
		     const struct noticed *to)
{
	uint64_t ns = to->time_ns - from->time_ns;

	return ns >= PATIENCE_NS ||
	       (ns >= ATTACK_NS && to->requests > from->requests &&
		(stage->done || !strcmp(name, "nobody")));
}

TEST_F(neighbour, is_not_noticed)
{
	struct profil_account account;
	struct visits visits = { 0 };
	struct noticed from, to;

	if (variant->find && !variant->find(self))
		SKIP(return, "%s: not on this machine", variant->name);
	if (variant->gather)
		ASSERT_TRUE(variant->gather(self));
	begin_innocent(self);
	if (variant->strike)
		ASSERT_TRUE(variant->strike(self));
	if (variant->work)
		gather(self, variant->nr ?: 1, variant->work);
	stage->latest_ns = 0;
	from = noticed_now();
	do {
		visit(_metadata, &visits);
		to = noticed_now();
	} while (!child_has_ended(&self->innocent) &&
		 !has_been(variant->name, &from, &to));
	stage->ends = true;
	EXPECT_EQ(0, wait_child(self->innocent.pid));
	self->innocent.pid = -1;
	EXPECT_LT(from.requests, to.requests);
	account = judge_account(_metadata, self);
	print_row(variant->name, &from, &to, &visits, &account);
	EXPECT_FALSE(one_has_failed(self));
	if (strcmp(variant->name, "nobody"))
		EXPECT_LT(0, stage->done);
	stage->is_over = true;
	if (variant->becomes_idle)
		machine_becomes_idle(_metadata);
}

ATTACK(nobody);

/* --- attacks on what the module waits for when it flushes ticks */

/*
 * Take ticks in kernel mode and ticks whose pages are missing, one or the other
 * kind at the end. Count the calls: on a busy host CPU time passes without any.
 */
static void tick_in_the_kernel(void *counters, bool missing)
{
	int i;

	for (i = 0; i < 800; i++) {
		if (i % 20 == 0 && (i > 400) == missing)
			madvise(counters, COUNTERS_SIZE, MADV_DONTNEED);
		syscall(SYS_getppid);
	}
}

/* exit_aio() waits until the server answers the read, which it never does. */
static void leave_a_read_behind(FIXTURE_DATA(neighbour) *self, int nr)
{
	static char page[2 * PAGE] __attribute__((aligned(PAGE)));
	struct iocb read = {
		.aio_fildes = self->file,
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_buf = (uintptr_t)page,
		.aio_nbytes = PAGE,
	};
	struct iocb *reads[] = { &read };
	void *counters = map_private();
	aio_context_t context = 0;

	if (become(HOSTILE) || syscall(SYS_io_setup, 1, &context) ||
	    spread_start(self->device, PARTS, counters, PAGE, PERIOD_NS) ||
	    syscall(SYS_io_submit, context, 1, reads) != 1)
		_exit(1);
	tick_in_the_kernel(counters, nr % 2);
	stage->done++;
	_exit(0);
}

static bool mount_silent(FIXTURE_DATA(neighbour) *self)
{
	self->server = mount_silent_fs();
	return self->server > 0;
}

/*
 * One by one: the kernel flushes the ticks of a process that waits for a CPU.
 */
static bool have_them_exit(FIXTURE_DATA(neighbour) *self)
{
	int i, tries = 1;

	self->file = open(SILENT_FS "/bins", O_RDONLY | O_DIRECT | O_CLOEXEC);
	for (i = 0; i < LEAVERS && tries; i++) {
		gather(self, 1, leave_a_read_behind);
		for (tries = 100000; stage->done <= i && tries; tries--)
			usleep(100);
	}
	return tries;
}

ATTACK(FUSE_keeps_it_from_exit, .find = mount_silent,
	.gather = have_them_exit);

struct locker {
	atomic_bool is_warm;
	atomic_bool maps;
};

/*
 * This thread first does everything that it will do later: a page fault would
 * wait for mmap_lock too.
 */
static void *tick_behind_the_lock(void *data)
{
	struct locker *locker = data;

	burn_spread(1);
	waits(getpid());
	usleep(1000);
	stage->ready += 0;
	stage->done += 0;
	locker->is_warm = true;
	while (!locker->maps || !waits(getpid()))
		usleep(100000);
	burn_spread(2 * MS);
	stage->done++;
	stage->ready++;
	pause();
	return NULL;
}

/* mmap() holds mmap_lock for writing until the server answers. */
static void map_for_ever(FIXTURE_DATA(neighbour) *self, int nr)
{
	struct locker locker = { 0 };
	pthread_t thread;

	(void)nr;
	if (become(HOSTILE) ||
	    pthread_create(&thread, NULL, tick_behind_the_lock, &locker))
		_exit(1);
	while (!locker.is_warm)
		usleep(1000);
	if (spread_start(self->device, PARTS, map_private(), PAGE, PERIOD_NS))
		_exit(1);
	locker.maps = true;
	mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, self->file, 0);
	_exit(0);
}

/* The page that is read stays locked until the server answers. */
static void lock_page(FIXTURE_DATA(neighbour) *self)
{
	volatile char *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE,
				   self->file, 0);

	_exit(page != MAP_FAILED && *page);
}

/* Nothing holds mmap_lock for long from Linux 7.0 on. */
static bool mount_to_map(FIXTURE_DATA(neighbour) *self)
{
	return is_linux_before(7, 0) && mount_silent(self);
}

static bool have_them_map(FIXTURE_DATA(neighbour) *self)
{
	int tries = 10000;

	self->file = open(SILENT_FS "/direct", O_RDONLY | O_CLOEXEC);
	self->others[0] = start(self, lock_page);
	while (!waits(self->others[0]) && --tries)
		usleep(1000);
	gather(self, CROWD, map_for_ever);
	return all_ready(self);
}

ATTACK(FUSE_keeps_mmap_lock, .find = mount_to_map, .gather = have_them_map,
	.becomes_idle = true);

/* Without UFFD_USER_MODE_ONLY this may need a privilege. */
static void wait_for_userfaultfd(FIXTURE_DATA(neighbour) *self, int nr)
{
	void *counters = map_private();
	unsigned int flags = nr % 2 ? UFFD_USER_MODE_ONLY : 0;

	burn_spread(1);
	if (userfault(counters, flags) < 0 || become(HOSTILE) ||
	    spread_start(self->device, PARTS, counters, 8, PERIOD_NS))
		_exit(1);
	keep_ticking(self, counters, COUNTERS_SIZE);
}

static bool has_userfaultfd(FIXTURE_DATA(neighbour) *self)
{
	(void)self;
	return userfault(map_private(), 0) >= 0;
}

static bool have_them_fault(FIXTURE_DATA(neighbour) *self)
{
	gather(self, CROWD, wait_for_userfaultfd);
	return all_ready(self);
}

ATTACK(userfaultfd, .find = has_userfaultfd, .gather = have_them_fault,
	.strike = have_them_tick, .becomes_idle = true);

static bool make_group(FIXTURE_DATA(neighbour) *self, const char *controller)
{
	if (write_file(CGROUPS "/cgroup.subtree_control", controller) ||
	    mkdir(GROUP, 0755))
		return false;
	self->has_group = true;
	return true;
}

static bool make_memory_group(FIXTURE_DATA(neighbour) *self)
{
	return make_group(self, "+memory");
}

/*
 * Bringing in a huge page beyond memory.high sleeps up to 2 s; the kernel
 * charges small pages 64 at a time, and most of them do not sleep.
 */
static void exceed_memory_high(FIXTURE_DATA(neighbour) *self, int nr)
{
	size_t size = (HUGE_PARTS + 2) * HUGE;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *counters = huge_aligned(memory);

	(void)nr;
	burn_spread(1);
	if (madvise(memory, size, MADV_HUGEPAGE) || become(HOSTILE) ||
	    spread_start(self->device, HUGE_PARTS, counters, HUGE,
			 PERIOD_NS))
		_exit(1);
	keep_ticking(self, memory, size);
}

static bool have_them_exceed(FIXTURE_DATA(neighbour) *self)
{
	if (enter_cgroup(0, GROUP))
		return false;
	gather(self, CROWD, exceed_memory_high);
	return !enter_cgroup(0, CGROUPS) && all_ready(self) &&
	       !write_file(GROUP "/memory.high", "1M");
}

ATTACK(memory_high_of_1_MB, .find = make_memory_group,
	.gather = have_them_exceed, .strike = have_them_tick);

/* Until the kernel kills it, which is at each page that it brings in. */
static void exceed_memory_max(FIXTURE_DATA(neighbour) *self)
{
	void *counters = map_private();

	if (enter_cgroup(0, GROUP) || become(HOSTILE) ||
	    spread_start(self->device, PARTS, counters, PAGE, PERIOD_NS))
		return;
	for (;;) {
		char *memory = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (size_t i = 0; memory != MAP_FAILED && i < HUGE; i += PAGE)
			memory[i] = 1;
		tick_in_the_kernel(counters, true);
	}
}

static void be_killed(FIXTURE_DATA(neighbour) *self, int nr)
{
	(void)nr;
	for (;;)
		if (wait_child(start(self, exceed_memory_max)) == -SIGKILL)
			stage->done++;
}

static bool limit_memory(FIXTURE_DATA(neighbour) *self)
{
	return make_memory_group(self) &&
	       !write_file(GROUP "/memory.max", "1M");
}

ATTACK(memory_max_of_1_MB, .find = limit_memory, .work = be_killed,
	.nr = 4);

static void count_in_hole(FIXTURE_DATA(neighbour) *self, int nr)
{
	void *counters = map(MAP_SHARED, self->file);

	(void)nr;
	burn_spread(1);
	if (become(HOSTILE) ||
	    spread_start(self->device, PARTS, counters, PAGE, PERIOD_NS))
		_exit(1);
	keep_ticking(self, counters, COUNTERS_SIZE);
}

/* SCHED_IDLE leaves it 0.3 % of the CPU beside the hog. */
static void punch_slowly(FIXTURE_DATA(neighbour) *self)
{
	struct sched_param none = { 0 };

	if (become(HOSTILE) || sched_setscheduler(0, SCHED_IDLE, &none))
		_exit(1);
	for (;;)
		fallocate(self->file, FALLOC_FL_PUNCH_HOLE |
			  FALLOC_FL_KEEP_SIZE, 0, PUNCHED_SIZE);
}

static void hog(FIXTURE_DATA(neighbour) *self)
{
	(void)self;
	if (!become(HOSTILE))
		burn_process_ns(1000 * SECOND);
}

static bool is_full(int file)
{
	struct stat stat;

	return fstat(file, &stat) || stat.st_blocks >= PUNCHED_SIZE / 512;
}

static bool make_file(FIXTURE_DATA(neighbour) *self)
{
	self->file = memfd_create("hole", MFD_CLOEXEC);
	return !fallocate(self->file, 0, 0, PUNCHED_SIZE);
}

static bool have_them_count(FIXTURE_DATA(neighbour) *self)
{
	gather(self, CROWD, count_in_hole);
	return all_ready(self);
}

/* Start to punch a hole; page faults in it wait until that has finished. */
static bool punch(FIXTURE_DATA(neighbour) *self)
{
	int tries = 60000;

	self->others[0] = start(self, hog);
	self->others[1] = start(self, punch_slowly);
	while (is_full(self->file) && --tries)
		usleep(1000);
	return tries && have_them_tick(self);
}

ATTACK(hole_punched, .find = make_file, .gather = have_them_count,
	.strike = punch);

/* --- attacks on one's own profile and watch */

static uint32_t *own_counter;

/* Begin or replace a profile. */
static int have_profile(FIXTURE_DATA(neighbour) *self)
{
	struct profil_region all = overflow_bin(own_counter,
						sizeof(*own_counter));

	return set_region_by(self->device, &all, sizeof(*own_counter),
			     PERIOD_NS, 0);
}

static void be_hostile(FIXTURE_DATA(neighbour) *self)
{
	own_counter = map_private();
	run_anywhere();
	if (become(HOSTILE) || have_profile(self))
		_exit(1);
}

/* End a watch, whose numbers must add up whatever one has done. */
static void end_watch(struct watch *watch)
{
	const char *fault = fault_at_end(watch);

	if (!fault)
		return;
	printf("# hostile: %s\n", fault);
	fflush(stdout);
	_exit(2);
}

/* Stop a process that works, count its waits, and let it go on. */
static void stop_and_go(FIXTURE_DATA(neighbour) *self,
			void (*stop)(pid_t child, bool stop))
{
	struct watch watch;
	pid_t child;

	be_hostile(self);
	child = fork_child();
	if (!child)
		burn_process_ns(1000 * SECOND);
	for (;;) {
		if (watch_process(&watch, child, PROFIL_WATCH_CHAINS |
						 PROFIL_WATCH_WALL))
			_exit(1);
		for (int i = 0; i < 20; i++) {
			stop(child, true);
			usleep(700);
			if (!ioctl(watch.fd, PROFIL_IOC_WATCH_COLLECT, NULL))
				stage->done++;
			stop(child, false);
			usleep(700);
		}
		end_watch(&watch);
	}
}

static void stop_by_signal(pid_t child, bool stop)
{
	kill(child, stop ? SIGSTOP : SIGCONT);
}

static void send_signals(FIXTURE_DATA(neighbour) *self, int nr)
{
	(void)nr;
	stop_and_go(self, stop_by_signal);
}

ATTACK(signals_that_stop, .work = send_signals, .nr = 2);

/* The group of the user, who freezes another process in it. */
static void stop_by_freezer(pid_t child, bool stop)
{
	char pid[20];

	snprintf(pid, sizeof(pid), "%d", child);
	if (write_file(GROUP "/ours/cgroup.procs", pid) ||
	    write_file(GROUP "/ours/cgroup.freeze", stop ? "1" : "0"))
		_exit(3);
}

static bool delegate_group(FIXTURE_DATA(neighbour) *self)
{
	return make_group(self, "+memory") && !mkdir(GROUP "/ours", 0755) &&
	       !chown(GROUP "/cgroup.procs", HOSTILE, HOSTILE) &&
	       !chown(GROUP "/ours/cgroup.procs", HOSTILE, HOSTILE) &&
	       !chown(GROUP "/ours/cgroup.freeze", HOSTILE, HOSTILE);
}

static void freeze(FIXTURE_DATA(neighbour) *self, int nr)
{
	(void)nr;
	if (enter_cgroup(0, GROUP))
		_exit(3);
	stop_and_go(self, stop_by_freezer);
}

ATTACK(freezer, .find = delegate_group, .work = freeze, .nr = 2);

/* Step it, and write to its counter meanwhile. */
static void stop_by_tracer(pid_t child, bool stop)
{
	/* Once */
	ptrace(PTRACE_SEIZE, child, NULL, NULL);
	if (!stop) {
		ptrace(PTRACE_CONT, child, NULL, NULL);
		return;
	}
	ptrace(PTRACE_INTERRUPT, child, NULL, NULL);
	for (int i = 0; i < 20; i++) {
		waitpid(child, NULL, 0);
		if (ptrace(PTRACE_POKEDATA, child, own_counter, -1L) ||
		    ptrace(PTRACE_SINGLESTEP, child, NULL, NULL))
			_exit(3);
	}
	waitpid(child, NULL, 0);
}

static void trace(FIXTURE_DATA(neighbour) *self, int nr)
{
	(void)nr;
	stop_and_go(self, stop_by_tracer);
}

ATTACK(tracer, .work = trace, .nr = 2);

static void *move_mappings(void *unused)
{
	for (;;) {
		char *page = (char *)own_counter;

		mmap(page, PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		mremap(page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		       page + PAGE);
		munmap(page + PAGE, PAGE);
		unmap_anchor();
	}
	return unused;
}

static void have_no_counter(FIXTURE_DATA(neighbour) *self, int nr)
{
	pthread_t thread;

	(void)nr;
	be_hostile(self);
	if (pthread_create(&thread, NULL, move_mappings, NULL))
		_exit(1);
	for (;;) {
		if (have_profile(self))
			_exit(2);
		burn_thread_ns(MS);
		stage->done++;
	}
}

ATTACK(mappings_that_move, .work = have_no_counter, .nr = 4);

/* As many as there may be, in no order, also of a child. */
static void have_many_regions(FIXTURE_DATA(neighbour) *self, int nr)
{
	struct profil_info info = { .size = sizeof(info) };
	struct profil_set set = { .size = sizeof(set), .width = 4 };
	struct profil_region *regions;
	__u64 state = nr + 1;

	be_hostile(self);
	if (ioctl(self->device, PROFIL_IOC_INFO, &info))
		_exit(1);
	set.nr_regions = info.max_regions;
	regions = calloc(set.nr_regions, sizeof(*regions));
	set.regions = (uintptr_t)regions;
	for (uint32_t i = 0; i < set.nr_regions; i++)
		regions[i] = (struct profil_region) {
			.base = (uintptr_t)own_counter,
			.size = COUNTERS_SIZE,
			.offset = number(&state) % (1UL << 47),
			.scale = 65536,
		};
	for (;;) {
		pid_t child;

		if (ioctl(self->device, PROFIL_IOC_SET, &set))
			_exit(2);
		child = fork_child();
		burn_thread_ns(MS);
		if (!child)
			_exit(0);
		wait_child(child);
		stage->done++;
	}
}

ATTACK(regions_65536, .parameter = "max_regions=65536",
	.work = have_many_regions, .nr = 2);

/* All that the kernel allows, which is more than the module does. */
static void fork_always(FIXTURE_DATA(neighbour) *self, int nr)
{
	struct profil_status status = { .size = sizeof(status) };
	struct rlimit limit = { 300, 300 };
	struct watch watch;

	(void)nr;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	setrlimit(RLIMIT_NPROC, &limit);
	be_hostile(self);
	if (watch_process(&watch, getpid(), PROFIL_WATCH_CHILDREN))
		_exit(1);
	for (;;) {
		uint64_t before = status.unfollowed;

		if (!fork()) {
			burn_thread_ns(MS / 2);
			sleep(4);
			_exit(fork() < 0);
		}
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (ioctl(self->device, PROFIL_IOC_STATUS, &status))
			_exit(2);
		stage->done += status.unfollowed - before;
	}
}

ATTACK(fork_bomb_at_the_quota, .max_profiles = "30", .work = fork_always,
	.nr = 4);

/* Each table is full at once. */
static void fill_tables(FIXTURE_DATA(neighbour) *self, int nr)
{
	struct profil_watch request = little(PROFIL_WATCH_USER, HOSTILE,
		PROFIL_WATCH_SEPARATE | PROFIL_WATCH_WALL |
		PROFIL_WATCH_CHAINS);
	struct watch watch;

	(void)nr;
	request.period_ns = PERIOD_NS;
	request.threads = 1;
	be_hostile(self);
	for (;;) {
		if (watch_begin(&watch, &request))
			_exit(1);
		for (int i = 0; i < 10; i++) {
			pid_t child = fork_child();

			burn_spread(MS);
			if (!child)
				_exit(execl("/bin/true", "true", NULL));
			wait_child(child);
		}
		stage->done += watch_status(&watch).unfollowed;
		end_watch(&watch);
	}
}

ATTACK(full_tables, .work = fill_tables);

/* Any rule that the module takes, mostly with an offset that is in the stack. */
static struct profil_unwind_rule any_rule(__u64 *state)
{
	struct profil_unwind_rule rule;
	__u64 bits = number(state);

	memcpy(&rule, &bits, sizeof(rule));
	rule.cfa = PROFIL_UNWIND_OUTERMOST +
		   number_below(state, PROFIL_UNWIND_NR_CFA -
				       PROFIL_UNWIND_OUTERMOST);
	if (number_below(state, 4))
		rule.offset = 8 * number_below(state, 64);
	if (rule.cfa != PROFIL_UNWIND_AT_SP && rule.cfa != PROFIL_UNWIND_AT_BP)
		rule.add = 0;
	if (number_below(state, 4))
		rule.bp = number_below(state, 2) ? 2 : PROFIL_UNWIND_CHAINED;
	return rule;
}

/* Begin a watch of this process, with one rule for all of its code. */
static void watch_by_rule(struct watch *watch, struct profil_unwind_rule rule)
{
	struct callers callers = make_rule(rule, 4096);
	int exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (watch_process(watch, getpid(), PROFIL_WATCH_CHAINS |
					   PROFIL_WATCH_WALL))
		_exit(1);
	if (load_callers(watch, exe, callers.table, callers.bytes) ||
	    load_callers(watch, -1, callers.table, callers.bytes))
		_exit(3);
	close(exe);
	free(callers.table);
}

static void forge_tables(FIXTURE_DATA(neighbour) *self, int nr)
{
	__u64 state = nr + 1;

	be_hostile(self);
	for (;;) {
		struct watch watch;

		watch_by_rule(&watch, any_rule(&state));
		for (int i = 0; i < 4; i++) {
			burn_thread_ns(MS);
			sleep_ns(MS / 2);
		}
		stage->done += watch_status(&watch).tables;
		end_watch(&watch);
	}
}

ATTACK(forged_tables_of_callers, .work = forge_tables, .nr = 2);

#define FRAMES	4096

/* Loop with any base pointer, and with any stack pointer if that is not 0. */
static void lie(uintptr_t bp, uintptr_t sp)
{
	unsigned long rounds = 300000;

	asm volatile("mov %%rbp, %%r8\n\t"
		     "mov %%rsp, %%r9\n\t"
		     "mov %%rax, %%rbp\n\t"
		     "test %%rdx, %%rdx\n\t"
		     "cmovnz %%rdx, %%rsp\n"
		     "1:\tdec %[rounds]\n\t"
		     "jnz 1b\n\t"
		     "mov %%r9, %%rsp\n\t"
		     "mov %%r8, %%rbp"
		     : [rounds] "+c" (rounds)
		     : "a" (bp), "d" (sp)
		     : "r8", "r9", "memory", "cc");
}

/* Frames as of code that saves its base pointer first. */
static void lie_about_frames(FIXTURE_DATA(neighbour) *self, int nr)
{
	static const struct profil_unwind_rule frame = {
		.cfa = PROFIL_UNWIND_FRAME, .bp = 2, .offset = 16,
	};
	uintptr_t stack[2 * FRAMES], *other = map_private();
	uintptr_t lies[] = {
		/* To itself, two in a circle, up all of the stack */
		(uintptr_t)&stack[0], (uintptr_t)&stack[2],
		(uintptr_t)&stack[6],
		/* In other mappings, in none, and next to one */
		(uintptr_t)other, (uintptr_t)lie, 0, 8,
		(uintptr_t)other + COUNTERS_SIZE - 8, 0,
		/* The ends of the address space, and the kernel */
		0x00007fffffffefff, 0x00007fffffffeff0, 0x00007ffffffffff8,
		0x0000800000000000, 0xffff800000000000, 0xffffffff81000000,
		-8, -16, -1,
	};

	(void)nr;
	be_hostile(self);
	for (int i = 0; i < 2 * FRAMES - 2; i += 2) {
		stack[i] = (uintptr_t)&stack[i + 2];
		stack[i + 1] = (uintptr_t)lie;
	}
	stack[0] = (uintptr_t)&stack[0];
	stack[2] = (uintptr_t)&stack[4];
	stack[4] = (uintptr_t)&stack[2];
	stack[2 * FRAMES - 2] = -16;
	stack[2 * FRAMES - 1] = (uintptr_t)lie;
	other[0] = (uintptr_t)other;
	other[1] = (uintptr_t)lie;
	for (;;) {
		struct watch watch;

		watch_by_rule(&watch, frame);
		/* That of the table, too, which is not this process's memory */
		lies[8] = (uintptr_t)watch.table + 64;
		for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
			lie(lies[i], 0);
			lie(lies[i], lies[i]);
			lie((uintptr_t)stack, lies[i]);
			stage->done += 3;
		}
		end_watch(&watch);
	}
}

ATTACK(stacks_that_lie, .work = lie_about_frames, .nr = 2);

/* The first process of a namespace has both. */
static int live_in_namespace(FIXTURE_DATA(neighbour) *self)
{
	struct profil_watch request;
	struct child child;
	int error;

	if (have_profile(self))
		return 1;
	child = child_begin(burn_100_ms, NULL);
	request = watch_request(PROFIL_WATCH_PROCESS, child.pid,
				PROFIL_WATCH_CHAINS | PROFIL_WATCH_WALL);
	error = watch_try(&request);
	burn_thread_ns(MS);
	child_kill(&child);
	return error;
}

static int unshare_and_live(FIXTURE_DATA(neighbour) *self)
{
	pid_t child = fork_child();

	if (child)
		return wait_child(child);
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID))
		_exit(101);
	child = fork_child();
	_exit(child ? wait_child(child) : live_in_namespace(self));
}

static void live_in_namespaces(FIXTURE_DATA(neighbour) *self, int nr)
{
	(void)nr;
	be_hostile(self);
	for (;;) {
		int result = unshare_and_live(self);

		if (result)
			_exit(result);
		stage->done++;
	}
}

ATTACK(namespaces, .work = live_in_namespaces, .nr = 2);

/* Nothing is allowed any more, but what there is goes on. */
static void have_no_limits_left(FIXTURE_DATA(neighbour) *self, int nr)
{
	struct profil_status status = { .size = sizeof(status) };
	struct rlimit none = { 0, 0 };

	(void)nr;
	be_hostile(self);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (i != RLIMIT_CPU && i != RLIMIT_STACK)
			setrlimit(i, &none);
	for (;;) {
		struct profil_watch request =
			watch_request(PROFIL_WATCH_PROCESS, getpid(), 0);

		have_profile(self);
		watch_try(&request);
		burn_thread_ns(MS);
		if (fork() >= 0 ||
		    ioctl(self->device, PROFIL_IOC_STATUS, &status))
			_exit(2);
		stage->done += status.counts.ticks > 0;
	}
}

ATTACK(RLIMITs_of_0, .work = have_no_limits_left, .nr = 2);

/* --- what an administrator does, or allows */

static void hog_by_turns(FIXTURE_DATA(neighbour) *self, int nr)
{
	struct sched_param param = { .sched_priority = 50 };
	struct rlimit limit = { 50, 50 };

	setrlimit(RLIMIT_RTPRIO, &limit);
	be_hostile(self);
	if (pin_to(nr) || sched_setscheduler(0, SCHED_FIFO, &param))
		_exit(1);
	for (;;) {
		burn_thread_ns(20 * MS);
		usleep(5000);
		stage->done++;
	}
}

ATTACK(admin_SCHED_FIFO, .work = hog_by_turns, .nr = 2);

static void switch_cpu(FIXTURE_DATA(neighbour) *self, int nr)
{
	(void)self;
	(void)nr;
	for (;;)
		stage->done += !write_file(CPU1, "0") && !write_file(CPU1, "1");
}

ATTACK(admin_CPU_hotplug, .work = switch_cpu);

static bool move_innocent(FIXTURE_DATA(neighbour) *self)
{
	self->is_moved = make_group(self, "+cpuset");
	return self->is_moved;
}

static void move_by_cpuset(FIXTURE_DATA(neighbour) *self, int nr)
{
	(void)self;
	(void)nr;
	for (;;)
		stage->done += !write_file(GROUP "/cpuset.cpus", "0") &&
			       !write_file(GROUP "/cpuset.cpus", "1");
}

ATTACK(admin_cpuset, .find = move_innocent, .work = move_by_cpuset);

static void step_clock(FIXTURE_DATA(neighbour) *self, int nr)
{
	(void)self;
	(void)nr;
	for (int i = 0;; i++) {
		int64_t hour_ns = 3600 * SECOND;

		stage->done += !set_realtime(realtime_ns() +
					     (i % 2 ? -hour_ns : hour_ns));
		usleep(2000);
	}
}

ATTACK(admin_clock_steps, .work = step_clock);

/* It is in use all the time. */
static void unload(FIXTURE_DATA(neighbour) *self, int nr)
{
	(void)self;
	(void)nr;
	for (;;) {
		if (!unload_profil() || errno != EWOULDBLOCK)
			_exit(1);
		stage->done++;
	}
}

ATTACK(admin_unload, .work = unload);

TEST_HARNESS_MAIN
