// SPDX-License-Identifier: GPL-2.0-only
/*
 * container.c - a process in a container profiles itself
 *
 * The container has the device and is otherwise as an ordinary user gets it
 * from Docker, on a machine that allows no perf events to users.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "container.h"
#include "needs.h"

NEEDS_ROOT;

/* As Debian and Ubuntu have it for users without CAP_PERFMON. */
#define FORBID_PERF	"4"

/* CPU time of a profile: 3000 ticks of sprofil(), 300 of profil(). */
#define BURN_NS	(3 * SECOND)

/* What the process in the container has seen, in shared memory. */
struct seen {
	struct moment from;
	struct moment to;
	double used_ns;
	uint64_t counted;
	int error;
	int perf_error;
	int bpf_error;
	pid_t pid;
	uid_t uid;
};

FIXTURE(container) {
	char paranoid[16];
	struct seen *seen;
	pid_t outside;
};

/* A process outside that is profiled at the same time. */
static pid_t start_outside(void)
{
	static uint32_t counter;
	struct profil_region all = overflow_bin(&counter, sizeof(counter));
	pid_t child = fork_child();

	if (!child) {
		if (!set_regions(&all, 1, sizeof(counter), MS, 0))
			burn_process_ns(600 * SECOND);
		_exit(1);
	}
	return child;
}

FIXTURE_SETUP(container)
{
	ASSERT_EQ(0, perf_paranoid(FORBID_PERF, self->paranoid,
				   sizeof(self->paranoid)));
	self->seen = mmap(NULL, sizeof(*self->seen), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->seen);
	self->outside = start_outside();
}

FIXTURE_TEARDOWN(container)
{
	char ours[16];

	kill(self->outside, SIGKILL);
	EXPECT_EQ(-SIGKILL, wait_child(self->outside));
	EXPECT_EQ(0, perf_paranoid(self->paranoid, ours, sizeof(ours)));
	munmap(self->seen, sizeof(*self->seen));
}

static double used_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage_ns(&usage);
}

static int start_sprofil(unsigned int *counters, size_t size)
{
	struct prof prof = {
		.pr_base = counters,
		.pr_size = size,
		.pr_off = (size_t)&__executable_start,
		.pr_scale = 65536,
	};

	return sprofil(&prof, 1, NULL, PROF_UINT | PROF_FAST);
}

/* Burn under a profile that was started without an error. */
static void use(struct seen *seen)
{
	double before = used_ns();

	burn_process_ns(BURN_NS);
	seen->used_ns = used_ns() - before;
	seen->to = moment_stop();
}

static void by_sprofil(void *argument)
{
	size_t size = &etext - &__executable_start + 4;
	unsigned int *counters = calloc(1, size);
	struct seen *seen = argument;

	seen->from = moment_zero();
	if (!counters || start_sprofil(counters, size)) {
		seen->error = errno;
		return;
	}
	use(seen);
	seen->counted = sum32(counters, size / sizeof(*counters));
}

static void by_profil(void *argument)
{
	size_t size = &etext - &__executable_start + 2;
	unsigned short *counters = calloc(1, size);
	struct seen *seen = argument;

	seen->from = moment_zero();
	if (!counters || profil(counters, size, (size_t)&__executable_start,
				65536)) {
		seen->error = errno;
		return;
	}
	use(seen);
	seen->counted = sum16(counters, size / sizeof(*counters));
}

/* Run it in the container; the harness skips by returning from the test. */
#define IN_CONTAINER(work) do { \
	const struct container container = { .device = true }; \
	int result = run_in_container(&container, (work), self->seen); \
	if (result == CONTAINER_REFUSED) \
		SKIP(return, "users may not make namespaces"); \
	ASSERT_EQ(0, result); \
	ASSERT_EQ(0, self->seen->error); \
} while (0)

/* All ticks, by the status and by the CPU time that the process has used. */
#define EXPECT_AGREEMENT(seen) do { \
	EXPECT_TICKS(&(seen)->from, &(seen)->to); \
	EXPECT_CHANCE("ticks of rusage", (seen)->to.status.counts.ticks, \
		      (seen)->used_ns / (seen)->to.status.period_ns, \
		      due_variance(&(seen)->from, &(seen)->to)); \
	EXPECT_EQ((seen)->to.status.counts.counted, (seen)->counted); \
	/* The others are of the C library, the vDSO and the kernel. */ \
	EXPECT_LT(0, (seen)->counted); \
} while (0)

/* But for the time in which the host stopped a CPU that switched. */
static bool agrees(const struct seen *seen)
{
	double due = seen->used_ns / seen->to.status.period_ns;

	return seen->used_ns &&
		fabs(sigmas(seen->to.status.counts.ticks, due,
			    due_variance(&seen->from, &seen->to))) < SIGMAS;
}

TEST_F(container, ticks_of_sprofil_agree_with_rusage)
{
	TRY_UNTIL(agrees(self->seen))
		IN_CONTAINER(by_sprofil);
	EXPECT_AGREEMENT(self->seen);
}

TEST_F(container, ticks_of_profil_agree_with_rusage)
{
	TRY_UNTIL(agrees(self->seen))
		IN_CONTAINER(by_profil);
	EXPECT_AGREEMENT(self->seen);
}

static void try_others(void *argument)
{
	struct seen *seen = argument;

	seen->perf_error = try_perf_event();
	seen->bpf_error = syscall(SYS_bpf, 0, NULL, 0) ? errno : 0;
	seen->pid = getpid();
	seen->uid = getuid();
}

/* What is profiled above could not have used anything else of the kernel. */
TEST_F(container, is_refused_perf_events_and_bpf)
{
	IN_CONTAINER(try_others);
	EXPECT_EQ(EPERM, self->seen->perf_error);
	EXPECT_EQ(EPERM, self->seen->bpf_error);
	EXPECT_EQ(2, self->seen->pid);
	EXPECT_EQ(0, self->seen->uid);
}

TEST_HARNESS_MAIN
