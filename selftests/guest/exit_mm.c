// SPDX-License-Identifier: GPL-2.0-only
/*
 * exit_mm.c - processes that have ended while their memory has not
 *
 * The task that frees the memory of a process has to wait for everything that
 * the process has left unfinished. Usually that task is the process itself; if
 * the module was bringing in a page when the process ended, it is a worker that
 * runs the module's work.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

/* More than the works that one user may have at a time. */
#define CROWD		60

/* The shortest period: some ticks are pending at any time. */
#define PERIOD_NS	60000

/* Reads what every user may read of other users' processes. */
#define READER		100001

static uint32_t counter;

static int start_by(int fd)
{
	struct profil_region region = overflow_bin(&counter, sizeof(counter));

	return set_region_by(fd, &region, sizeof(counter), PERIOD_NS, 0);
}

/*
 * Take ticks in kernel mode, the first one for a counter whose page is missing.
 */
static void live_in_the_kernel(void)
{
	uint64_t end = monotonic_ns() + 2 * MS;

	while (monotonic_ns() < end)
		syscall(SYS_getppid);
}

/* The end of this process waits for the answer to a read. */
static void leave_a_read_behind(int fd)
{
	static char page[2 * 4096] __attribute__((aligned(4096)));
	int file = open(SILENT_FS "/bins", O_RDONLY | O_DIRECT | O_CLOEXEC);
	struct iocb read = {
		.aio_fildes = file,
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_buf = (uintptr_t)page,
		.aio_nbytes = 4096,
	};
	struct iocb *reads[] = { &read };
	aio_context_t context = 0;

	if (file < 0 || syscall(SYS_io_setup, 1, &context) || start_by(fd) ||
	    syscall(SYS_io_submit, context, 1, reads) != 1)
		_exit(1);
	live_in_the_kernel();
	_exit(0);
}

/*
 * False if the child frees its memory itself: then it waits, and does not end.
 */
static bool ends(pid_t child)
{
	int tries = 20;

	while (!waitpid(child, NULL, WNOHANG)) {
		if (!--tries)
			return false;
		usleep(1000);
	}
	return true;
}

TEST(who_cannot_end_holds_up_nobody_else)
{
	int others = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	int own = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	pid_t server = mount_silent_fs();
	int ended = 0;
	pid_t child;
	int i;

	if (server < 0)
		SKIP(return, "no FUSE to be had");
	ASSERT_LE(0, others);
	ASSERT_LE(0, own);
	pin_to(0);
	for (i = 0; i < CROWD; i++) {
		child = fork_child();
		if (!child)
			leave_a_read_behind(others);
		ended += ends(child);
	}
	/* The last ones may not have come to their profiles yet */
	for (int tries = 10000; account_of(others).running < CROWD && --tries;)
		usleep(1000);
	TH_LOG("%d of %d have ended, %u are still held", ended, i,
	       account_of(others).running);
	EXPECT_GE(8 + sysconf(_SC_NPROCESSORS_ONLN), ended);
	EXPECT_EQ(CROWD, account_of(others).running);

	for (i = 0; i < 5; i++) {
		child = fork_child();
		if (!child) {
			if (start_by(own))
				_exit(1);
			live_in_the_kernel();
			_exit(0);
		}
		EXPECT_EQ(0, wait_child(child));
	}
	EXPECT_EQ(0, account_after(own, 0).running);

	EXPECT_EQ(0, unmount_silent_fs(server));
	EXPECT_EQ(0, account_after(others, 0).running);
	while (wait(NULL) > 0)
		;
}

static void *run_for_a_while(void *unused)
{
	pin_to(0);
	burn_thread_ns(2 * MS);
	return unused;
}

/*
 * Each page that goes away gives the kernel a reason to forget which CPUs used
 * the memory.
 */
static void map_and_unmap(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*page = 1;
	munmap(page, 4096);
}

/*
 * A thread that has left the memory may have its last tick while the other one
 * ends the profile: the last one must not wait for itself. The test cannot
 * force this to happen, only give it many chances.
 */
TEST(two_threads_end_at_the_same_time)
{
	int fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	struct profil_account account;
	int i;

	ASSERT_LE(0, fd);
	for (i = 0; i < 150; i++) {
		pid_t child = fork_child();
		uint64_t end;
		pthread_t thread;

		if (child) {
			EXPECT_EQ(0, wait_child(child));
			continue;
		}
		if (start_by(fd) ||
		    pthread_create(&thread, NULL, run_for_a_while, NULL))
			_exit(1);
		pin_to(1);
		end = monotonic_ns() + 2 * MS + i % 16 * 20000;
		while (monotonic_ns() < end)
			map_and_unmap();
		_exit(0);
	}
	account = account_after(fd, 0);
	EXPECT_EQ(0, account.running);
	EXPECT_LT(0, account.counts.ticks);
	EXPECT_CONSERVED(&account);
}

/* Read the command line of @child into a buffer that never comes. */
static void hold(pid_t child)
{
	char path[40];
	int file = open(SILENT_FS "/bins", O_RDWR | O_CLOEXEC);
	char *buffer = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			    file, 0);

	snprintf(path, sizeof(path), "/proc/%d/cmdline", child);
	if (become(READER) ||
	    read(open(path, O_RDONLY | O_CLOEXEC), buffer, 4096) < 0)
		_exit(1);
	_exit(0);
}

/* Does it wait in read()? */
static bool holds(pid_t reader)
{
	char path[40];
	long call = -1;

	snprintf(path, sizeof(path), "/proc/%d/syscall", reader);
	for (int tries = 1000; tries && call != SYS_read; tries--) {
		FILE *file = fopen(path, "r");

		usleep(10000);
		if (!file || fscanf(file, "%ld", &call) != 1)
			call = -1;
		if (file)
			fclose(file);
	}
	return call == SYS_read;
}

/*
 * The account is not complete then, but the counters are: the kernel frees the
 * memory of a process when its last reader has gone, whatever task that is.
 */
TEST(who_is_read_for_ever_loses_nothing)
{
	int fd = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	uint32_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t server = mount_silent_fs();
	struct profil_account account;
	pid_t child, reader;
	int go[2];
	char byte;

	if (server < 0)
		SKIP(return, "no FUSE to be had");
	ASSERT_LE(0, fd);
	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, pipe(go));
	child = fork_child();
	if (!child) {
		struct profil_region region = overflow_bin(page, sizeof(*page));

		if (read(go[0], &byte, 1) != 1 ||
		    set_region_by(fd, &region, sizeof(*page), PERIOD_NS, 0))
			_exit(1);
		live_in_the_kernel();
		_exit(0);
	}
	reader = fork_child();
	if (!reader)
		hold(child);
	EXPECT_TRUE(holds(reader));
	EXPECT_EQ(1, write(go[1], "", 1));
	EXPECT_EQ(0, wait_child(child));
	/* For longer than a tick waits for its page */
	usleep(2000000);
	EXPECT_EQ(1, account_of(fd).running);

	EXPECT_EQ(0, unmount_silent_fs(server));
	EXPECT_LE(0, wait_child(reader));
	account = account_after(fd, 0);
	EXPECT_EQ(0, account.running);
	EXPECT_LT(0, account.counts.counted + account.counts.lost);
	EXPECT_EQ(account.counts.counted, *page);
	/* There, no task brings in pages for a process that has ended */
	EXPECT_TRUE(!account.counts.lost || is_linux_before(5, 16));
	munmap(page, 4096);
}

TEST_HARNESS_MAIN
