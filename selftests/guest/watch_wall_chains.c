// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_wall_chains.c - waits by chain of callers
 *
 * The tests watch programs that wait in functions of their own.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "numbers.h"
#include "watch.h"
#include "chains.h"

NEEDS_ROOT;

/* A system call in the caller itself, and not in a function of the C library. */
static inline __attribute__((always_inline)) long call(long nr, long a, long b,
						       long c, long d)
{
	register long fourth __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall" : "=a" (result)
			 : "0" (nr), "D" (a), "S" (b), "d" (c), "r" (fourth)
			 : "rcx", "r11", "memory");
	return result;
}

OWN_TEXT(doze) void doze(uint64_t ns)
{
	struct timespec span = { ns / SECOND, ns % SECOND };

	call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (uintptr_t)&span, 0);
}

OWN_TEXT(doze_off) void doze_off(uint64_t ns)
{
	doze(ns);
	CALLED();
}

OWN_TEXT(doze_often) int doze_often(void *nr)
{
	for (uintptr_t i = 0; i < (uintptr_t)nr; i++)
		doze_off(10 * MS);
	return 0;
}

static const void *const of_doze[] = { START_OF(doze_off), START_OF(doze_often) };

static volatile uint64_t work;

OWN_TEXT(toil) int toil(void *ns)
{
	struct timespec time;
	uint64_t end = (uintptr_t)ns;

	do {
		for (int i = 0; i < 100000; i++)
			work++;
		call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID,
		     (uintptr_t)&time, 0, 0);
	} while (time.tv_sec * SECOND + time.tv_nsec < end);
	return 0;
}

FIXTURE(wall_chains) {
	struct watch watch;
	struct child child;
	struct profil_watch_status status;
};

FIXTURE_SETUP(wall_chains)
{
	self->watch.fd = -1;
	self->child.pid = -1;
}

FIXTURE_TEARDOWN(wall_chains)
{
	child_kill(&self->child);
	watch_end(&self->watch);
}

static void begin(struct __test_metadata *_metadata,
		  FIXTURE_DATA(wall_chains) *self,
		  int (*function)(void *argument), void *argument)
{
	struct profil_watch request;

	self->child = child_begin(function, argument);
	request = watch_request(PROFIL_WATCH_PROCESS, self->child.pid,
				PROFIL_WATCH_WALL | PROFIL_WATCH_CHAINS);
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	ASSERT_EQ(0, load_own_callers(&self->watch));
}

static void check(struct __test_metadata *_metadata,
		  FIXTURE_DATA(wall_chains) *self)
{
	TH_LOG("%llu ticks, %llu blocked (%llu idle), %llu runnable; asleep: %llu, %llu",
	       self->status.ticks, self->status.blocked, self->status.idle,
	       self->status.runnable, self->status.asleep_blocked,
	       self->status.asleep_runnable);
	for (int i = 0; i < PROFIL_CHAIN_ENDS; i++)
		if (self->status.chains[i])
			TH_LOG("chains that ended by %d: %llu", i,
			       self->status.chains[i]);
	EXPECT_CHAINS(&self->watch, &self->status);
}

static void end(struct __test_metadata *_metadata,
		FIXTURE_DATA(wall_chains) *self, int result)
{
	EXPECT_EQ(result, child_end(&self->child));
	self->child.pid = -1;
	self->status = watch_settled(&self->watch, 0);
	check(_metadata, self);
}

/* A tick where a wait ends may look at mappings as one in the kernel may. */
static bool waits_have_chains(void)
{
	return !is_preempt_rt() && !is_linux_before(6, 1);
}

static uint64_t dozes(const FIXTURE_DATA(wall_chains) *self, uint32_t object)
{
	return chain_leaves(&self->watch, object, START_OF(doze), END_OF(doze),
			    of_doze, 2);
}

TEST_F(wall_chains, of_a_function_that_waits)
{
	begin(_metadata, self, doze_often, (void *)50);
	end(_metadata, self, 0);
	if (waits_have_chains()) {
		EXPECT_LE(50 * (10 - 1) * 0.98,
			  dozes(self, PROFIL_OBJECT_BLOCKED));
	} else {
		EXPECT_EQ(0, dozes(self, PROFIL_OBJECT_BLOCKED));
		EXPECT_LT(0, self->status.blocked);
		EXPECT_LE(self->status.blocked,
			  self->status.chains[PROFIL_CHAIN_BUSY]);
	}
	EXPECT_RESOLVED(&self->status);
}

