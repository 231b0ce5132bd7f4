// SPDX-License-Identifier: GPL-2.0-only
/*
 * neighbour.c - a hostile user does not disturb another user's profiles
 *
 * Hundreds of processes of one user make the kernel wait when it flushes their
 * pending ticks. Meanwhile another user runs a short profiled program,
 * programs/bystander.c, on the same CPU: it loses no tick, no tick stays
 * pending for long, and the kernel frees its memory soon after it has exited.
 * Until then its executable is busy (ETXTBSY).
 *
 * A busy host delays the guest by seconds, so the bystander runs several times
 * and the best time counts. The attacks last: a module that they slow down is
 * late every time.
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "programs/bystander.h"
#include "programs/spread.h"

#define HOSTILE		100001
#define BYSTANDER	100002

/* A workqueue runs at most 256 works for a CPU, and 512 unbound ones. */
#define CROWD		280
#define LEAVERS		720

/* Counters of a hostile process, each on a page of its own if possible. */
#define PARTS		SPREAD_LOOPS
#define COUNTERS_SIZE	((PARTS + 1) * PAGE)

/* Not the shortest period: there an emulated CPU does little but take ticks. */
#define PERIOD_NS	200000

/*
 * The kernel usually frees the memory of the bystander within 10 ms. The test
 * allows PROMPT_NS, and gives up after PATIENCE_NS.
 */
#define PROMPT_NS	SECOND
#define PATIENCE_NS	(3 * SECOND)

/* This share of the ticks may come while the bystander sums its counters. */
#define LATE		0.25

#define VISITS		4

/* The most that an idle machine may use, in CPUs. */
#define IDLE_CPUS	0.25

#define CGROUPS		"/sys/fs/cgroup"
#define GROUP		CGROUPS "/profil-neighbour"

#define HUGE		(2UL << 20)
#define HUGE_PARTS	8

#define PUNCHED_SIZE	(128 << 20)

/* Memory that the hostile processes share with the test. */
struct stage {
	atomic_int ready;
	atomic_int ticked;
	atomic_bool is_over;
};

FIXTURE(neighbour) {
	struct stage *stage;
	int go[2];
	pid_t crowd[LEAVERS];
	int nr_crowd;
	pid_t others[2];
	pid_t server;
	int device;
	int file;
	bool has_group;
};

static void end_child(pid_t *child)
{
	if (*child > 0) {
		kill(*child, SIGKILL);
		waitpid(*child, NULL, 0);
	}
	*child = 0;
}

/* Must come before the end of the crowd, which may wait for the server. */
static void end_server(pid_t *server)
{
	if (*server > 0)
		unmount_silent_fs(*server);
	*server = 0;
}

static bool put(const char *name, const char *value)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);
	ssize_t size = strlen(value);
	bool bad = fd < 0 || write(fd, value, size) != size;

	close(fd);
	return bad;
}

FIXTURE_SETUP(neighbour)
{
	self->file = -1;
	self->device = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->device);
	self->stage = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->stage);
	ASSERT_EQ(0, pipe(self->go));
	/* The crowd works on CPU 0. */
	ASSERT_EQ(0, pin_to(1));
}

