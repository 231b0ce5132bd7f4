// SPDX-License-Identifier: GPL-2.0-only
/*
 * memcg.c - the last ticks of a process, and who pays for their memory
 *
 * Short children count into memory that outlives them, nearly always in kernel
 * mode, so that ticks are pending when they exit, execute another program or
 * are killed. The kernel must charge every page that it brings in for such
 * ticks to the memory cgroup of the child, and must write the ticks before the
 * parent can know that the child has gone; or soon after that, if another task
 * than the child frees its memory.
 *
 * memory.max is more than the children can use, so that none is killed for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"

#define CGROUPS		"/sys/fs/cgroup"
#define CGROUP		CGROUPS "/profil-selftest"
#define MEMORY_MAX	"33554432"

NEEDS_ROOT;

static void __attribute__((constructor)) need_memory_cgroups(void)
{
	need(!write_file(CGROUPS "/cgroup.subtree_control", "+memory"),
	     "memory cgroups");
}

/*
 * Some ticks for each child, in a short life: a child that lives long gets its
 * page while it runs, and in an emulator more ticks make it live longer.
 */
#define PERIOD_NS	200000
#define LIFE_NS		(3 * MS / 2)

/* Until the module's work has begun to bring the page in */
#define LONG_LIFE_NS	(12 * MS)

/* Exec takes longer than exit, and who is delayed takes longest. */
#define EXITS		300
#define EXECS		100
#define DELAYED		40

/* Of another user than the children */
#define READER		100001

/* Bytes that memory.stat may not have yet, and that prove nothing */
#define SLACK		(4 * PAGE)

enum end {
	BY_EXIT,
	BY_EXEC,
	BY_SIGNAL,
};

/* The program for the children, in memory so that exec waits for no disk. */
static int program;

static int load_program(void)
{
	int file = open("/bin/true", O_RDONLY | O_CLOEXEC);

	program = memfd_create("true", MFD_CLOEXEC);
	while (sendfile(program, file, NULL, 1 << 20) > 0)
		;
	return close(file);
}

static void end_by(enum end end)
{
	char *const argv[] = { "true", NULL };

	if (end == BY_EXEC)
		fexecve(program, argv, environ);
	else if (end == BY_SIGNAL)
		kill(getpid(), SIGKILL);
	_exit(end == BY_EXEC);
}

/* A child that counts into @counter and ends; this does not return. */
static void live(int device, uint32_t *counter, uint64_t ns, enum end end)
{
	struct profil_region all = overflow_bin(counter, sizeof(*counter));

	if (set_region_by(device, &all, sizeof(*counter), PERIOD_NS, 0))
		_exit(2);
	burn_kernel_ns(ns);
	end_by(end);
}

/**
 * struct stage - what the processes share
 * @child: the one that is to be read
 * @is_read: the one that is being read
 * @late: children whose memory was there after wait(): another task frees it
 * @longest_ns: the longest read
 */
struct stage {
	_Atomic pid_t child;
	_Atomic pid_t is_read;
	atomic_int late;
	uint64_t longest_ns;
};

FIXTURE(cgroup) {
	int device;
	int memfd;
	char *pages;
	struct stage *stage;
	pid_t reader;
};

/*
 * @delay is what delay.ko delays, so that the task which does that has the
 * memory of a child when it ends, and frees it: a worker, or a reader of
 * /proc/PID/stat.
 */
FIXTURE_VARIANT(cgroup) {
	enum end end;
	int children;
	uint64_t life_ns;
	const char *delay;
	bool is_read;
};

FIXTURE_VARIANT_ADD(cgroup, exit) {
	.end = BY_EXIT,
	.children = EXITS,
	.life_ns = LIFE_NS,
};

FIXTURE_VARIANT_ADD(cgroup, exec) {
	.end = BY_EXEC,
	.children = EXECS,
	.life_ns = LIFE_NS,
};

FIXTURE_VARIANT_ADD(cgroup, worker_frees) {
	.end = BY_EXIT,
	.children = 10 * DELAYED,
	.life_ns = LONG_LIFE_NS,
	.delay = "symbol=profil_attempt_mm ms=50",
};

FIXTURE_VARIANT_ADD(cgroup, reader_of_proc_frees) {
	.end = BY_EXIT,
	.children = 10 * DELAYED,
	.life_ns = LIFE_NS,
	.delay = "symbol=task_vsize ms=20",
	.is_read = true,
};

/* Read its stat again and again, which holds its memory, until it has gone. */
static void read_stat_of(pid_t child, struct stage *stage)
{
	uint64_t begin = monotonic_ns(), end;
	char path[40], text[1000];
	int file;

	snprintf(path, sizeof(path), "/proc/%d/stat", child);
	file = open(path, O_RDONLY | O_CLOEXEC);
	while (pread(file, text, sizeof(text), 0) > 0) {
		end = monotonic_ns();
		if (end - begin > stage->longest_ns)
			stage->longest_ns = end - begin;
		begin = end;
		stage->is_read = child;
	}
	close(file);
}