/* Two compute on one CPU. */
TEST_F(wall_chains, of_a_function_that_waits_for_a_cpu)
{
	struct child other;
	uint64_t before;

	if (!waits_have_chains())
		SKIP(return, "needs chains of waits that end");
	pin_to(1);
	other = child_begin(toil, (void *)(100 * SECOND));
	begin(_metadata, self, toil, (void *)(100 * SECOND));
	pin_to(0);
	child_go(&self->child);
	EXPECT_SOON(self, 100 <= self->status.ticks);
	/* So far, it has waited for a CPU while it read */
	before = self->status.runnable;
	child_go(&other);
	EXPECT_SOON(self, before + 200 <= self->status.runnable);
	child_kill(&other);
	EXPECT_EQ(-SIGKILL, child_kill(&self->child));
	self->status = watch_settled(&self->watch, 0);
	check(_metadata, self);
	EXPECT_LT(0.8 * (self->status.runnable - before),
		  chain_leaves(&self->watch, PROFIL_OBJECT_RUNNABLE,
			       START_OF(toil), END_OF(toil), NULL, 0));
}

#define SLEEPERS	20

static void *doze_long(void *unused __attribute__((unused)))
{
	doze_often((void *)10000);
	return NULL;
}

OWN_TEXT(doze_for_long) void *doze_for_long(void *unused __attribute__((unused)))
{
	for (;;)
		doze_off(100 * SECOND);
	return NULL;
}

static int have_dozers(void *how)
{
	pthread_t thread;

	for (int i = 0; i < SLEEPERS; i++)
		if (pthread_create(&thread, NULL, how, NULL))
			return 1;
	doze_for_long(NULL);
	return 0;
}

static const void *const of_long_doze[] = { START_OF(doze_off), START_OF(doze_for_long) };

/* Until all of them sleep. */
static void begin_dozers(struct __test_metadata *_metadata,
			 FIXTURE_DATA(wall_chains) *self)
{
	begin(_metadata, self, have_dozers, doze_for_long);
	child_go(&self->child);
	ASSERT_EQ(0, wait_for_sleepers(self->child.pid, SLEEPERS + 1));
}

/* Their chains are found while they sleep, and they sleep on. */
TEST_F(wall_chains, of_sleepers_that_are_collected)
{
	uint64_t before, asleep;

	if (is_linux_before(6, 1))
		SKIP(return, "needs Linux 6.1");
	begin_dozers(_metadata, self);
	asleep = watch_status(&self->watch).asleep_blocked;
	before = thread_switches(self->child.pid);
	ASSERT_EQ(0, ioctl(self->watch.fd, PROFIL_IOC_WATCH_COLLECT, NULL));
	self->status = watch_status(&self->watch);
	EXPECT_EQ(before, thread_switches(self->child.pid));
	EXPECT_LT(0, before);
	check(_metadata, self);
	EXPECT_LE(asleep, self->status.blocked);
	EXPECT_LE(0.98 * asleep,
		  chain_leaves(&self->watch, PROFIL_OBJECT_BLOCKED,
			       START_OF(doze), END_OF(doze), of_long_doze, 2));
}

TEST_F(wall_chains, of_sleepers_at_a_stop)
{
	uint64_t asleep;

	if (is_linux_before(6, 1))
		SKIP(return, "needs Linux 6.1");
	begin_dozers(_metadata, self);
	asleep = watch_status(&self->watch).asleep_blocked;
	self->status = watch_stop(&self->watch);
	check(_metadata, self);
	EXPECT_LE(0.98 * asleep,
		  chain_leaves(&self->watch, PROFIL_OBJECT_BLOCKED,
			       START_OF(doze), END_OF(doze), of_long_doze, 2));
	EXPECT_EQ(0, self->status.asleep_blocked);
}

/* From now on its user may not read its memory, as that of a program with keys. */
static int doze_in_private(void *done)
{
	prctl(PR_SET_DUMPABLE, 0);
	if (write((intptr_t)done, "", 1) != 1)
		return 1;
	doze_for_long(NULL);
	return 0;
}