/* Leave nothing of this attack to the next one. */
FIXTURE_TEARDOWN(neighbour)
{
	int i;

	end_server(&self->server);
	for (i = 0; i < 2; i++)
		end_child(&self->others[i]);
	if (self->has_group)
		EXPECT_FALSE(put(GROUP "/memory.high", "max"));
	for (i = 0; i < self->nr_crowd; i++)
		kill(self->crowd[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	EXPECT_EQ(0, account_after(self->device, 0).running);
	if (self->has_group)
		EXPECT_EQ(0, rmdir(GROUP));
}

/* --- the hostile user */

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
	self->stage->ready++;
	if (read(self->go[0], &byte, 1))
		_exit(1);
	burn_spread(2 * MS);
	self->stage->ticked++;
}

/* Then take some more every two seconds. */
static void keep_ticking(FIXTURE_DATA(neighbour) *self, void *memory,
			 size_t size)
{
	tick_when_asked(self);
	while (!self->stage->is_over) {
		usleep(2000000);
		madvise(memory, size, MADV_DONTNEED);
		burn_spread(MS);
	}
}

/* Is the process in uninterruptible sleep? */
static bool waits(pid_t pid)
{
	char line[400] = "";
	char *state;
	int fd;

	snprintf(line, sizeof(line), "/proc/%d/stat", pid);
	fd = open(line, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, line, sizeof(line) - 1) < 0)
		line[0] = '\0';
	close(fd);
	state = strrchr(line, ')');
	return state && state[1] == ' ' && state[2] == 'D';
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

typedef void attack_fn(FIXTURE_DATA(neighbour) *self, int nr);

static void gather(FIXTURE_DATA(neighbour) *self, int nr, attack_fn *attack)
{
	while (nr--) {
		pid_t child = fork_child();

		if (!child) {
			pin_to(0);
			attack(self, self->nr_crowd);
			for (;;)
				pause();
		}
		self->crowd[self->nr_crowd++] = child;
	}
}

/* Wait until the whole crowd is ready; false if a process has given up. */
static bool all_ready(FIXTURE_DATA(neighbour) *self)
{
	int tries = 60000;

	while (self->stage->ready < self->nr_crowd && --tries) {
		if (waitpid(-1, NULL, WNOHANG) > 0)
			return false;
		usleep(1000);
	}
	return tries;
}

/* Start the attack. A module that it overloads delays the crowd as well. */
static void have_them_tick(FIXTURE_DATA(neighbour) *self)
{
	int tries = 2000;

	close(self->go[1]);
	while (self->stage->ticked < self->nr_crowd && --tries)
		usleep(1000);
}

/* --- the bystander */

struct visit {
	double late;
	uint64_t held_ns;
};

static void copy_bystander(struct __test_metadata *_metadata, char *path,
			   size_t size)
{
	char helper[4096], command[5000];
	static int number;

	helper_path(helper, sizeof(helper), "bystander");
	snprintf(path, size, "/run/profil-bystander-%d-%d", getpid(), number++);
	snprintf(command, sizeof(command), "cp %s %s", helper, path);
	ASSERT_EQ(0, system(command));
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
	if (become(BYSTANDER))
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
	EXPECT_EQ(0, all->lost);
	EXPECT_EQ(all->ticks, all->counted + all->outside);
	EXPECT_EQ(all->counted - first->counted, in_counters);
}

static struct visit visit(struct __test_metadata *_metadata)
{
	size_t size = (BYSTANDER_PARTS + 2) * BYSTANDER_PAGE;
	int device = open(PROFIL_DEVICE, O_RDONLY);
	int memory = memfd_create("bystander", 0);
	struct bystander_report *report;
	struct visit result = { 0 };
	char path[100];

	EXPECT_EQ(0, ftruncate(memory, size));
	copy_bystander(_metadata, path, sizeof(path));
	EXPECT_EQ(0, run_bystander(path, device, memory));
	result.held_ns = wait_while_held(device, path);
	report = mmap(NULL, size, PROT_READ, MAP_SHARED, memory, 0);
	result.late = (double)report->late / report->counts.ticks;
	TH_LOG("%llu ticks, %llu in kernel mode, lost %llu, late %llu; memory held for %.0f ms",
	       report->counts.ticks, report->counts.kernel, report->counts.lost,
	       (unsigned long long)report->late, result.held_ns / 1e6);
	if (result.held_ns < PATIENCE_NS) {
		struct profil_account account = account_of(device);

		judge_counts(_metadata, report, &account.counts);
	}
	munmap(report, size);
	close(memory);
	close(device);
	unlink(path);
	return result;
}

/* Visit at least twice, then until the best numbers are good enough. */
static void bystander_is_undisturbed(struct __test_metadata *_metadata)
{
	struct visit best = { 1, UINT64_MAX };
	int i;

	for (i = 0; i < VISITS; i++) {
		struct visit one = visit(_metadata);

		if (one.late < best.late)
			best.late = one.late;
		if (one.held_ns < best.held_ns)
			best.held_ns = one.held_ns;
		if (i && best.late <= LATE && best.held_ns <= PROMPT_NS)
			break;
	}
	EXPECT_GE(LATE, best.late);
	EXPECT_GE(PROMPT_NS, best.held_ns);
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
 * After a second the module has given up all pending ticks, and does nothing.
 */
static void machine_becomes_idle(struct __test_metadata *_metadata)
{
	double least = 1000;
	int i;

	usleep(2500000);
	for (i = 0; i < 3 && least > IDLE_CPUS; i++) {
		double busy = busy_cpus();

		TH_LOG("%.2f CPUs are busy", busy);
		if (busy < least)
			least = busy;
	}
	EXPECT_GE(IDLE_CPUS, least);
}

/* --- the attacks */

/* The bystander alone, for comparison. */
TEST_F(neighbour, nobody_attacks)
{
	bystander_is_undisturbed(_metadata);
}

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
	self->stage->ready++;
	_exit(0);
}

/*
 * One by one: the kernel flushes the ticks of a process that waits for a CPU.
 */
static bool have_them_exit(FIXTURE_DATA(neighbour) *self)
{
	int i, tries;

	for (i = 0; i < LEAVERS; i++) {
		gather(self, 1, leave_a_read_behind);
		for (tries = 100000; self->stage->ready <= i && tries; tries--)
			usleep(100);
		if (!tries)
			return false;
	}
	return true;
}

TEST_F(neighbour, processes_that_cannot_exit)
{
	int ended = 0;

	self->server = mount_silent_fs();
	if (self->server < 0)
		SKIP(return, "no FUSE");
	self->file = open(SILENT_FS "/bins", O_RDONLY | O_DIRECT | O_CLOEXEC);
	ASSERT_LE(0, self->file);
	ASSERT_TRUE(have_them_exit(self));
	usleep(300000);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		ended++;
	TH_LOG("%d of %d have ended, %u profiles have not", ended, LEAVERS,
	       account_of(self->device).running);
	bystander_is_undisturbed(_metadata);
}

struct locker {
	FIXTURE_DATA(neighbour) *self;
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
	locker->self->stage->ready += 0;
	locker->is_warm = true;
	while (!locker->maps || !waits(getpid()))
		usleep(1000);
	burn_spread(2 * MS);
	locker->self->stage->ready++;
	pause();
	return NULL;
}

/* mmap() holds mmap_lock for writing until the server answers. */
static void map_for_ever(FIXTURE_DATA(neighbour) *self, int nr)
{
	struct locker locker = { .self = self };
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

TEST_F(neighbour, mmap_lock_held_for_ever)
{
	int tries = 10000;

	self->server = mount_silent_fs();
	if (self->server < 0)
		SKIP(return, "no FUSE");
	self->file = open(SILENT_FS "/direct", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->file);
	self->others[0] = start(self, lock_page);
	while (!waits(self->others[0]) && --tries)
		usleep(1000);
	gather(self, CROWD, map_for_ever);
	if (!all_ready(self))
		SKIP(return, "nothing holds mmap_lock for long");
	bystander_is_undisturbed(_metadata);
	machine_becomes_idle(_metadata);
}

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

TEST_F(neighbour, pages_that_userfaultfd_never_serves)
{
	if (userfault(map_private(), 0) < 0)
		SKIP(return, "userfaultfd: %s", strerror(errno));
	gather(self, CROWD, wait_for_userfaultfd);
	ASSERT_TRUE(all_ready(self));
	have_them_tick(self);
	bystander_is_undisturbed(_metadata);
	self->stage->is_over = true;
	machine_becomes_idle(_metadata);
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
	uintptr_t counters = ((uintptr_t)memory + HUGE - 1) & -HUGE;

	(void)nr;
	burn_spread(1);
	if (madvise(memory, size, MADV_HUGEPAGE) || become(HOSTILE) ||
	    spread_start(self->device, HUGE_PARTS, (void *)counters, HUGE,
			 PERIOD_NS))
		_exit(1);
	keep_ticking(self, memory, size);
}

static bool enter(const char *group)
{
	char name[100];

	snprintf(name, sizeof(name), "%s/cgroup.procs", group);
	return put(name, "0");
}

TEST_F(neighbour, pages_beyond_memory_high)
{
	if (put(CGROUPS "/cgroup.subtree_control", "+memory") ||
	    mkdir(GROUP, 0700))
		SKIP(return, "no memory controller");
	self->has_group = true;
	ASSERT_FALSE(enter(GROUP));
	gather(self, CROWD, exceed_memory_high);
	ASSERT_FALSE(enter(CGROUPS));
	ASSERT_TRUE(all_ready(self));
	ASSERT_FALSE(put(GROUP "/memory.high", "0"));
	have_them_tick(self);
	bystander_is_undisturbed(_metadata);
}

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

/* Start to punch a hole; page faults in it wait until that has finished. */
static bool punch(FIXTURE_DATA(neighbour) *self)
{
	int tries = 60000;

	self->others[0] = start(self, hog);
	self->others[1] = start(self, punch_slowly);
	while (is_full(self->file) && --tries)
		usleep(1000);
	return tries;
}

TEST_F(neighbour, hole_punched_under_the_counters)
{
	self->file = memfd_create("hole", MFD_CLOEXEC);
	ASSERT_EQ(0, fallocate(self->file, 0, 0, PUNCHED_SIZE));
	gather(self, CROWD, count_in_hole);
	ASSERT_TRUE(all_ready(self));
	ASSERT_TRUE(punch(self));
	have_them_tick(self);
	bystander_is_undisturbed(_metadata);
}

TEST_HARNESS_MAIN
