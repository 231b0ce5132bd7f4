// SPDX-License-Identifier: GPL-2.0-only
/*
 * soak.c - everything at once, for hours
 *
 * A user's processes have profiles, fork, execute, create threads and end; the same
 * user watches all of them, watches one of them again and again, and attaches to a
 * server all the time, while threads read the status of these watches. Root watches
 * a process that lives all the time, with its waits. The fuzzers run beside them,
 * and change the limits of the administrator.
 *
 * Each minute, once the fuzzer has ended, the user's processes end, and all must
 * agree: the counters of the profiles, their account, the tables of the watches,
 * the CPU time, the lives of threads, and the memory.
 *
 * $SOAK_HOURS is how long it takes, or 3 minutes.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "chains.h"
#include "load.h"
#include "needs.h"
#include "server.h"
#include "watch.h"

NEEDS_ROOT;
NEEDS_TWO_CPUS;

#define HOURS		0.05
#define MINUTE		(60 * SECOND)

/* No limit of the harness: that of the guest ends it. */
#define NO_TIMEOUT	10000000

#define ALICE		100001

/* Of all but the fuzzers */
#define NICE		10

#define FUZZ_LOG	"/run/profil-soak.log"

/**
 * struct stats - what profiles or watches have counted until now
 * @nr: how many profiles or watches there were
 * @ticks: the sum of all outcomes
 * @due: how many were due in the CPU time
 * @bad: those that are lost, clipped, coarse or unresolved
 * @complete: those whose chains are
 */
struct stats {
	uint64_t nr;
	uint64_t ticks;
	double due;
	uint64_t bad;
	uint64_t complete;
};

/* In memory that all processes share; one process writes each of the stats. */
static struct shared {
	atomic_bool is_over;
	atomic_ulong readings;
	uint32_t counter;
	struct stats user;
	struct stats process;
	struct stats server;
} *shared;

static struct busy busy;
static pid_t busy_pid;

