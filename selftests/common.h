/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * common.h - what the tests in the guest share
 *
 * Include it after kselftest_harness.h.
 */
#ifndef SELFTESTS_COMMON_H
#define SELFTESTS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <profil.h>

#define MS	1000000ULL
#define SECOND	1000000000ULL

/* Seconds; only a test that hangs meets it, however busy the host is. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 600

/* Where a program's text lies: from the linker. */
extern const char __executable_start, etext;

/*
 * A function in a section of its own, whose text begins and ends at
 * TEXT_OF(name); the linker makes these names.
 */
#define OWN_TEXT(name) \
	extern const char __start_text_##name[], __stop_text_##name[]; \
	__attribute__((noinline, section("text_" #name)))
#define TEXT_OF(name)	__start_text_##name, __stop_text_##name

uint64_t monotonic_ns(void);
uint64_t process_cpu_ns(void);
uint64_t thread_cpu_ns(void);

void burn_process_ns(uint64_t ns);
void burn_thread_ns(uint64_t ns);

struct profil_region region_of(const void *text, const void *end, void *bins,
			       unsigned int width);
struct profil_region counter_of(const void *text, const void *end, void *bin,
				unsigned int width);
struct profil_region overflow_bin(void *bin, unsigned int width);

int set_regions(const struct profil_region *regions, unsigned int nr,
		unsigned int width, uint64_t period_ns, unsigned int flags);

int set_region_by(int fd, const struct profil_region *region,
		  unsigned int width, uint64_t period_ns, unsigned int flags);

struct profil_account account_of(int fd);
struct profil_account account_after(int fd, uint32_t running);
struct profil_status status_now(void);
bool burn_ticks(uint64_t nr);
bool burn_counted(uint64_t nr);

void *loop_at(uintptr_t pc);
void __attribute__((noreturn)) stand_still(void *loop);

int pin_to(int processor);
pid_t fork_child(void);
int wait_child(pid_t child);
void helper_path(char *path, size_t size, const char *name);

/* A file system whose file "bins", a page, can be opened and never read. */
#define SILENT_FS	"/run/profil-silent"

pid_t mount_silent_fs(void);
int unmount_silent_fs(pid_t child);

int userfault(void *page, unsigned int flags);

uint64_t sum16(const uint16_t *bins, size_t nr);
uint64_t sum32(const uint32_t *bins, size_t nr);
uint64_t sum64(const uint64_t *bins, size_t nr);

double sigmas(double seen, double mean, double variance);
double slack(void);

/*
 * Beyond this many standard deviations a number is no accident any more: a
 * binomial number with a mean of 40 or more is there less than once in ten
 * million times.
 */
#define SIGMAS	6.0

/* A number that depends on where the ticks fell; says how far it is off. */
#define EXPECT_CHANCE(what, seen, mean, variance) do { \
	double off_by = sigmas((seen), (mean), (variance)); \
	TH_LOG("%s: %.1f, due %.1f: %+.2f sigma", (what), (double)(seen), \
	       (double)(mean), off_by); \
	EXPECT_LT(-SIGMAS, off_by); \
	EXPECT_GT(SIGMAS, off_by); \
} while (0)

/* What must hold of any status, at any time. */
#define EXPECT_CONSERVED(status) \
	EXPECT_EQ((status)->ticks, \
		  (status)->counted + (status)->clipped + \
		  (status)->outside + (status)->lost + (status)->left_out)

/* How far a profiled process has come. */
struct moment {
	struct profil_status status;
	uint64_t cpu_ns;
	uint64_t time_ns;
};

struct moment moment_now(void);
double due_ticks(const struct moment *from, const struct moment *to);
double due_variance(const struct moment *from, const struct moment *to);

/* Between two moments every tick came that was due. */
#define EXPECT_TICKS(from, to) do { \
	EXPECT_CHANCE("ticks", (to)->status.ticks - (from)->status.ticks, \
		      due_ticks(from, to), due_variance(from, to)); \
	EXPECT_CONSERVED(&(to)->status); \
} while (0)

/* And the CPU time covered is that of the process, but for @part of it. */
#define EXPECT_COVERED(from, to, part) do { \
	double cpu_ns = (to)->cpu_ns - (from)->cpu_ns; \
	double more_ns = (to)->status.cpu_time_ns - \
			 (from)->status.cpu_time_ns - cpu_ns; \
	double allowed_ns = slack() * (part) * cpu_ns; \
	TH_LOG("CPU time %.3f s, covered: %+.3f ms", cpu_ns / 1e9, \
	       more_ns / 1e6); \
	EXPECT_GE(allowed_ns, more_ns); \
	EXPECT_LE(-allowed_ns, more_ns); \
} while (0)

/* A call that succeeds; says why if it does not. */
#define EXPECT_OK(call) do { \
	int result = (call); \
	if (result) \
		TH_LOG("%s: %s", #call, strerror(errno)); \
	EXPECT_EQ(0, result); \
} while (0)

/* A call that fails, and why. */
#define EXPECT_ERROR(error, call) do { \
	errno = 0; \
	EXPECT_EQ(-1, (call)); \
	EXPECT_EQ((error), errno); \
} while (0)

#endif /* SELFTESTS_COMMON_H */
