/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * common.h - helpers for the tests in the guest
 *
 * Include it after kselftest_harness.h.
 */
#ifndef SELFTESTS_COMMON_H
#define SELFTESTS_COMMON_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <profil.h>

#define US	1000ULL
#define MS	1000000ULL
#define SECOND	1000000000ULL

#define PAGE	4096

/* What one page of a page table maps, and a huge page */
#define HUGE	(2UL << 20)

static inline void *huge_aligned(void *memory)
{
	return (void *)(((uintptr_t)memory + HUGE - 1) & -HUGE);
}

/* The user of that name, and a group. */
#define NOBODY	65534

/* Seconds: so long that only a hanging test exceeds it, even on a busy host. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 600

/* Bounds of the program's text, from the linker. */
extern const char __executable_start, etext;

/*
 * A function in a section of its own, whose text begins and ends at symbols
 * that the linker defines.
 */
#define OWN_TEXT(name) \
	extern const char __start_text_##name[], __stop_text_##name[]; \
	__attribute__((noipa, section("text_" #name)))
#define START_OF(name)	__start_text_##name
#define END_OF(name)	__stop_text_##name

int become(uid_t user);

/*
 * Whether the library counts in user space: PROFIL_FALLBACK=always. Tests of
 * what it cannot do there skip.
 */
bool in_user_space(void);

uint64_t monotonic_ns(void);
uint64_t process_cpu_ns(void);
uint64_t thread_cpu_ns(void);
uint64_t worked_ns(void);
uint64_t cpu_ns_of(pid_t pid);
uint64_t usage_ns(const struct rusage *usage);

/*
 * Go on with rounds of 20000 iterations, for @ns of CPU time, until @end_ns? Not just
 * until the clock says so: the time may pass while the host runs others.
 */
static inline bool spins_on(uint64_t end_ns, uint64_t ns, uint64_t rounds)
{
	return thread_cpu_ns() < end_ns || rounds < ns / (MS / 25);
}

void sleep_ns(uint64_t ns);
void burn_process_ns(uint64_t ns);
void burn_thread_ns(uint64_t ns);
void burn_kernel_ns(uint64_t ns);

struct profil_region region_of(const void *text, const void *end,
			       void *counters,
			       unsigned int width);
struct profil_region counter_of(const void *text, const void *end,
				void *counter,
				unsigned int width);
struct profil_region overflow_bin(void *counter, unsigned int width);

int set_regions(const struct profil_region *regions, unsigned int nr,
		unsigned int width, uint64_t period_ns, unsigned int flags);

int set_region_by(int fd, const struct profil_region *region,
		  unsigned int width, uint64_t period_ns, unsigned int flags);

struct profil_account account_of(int fd);
struct profil_account account_after(int fd, uint32_t running);
struct profil_status status_now(void);
bool burn_ticks(uint64_t nr);
bool burn_counted(uint64_t nr);

void *find_anchor(void);
void unmap_anchor(void);

double interrupts(int cpu, const char *what);

void *loop_at(uintptr_t pc);
void __attribute__((noreturn)) stand_still(void *loop);

int pin_to(int processor);
pid_t fork_child(void);
int fork_some(int nr);
int wait_child(pid_t child);
int switch_threads(int nr);
int begin_sleepers(int nr);
uint64_t number_of(const char *path, const char *name);
char process_state(pid_t pid);
int threads_of(pid_t pid);
int wait_for_threads(pid_t pid, int nr);
void helper_path(char *path, size_t size, const char *name);
int load_file(const char *path, const char *parameters);
int load_helper(const char *name, const char *parameters);
int unload_helper(const char *name);
const char *profil_file(void);
int load_profil(const char *parameters);
int unload_profil(void);
int unload_profil_soon(void);
void read_parameters(char *parameters, size_t size);
bool is_preempt_rt(void);
bool is_linux_before(int major, int minor);
int write_file(const char *path, const char *text);
int copy_file(const char *from, const char *to, mode_t mode);
int enter_cgroup(pid_t pid, const char *cgroup);
int remove_cgroup(const char *cgroup);
int try_perf_event(void);

/*
 * A file system with a file "counters" of one page, which opens but never
 * reads.
 */
#define SILENT_FS	"/run/profil-silent"

pid_t mount_silent_fs(void);
int unmount_silent_fs(pid_t child);

/* A file system on a disk, ext4 */
#define DISK_FS		"/run/profil-disk"

int mount_disk_fs(void);

/**
 * struct stuck - a process that never unlocks its mappings
 * @pid: the process
 * @reader: another, which waits for a page of the silent file system, and so
 *	keeps it locked
 */
struct stuck {
	pid_t pid;
	pid_t reader;
};

int stuck_begin(struct stuck *stuck, int threads);
void stuck_end(const struct stuck *stuck);

int userfault(void *page, unsigned int flags);

uint64_t sum16(const uint16_t *counters, size_t nr);
uint64_t sum32(const uint32_t *counters, size_t nr);
uint64_t sum64(const uint64_t *counters, size_t nr);

double sigmas(double seen, double mean, double variance);
double slack(void);

/*
 * Numbers must be within this many standard deviations: a binomial number with
 * a mean of 40 or more exceeds them less than once in ten million times.
 */
#define SIGMAS	6.0

/* Check a number that depends on the times of ticks; log its deviation. */
#define EXPECT_CHANCE(what, seen, mean, variance) do { \
	double off_by = sigmas((seen), (mean), (variance)); \
	TH_LOG("%s: %.1f, due %.1f: %+.2f sigma", (what), (double)(seen), \
	       (double)(mean), off_by); \
	EXPECT_LT(-SIGMAS, off_by); \
	EXPECT_GT(SIGMAS, off_by); \
} while (0)

/* Check the number of ticks in some CPU time, which may be short. */
#define EXPECT_TICKS_DUE(seen, due) \
	EXPECT_CHANCE("ticks", (seen), (due), fmax((due), 40))

/*
 * Again and again until it is good, and some times at most. For what fails if the
 * host runs others at the wrong moment: a fault shows each time.
 */
#define TRY_UNTIL(good) \
	for (int tries_ = 20; tries_ && !(good); tries_--)

/*
 * Run something until what it did is good. All ticks while the host runs others fall
 * at one place, and a tool may come late.
 */
#define RUN_UNTIL(good, run) do { \
	bool is_good_ = false; \
	TRY_UNTIL(is_good_) { \
		run; \
		is_good_ = (good); \
	} \
	EXPECT_TRUE(is_good_); \
} while (0)

/* Every tick has exactly one outcome, in any status at any time. */
#define EXPECT_CONSERVED(status) \
	EXPECT_EQ((status)->counts.ticks, \
		  (status)->counts.counted + (status)->counts.clipped + \
			  (status)->counts.outside + (status)->counts.lost + \
			  (status)->counts.left_out)

/* The progress of a profiled process at one moment. */
struct moment {
	struct profil_status status;
	uint64_t cpu_ns;
	uint64_t time_ns;
};

struct moment moment_zero(void);
struct moment moment_now(void);
struct moment moment_stop(void);
double due_ticks(const struct moment *from, const struct moment *to);
double due_variance(const struct moment *from, const struct moment *to);

/*
 * Check that every due tick came between two moments. Late interrupts, which
 * only icount rules out, make the number right only from moment_zero() to
 * moment_stop().
 */
#define EXPECT_TICKS(from, to) do { \
	EXPECT_CHANCE("ticks", (to)->status.counts.ticks - (from)->status.counts.ticks, \
		      due_ticks(from, to), due_variance(from, to)); \
	EXPECT_CONSERVED(&(to)->status); \
} while (0)