TEST_F(wall_chains, of_a_sleeper_that_is_not_dumpable_any_more)
{
	int done[2];
	char byte;

	ASSERT_EQ(0, become(NOBODY));
	ASSERT_EQ(0, pipe(done));
	begin(_metadata, self, doze_in_private, (void *)(intptr_t)done[1]);
	child_go(&self->child);
	/* Until then its memory may be read, and it may wait for long */
	ASSERT_EQ(1, read(done[0], &byte, 1));
	while (watch_status(&self->watch).asleep_blocked < 300)
		usleep(10000);
	ASSERT_EQ(0, ioctl(self->watch.fd, PROFIL_IOC_WATCH_COLLECT, NULL));
	self->status = watch_status(&self->watch);
	check(_metadata, self);
	EXPECT_LE(300, self->status.chains[PROFIL_CHAIN_BUSY]);
	EXPECT_EQ(0, chain_leaves(&self->watch, PROFIL_OBJECT_BLOCKED,
				  START_OF(doze), END_OF(doze), NULL, 0));
}

/* Waits end while they are collected: each tick is counted once. */
TEST_F(wall_chains, of_those_who_wake_up_while_they_are_collected)
{
	uint64_t begun = monotonic_ns(), ready, all;

	begin(_metadata, self, have_dozers, doze_long);
	child_go(&self->child);
	ASSERT_EQ(0, wait_for_threads(self->child.pid, SLEEPERS + 1));
	ready = monotonic_ns();
	while (monotonic_ns() < ready + 2 * SECOND)
		ASSERT_EQ(0, ioctl(self->watch.fd, PROFIL_IOC_WATCH_COLLECT,
				   NULL));
	self->status = watch_stop(&self->watch);
	check(_metadata, self);
	all = self->status.ticks + self->status.blocked + self->status.runnable;
	EXPECT_GE((SLEEPERS + 1) * ((monotonic_ns() - begun) / MS + 2), all);
	EXPECT_LE((SLEEPERS + 1) * 1000, all);
}

/**
 * struct lives - bounds of the ticks of processes that have ended
 * @least: the least
 * @most: the most
 * @ready: from when the process that runs has all of its threads
 * @ends: it has begun to end by itself, then
 */
struct lives {
	uint64_t least;
	uint64_t most;
	uint64_t ready;
	uint64_t ends;
};

static struct lives *lives;

static void *execute_something(void *unused __attribute__((unused)))
{
	usleep(20000);
	lives->ends = monotonic_ns();
	execl("/bin/sleep", "sleep", "0.01", NULL);
	return NULL;
}

static void exit_soon(void)
{
	usleep(20000);
	lives->ends = monotonic_ns();
	_exit(0);
}

static void execute_soon(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, execute_something, NULL);
	doze_for_long(NULL);
}

static void do_nothing(void)
{
	doze_for_long(NULL);
}

/* Half of them sleep all the time, and half of them wake up again and again. */
static void be_dozers(void (*how)(void))
{
	pthread_t thread;

	for (int i = 0; i < SLEEPERS; i++)
		if (pthread_create(&thread, NULL, i % 2 ? doze_for_long :
				   doze_long, NULL))
			_exit(1);
	lives->ready = monotonic_ns();
	how();
}

#define ROUNDS	40

/* Have processes with sleepers end, one after the other. */
static int have_dozers_that_end(void *how)
{
	void (*const function)(void) = (void (*)(void))how;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t begin = monotonic_ns();
		pid_t pid;

		lives->ready = lives->ends = 0;
		pid = fork_child();
		if (!pid)
			be_dozers(function);
		if (function == do_nothing) {
			while (!*(volatile uint64_t *)&lives->ready)
				usleep(1000);
			usleep(20000);
			lives->ends = monotonic_ns();
			kill(pid, SIGKILL);
		}
		wait_child(pid);
		lives->least += (SLEEPERS + 1) *
				((lives->ends - lives->ready) / MS);
		lives->most += (SLEEPERS + 2) *
			       ((monotonic_ns() - begin) / MS + 2);
	}
	return 0;
}

static void *collect_for_ever(void *fd)
{
	while (!ioctl((intptr_t)fd, PROFIL_IOC_WATCH_COLLECT, NULL))
		;
	return NULL;
}