static int wrong(const char *what)
{
	printf("# watch: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	return 1;
}

/* --- the user's processes */

static int have_threads(void *unused)
{
	return busy_begin(&busy) ?: be_threads(unused);
}

static int have_mappings(void *unused __attribute__((unused)))
{
	if (busy_begin(&busy))
		return 1;
	change_mappings(&shared->is_over);
	for (;;)
		pause();
}

static void *read_status(void *argument)
{
	const struct watch *watch = argument;
	struct profil_watch_status last, now = { 0 };

	do {
		last = now;
		now = watch_status(watch);
		shared->readings++;
		if (!watch_conserved(&now) || !watch_goes_on(&last, &now))
			return argument;
		usleep(2000);
	} while (now.state == PROFIL_STATE_ON);
	return NULL;
}

static double sigma_of(const struct stats *stats)
{
	return sigmas(stats->ticks, stats->due, fmax(stats->due, 40));
}

/* Return: what is wrong with a watch that has been stopped, or NULL. */
static const char *judge(const struct watch *watch,
			 const struct profil_watch_status *status,
			 struct stats *stats)
{
	const struct stats one = {
		.nr = 1, .ticks = status->ticks,
		.due = (double)status->cpu_time_ns / status->period_ns,
		.bad = status->coarse + status->unresolved,
		.complete = status->chains[PROFIL_CHAIN_COMPLETE],
	};
	const char *fault = watch_fault(watch, status);

	stats->nr++;
	stats->ticks += one.ticks;
	stats->due += one.due;
	stats->bad += one.bad;
	stats->complete += one.complete;
	if (fault)
		return fault;
	if (chain_sum(status) != status->ticks - status->unresolved +
				 status->blocked + status->runnable)
		return "sum of chains";
	/* With waits, a tick in a context switch is the one's or the other's */
	if (watch->as.flags & PROFIL_WATCH_WALL)
		return NULL;
	if (!is_due(one.ticks, one.due) || !is_due(stats->ticks, stats->due))
		return "ticks that are due";
	return NULL;
}

static int watch_once(const struct profil_watch *request, uint64_t length_ns,
		      struct stats *stats)
{
	uint64_t end = monotonic_ns() + length_ns;
	struct profil_watch_status status;
	struct watch watch;
	pthread_t reader;
	const char *fault;
	void *bad;

	if (watch_begin(&watch, request))
		return is_forbidden(errno) ? 0 : wrong("begin");
	if (load_own_callers(&watch) || load_callers_of(&watch, "/bin/true"))
		return wrong("tables of callers");
	if (pthread_create(&reader, NULL, read_status, &watch))
		return wrong("thread");
	while (!shared->is_over && monotonic_ns() < end)
		usleep(10000);
	status = watch_stop(&watch);
	fault = judge(&watch, &status, stats);
	pthread_join(reader, &bad);
	watch_end(&watch);
	return fault ? wrong(fault) : bad ? wrong("status while it runs") : 0;
}

static int watch_user(void *unused __attribute__((unused)))
{
	struct profil_watch request = watch_request(PROFIL_WATCH_USER, ALICE,
		PROFIL_WATCH_CHAINS | PROFIL_WATCH_WALL);
	int bad = 0;

	while (!bad && !shared->is_over)
		bad = watch_once(&request, UINT64_MAX / 2, &shared->user);
	return bad;
}

static int watch_busy(void *unused __attribute__((unused)))
{
	struct profil_watch request = watch_request(PROFIL_WATCH_PROCESS,
		busy_pid, PROFIL_WATCH_CHILDREN | PROFIL_WATCH_CHAINS |
			  PROFIL_WATCH_CALL_SITES);
	int bad = 0;

	request.period_ns = MS / 5;
	while (!bad && !shared->is_over)
		bad = watch_once(&request, 5 * SECOND, &shared->process);
	return bad;
}

static int attach(void *unused __attribute__((unused)))
{
	struct server server;
	int bad = server_begin(&server);

	while (!bad && !shared->is_over)
		bad = server_attach(&server, 1, -1, SECOND);
	shared->server.nr += server.attached;
	shared->server.ticks += server.ticks;
	return bad | server_end(&server);
}

/* Those before the watches have profiles, and are killed. */
#define PROFILED	4

static const struct load {
	int (*work)(void *argument);
	void *argument;
} loads[] = {
	{ be_busy, &busy }, { be_busy, &busy }, { have_threads, NULL },
	{ have_mappings, NULL },
	{ watch_user, NULL }, { watch_busy, NULL }, { attach, NULL },
};

#define LOADS		(sizeof(loads) / sizeof(loads[0]))

static int work_as_alice(void *load)
{
	const struct load *mine = load;

	return become(ALICE) ?: mine->work(mine->argument);
}

/* --- the fuzzers */

static const char *const fuzzers[] = {
	"../guest/fuzz_ioctl", "../guest/fuzz_watch", "../guest/fuzz_race",
};

static struct child fuzz(int nr)
{
	struct child child = { .pid = fork_child(), .go = -1 };
	char path[4096], seed[40];
	int log;

	if (child.pid)
		return child;
	helper_path(path, sizeof(path), fuzzers[nr % 3]);
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)monotonic_ns());
	setenv("FUZZ_SEED", seed, 1);
	/* They have an end, and the others have none */
	nice(-NICE);
	log = open(FUZZ_LOG, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	execl(path, path, NULL);
	_exit(127);
}

/* --- memory */

enum { SLAB, VMALLOC, USED, KINDS };

static const char *const kinds[] = { "slab", "vmalloc", "not available" };

/* The first readings, which do not count. */
#define WARM_UP		2

/*
 * KASAN keeps a part of what has been freed. Elsewhere this is what the kernel has
 * on its free lists, more or less.
 */
#define MAX_GROWTH_KB	(access("/proc/lockdep", F_OK) ? 2048 : 131072)

#define MAX_READINGS	20000

static long memory[KINDS][MAX_READINGS];

static void read_memory(int nr)
{
	static const char file[] = "/proc/meminfo";

	memory[SLAB][nr] = number_of(file, "Slab:");
	memory[VMALLOC][nr] = number_of(file, "VmallocUsed:");
	memory[USED][nr] = number_of(file, "MemTotal:") -
			   number_of(file, "MemAvailable:");
}

/*
 * How much it has grown at least: from the most of the first third of the readings
 * to the least of the last. A peak is no growth.
 */
static long growth(const long *kb, int nr)
{
	int third = (nr - WARM_UP) / 3;
	long before, after;

	if (third < 1)
		return 0;
	before = kb[WARM_UP];
	after = kb[nr - 1];
	for (int i = 0; i < third; i++) {
		before = fmax(before, kb[WARM_UP + i]);
		after = fmin(after, kb[nr - 1 - i]);
	}
	return after - before;
}

/* --- the soak */

FIXTURE(soak) {
	struct child steady;
	struct watch watch;
	struct life since;
	struct profil_watch_status status;
	struct child loads[LOADS];
	struct child fuzzer;
	struct profil_account account;
	uint64_t begin;
	uint64_t end;
	struct footprint before;
	int fuzzed;
	int readings;
};

