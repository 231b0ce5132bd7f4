// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_truth.c - the numbers of watches are those of the kernel
 *
 * The CPU time that a watch covers is that of getrusage(2) for a process and
 * that of cpu.stat for a cgroup, and the number of ticks is the one due in it.
 * A profile of the process's own and a watch beside it both have all ticks.
 * icount/watch.c has the tests that need an exact clock.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"

NEEDS_ROOT;

#define CGROUP		"/sys/fs/cgroup/profil-watch-truth"

#define WORK_NS		(200 * MS)
#define NR_CHILDREN	6

/*
 * Context switches and interrupts are charged a little earlier or later; and by
 * much if the host runs others just then.
 */
#define PART		0.01
#define EDGE_NS		(40 * MS)

/* The watch covers what the kernel has charged, but for late beginnings. */
static double allowed_ns(double charged_ns)
{
	return slack() * (PART * charged_ns + EDGE_NS);
}

/*
 * After a move to another cgroup, a worker of the kernel tells the CPU that
 * runs the process: some milliseconds later if the machine is busy.
 */
#define MOVE_NS		(10 * MS)
#define MOVES		6

/* Equal times in user mode and in the kernel. */
static int work(void *unused)
{
	uint64_t end = worked_ns() + WORK_NS;

	(void)unused;
	while (worked_ns() < end) {
		for (volatile int i = 0; i < 5000; i++)
			;
		for (int i = 0; i < 50; i++)
			syscall(SYS_getppid);
	}
	return 0;
}

FIXTURE(truth) {
	struct watch watch;
};

FIXTURE_VARIANT(truth) {
	uint64_t period_ns;
};

FIXTURE_VARIANT_ADD(truth, of_1_ms) { .period_ns = MS };
FIXTURE_VARIANT_ADD(truth, of_200_us) { .period_ns = 200 * US };

FIXTURE_SETUP(truth)
{
	self->watch.fd = -1;
}

FIXTURE_TEARDOWN(truth)
{
	watch_end(&self->watch);
}

/*
 * The kernel and the module see a context switch at slightly different times. If
 * the host takes the CPU in between, that time is another process's for one of
 * them, and it may be seconds: then try again.
 */
static bool is_near_but(struct __test_metadata *_metadata, const char *what,
			uint64_t covered_ns, uint64_t charged_ns,
			uint64_t late_ns)
{
	double more_ns = (double)covered_ns - charged_ns;

	TH_LOG("%s: %.3f ms, covered: %+.3f ms", what, charged_ns / 1e6,
	       more_ns / 1e6);
	return fabs(more_ns) <= allowed_ns(charged_ns) + slack() * late_ns;
}

static bool is_near(struct __test_metadata *_metadata, const char *what,
		    uint64_t covered_ns, uint64_t charged_ns)
{
	return is_near_but(_metadata, what, covered_ns, charged_ns, 0);
}

/* Return: has the process the time that the kernel has charged to it? */
static bool compare(struct __test_metadata *_metadata, struct watch *watch,
		    uint64_t period_ns, int (*what)(void *))
{
	struct child child = child_begin(what, NULL);
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    child.pid, 0);
	struct profil_watch_status status;
	struct rusage usage;
	uint64_t before;

	watch_end(watch);
	ASSERT_EQ(0, child_hold(&child));
	request.period_ns = period_ns;
	ASSERT_EQ(0, watch_begin(watch, &request));
	before = cpu_ns_of(child.pid);
	child_go(&child);
	ASSERT_EQ(child.pid, wait4(child.pid, NULL, 0, &usage));
	status = watch_settled(watch, 0);
	EXPECT_EQ(period_ns, status.period_ns);
	EXPECT_LT(0, status.counted);
	EXPECT_LT(0, status.kernel);
	EXPECT_WATCH_TICKS(&status);
	EXPECT_SOUND(watch, &status);
	return is_near(_metadata, "process", status.cpu_time_ns,
		       usage_ns(&usage) - before);
}

static void compare_often(struct __test_metadata *_metadata,
			  struct watch *watch, uint64_t period_ns,
			  int (*what)(void *))
{
	bool agree = false;

	TRY_UNTIL(agree)
		agree = compare(_metadata, watch, period_ns, what);
	EXPECT_TRUE(agree);
}

/* With one thread, nobody else changes its mappings. */
TEST_F(truth, of_a_process)
{
	struct profil_watch_status status;

	compare_often(_metadata, &self->watch, variant->period_ns, work);
	status = watch_status(&self->watch);
	EXPECT_RESOLVED(&status);
}

static void *work_thread(void *unused)
{
	uint64_t end = worked_ns() + WORK_NS / 4;

	while (worked_ns() < end)
		for (volatile int i = 0; i < 5000; i++)
			;
	return unused;
}

