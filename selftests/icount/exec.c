// SPDX-License-Identifier: GPL-2.0-only
/*
 * exec.c - programs that end soon are covered to their end
 *
 * Some hundred short programs, each of which starts a profile through the same
 * open file and then executes itself, or exits; and children of vfork(), which
 * use the memory, and so the profile, of their parent until they execute a
 * program. The account of the file adds up all profiles.
 *
 * The CPU time covered lies between two numbers that the programs measure
 * themselves: the time from the end of PROFIL_IOC_SET to the call that ends the
 * program, and that from the beginning of PROFIL_IOC_SET to the beginning of
 * the next program.
 *
 * One tick falls in each period. A profile that has the part q of a period gets
 * the tick with the probability q, which adds q(1 - q) to the variance: at most
 * 1/4, and at most q. Only periods that a profile has in part add anything: the
 * first and the last one of each uninterrupted stretch.
 */
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "programs/reexec.h"

#define WORK_NS		MS
#define BURN_NS		(20 * MS)
#define EXITS		100
#define SPAWNS		50

/* A context switch or a system call: charged a little earlier or later */
#define EDGE_NS		(2 * US)

FIXTURE(profiles) {
	int device;
	int shared_fd;
	int program;
	struct reexec *shared;
	char arguments[2][16];
	char path[32];
};

FIXTURE_VARIANT(profiles) {
	uint64_t period_ns;
};

FIXTURE_VARIANT_ADD(profiles, of_60_us) { .period_ns = 60 * US };
FIXTURE_VARIANT_ADD(profiles, of_1_ms) { .period_ns = MS };

/* A copy of the program in memory, so that exec waits for no disk. */
static int load_program(void)
{
	int to = memfd_create("reexec", 0), from;
	char buffer[65536];
	ssize_t nr;

	helper_path(buffer, sizeof(buffer), "reexec");
	from = open(buffer, O_RDONLY | O_CLOEXEC);
	while ((nr = read(from, buffer, sizeof(buffer))) > 0)
		if (write(to, buffer, nr) != nr)
			break;
	close(from);
	/* Exec fails with ETXTBSY if the file is open for writing */
	snprintf(buffer, sizeof(buffer), "/proc/self/fd/%d", to);
	from = nr ? -1 : open(buffer, O_RDONLY);
	close(to);
	return from;
}

FIXTURE_SETUP(profiles)
{
	self->device = open(PROFIL_DEVICE, O_RDONLY);
	ASSERT_LE(0, self->device);
	self->shared_fd = memfd_create("shared", 0);
	ASSERT_EQ(0, ftruncate(self->shared_fd, sizeof(*self->shared)));
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED, self->shared_fd, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	self->program = load_program();
	ASSERT_LE(0, self->program);
	self->shared->period_ns = variant->period_ns;
	self->shared->work_ns = WORK_NS;
	sprintf(self->arguments[0], "%d", self->device);
	sprintf(self->arguments[1], "%d", self->shared_fd);
	sprintf(self->path, "/proc/self/fd/%d", self->program);
}

FIXTURE_TEARDOWN(profiles)
{
	munmap(self->shared, sizeof(*self->shared));
	close(self->shared_fd);
	close(self->device);
	close(self->program);
}

/* Start programs/reexec, which starts its profile itself; -1 if this fails. */
static pid_t spawn(FIXTURE_DATA(profiles) *self)
{
	char *argv[4] = { "reexec" };
	pid_t child;

	argv[1] = self->arguments[0];
	argv[2] = self->arguments[1];
	return posix_spawn(&child, self->path, NULL, NULL, argv, environ) ?
		-1 : child;
}

/* Bounds of the time covered, from what the programs have measured. */
struct bounds {
	double least_ns;
	double most_ns;
	double stretches;
};

static struct bounds bounds_of(const struct reexec_image *image)
{
	struct bounds bounds = {
		.least_ns = image->end_ns - image->set_ns,
		.most_ns = image->next_ns - image->asked_ns,
		.stretches = 1 + image->switches,
	};

	return bounds;
}

static struct bounds bounds_of_all(const struct reexec *shared)
{
	struct bounds all = { 0 };

	for (uint32_t i = 0; i < shared->nr; i++) {
		struct bounds one = bounds_of(&shared->images[i]);

		all.least_ns += one.least_ns;
		all.most_ns += one.most_ns;
		all.stretches += one.stretches;
	}
	return all;
}

/* How far out of bounds: negative below, positive above; 0 if within. */
static double out_ns(double covered_ns, const struct bounds *bounds)
{
	double margin_ns = slack() * (0.001 * bounds->most_ns +
				      EDGE_NS * bounds->stretches);
	double less_ns = covered_ns - (bounds->least_ns - margin_ns);
	double more_ns = covered_ns - (bounds->most_ns + margin_ns);

	return less_ns < 0 ? less_ns : fmax(0, more_ns);
}

static void check_ticks(struct __test_metadata *_metadata,
			const struct profil_account *account,
			uint64_t period_ns, const struct bounds *bounds)
{
	double due = (double)account->cpu_time_ns / period_ns;

	TH_LOG("%llu ticks: %llu kernel, %llu outside, %llu lost; %.0f stretches",
	       account->counts.ticks, account->counts.kernel,
	       account->counts.outside, account->counts.lost,
	       bounds->stretches);
	TH_LOG("ticks by covered: %.4f", account->counts.ticks / due);
	EXPECT_CONSERVED(account);
	EXPECT_CHANCE("ticks", account->counts.ticks, due,
		      fmin(due, bounds->stretches / 2));
}