FIXTURE_SETUP(soak)
{
	self->begin = monotonic_ns();
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, shared);
	busy.device = open(PROFIL_DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, busy.device);
	busy.counter = &shared->counter;
	busy.is_limited = true;
	ASSERT_EQ(NICE, nice(NICE));
	self->steady = child_begin(be_threads, NULL);
	child_go(&self->steady);
	ASSERT_EQ(0, wait_for_threads(self->steady.pid, WORKERS + 1));
	self->since.longest = monotonic_ns();
	ASSERT_EQ(0, watch_process(&self->watch, self->steady.pid,
				   PROFIL_WATCH_CHAINS | PROFIL_WATCH_WALL));
	self->since.shortest = monotonic_ns();
	ASSERT_EQ(0, load_own_callers(&self->watch));
	self->before = footprint();
}

/* Load the module again, for the tests that follow. */
FIXTURE_TEARDOWN(soak)
{
	char parameters[1000];

	for (size_t i = 0; i < LOADS; i++)
		child_kill(&self->loads[i]);
	child_kill(&self->fuzzer);
	child_kill(&self->steady);
	watch_end(&self->watch);
	close(busy.device);
	read_parameters(parameters, sizeof(parameters));
	EXPECT_EQ(0, unload_profil_soon());
	EXPECT_NE(0, access(PROFIL_DEVICE, F_OK));
	EXPECT_EQ(0, bytes_of_module());
	EXPECT_EQ(0, load_profil(parameters));
}

static void begin_all(FIXTURE_DATA(soak) *self)
{
	shared->is_over = false;
	for (size_t i = 0; i < LOADS; i++) {
		self->loads[i] = child_begin(work_as_alice, (void *)&loads[i]);
		busy_pid = self->loads[0].pid;
		child_go(&self->loads[i]);
	}
}

static void end_all(struct __test_metadata *_metadata,
		    FIXTURE_DATA(soak) *self)
{
	shared->is_over = true;
	for (size_t i = PROFILED; i < LOADS; i++) {
		EXPECT_EQ(0, child_end(&self->loads[i]));
		self->loads[i].pid = -1;
	}
	for (size_t i = 0; i < PROFILED; i++)
		EXPECT_EQ(-SIGKILL, child_kill(&self->loads[i]));
}

/* Return: is a fuzzer still running, which is not to be followed by another? */
static bool look_after_fuzzer(struct __test_metadata *_metadata,
			      FIXTURE_DATA(soak) *self, bool is_last)
{
	if (!child_has_ended(&self->fuzzer))
		return true;
	EXPECT_EQ(0, wait_child(self->fuzzer.pid));
	if (!__test_passed(_metadata) && system("sed 's/^/# /' " FUZZ_LOG))
		perror("# " FUZZ_LOG);
	self->fuzzer.pid = -1;
	if (!is_last)
		self->fuzzer = fuzz(self->fuzzed++);
	return !is_last;
}

/* What must hold while everything goes on. */
static void look(struct __test_metadata *_metadata, FIXTURE_DATA(soak) *self)
{
	self->account = account_of(busy.device);
	EXPECT_CONSERVED(&self->account);
	EXPECT_EQ(0, watch_missing(&self->watch, &self->since, WORKERS + 1,
				   &self->status));
	EXPECT_WATCH_CONSERVED(&self->status);
	EXPECT_EQ(self->before.tainted, footprint().tainted);
	EXPECT_FALSE(child_has_ended(&self->steady));
	for (size_t i = 0; i < LOADS; i++)
		EXPECT_FALSE(child_has_ended(&self->loads[i]));
}

static struct stats stats_of_profiles(const struct profil_account *account)
{
	return (struct stats) {
		.ticks = account->counts.ticks,
		.due = (double)account->cpu_time_ns / MS,
		.bad = account->counts.lost + account->counts.clipped,
	};
}

/* Its ticks are due in the lives of its threads, all of which are as long. */
static struct stats stats_of_steady(FIXTURE_DATA(soak) *self)
{
	const struct profil_watch_status *status = &self->status;

	return (struct stats) {
		.nr = 1,
		.ticks = all_ticks(status),
		.due = (WORKERS + 1.) *
		       ((self->end - self->since.longest) / MS),
		.bad = status->coarse + status->unresolved,
		.complete = status->chains[PROFIL_CHAIN_COMPLETE],
	};
}

/*
 * What must hold when only the steady process is left. Return: how many ticks have no
 * explanation.
 */