static pid_t start_reader(struct stage *stage)
{
	pid_t reader = fork_child();

	if (reader)
		return reader;
	if (become(READER) || pin_to(1))
		_exit(1);
	for (;;)
		read_stat_of(stage->child, stage);
}

static void await_reader(struct stage *stage)
{
	stage->child = getpid();
	while (stage->is_read != getpid())
		sched_yield();
}

FIXTURE_SETUP(cgroup)
{
	rmdir(CGROUP);
	ASSERT_EQ(0, mkdir(CGROUP, 0755));
	ASSERT_EQ(0, write_file(CGROUP "/memory.max", MEMORY_MAX));
	/* There is no such file without swap support. */
	write_file(CGROUP "/memory.swap.max", "0");
	self->device = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->device);
	ASSERT_EQ(0, load_program());
	self->memfd = memfd_create("counters", MFD_CLOEXEC);
	ASSERT_LE(0, self->memfd);
	ASSERT_EQ(0, ftruncate(self->memfd, variant->children * PAGE));
	self->pages = mmap(NULL, variant->children * PAGE,
			   PROT_READ | PROT_WRITE, MAP_SHARED, self->memfd, 0);
	ASSERT_NE(MAP_FAILED, self->pages);
	/* One huge page would serve all children. */
	madvise(self->pages, variant->children * PAGE, MADV_NOHUGEPAGE);
	self->stage = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->stage);
	if (variant->is_read)
		self->reader = start_reader(self->stage);
}

/* A page that is brought in late keeps the cgroup for a while. */
FIXTURE_TEARDOWN(cgroup)
{
	if (variant->is_read) {
		kill(self->reader, SIGKILL);
		EXPECT_EQ(-SIGKILL, wait_child(self->reader));
	}
	if (unload_helper("delay"))
		EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(0, remove_cgroup(CGROUP));
	close(self->memfd);
	close(self->device);
}