static int work_in_threads(void *unused)
{
	pthread_t threads[8];

	(void)unused;
	for (int i = 0; i < 8; i++)
		if (pthread_create(&threads[i], NULL, work_thread, NULL))
			return 1;
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

TEST_F(truth, of_threads)
{
	compare_often(_metadata, &self->watch, variant->period_ns,
		      work_in_threads);
}

/* Memory that a child shares. */
static void *share(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* The children's usage and PIDs, which their parent finds out. */
struct shared {
	pid_t pids[NR_CHILDREN];
	uint64_t used_ns[NR_CHILDREN];
};

static int fork_workers(void *argument)
{
	struct shared *shared = argument;
	struct rusage usage;

	for (int i = 0; i < NR_CHILDREN; i++) {
		pid_t child = fork();

		if (!child)
			_exit(work(NULL));
		shared->pids[i] = child;
	}
	for (int i = 0; i < NR_CHILDREN; i++) {
		if (wait4(shared->pids[i], NULL, 0, &usage) < 0)
			return 1;
		shared->used_ns[i] = usage_ns(&usage);
	}
	return 0;
}

/*
 * At the same time, on fewer CPUs than there are children. Return: have all the
 * time that the kernel has charged to them, and each about its own? What one has
 * too much at a switch, another has not.
 */
static bool compare_children(struct __test_metadata *_metadata,
			     struct watch *watch, uint64_t period_ns)
{
	struct shared *shared = share(sizeof(*shared));
	struct child child = child_begin(fork_workers, shared);
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
		child.pid, PROFIL_WATCH_CHILDREN | PROFIL_WATCH_SEPARATE);
	struct profil_watch_status status;
	uint64_t covered = 0, used = 0;
	bool agree = true;

	request.period_ns = period_ns;
	ASSERT_EQ(0, watch_begin(watch, &request));
	EXPECT_EQ(0, child_end(&child));
	status = watch_settled(watch, 0);
	EXPECT_SOUND(watch, &status);
	EXPECT_WATCH_TICKS(&status);
	for (int i = 0; i < NR_CHILDREN; i++) {
		const struct profil_watch_image *image =
			watch_image(watch,
				    watch_find_pid(watch, shared->pids[i]));
		double part = (double)image->cpu_time_ns / shared->used_ns[i];

		EXPECT_EQ(1, image->processes);
		EXPECT_TICKS_DUE(image_ticks(image),
				 (double)image->cpu_time_ns / period_ns);
		TH_LOG("child: %.3f of its time", part);
		agree &= part > 0.5 && part < 2;
		covered += image->cpu_time_ns;
		used += shared->used_ns[i];
	}
	agree &= is_near(_metadata, "all", covered, used);
	watch_end(watch);
	munmap(shared, sizeof(*shared));
	return agree;
}

TEST_F(truth, of_each_child)
{
	bool agree = false;

	TRY_UNTIL(agree)
		agree = compare_children(_metadata, &self->watch,
					 variant->period_ns);
	EXPECT_TRUE(agree);
}

/* --- cgroups */

static uint64_t cgroup_ns(void)
{
	return number_of(CGROUP "/cpu.stat", "usage_usec ") * US;
}

static int enter_and_fork(void *argument)
{
	return enter_cgroup(0, CGROUP) ||
	       fork_workers(argument);
}

static int enter_and_work(void *argument)
{
	return enter_cgroup(0, CGROUP "/below") || work(argument);
}

FIXTURE(cgroup) {
	struct watch watch;
	int directory;
};

FIXTURE_SETUP(cgroup)
{
	self->watch.fd = -1;
	rmdir(CGROUP);
	ASSERT_EQ(0, mkdir(CGROUP, 0755));
	self->directory = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

FIXTURE_TEARDOWN(cgroup)
{
	watch_end(&self->watch);
	close(self->directory);
	EXPECT_EQ(0, remove_cgroup(CGROUP));
}

/* Begin a watch of it. Return: what the kernel has charged to it before. */
static uint64_t watch_cgroup(struct __test_metadata *_metadata,
			     FIXTURE_DATA(cgroup) *self)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_CGROUP,
						    self->directory, 0);

	watch_end(&self->watch);
	ASSERT_EQ(0, watch_begin(&self->watch, &request));
	return cgroup_ns();
}

