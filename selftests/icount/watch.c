// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - what a watch counts is exact
 *
 * A process is watched from outside while it burns a known time, takes turns in
 * step with the clock, or starts many short children. Time counts instructions,
 * so only what chance there is in the times of ticks remains.
 */
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "turns.h"
#include "watch.h"

/* A system call or a context switch: charged a little earlier or later */
#define EDGE_NS		(20 * US)

/* The work that looks up a tick, with PREEMPT_RT */
#define LATE_WORK_NS	(7 * US)

FIXTURE(watch) {
	struct watch watch;
};

/* Even turns of a tenth of the length get 40 ticks: see SIGMAS. */
FIXTURE_VARIANT(watch) {
	uint64_t period_ns;
	uint64_t length_ns;
};

FIXTURE_VARIANT_ADD(watch, of_100_us) {
	.period_ns = 100 * US, .length_ns = SECOND,
};

FIXTURE_VARIANT_ADD(watch, of_1_ms) {
	.period_ns = MS, .length_ns = SECOND,
};

FIXTURE_VARIANT_ADD(watch, of_10_ms) {
	.period_ns = 10 * MS, .length_ns = 4 * SECOND,
};

FIXTURE_SETUP(watch)
{
	self->watch.fd = -1;
}

FIXTURE_TEARDOWN(watch)
{
	watch_end(&self->watch);
}

static void begin(struct __test_metadata *_metadata, struct watch *watch,
		  pid_t pid, uint64_t period_ns, uint32_t flags)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS, pid,
						    flags);

	request.period_ns = period_ns;
	ASSERT_EQ(0, watch_begin(watch, &request));
}

/* --- a loop */

OWN_TEXT(burn) int burn(void *length_ns)
{
	uint64_t end = process_cpu_ns() + (uintptr_t)length_ns;

	while (process_cpu_ns() < end)
		spend_ns(50 * US);
	return 0;
}

/*
 * Does a loop have the ticks that are due? Others run in some periods, too. On
 * PREEMPT_RT a work of some 6 us follows each tick, and no other tick falls into it.
 */
static bool are_due(double ticks, double due, uint64_t period_ns, double slack)
{
	double error = slack * (SIGMAS + due / 1000);
	double works = is_preempt_rt() ? due * 15 * US / period_ns : 0;

	return due - error <= ticks && ticks <= due + error + works;
}

/* The periods that are cut are the first and the last. */
TEST_F(watch, has_every_tick_of_a_loop)
{
	struct child child = child_begin(burn, (void *)variant->length_ns);
	struct profil_watch_status status;
	double due, here;

	begin(_metadata, &self->watch, child.pid, variant->period_ns, 0);
	EXPECT_EQ(0, child_end(&child));
	status = watch_settled(&self->watch, 0);
	due = (double)status.cpu_time_ns / status.period_ns;
	here = watch_ticks_of(&self->watch, START_OF(burn), END_OF(burn));
	TH_LOG("%llu ticks, due %.1f; %.0f in the loop", status.ticks, due,
	       here);
	EXPECT_SOUND(&self->watch, &status);
	EXPECT_EQ(0, status.unresolved);
	/* The works of PREEMPT_RT bring switches, whose time nobody has */
	EXPECT_LE(variant->length_ns * (is_preempt_rt() ? 0.99 : 1),
		  status.cpu_time_ns);
	EXPECT_TRUE(are_due(status.ticks, due, status.period_ns, slack()));
	/* The others fall while the program reads the clock */
	EXPECT_LE(0.7 / slack() * status.ticks, here);
}

/* --- turns in step with the clock, as in lockstep.c */

static int take_turns_in_child(void *turns)
{
	take_turns(turns);
	return 0;
}