/* Runs as an ordinary user in the cgroup; each child has a page of its own. */
static void live_in_cgroup(FIXTURE_DATA(cgroup) *self,
			   const FIXTURE_VARIANT(cgroup) *variant)
{
	int bad = 0;

	if (enter_cgroup(0, CGROUP) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		_exit(1);
	/* With a delay, until it had an effect: on a busy host, some have none */
	for (int i = 0; i < variant->children &&
	     !(variant->delay && i >= DELAYED && self->stage->late); i++) {
		uint32_t *counter = (uint32_t *)(self->pages + i * PAGE);
		pid_t child = fork_child();

		if (!child) {
			pin_to(0);
			if (variant->is_read)
				await_reader(self->stage);
			live(self->device, counter, variant->life_ns,
			     variant->end);
		}
		bad |= wait_child(child);
		if (account_of(self->device).running) {
			self->stage->late++;
			account_after(self->device, 0);
		}
	}
	_exit(!!bad);
}

static uint64_t bytes_held(int fd)
{
	struct stat stat;

	return fstat(fd, &stat) ? UINT64_MAX : stat.st_blocks * 512ULL;
}

static uint64_t bytes_charged(void)
{
	return number_of(CGROUP "/memory.stat", "shmem ");
}

/* The kernel sums up the numbers of memory.stat every two seconds. */
static uint64_t bytes_charged_for(uint64_t held)
{
	int tries = 600;

	while (bytes_charged() + SLACK < held && --tries)
		usleep(100000);
	return bytes_charged();
}

static uint64_t sum_of_pages(const char *pages, int nr)
{
	uint64_t sum = 0;

	while (nr--)
		sum += *(const uint32_t *)(pages + nr * PAGE);
	return sum;
}

TEST_F(cgroup, pays_for_the_pages_of_last_ticks)
{
	struct profil_account account;
	pid_t forker;
	uint64_t held, charged, sum;

	if (variant->delay && sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	if (variant->delay && load_helper("delay", variant->delay))
		SKIP(return, "delay.ko: %s", strerror(errno));
	forker = fork_child();
	ASSERT_LE(0, forker);
	if (!forker)
		live_in_cgroup(self, variant);
	EXPECT_EQ(0, wait_child(forker));
	account = account_after(self->device, 0);
	held = bytes_held(self->memfd);
	charged = bytes_charged_for(held);
	TH_LOG("%d children, %d late: %llu KiB in the memfd, %llu KiB charged",
	       variant->children, self->stage->late, held >> 10, charged >> 10);
	/* A page that comes just when its process ends, nobody pays for there */
	EXPECT_TRUE(charged + SLACK >= held || is_linux_before(5, 14));

	/*
	 * This reads missing pages and so brings them in: count their charges
	 * first.
	 */
	sum = sum_of_pages(self->pages, variant->children);
	TH_LOG("%llu ticks, %llu counted, %llu lost, %llu outside",
	       account.counts.ticks, account.counts.counted,
	       account.counts.lost, account.counts.outside);
	EXPECT_EQ(0, account.running);
	EXPECT_CONSERVED(&account);
	EXPECT_EQ(account.counts.counted, sum);
	EXPECT_LT(0, account.counts.counted + account.counts.lost);
	/* Nor does any task bring in pages for a process that has ended */
	EXPECT_TRUE(!account.counts.lost || is_linux_before(5, 16));
	if (variant->delay)
		EXPECT_LT(0, self->stage->late);
}

/* --- a cgroup that is full */

#define FILL_SIZE	(16 << 20)
#define NR_ABSENT	256

static int fill_memory(void *unused)
{
	char *filling = mmap(NULL, FILL_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	if (filling == MAP_FAILED || enter_cgroup(0, CGROUP))
		return 1;
	memset(filling, 1, FILL_SIZE);
	raise(SIGSTOP);
	return 0;
}

/* Each tick has its counter on a page that is not there. */
static int count_in_absent_pages(void *counters)
{
	char *code = map_spin_code(NR_ABSENT);
	struct profil_region region = region_of(code, code + NR_ABSENT * PAGE,
						counters, sizeof(uint32_t));
	struct profil_status last = { .size = sizeof(last) };
	int device = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);

	if (!code || enter_cgroup(0, CGROUP))
		return 1;
	for (int i = 0; i < NR_ABSENT; i++)
		spin_ns(code + i * PAGE, 1);
	/* The page of the page table maps them all; a process may be killed for it */
	*(volatile uint32_t *)counters = 0;
	if (set_regions(&region, 1, sizeof(uint32_t), MS, 0))
		return 2;
	raise(SIGSTOP);
	for (int i = 0; i < NR_ABSENT; i++)
		spin_ns(code + i * PAGE, 3 * MS);
	/* Another open file would have a process killed */
	if (ioctl(device, PROFIL_IOC_STOP, &last))
		return 3;
	return last.counts.lost ? 0 : 4;
}

/* Return: have ticks been lost, and has no process ended for them? */
static bool loses_ticks_only(struct __test_metadata *_metadata)
{
	char *memory = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t killed = number_of(CGROUP "/memory.events", "oom_kill ");
	struct child filler = child_begin(fill_memory, NULL), program;
	char limit[24];
	bool is_good;

	ASSERT_NE(MAP_FAILED, memory);
	madvise(memory, 2 * HUGE, MADV_NOHUGEPAGE);
	ASSERT_EQ(0, write_file(CGROUP "/memory.max", MEMORY_MAX));
	program = child_begin(count_in_absent_pages, huge_aligned(memory));
	child_go(&filler);
	ASSERT_EQ(0, child_wait_stopped(&filler));
	child_go(&program);
	ASSERT_EQ(0, child_wait_stopped(&program));
	snprintf(limit, sizeof(limit), "%llu", (unsigned long long)
		 number_of(CGROUP "/memory.current", "") + 16 * PAGE);
	ASSERT_EQ(0, write_file(CGROUP "/memory.max", limit));
	EXPECT_EQ(0, kill(program.pid, SIGCONT));
	is_good = !child_end(&program);
	kill(filler.pid, SIGCONT);
	is_good = !child_end(&filler) && is_good;
	munmap(memory, 2 * HUGE);
	return is_good &&
	       number_of(CGROUP "/memory.events", "oom_kill ") == killed;
}

/* But what the programs themselves need of the kernel may have one killed. */
TEST(a_cgroup_that_is_full_loses_ticks_and_no_process)
{
	bool is_good;

	ASSERT_EQ(0, mkdir(CGROUP, 0755));
	write_file(CGROUP "/memory.swap.max", "0");
	RUN_UNTIL(is_good, is_good = loses_ticks_only(_metadata));
	EXPECT_EQ(0, remove_cgroup(CGROUP));
}

/* Always has ticks whose page is missing, until it is killed. */
static void live_without_pages(int device, uint32_t *counter)
{
	struct profil_region all = overflow_bin(counter, sizeof(*counter));

	if (set_region_by(device, &all, sizeof(*counter), PERIOD_NS, 0))
		_exit(2);
	for (;;) {
		burn_kernel_ns(MS);
		madvise(counter, PAGE, MADV_REMOVE);
	}
}

/*
 * A memory cgroup that may have no memory any more: its process is killed for
 * that, and a reader of another cgroup frees its memory.
 */
TEST(who_frees_the_memory_is_not_killed)
{
	int device = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	struct stage *stage = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint32_t *counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct profil_account account = { 0 };
	pid_t reader, child;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	if (load_helper("delay", "symbol=task_vsize ms=20"))
		SKIP(return, "delay.ko: %s", strerror(errno));
	ASSERT_EQ(0, mkdir(CGROUP, 0755));
	write_file(CGROUP "/memory.swap.max", "0");
	reader = start_reader(stage);
	TRY_UNTIL(account.counts.lost) {
		EXPECT_EQ(0, write_file(CGROUP "/memory.max", "max"));
		child = fork_child();
		if (!child) {
			pin_to(0);
			if (enter_cgroup(0, CGROUP) ||
			    become(NOBODY))
				_exit(1);
			await_reader(stage);
			live_without_pages(device, counter);
		}
		while (stage->is_read != child && process_state(child) != 'Z')
			usleep(1000);
		usleep(10000);
		write_file(CGROUP "/memory.max", "0");
		EXPECT_EQ(-SIGKILL, wait_child(child));
		account = account_after(device, 0);
	}
	TH_LOG("%llu ticks, %llu lost; the longest read took %llu us",
	       account.counts.ticks, account.counts.lost,
	       stage->longest_ns / 1000);
	EXPECT_EQ(0, account.running);
	EXPECT_CONSERVED(&account);
	EXPECT_LT(0, account.counts.lost);
	EXPECT_NE('Z', process_state(reader));
	kill(reader, SIGKILL);
	wait_child(reader);
	EXPECT_EQ(0, unload_helper("delay"));
	munmap(counter, PAGE);
	EXPECT_EQ(0, remove_cgroup(CGROUP));
	close(device);
}

FIXTURE(last_ticks) {
	int device;
	uint32_t *counter;
};

FIXTURE_VARIANT(last_ticks) {
	enum end end;
	int children;
};

FIXTURE_VARIANT_ADD(last_ticks, exit) {
	.end = BY_EXIT,
	.children = 100,
};

FIXTURE_VARIANT_ADD(last_ticks, exec) {
	.end = BY_EXEC,
	.children = 30,
};

FIXTURE_VARIANT_ADD(last_ticks, kill) {
	.end = BY_SIGNAL,
	.children = 100,
};

FIXTURE_SETUP(last_ticks)
{
	self->device = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->device);
	ASSERT_EQ(0, load_program());
	self->counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->counter);
	/* The page exists before any child does. */
	*self->counter = 0;
}

