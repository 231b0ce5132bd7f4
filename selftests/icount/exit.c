// SPDX-License-Identifier: GPL-2.0-only
/*
 * exit.c - nothing of a process remains when it has ended
 *
 * When wait() returns, the executable of the process can be written again, its
 * user's quota is free, and all its ticks are in the counters in shared memory.
 * Time counts instructions, so the test can tell "at once" from the 10 ms that
 * it takes to bring in a page for a tick.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"

#define ROUNDS		30
#define AT_ONCE_NS	(2 * MS)

/* A child that takes ticks in kernel mode up to the moment of its end. */
static void live(uint32_t *counter)
{
	struct profil_region all = overflow_bin(counter, 4);
	uint64_t end;

	if (set_regions(&all, 1, 4, MS, 0))
		_exit(1);
	/* What came before takes half of this on a kernel with sanitizers */
	end = process_cpu_ns() + 10 * MS;
	while (process_cpu_ns() < end)
		getppid();
	_exit(0);
}

FIXTURE(ended) {
	uint32_t *counter;
};

FIXTURE_SETUP(ended)
{
	self->counter = mmap(NULL, sizeof(*self->counter),
			     PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->counter);
}

FIXTURE_TEARDOWN(ended)
{
	munmap(self->counter, sizeof(*self->counter));
}

/* How long after wait() the counter still changes. */
static uint64_t late_ns(uint32_t *counter)
{
	uint64_t begin = monotonic_ns(), last = 0, now = 0;
	uint32_t seen = *counter;

	while (now < 30 * MS) {
		now = monotonic_ns() - begin;
		if (*(volatile uint32_t *)counter != seen) {
			seen = *counter;
			last = now;
		}
		usleep(100);
	}
	return last;
}

TEST_F(ended, its_last_ticks_come_at_once)
{
	uint64_t latest = 0;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t late;
		pid_t pid = fork_child();

		ASSERT_LE(0, pid);
		if (!pid)
			live(self->counter);
		ASSERT_EQ(0, wait_child(pid));
		late = late_ns(self->counter);
		if (late > latest)
			latest = late;
	}
	TH_LOG("%u ticks; the last one %.3f ms after wait()", *self->counter,
	       latest / 1e6);
	EXPECT_LT(5 * ROUNDS, *self->counter);
	EXPECT_GE(slack() * AT_ONCE_NS, latest);
}

/* How long after wait() an executable is busy. */
static uint64_t busy_ns(const char *path)
{
	uint64_t begin = monotonic_ns();
	int fd;

	do {
		fd = open(path, O_WRONLY);
	} while (fd < 0 && errno == ETXTBSY && !usleep(100));
	close(fd);
	return monotonic_ns() - begin;
}

TEST_F(ended, its_executable_can_be_written_at_once)
{
	static const char path[] = "/tmp/profil-exit";
	uint64_t longest = 0;

	ASSERT_EQ(0, copy_file("/proc/self/exe", path, 0700));
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t busy;
		pid_t pid = fork_child();

		ASSERT_LE(0, pid);
		if (!pid) {
			execl(path, path, "live", NULL);
			_exit(2);
		}
		ASSERT_EQ(0, wait_child(pid));
		busy = busy_ns(path);
		if (busy > longest)
			longest = busy;
	}
	unlink(path);
	TH_LOG("busy for %.3f ms after wait()", longest / 1e6);
	/* Sanitizers take tens of milliseconds to free the memory. */
	if (slack() == 1)
		EXPECT_GE(AT_ONCE_NS, longest);
}

/* The copy of this program runs only this. */
__attribute__((constructor)) static void copied(int argc, char **argv)
{
	static uint32_t counter;

	if (argc == 2 && !strcmp(argv[1], "live"))
		live(&counter);
}

TEST_HARNESS_MAIN