static void check_covered(struct __test_metadata *_metadata,
			  uint64_t covered_ns, const struct bounds *bounds)
{
	TH_LOG("covered %.3f ms; at least %.3f, at most %.3f ms",
	       covered_ns / 1e6, bounds->least_ns / 1e6, bounds->most_ns / 1e6);
	EXPECT_EQ(0, out_ns(covered_ns, bounds));
}

static void check_each(struct __test_metadata *_metadata,
		       const struct reexec *shared)
{
	double least = 0, most = 0;
	int less = 0, more = 0;

	for (uint32_t i = 0; i < shared->nr; i++) {
		struct bounds bounds = bounds_of(&shared->images[i]);
		double out = out_ns(shared->images[i].covered_ns, &bounds);

		less += out < 0;
		more += out > 0;
		least = fmin(least, out);
		most = fmax(most, out);
	}
	TH_LOG("%d images below (%.3f ms), %d above (%.3f ms)", less,
	       least / 1e6, more, most / 1e6);
	EXPECT_EQ(0, less);
	EXPECT_EQ(0, more);
}

static void check(struct __test_metadata *_metadata,
		  FIXTURE_DATA(profiles) *self)
{
	struct profil_account account = account_after(self->device, 0);
	struct bounds bounds = bounds_of_all(self->shared);

	EXPECT_EQ(0, self->shared->failed);
	EXPECT_EQ(0, account.running);
	EXPECT_EQ(self->shared->wanted, self->shared->nr);
	check_ticks(_metadata, &account, self->shared->period_ns, &bounds);
	check_covered(_metadata, account.cpu_time_ns, &bounds);
	check_each(_metadata, self->shared);
	if (self->shared->memory != REEXEC_SHARED)
		return;
	EXPECT_EQ(0, account.counts.lost);
	EXPECT_EQ(self->shared->counter, account.counts.counted);
}

static void end_by_exec(struct __test_metadata *_metadata,
			FIXTURE_DATA(profiles) *self, enum reexec_memory memory)
{
	self->shared->end = REEXEC_EXEC;
	self->shared->memory = memory;
	/* Sanitizers make each image take ten times as long. */
	self->shared->wanted = REEXEC_IMAGES / slack();
	ASSERT_EQ(0, wait_child(spawn(self)));
	check(_metadata, self);
}

TEST_F(profiles, that_end_by_exec)
{
	end_by_exec(_metadata, self, REEXEC_SHARED);
}

TEST_F(profiles, in_private_memory_that_end_by_exec)
{
	end_by_exec(_metadata, self, REEXEC_PRIVATE);
}

TEST_F(profiles, in_missing_memory_that_end_by_exec)
{
	end_by_exec(_metadata, self, REEXEC_MISSING);
}

/* Run one image and read its total CPU time and its context switches. */
static int run_image(FIXTURE_DATA(profiles) *self, struct reexec_image *image)
{
	struct rusage usage;
	pid_t child = spawn(self);
	uint64_t covered_ns;
	int status;

	if (wait4(child, &status, 0, &usage) != child)
		return -1;
	image->next_ns = usage_ns(&usage);
	image->switches = usage.ru_nvcsw + usage.ru_nivcsw;
	covered_ns = account_after(self->device, 0).cpu_time_ns;
	image->covered_ns = covered_ns - self->shared->covered_ns;
	self->shared->covered_ns = covered_ns;
	return status;
}

static void end_by_exit(struct __test_metadata *_metadata,
			FIXTURE_DATA(profiles) *self, enum reexec_memory memory)
{
	self->shared->end = REEXEC_EXIT;
	self->shared->memory = memory;
	self->shared->wanted = EXITS / slack();
	for (uint32_t i = 0; i < self->shared->wanted; i++)
		ASSERT_EQ(0, run_image(self, &self->shared->images[i]));
	check(_metadata, self);
}

TEST_F(profiles, that_end_by_exit)
{
	end_by_exit(_metadata, self, REEXEC_SHARED);
}

TEST_F(profiles, in_private_memory_that_end_by_exit)
{
	end_by_exit(_metadata, self, REEXEC_PRIVATE);
}

TEST_F(profiles, in_missing_memory_that_end_by_exit)
{
	end_by_exit(_metadata, self, REEXEC_MISSING);
}

/*
 * Context switches of the process and of the children that it has waited for.
 */
static double switches(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return own.ru_nvcsw + own.ru_nivcsw + children.ru_nvcsw +
	       children.ru_nivcsw;
}

/* A profile that children share until they execute a program. */
static int spawn_many(FIXTURE_DATA(profiles) *self, struct bounds *bounds)
{
	struct profil_region all = overflow_bin(&self->shared->counter, 8);
	uint64_t asked_ns = process_cpu_ns(), set_ns;
	double before = switches();

	if (set_region_by(self->device, &all, 8, self->shared->period_ns, 0))
		return -1;
	set_ns = process_cpu_ns();
	for (int i = 0; i < SPAWNS; i++) {
		burn_process_ns(WORK_NS);
		if (wait_child(spawn(self)))
			return -1;
	}
	bounds->least_ns = process_cpu_ns() - set_ns;
	if (profil_stop(NULL, NULL, 0))
		return -1;
	bounds->most_ns = process_cpu_ns() - asked_ns + self->shared->start_ns;
	bounds->stretches = 1 + SPAWNS + switches() - before;
	return 0;
}

/* The profile does not cover what the children burn in their own program. */
TEST_F(profiles, of_the_parent_of_vfork_and_exec)
{
	struct profil_account account;
	struct bounds bounds;

	self->shared->end = REEXEC_BURN;
	self->shared->work_ns = BURN_NS;
	ASSERT_EQ(0, spawn_many(self, &bounds));
	account = account_after(self->device, 0);
	check_ticks(_metadata, &account, variant->period_ns, &bounds);
	check_covered(_metadata, account.cpu_time_ns, &bounds);
}

TEST_HARNESS_MAIN