/* Whether the profile covers the CPU time of the process, within @part; log both. */
#define IS_COVERED(from, to, part) ({ \
	double cpu_ns_ = (to)->cpu_ns - (from)->cpu_ns; \
	double more_ns_ = (to)->status.cpu_time_ns - \
			  (from)->status.cpu_time_ns - cpu_ns_; \
	TH_LOG("CPU time %.3f s, covered: %+.3f ms", cpu_ns_ / 1e9, \
	       more_ns_ / 1e6); \
	fabs(more_ns_) <= slack() * (part) * cpu_ns_; \
})

#define EXPECT_COVERED(from, to, part) EXPECT_TRUE(IS_COVERED(from, to, part))

/*
 * Check that a profile or a watch covers work that took @worked_ns by the
 * program's own clock. The kernel charges a task before the module counts for
 * it: by milliseconds if the host runs something else just then.
 */
#define EXPECT_WORK_COVERED(worked_ns, covered_ns) \
	EXPECT_LE(0.8 * (worked_ns), (covered_ns))

/* The same, and try again if the host has taken too much. */
#define UNTIL_WORK_COVERED(worked_ns, covered_ns) \
	TRY_UNTIL(0.8 * (worked_ns) <= (covered_ns))

/* Check that a call succeeds; log the error if it does not. */
#define EXPECT_OK(call) do { \
	int result = (call); \
	if (result) \
		TH_LOG("%s: %s", #call, strerror(errno)); \
	EXPECT_EQ(0, result); \
} while (0)

/* Check that a call fails with @error. */
#define EXPECT_ERROR(error, call) do { \
	errno = 0; \
	EXPECT_EQ(-1, (call)); \
	EXPECT_EQ((error), errno); \
} while (0)

#endif /* SELFTESTS_COMMON_H */