/* Those that enter it, and what they fork; beside others. */
TEST_F(cgroup, has_what_the_kernel_charges_to_it)
{
	struct shared *shared = share(sizeof(*shared));
	struct profil_watch_status status;
	struct stat stats;
	bool agree = false;

	TRY_UNTIL(agree) {
		uint64_t before = watch_cgroup(_metadata, self);
		struct child inside = child_begin(enter_and_fork, shared);
		struct child outside = child_begin(work, NULL);

		child_go(&inside);
		EXPECT_EQ(0, child_end(&outside));
		EXPECT_EQ(0, child_end(&inside));
		status = watch_settled(&self->watch, 0);
		agree = is_near(_metadata, "cgroup", status.cpu_time_ns,
				cgroup_ns() - before);
	}
	EXPECT_TRUE(agree);
	EXPECT_RESOLVED(&status);
	EXPECT_EQ(0, status.processes);
	EXPECT_EQ(2, status.images);
	EXPECT_WATCH_TICKS(&status);
	EXPECT_SOUND(&self->watch, &status);
	ASSERT_EQ(0, stat(CGROUP, &stats));
	EXPECT_EQ(stats.st_ino, watch_image(&self->watch, 1)->cgroup);
	EXPECT_EQ(NR_CHILDREN + 1, watch_image(&self->watch, 1)->processes);
	munmap(shared, sizeof(*shared));
}

/* Processes that leave it, and come back. */
static int come_and_go(void *unused)
{
	for (int i = 0; i < MOVES / 2; i++)
		if (enter_cgroup(0, CGROUP) || work(unused) ||
		    enter_cgroup(0, "/sys/fs/cgroup") ||
		    work(unused))
			return 1;
	return 0;
}

TEST_F(cgroup, has_its_part_of_those_that_come_and_go)
{
	struct profil_watch_status status;
	bool agree = false;

	TRY_UNTIL(agree) {
		uint64_t before = watch_cgroup(_metadata, self);
		struct child child = child_begin(come_and_go, NULL);

		EXPECT_EQ(0, child_end(&child));
		status = watch_settled(&self->watch, 0);
		agree = is_near_but(_metadata, "cgroup", status.cpu_time_ns,
				    cgroup_ns() - before, MOVES * MOVE_NS);
	}
	EXPECT_TRUE(agree);
	EXPECT_WATCH_TICKS(&status);
	EXPECT_SOUND(&self->watch, &status);
}

TEST_F(cgroup, has_those_below_it)
{
	const uint64_t least_ns = WORK_NS - slack() * MOVE_NS;
	struct profil_watch_status status = { 0 };
	struct child child;

	ASSERT_EQ(0, mkdir(CGROUP "/below", 0755));
	UNTIL_WORK_COVERED(least_ns, status.cpu_time_ns) {
		watch_cgroup(_metadata, self);
		child = child_begin(work, NULL);
		ASSERT_LT(0, child.pid);
		EXPECT_EQ(0, child_end(&child));
		EXPECT_EQ(0, watch_status(&self->watch).ticks);
		child = child_begin(enter_and_work, NULL);
		EXPECT_EQ(0, child_end(&child));
		status = watch_settled(&self->watch, 0);
	}
	EXPECT_WORK_COVERED(least_ns, status.cpu_time_ns);
	EXPECT_WATCH_TICKS(&status);
	EXPECT_EQ(0, remove_cgroup(CGROUP "/below"));
}

/* --- the whole machine */

/* Return: have the processes of this program the time that they have used? */
static bool compare_machine(struct __test_metadata *_metadata,
			    struct shared *shared)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_MACHINE, 0, 0);
	struct child child = child_begin(fork_workers, shared);
	const struct profil_watch_image *image;
	struct profil_watch_status status;
	uint64_t begin_ns, most_ns, covered, used = 0;
	struct watch watch;
	uint32_t kernel;

	begin_ns = monotonic_ns();
	ASSERT_EQ(0, watch_begin(&watch, &request));
	EXPECT_EQ(0, child_end(&child));
	watch_stop(&watch);
	most_ns = (monotonic_ns() - begin_ns) * sysconf(_SC_NPROCESSORS_ONLN);
	status = watch_settled(&watch, 0);
	for (int i = 0; i < NR_CHILDREN; i++)
		used += shared->used_ns[i];
	image = watch_image(&watch, watch_find_image(&watch, "watch_truth"));
	covered = image->cpu_time_ns;
	TH_LOG("%.3f ms, covered: %.3f ms", used / 1e6, covered / 1e6);
	EXPECT_GE(most_ns, status.cpu_time_ns);
	EXPECT_EQ(0, status.unfollowed);
	EXPECT_EQ(0, status.withheld);
	kernel = watch_find_image(&watch, "[kernel]");
	EXPECT_EQ(PROFIL_IMAGE_KTHREADS, watch_image(&watch, kernel)->flags);
	EXPECT_EQ(0, watch_image(&watch, kernel)->counted);
	EXPECT_WATCH_TICKS(&status);
	EXPECT_SOUND(&watch, &status);
	watch_end(&watch);
	/* With the test itself, which mostly waits */
	return covered >= 0.8 * used &&
	       covered <= 1.2 * used + slack() * 100 * MS;
}