static void lockstep(struct __test_metadata *_metadata, struct watch *watch,
		     uint64_t period_ns, uint64_t length_ns,
		     unsigned int percent)
{
	struct turns *turns = mmap(NULL, sizeof(*turns), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct profil_watch_status status;
	double ticks, share, of_first;
	struct child child;

	cycle_ns = period_ns;
	turn_ns = period_ns * percent / 100;
	turns->length_ns = length_ns;
	child = child_begin(take_turns_in_child, turns);
	begin(_metadata, watch, child.pid, period_ns, 0);
	EXPECT_EQ(0, child_end(&child));
	status = watch_settled(watch, 0);
	EXPECT_SOUND(watch, &status);
	of_first = watch_ticks_of(watch, START_OF(first), END_OF(first));
	ticks = of_first + watch_ticks_of(watch, START_OF(second),
					  END_OF(second));
	share = share_of_first(turns);
	/* Those that fall while the program reads the clock are in neither */
	EXPECT_LE(0.7 / slack() * length_ns / period_ns, ticks);
	EXPECT_CHANCE("first function", of_first, share * ticks,
		      share * (1 - share) * ticks);
	munmap(turns, sizeof(*turns));
}

TEST_F(watch, is_right_in_step_with_the_clock)
{
	lockstep(_metadata, &self->watch, variant->period_ns,
		 variant->length_ns, 50);
}

TEST_F(watch, is_right_in_step_with_the_clock_at_90_to_10)
{
	lockstep(_metadata, &self->watch, variant->period_ns,
		 variant->length_ns, 90);
}

/* --- short children */

#define CHILDREN	200
#define LIFE_NS		MS

struct lives {
	uint64_t cpu_ns;
};

static int start_children(void *argument)
{
	struct lives *lives = argument;
	struct rusage usage;

	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (!child)
			_exit(burn((void *)LIFE_NS));
		if (wait4(child, NULL, 0, &usage) != child)
			return 1;
		lives->cpu_ns += usage_ns(&usage);
		/* At all phases of the period */
		usleep(100 + i * 7919 % 10000);
	}
	return 0;
}

/* Each has its part of a period, and so its part of a tick. */
TEST_F(watch, has_the_ticks_of_short_children)
{
	struct lives *lives = mmap(NULL, sizeof(*lives), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct child child = child_begin(start_children, lives);
	struct profil_watch_status status;
	uint64_t covered_ns = 0, ticks = 0;
	double due, allowed_ns;
	uint32_t nr;

	begin(_metadata, &self->watch, child.pid, variant->period_ns,
	      PROFIL_WATCH_CHILDREN | PROFIL_WATCH_SEPARATE);
	EXPECT_EQ(0, child_end(&child));
	status = watch_settled(&self->watch, 0);
	EXPECT_SOUND(&self->watch, &status);
	EXPECT_EQ(0, status.unfollowed);
	nr = watch_nr_images(&self->watch);
	ASSERT_EQ(CHILDREN + 2, nr);
	for (uint32_t i = 2; i < nr; i++) {
		covered_ns += watch_image(&self->watch, i)->cpu_time_ns;
		ticks += image_ticks(watch_image(&self->watch, i));
	}
	due = (double)covered_ns / variant->period_ns;
	allowed_ns = slack() * (0.01 * lives->cpu_ns + CHILDREN * EDGE_NS);
	/* There the work that follows a tick is covered, too */
	if (is_preempt_rt())
		allowed_ns += due * LATE_WORK_NS;
	TH_LOG("%.3f ms, covered: %+.3f ms", lives->cpu_ns / 1e6,
	       ((double)covered_ns - lives->cpu_ns) / 1e6);
	EXPECT_GE(allowed_ns, fabs((double)covered_ns - lives->cpu_ns));
	EXPECT_CHANCE("ticks", ticks, due, due);
	munmap(lives, sizeof(*lives));
}

/* --- beside a profile of its own */

static int profile_itself(void *length_ns)
{
	static uint32_t counter;
	struct profil_region all = overflow_bin(&counter, 4);
	struct profil_status last = { .size = sizeof(last) };
	double due;

	if (set_regions(&all, 1, 4, MS, 0))
		return 2;
	burn(length_ns);
	if (profil_stop(&last, NULL, 0))
		return 3;
	due = last.cpu_time_ns / 1e6;
	if (last.counts.counted != counter)
		return 4;
	return are_due(last.counts.ticks, due, MS, 1) ? 0 : 5;
}

TEST_F(watch, and_a_profile_have_every_tick)
{
	struct child child = child_begin(profile_itself,
					 (void *)variant->length_ns);
	struct profil_watch_status status;
	double due;

	begin(_metadata, &self->watch, child.pid, variant->period_ns, 0);
	EXPECT_EQ(0, child_end(&child));
	status = watch_settled(&self->watch, 0);
	due = (double)status.cpu_time_ns / status.period_ns;
	TH_LOG("%llu ticks, due %.1f", status.ticks, due);
	EXPECT_SOUND(&self->watch, &status);
	EXPECT_TRUE(are_due(status.ticks, due, status.period_ns, slack()));
}

/* --- the paths of many files */

#define NR_FILES	1000

/* The first ones, of which the median counts, and the last ones: the fastest. */
#define NR_LOOKS	51

/*
 * Execute a file until a tick falls in it and its path is known. Return: how
 * long it took from about the tick on; 0 if anything fails.
 */
static uint64_t name_one_file(const struct watch *watch)
{
	uint32_t nr = watch_nr_objects(watch);
	int fd = memfd_create("code", MFD_CLOEXEC);
	uint64_t before = 0, end;
	void *code;

	if (fd < 0 || write_code(fd))
		return 0;
	code = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC,
		    MAP_SHARED, fd, 0);
	if (code == MAP_FAILED)
		return 0;
	while (watch_nr_objects(watch) == nr) {
		before = monotonic_ns();
		((void (*)(uint64_t))(uintptr_t)code)(1000);
	}
	end = before + SECOND;
	while (!watch_path(watch, nr)[0] && monotonic_ns() < end)
		sched_yield();
	end = monotonic_ns();
	munmap(code, sysconf(_SC_PAGESIZE));
	close(fd);
	return end - before;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Finding the path of a file takes no longer when there are many others. When the
 * worker that finds it gets the CPU depends on the scheduler: late for most in the
 * end on some kernels, and at times before the first look.
 */
TEST(paths_of_many_files)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    getpid(), 0);
	uint64_t first[NR_LOOKS], last = UINT64_MAX;
	struct watch watch;

	request.period_ns = 100 * US;
	request.objects = 2 * NR_FILES;
	request.names = 1 << 20;
	ASSERT_EQ(0, watch_begin(&watch, &request));
	for (int i = 0; i < NR_FILES; i++) {
		uint64_t took = name_one_file(&watch);

		ASSERT_NE(0, took);
		if (i < NR_LOOKS)
			first[i] = took;
		if (i >= NR_FILES - NR_LOOKS && took < last)
			last = took;
	}
	qsort(first, NR_LOOKS, sizeof(first[0]), compare);
	TH_LOG("%.1f us, and %.1f us after %u files",
	       first[NR_LOOKS / 2] / 1e3, last / 1e3, NR_FILES);
	/* A walk through all takes 40 us more */
	EXPECT_GE(first[NR_LOOKS / 2] + slack() * 20 * US, last);
	watch_end(&watch);
}