FIXTURE(ends) {
	struct watch watch;
	struct child child;
	struct profil_watch_status status;
	pthread_t collectors[2];
	uint64_t begun;
};

FIXTURE_VARIANT(ends) {
	void (*function)(void);
};

FIXTURE_VARIANT_ADD(ends, by_exit) { .function = exit_soon };
FIXTURE_VARIANT_ADD(ends, by_exec) { .function = execute_soon };
FIXTURE_VARIANT_ADD(ends, by_kill) { .function = do_nothing };

FIXTURE_SETUP(ends)
{
	struct profil_watch request;

	lives = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, lives);
	self->child = child_begin(have_dozers_that_end, variant->function);
	request = watch_request(PROFIL_WATCH_PROCESS, self->child.pid,
				PROFIL_WATCH_WALL | PROFIL_WATCH_CHAINS |
				PROFIL_WATCH_CHILDREN);
	self->begun = monotonic_ns();
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	ASSERT_EQ(0, load_own_callers(&self->watch));
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&self->collectors[i], NULL,
					    collect_for_ever,
					    (void *)(intptr_t)self->watch.fd));
}

FIXTURE_TEARDOWN(ends)
{
	child_kill(&self->child);
	watch_end(&self->watch);
}

/* Each of their ticks is counted once, by whomever. */
TEST_F(ends, while_they_are_collected_by_two)
{
	uint64_t all;

	EXPECT_EQ(0, child_end(&self->child));
	self->child.pid = -1;
	self->status = watch_settled(&self->watch, 0);
	EXPECT_CHAINS(&self->watch, &self->status);
	EXPECT_EQ(0, self->status.unfollowed_threads);
	all = self->status.ticks + self->status.blocked + self->status.runnable;
	TH_LOG("%llu to %llu ticks are due, there are %llu", lives->least,
	       lives->most, all);
	EXPECT_LE(lives->least, all + ROUNDS * (SLEEPERS + 1) * 2);
	EXPECT_GE(lives->most + (monotonic_ns() - self->begun) / MS + 2, all);
	if (is_linux_before(6, 1))
		return;
	/* On PREEMPT_RT only those have chains who sleep all the time */
	EXPECT_LE((is_preempt_rt() ? 0.1 : 0.5) * all,
		  self->status.chains[PROFIL_CHAIN_COMPLETE]);
}

TEST_F(ends, while_the_watch_is_stopped)
{
	child_go(&self->child);
	usleep(300000);
	self->status = watch_stop(&self->watch);
	EXPECT_EQ(PROFIL_STATE_OFF, self->status.state);
	EXPECT_EQ(0, self->status.asleep_blocked);
	EXPECT_EQ(0, self->status.asleep_runnable);
	EXPECT_CHAINS(&self->watch, &self->status);
	usleep(100000);
	/* No tick comes later */
	EXPECT_EQ(self->status.blocked, watch_status(&self->watch).blocked);
}

/* As long as the mappings change, chains are cut, and no tick is lost. */
static void *change_mappings(void *unused __attribute__((unused)))
{
	for (;;) {
		void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
				  -1, 0);

		munmap(page, PAGE);
	}
	return NULL;
}

static int doze_beside_changes(void *nr)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, change_mappings, NULL))
		return 1;
	return doze_often(nr);
}

TEST_F(wall_chains, while_mappings_change)
{
	begin(_metadata, self, doze_beside_changes, (void *)50);
	end(_metadata, self, 0);
	EXPECT_LE(50 * (10 - 1), self->status.blocked);
}

/* Many short waits: few of them have a chain, and all have their state. */
static void *doze_shortly(void *unused __attribute__((unused)))
{
	for (int i = 0; i < 300; i++)
		doze_off(MS / 2);
	return NULL;
}

static int doze_together(void *unused __attribute__((unused)))
{
	pthread_t threads[40];

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		if (pthread_create(&threads[i], NULL, doze_shortly, NULL))
			return 1;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	return 0;
}

TEST_F(wall_chains, of_more_waits_than_there_is_time_for)
{
	begin(_metadata, self, doze_together, NULL);
	end(_metadata, self, 0);
	EXPECT_LT(0, self->status.blocked);
}

TEST_HARNESS_MAIN