TEST(the_machine_is_the_sum_of_its_processes)
{
	struct shared *shared = share(sizeof(*shared));
	bool agree = false;

	TRY_UNTIL(agree)
		agree = compare_machine(_metadata, shared);
	EXPECT_TRUE(agree);
	munmap(shared, sizeof(*shared));
}

/* Idle CPUs have no ticks. A CPU that the host stops may not be idle. */
TEST(an_idle_machine_has_few_ticks)
{
	struct profil_watch request = watch_request(PROFIL_WATCH_MACHINE, 0, 0);
	struct profil_watch_status status = { .cpu_time_ns = UINT64_MAX };
	struct watch watch;

	TRY_UNTIL(status.cpu_time_ns < slack() * SECOND) {
		ASSERT_EQ(0, watch_begin(&watch, &request));
		sleep(1);
		status = watch_stop(&watch);
		TH_LOG("%.1f ms of 1 s", status.cpu_time_ns / 1e6);
		EXPECT_WATCH_CONSERVED(&status);
		watch_end(&watch);
	}
	EXPECT_GT(slack() * SECOND, status.cpu_time_ns);
}

/* --- a profile of its own */

FIXTURE(beside) {
	struct watch watch;
};

FIXTURE_VARIANT(beside) {
	uint64_t profile_ns;
	uint64_t watch_ns;
};

FIXTURE_VARIANT_ADD(beside, a_profile_with_the_same_period) {
	.profile_ns = MS, .watch_ns = MS
};

FIXTURE_VARIANT_ADD(beside, a_slower_profile) {
	.profile_ns = 10 * MS, .watch_ns = 200 * US
};

FIXTURE_VARIANT_ADD(beside, a_faster_profile) {
	.profile_ns = 200 * US, .watch_ns = 10 * MS
};

FIXTURE_SETUP(beside)
{
	self->watch.fd = -1;
}

FIXTURE_TEARDOWN(beside)
{
	watch_end(&self->watch);
}

/* What a child's profile of itself has counted, for its parent. */
struct profiled {
	uint64_t period_ns;
	struct moment from, to;
	uint64_t used_ns;
	uint64_t in_counters;
};

static int profile_itself(void *argument)
{
	struct profiled *profiled = argument;
	static uint32_t counters[1 << 20];
	struct profil_region regions[] = {
		region_of(&__executable_start, &etext, counters, 4),
		overflow_bin(&counters[(1 << 20) - 1], 4),
	};
	uint64_t before;

	if (regions[0].size > sizeof(counters) - 4)
		return 2;
	profiled->from = moment_zero();
	if (set_regions(regions, 2, 4, profiled->period_ns, 0))
		return 3;
	before = process_cpu_ns();
	work(NULL);
	work(NULL);
	profiled->to = moment_stop();
	profiled->used_ns = profiled->to.cpu_ns - before;
	profiled->in_counters = sum32(counters, 1 << 20);
	return 0;
}

/* Return: have both the time that the kernel has charged? */
static bool compare_both(struct __test_metadata *_metadata, struct watch *watch,
			 uint64_t watch_ns, struct profiled *profiled)
{
	struct child child = child_begin(profile_itself, profiled);
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
						    child.pid, 0);
	struct profil_watch_status status;
	struct rusage usage;
	uint64_t before;
	int result;

	watch_end(watch);
	ASSERT_EQ(0, child_hold(&child));
	request.period_ns = watch_ns;
	ASSERT_EQ(0, watch_begin(watch, &request));
	before = cpu_ns_of(child.pid);
	child_go(&child);
	ASSERT_EQ(child.pid, wait4(child.pid, &result, 0, &usage));
	ASSERT_EQ(0, result);
	EXPECT_TICKS(&profiled->from, &profiled->to);
	EXPECT_EQ(profiled->in_counters, profiled->to.status.counts.counted);
	EXPECT_EQ(profiled->to.status.counts.ticks,
		  profiled->to.status.counts.counted +
			  profiled->to.status.counts.outside);
	status = watch_settled(watch, 0);
	EXPECT_WATCH_TICKS(&status);
	EXPECT_SOUND(watch, &status);
	return is_near(_metadata, "profile", profiled->to.status.cpu_time_ns,
		       profiled->used_ns) &&
	       is_near(_metadata, "process", status.cpu_time_ns,
		       usage_ns(&usage) - before);
}

TEST_F(beside, a_watch)
{
	struct profiled *profiled = share(sizeof(*profiled));
	bool agree = false;

	profiled->period_ns = variant->profile_ns;
	TRY_UNTIL(agree)
		agree = compare_both(_metadata, &self->watch, variant->watch_ns,
				     profiled);
	EXPECT_TRUE(agree);
	munmap(profiled, sizeof(*profiled));
}

TEST_HARNESS_MAIN
