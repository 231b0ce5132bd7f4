// SPDX-License-Identifier: GPL-2.0-only
/*
 * account.c - PROFIL_IOC_ACCOUNT adds up profiles that have ended
 *
 * Children start profiles through a descriptor that they inherit from the test,
 * count into memory that they share with it, and end in every possible way. The
 * test reads the account of the descriptor: it holds each profile once, with
 * all its ticks.
 *
 * An entry is delayed as long as anything still uses the memory of the process
 * that has ended, such as a tick that is being flushed: so the test waits for
 * it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

/* Memory that the children share with the test. */
struct shared {
	uint64_t ticks;
	uint64_t cpu_ns;
};

FIXTURE(account) {
	int fd;
	struct shared *shared;
};

FIXTURE_SETUP(account)
{
	self->fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
}

FIXTURE_TEARDOWN(account)
{
	close(self->fd);
	munmap(self->shared, PAGE);
}

static int begin(int fd, struct shared *shared, unsigned int flags)
{
	struct profil_region all = overflow_bin(&shared->ticks, 8);

	return set_region_by(fd, &all, 8, MS, flags);
}

/* Has the profile, if there is one, ticks of both modes? */
static bool has_both_modes(void)
{
	struct profil_status now = status_now();

	return now.state != PROFIL_STATE_ON ||
	       (now.counts.kernel && now.counts.kernel < now.counts.ticks);
}

/*
 * Use CPU time, in user mode and in the kernel, and record how much. Where the
 * ticks fall is chance, and up to the host: it takes as long as it needs.
 */
static void work(struct shared *shared)
{
	uint64_t begin_ns = process_cpu_ns();
	int i;

	while (process_cpu_ns() - begin_ns < 100 * MS || !has_both_modes())
		for (i = 0; i < 50; i++)
			syscall(SYS_getppid);
	__atomic_fetch_add(&shared->cpu_ns, process_cpu_ns() - begin_ns,
			   __ATOMIC_RELAXED);
}

/* A child that works under a profile. */
static pid_t start(FIXTURE_DATA(account) *self)
{
	pid_t child = fork_child();

	if (child)
		return child;
	if (begin(self->fd, self->shared, 0))
		_exit(1);
	work(self->shared);
	return 0;
}

/*
 * No tick is missing, and their number is the one due. The counter has all of
 * them except those that came after the process gave up its memory.
 */
#define EXPECT_ACCOUNT(account, shared) do { \
	double due = (account)->cpu_time_ns / 1e6; \
	EXPECT_EQ(0, (account)->running); \
	EXPECT_CONSERVED(account); \
	EXPECT_EQ((account)->counts.ticks, (account)->counts.counted + (account)->counts.outside); \
	EXPECT_GE((account)->counts.kernel, (account)->counts.outside); \
	EXPECT_EQ((shared)->ticks, (account)->counts.counted); \
	EXPECT_LT(0, (account)->counts.kernel); \
	EXPECT_GT((account)->counts.ticks, (account)->counts.kernel); \
	EXPECT_CHANCE("ticks", (account)->counts.ticks, due, due); \
} while (0)

TEST_F(account, is_zero_at_first)
{
	struct profil_account zeros = { .size = sizeof(zeros) };
	struct profil_account account = account_of(self->fd);

	EXPECT_EQ(0, memcmp(&zeros, &account, sizeof(zeros)));
}

TEST_F(account, of_one_that_exits)
{
	struct profil_account account;
	pid_t child = start(self);

	if (!child)
		_exit(0);
	EXPECT_EQ(0, wait_child(child));
	account = account_after(self->fd, 0);
	EXPECT_ACCOUNT(&account, self->shared);
}

TEST_F(account, of_one_that_is_killed)
{
	struct profil_account account;
	pid_t child = start(self);

	if (!child)
		kill(getpid(), SIGKILL);
	EXPECT_EQ(-SIGKILL, wait_child(child));
	account = account_after(self->fd, 0);
	EXPECT_ACCOUNT(&account, self->shared);
}