/* --- ticks whose mapping is looked up later */

/* At so many places those of one process may wait, and at eight times that, all. */
#define MOST_OF_ONE	256

static int run_stuck(void *stuck)
{
	if (stuck_begin(stuck, 1))
		return 1;
	sleep(1);
	return 0;
}

/* A tick waits for 250 ms: those of one process would use up all room. */
TEST(ticks_of_a_process_that_stays_locked_leave_room)
{
	struct stuck *stuck = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct watch watch = { .fd = -1 };
	struct child child;
	uint64_t most = 0;
	pid_t server;

	if (is_linux_before(6, 1))
		SKIP(return, "needs Linux 6.1");
	server = mount_silent_fs();
	if (server < 0)
		SKIP(return, "no FUSE");
	child = child_begin(run_stuck, stuck);
	begin(_metadata, &watch, child.pid, 100 * US, PROFIL_WATCH_CHILDREN);
	child_go(&child);
	for (int i = 0; i < 100; i++) {
		struct profil_watch_status status = watch_status(&watch);

		most = status.pending > most ? status.pending : most;
		usleep(10000);
	}
	TH_LOG("%" PRIu64 " ticks waited", most);
	EXPECT_LE(MOST_OF_ONE / 2, most);
	/* An interrupt that comes late has two ticks or more in one place */
	EXPECT_GE(2 * MOST_OF_ONE, most);
	stuck_end(stuck);
	EXPECT_EQ(0, child_end(&child));
	EXPECT_EQ(0, unmount_silent_fs(server));
	watch_end(&watch);
}

TEST_HARNESS_MAIN