static uint64_t compare(struct __test_metadata *_metadata,
			FIXTURE_DATA(soak) *self)
{
	const struct profil_counts *counts = &self->account.counts;
	struct stats profiles;

	self->account = account_after(busy.device, 0);
	profiles = stats_of_profiles(&self->account);
	EXPECT_EQ(0, self->account.running);
	EXPECT_CONSERVED(&self->account);
	EXPECT_EQ(shared->counter, counts->counted);
	EXPECT_TRUE(is_due(profiles.ticks, profiles.due));
	EXPECT_LT(self->readings, shared->user.nr);
	EXPECT_LT(self->readings, shared->process.nr);
	EXPECT_FOOTPRINT(&self->before);
	write_file("/proc/sys/vm/drop_caches", "7");
	read_memory(self->readings++);
	return llabs((long long)(shared->counter - counts->counted)) +
	       llabs(watch_missing(&self->watch, &self->since, WORKERS + 1,
				   &self->status));
}

static void print_minute(FIXTURE_DATA(soak) *self, uint64_t unexplained)
{
	int last = self->readings - 1;

	printf("# minute %.0f: %llu ticks, %llu unexplained; %llu watches, %llu attachments, %lu readings, %d fuzzers; slab %ld, vmalloc %ld, not available %ld, module %llu KiB\n",
	       (monotonic_ns() - self->begin) / 60e9,
	       (unsigned long long)(self->account.counts.ticks +
				    shared->user.ticks + shared->process.ticks +
				    shared->server.ticks +
				    all_ticks(&self->status)),
	       (unsigned long long)unexplained,
	       (unsigned long long)(shared->user.nr + shared->process.nr),
	       (unsigned long long)shared->server.nr, shared->readings,
	       self->fuzzed, memory[SLAB][last], memory[VMALLOC][last],
	       memory[USED][last], (unsigned long long)bytes_of_module() >> 10);
	fflush(stdout);
}

static void run_a_minute(struct __test_metadata *_metadata,
			 FIXTURE_DATA(soak) *self)
{
	uint64_t end = monotonic_ns() + MINUTE;
	uint64_t unexplained;

	begin_all(self);
	self->fuzzer = fuzz(self->fuzzed++);
	while (look_after_fuzzer(_metadata, self, monotonic_ns() >= end) &&
	       __test_passed(_metadata)) {
		usleep(1000000);
		look(_metadata, self);
	}
	end_all(_metadata, self);
	unexplained = compare(_metadata, self);
	print_minute(self, unexplained);
}

static void print_stats(const char *what, const struct stats *stats)
{
	printf("# %-22s %8llu %12llu", what, (unsigned long long)stats->nr,
	       (unsigned long long)stats->ticks);
	if (stats->due)
		printf(" %12.0f %+7.2f", stats->due, sigma_of(stats));
	else
		printf(" %12s %7s", "", "");
	printf(" %8llu %12llu\n", (unsigned long long)stats->bad,
	       (unsigned long long)stats->complete);
}

static void print_account(FIXTURE_DATA(soak) *self)
{
	struct stats profiles = stats_of_profiles(&self->account);
	struct stats steady = stats_of_steady(self);

	printf("#\n# the soak's account, after %.2f hours, %d readings and %d runs of fuzzers:\n",
	       (monotonic_ns() - self->begin) / 3600e9, self->readings,
	       self->fuzzed);
	printf("# %-22s %8s %12s %12s %7s %8s %12s\n", "", "number", "ticks",
	       "due", "sigma", "lost", "complete");
	print_stats("profiles", &profiles);
	print_stats("watches of a user", &shared->user);
	print_stats("watches of a process", &shared->process);
	print_stats("attachments", &shared->server);
	print_stats("steady, and its waits", &steady);
	printf("# %-22s %8s %12s %12s %7s\n", "KiB", "", "at first", "at last",
	       "growth");
	for (int i = 0; i < KINDS; i++)
		printf("# %-22s %8s %12ld %12ld %7ld\n", kinds[i], "",
		       memory[i][0], memory[i][self->readings - 1],
		       growth(memory[i], self->readings));
	fflush(stdout);
}

TEST_F_TIMEOUT(soak, for_hours, NO_TIMEOUT)
{
	const char *hours = getenv("SOAK_HOURS");
	uint64_t end = self->begin +
		       (hours ? atof(hours) : HOURS) * 3600 * SECOND;

	do {
		run_a_minute(_metadata, self);
	} while (__test_passed(_metadata) && monotonic_ns() < end &&
		 self->readings < MAX_READINGS);
	self->status = watch_stop(&self->watch);
	self->end = monotonic_ns();
	print_account(self);
	EXPECT_CHAINS(&self->watch, &self->status);
	for (int i = 0; i < KINDS; i++)
		EXPECT_GE(MAX_GROWTH_KB, growth(memory[i], self->readings));
}

TEST_HARNESS_MAIN