/* Their last ticks find the counter through its file, not through the memory. */
TEST_F(account, of_many_that_exit_at_once)
{
	struct profil_region all = overflow_bin(&self->shared->ticks, 8);
	struct profil_account account;

	ASSERT_EQ(0, set_region_by(self->fd, &all, 8, MS / 10, 0));
	ASSERT_EQ(0, fork_some(300));
	ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
	account = account_after(self->fd, 0);
	EXPECT_EQ(0, account.running);
	EXPECT_CONSERVED(&account);
	EXPECT_TRUE(!account.counts.lost || is_linux_before(5, 16));
	EXPECT_EQ(account.counts.ticks, account.counts.counted +
		  account.counts.lost + account.counts.outside);
	EXPECT_EQ(self->shared->ticks, account.counts.counted);
	EXPECT_LT(0, account.counts.counted);
}

static void fill_memory(size_t size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	madvise(memory, size, MADV_NOHUGEPAGE);
	for (i = 0; i < size; i += PAGE)
		memory[i] = 1;
}

/*
 * The profile covers the freeing of the memory, until the kernel first switches
 * the process out.
 */
TEST_F(account, of_one_that_has_much_memory)
{
	struct profil_account account = { 0 };
	int tries;

	for (tries = 0; tries < 20 && !account.counts.outside; tries++) {
		pid_t child = fork_child();

		ASSERT_LE(0, child);
		if (!child) {
			fill_memory(128 << 20);
			if (begin(self->fd, self->shared, 0))
				_exit(1);
			usleep(50000);
			_exit(0);
		}
		EXPECT_EQ(0, wait_child(child));
		account = account_after(self->fd, 0);
	}
	TH_LOG("%d tries, %.1f ms covered, %llu ticks outside", tries,
	       account.cpu_time_ns / 1e6, account.counts.outside);
	EXPECT_CONSERVED(&account);
	EXPECT_EQ(0, account.counts.lost);
	EXPECT_LT(0, account.counts.outside);
	EXPECT_LE(account.counts.outside, account.counts.kernel);
	EXPECT_CHANCE("ticks", account.counts.ticks, account.cpu_time_ns / 1e6,
		      account.cpu_time_ns / 1e6);
}

/*
 * The account does not wait for the process, which goes on in another program.
 */
TEST_F(account, of_one_that_executes_a_program)
{
	struct profil_account account;
	pid_t child = start(self);

	if (!child)
		execlp("sleep", "sleep", "1000", NULL);
	while (!__atomic_load_n(&self->shared->cpu_ns, __ATOMIC_RELAXED))
		usleep(1000);
	account = account_after(self->fd, 0);
	EXPECT_ACCOUNT(&account, self->shared);
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_child(child));
}

TEST_F(account, of_one_that_stops)
{
	struct profil_status last = { .size = sizeof(last) };
	struct profil_account account;

	ASSERT_EQ(0, begin(self->fd, self->shared, 0));
	work(self->shared);
	EXPECT_EQ(1, account_of(self->fd).running);
	ASSERT_EQ(0, ioctl(self->fd, PROFIL_IOC_STOP, &last));
	account = account_of(self->fd);
	EXPECT_ACCOUNT(&account, self->shared);
	EXPECT_EQ(last.counts.ticks, account.counts.ticks);
	EXPECT_EQ(last.counts.kernel, account.counts.kernel);
}

TEST_F(account, of_those_that_are_replaced)
{
	struct profil_account before, account = { 0 };
	int i;

	for (i = 0; i < 4; i++) {
		before = account;
		ASSERT_EQ(0, begin(self->fd, self->shared, 0));
		account = account_of(self->fd);
		EXPECT_EQ(1, account.running);
		/* Work has ticks of both modes */
		EXPECT_LE(before.counts.ticks + (i ? 2 : 0),
			  account.counts.ticks);
		work(self->shared);
	}
	ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
	account = account_of(self->fd);
	EXPECT_ACCOUNT(&account, self->shared);
}