FIXTURE_TEARDOWN(last_ticks)
{
	munmap(self->counter, PAGE);
	close(self->device);
}

/*
 * Returns as soon as the child cannot use its memory any more: when it has
 * ended, or when exec has closed the pipe, which it does after it has given up
 * the old memory.
 */
static pid_t run_to_the_end(int device, uint32_t *counter, enum end end,
			    struct profil_account *account)
{
	int ends[2];
	pid_t child;
	char byte;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	child = fork_child();
	if (!child) {
		close(ends[0]);
		live(device, counter, LIFE_NS, end);
	}
	close(ends[1]);
	if (end == BY_EXEC) {
		if (read(ends[0], &byte, 1))
			return -1;
		*account = account_of(device);
	}
	if (wait_child(child) != (end == BY_SIGNAL ? -SIGKILL : 0))
		return -1;
	if (end != BY_EXEC)
		*account = account_of(device);
	close(ends[0]);
	return child;
}

/*
 * A reader of the counters does not know how long to wait. Only a child whose
 * page is being brought in when it ends may be late: few are, and not by much, unless
 * the host stops the CPU that does it.
 */
TEST_F(last_ticks, are_written_before_the_parent_knows)
{
	struct profil_account account = { 0 };
	int few = variant->children / 5;
	int running = few, differ = few;

	TRY_UNTIL(running < few && differ < few) {
		running = 0;
		differ = 0;
		for (int i = 0; i < variant->children; i++) {
			ASSERT_LT(0, run_to_the_end(self->device, self->counter,
						    variant->end, &account));
			running += account.running != 0;
			differ += account.counts.counted != *self->counter;
		}
		TH_LOG("of %d children %d were in no account yet, %d differed in ticks",
		       variant->children, running, differ);
	}
	EXPECT_GT(few, running);
	EXPECT_GT(few, differ);

	account = account_after(self->device, 0);
	TH_LOG("%llu ticks, %llu counted, %llu lost, %llu outside",
	       account.counts.ticks, account.counts.counted,
	       account.counts.lost, account.counts.outside);
	EXPECT_CONSERVED(&account);
	EXPECT_EQ(account.counts.counted, *self->counter);
	EXPECT_EQ(0, account.counts.lost);
	EXPECT_LT(3 * variant->children, account.counts.counted);
}

TEST_HARNESS_MAIN