static void *work_and_unmap(void *argument)
{
	work(argument);
	unmap_anchor();
	return NULL;
}

/* The program goes on without its profile, and with all its threads. */
TEST_F(account, of_one_whose_anchor_is_removed)
{
	struct profil_account account;
	pthread_t thread;

	ASSERT_EQ(0, begin(self->fd, self->shared, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, work_and_unmap,
				    self->shared));
	work(self->shared);
	pthread_join(thread, NULL);
	EXPECT_EQ(PROFIL_STATE_OFF, status_now().state);
	account = account_after(self->fd, 0);
	EXPECT_EQ(0, account.running);
	EXPECT_CONSERVED(&account);
	EXPECT_EQ(self->shared->ticks, account.counts.counted);
}

/* Each child has one entry, and no tick is in two of them. */
TEST_F(account, of_children_that_inherit)
{
	struct profil_account account;
	pid_t children[6];
	int go[2], i;
	char byte;

	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, begin(self->fd, self->shared, 0));
	for (i = 0; i < 6; i++) {
		children[i] = fork_child();
		ASSERT_LE(0, children[i]);
		if (children[i])
			continue;
		close(go[1]);
		work(self->shared);
		if (read(go[0], &byte, 1))
			_exit(1);
		_exit(0);
	}
	work(self->shared);
	EXPECT_EQ(7, account_of(self->fd).running);
	ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
	EXPECT_EQ(6, account_of(self->fd).running);
	close(go[0]);
	close(go[1]);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(0, wait_child(children[i]));
	account = account_after(self->fd, 0);
	EXPECT_ACCOUNT(&account, self->shared);
	EXPECT_EQ(0, account.unfollowed);
}

/*
 * A duplicate of the descriptor has the same account, another open file has
 * not.
 */
TEST_F(account, is_of_the_open_file)
{
	struct profil_account zeros = { .size = sizeof(zeros) };
	struct profil_account account, other;
	int twin = dup(self->fd);
	int stranger = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);

	ASSERT_EQ(0, begin(self->fd, self->shared, 0));
	work(self->shared);
	close(self->fd);
	ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
	account = account_of(twin);
	EXPECT_ACCOUNT(&account, self->shared);
	other = account_of(stranger);
	EXPECT_EQ(0, memcmp(&zeros, &other, sizeof(zeros)));
	close(stranger);
	self->fd = twin;
}

TEST_F(account, has_what_was_left_out)
{
	struct profil_account account;

	ASSERT_EQ(0, begin(self->fd, self->shared, PROFIL_SET_USER_ONLY));
	work(self->shared);
	ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
	account = account_of(self->fd);
	EXPECT_CONSERVED(&account);
	EXPECT_LT(0, account.counts.left_out);
	EXPECT_EQ(account.counts.kernel, account.counts.left_out);
	EXPECT_EQ(self->shared->ticks, account.counts.counted);
}

/* Clipped, lost and outside ticks are in the account, too. */
TEST_F(account, has_every_outcome)
{
	uint16_t *full = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct profil_region region = overflow_bin(full, 2);
	struct profil_account account;
	int rounds = 100;

	*full = UINT16_MAX;
	ASSERT_EQ(0, set_region_by(self->fd, &region, 2, MS, 0));
	work(self->shared);
	munmap(full, PAGE);
	/* The first tick waits for its page; then the region is off */
	do {
		work(self->shared);
	} while (!status_now().counts.outside && --rounds);
	ASSERT_EQ(0, profil_stop(NULL, NULL, 0));
	account = account_of(self->fd);
	EXPECT_CONSERVED(&account);
	EXPECT_EQ(0, account.counts.counted);
	EXPECT_LT(0, account.counts.clipped);
	EXPECT_LT(0, account.counts.lost);
	EXPECT_LT(0, account.counts.outside);
}

TEST_HARNESS_MAIN
