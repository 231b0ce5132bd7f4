/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch.h - helpers for the tests of watches
 *
 * They use the requests of the device, not the library's functions. Include it
 * after kselftest_harness.h and common.h.
 */
#ifndef SELFTESTS_WATCH_H
#define SELFTESTS_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/profil.h>

/* Elsewhere a request with the flag fails. */
#ifdef __x86_64__
#define WATCH_CHAINS	PROFIL_WATCH_CHAINS
#else
#define WATCH_CHAINS	0
#endif

/**
 * struct watch - a watch and its table
 * @fd: descriptor of the device; -1 if there is no watch
 * @as: the request, with the sizes that the device chose
 * @table: the mapped table
 */
struct watch {
	int fd;
	struct profil_watch as;
	const struct profil_watch_table *table;
};

struct profil_watch watch_request(uint32_t target, uint32_t id, uint32_t flags);
int watch_begin(struct watch *watch, const struct profil_watch *request);
int watch_process(struct watch *watch, pid_t pid, uint32_t flags);
int watch_try(const struct profil_watch *request);
void watch_end(struct watch *watch);

struct profil_watch_status watch_status(const struct watch *watch);
struct profil_watch_status watch_settled(const struct watch *watch,
					 uint32_t processes);
struct profil_watch_status watch_stop(const struct watch *watch);

bool watch_conserved(const struct profil_watch_status *status);
bool watch_goes_on(const struct profil_watch_status *last,
		   const struct profil_watch_status *now);

/* A tick falls in each period of a life, and that is cut at both ends. */
#define CUT	2

/**
 * struct life - bounds of the time for which a thread has been watched
 * @shortest: from when the watch had begun
 * @longest: from just before
 */
struct life {
	uint64_t shortest;
	uint64_t longest;
};

uint64_t all_ticks(const struct profil_watch_status *status);
int64_t watch_missing(const struct watch *watch, const struct life *since,
		      uint64_t nr, struct profil_watch_status *status);
uint64_t bytes_of_module(void);

/**
 * struct footprint - what the module has of the kernel
 * @bytes: memory from vmalloc()
 * @references: to the module
 * @tainted: flags of the kernel, one of which a warning sets
 */
struct footprint {
	uint64_t bytes;
	uint64_t references;
	uint64_t tainted;
};

struct footprint footprint(void);
struct footprint footprint_soon(const struct footprint *before);

uint32_t watch_nr_images(const struct watch *watch);
uint32_t watch_nr_objects(const struct watch *watch);
const struct profil_watch_image *watch_image(const struct watch *watch,
					     uint32_t image);
const struct profil_watch_object *watch_object(const struct watch *watch,
					       uint32_t object);
const struct profil_watch_bucket *watch_bucket(const struct watch *watch,
					       uint32_t bucket);
const char *watch_path(const struct watch *watch, uint32_t object);
const char *watch_path_soon(const struct watch *watch, uint32_t object);
bool watch_in_use(const struct profil_watch_bucket *bucket);

uint32_t watch_find_image(const struct watch *watch, const char *comm);
uint32_t watch_find_pid(const struct watch *watch, pid_t pid);
uint32_t watch_find_object(const struct watch *watch, const char *path);
uint32_t watch_own_object(const struct watch *watch, const void *text);
uint64_t watch_offset(const void *text);

/* Any image. */
#define WATCH_ANY	UINT32_MAX

uint64_t watch_ticks(const struct watch *watch, uint32_t image,
		     uint32_t object);
uint64_t watch_ticks_at(const struct watch *watch, uint32_t object,
			uint64_t from, uint64_t to);
uint64_t watch_ticks_of(const struct watch *watch, const void *text,
			const void *end);
uint64_t image_ticks(const struct profil_watch_image *image);

const char *watch_fault(const struct watch *watch,
			const struct profil_watch_status *status);

/*
 * Read the status of a fixture's watch until @condition holds. A busy host may stop
 * a virtual CPU for as long as a second: so a test waits for what it expects, and
 * not for a time after which that should be so.
 */
#define EXPECT_SOON(self, condition) do { \
	uint64_t until = monotonic_ns() + 60 * SECOND; \
	while ((self)->status = watch_status(&(self)->watch), \
	       !(condition) && monotonic_ns() < until) \
		usleep(10000); \
	EXPECT_TRUE(condition); \
} while (0)

/* Every tick has exactly one outcome, in any status at any time. */
#define EXPECT_WATCH_CONSERVED(status) \
	EXPECT_EQ((status)->ticks, (status)->counted + (status)->coarse + \
		  (status)->kernel + (status)->unresolved)

/*
 * Check that every tick of processes that have ended has its bucket. On PREEMPT_RT
 * a worker looks for it, which waits for a CPU as others do: the process may have
 * ended, or execute another program, before that, with all of its ticks.
 * watch_life.life.of_one_who_stays_when_its_work_is_done has what holds there.
 * Before Linux 6.1 nobody looks if the mappings are just changing.
 */
#define EXPECT_RESOLVED(status) \
	EXPECT_EQ(0, is_preempt_rt() || is_linux_before(6, 1) ? 0 : \
		  (status)->unresolved)

/*
 * Check that the whole table agrees with a status that was read after the last
 * tick.
 */
#define EXPECT_SOUND(watch, status) do { \
	const char *fault = watch_fault((watch), (status)); \
	if (fault) \
		TH_LOG("%s", fault); \
	EXPECT_EQ(NULL, fault); \
} while (0)

/* Check that the module has as much as before, once RCU has freed memory. */
#define EXPECT_FOOTPRINT(before) do { \
	struct footprint now = footprint_soon(before); \
	EXPECT_EQ((before)->bytes, now.bytes); \
	EXPECT_EQ((before)->references, now.references); \
	EXPECT_EQ((before)->tainted, now.tainted); \
} while (0)

/* Check the number of ticks in the CPU time that the watch covered. */
#define EXPECT_WATCH_TICKS(status) do { \
	double due = (double)(status)->cpu_time_ns / (status)->period_ns; \
	EXPECT_WATCH_CONSERVED(status); \
	EXPECT_TICKS_DUE((status)->ticks, due); \
} while (0)

/**
 * struct child - a process that waits for the test's permission to work
 * @pid: its process ID
 * @go: write end of the pipe that it waits for; -1 once it works
 */
struct child {
	pid_t pid;
	int go;
};

struct child child_begin(int (*work)(void *argument), void *argument);
int child_wait_stopped(const struct child *child);
int child_hold(const struct child *child);
void child_go(struct child *child);
bool child_has_ended(const struct child *child);
int child_end(struct child *child);
int run_children(int nr, const int pipe_ends[2]);
int child_kill(struct child *child);
int wait_for_sleepers(pid_t pid, int nr);
uint64_t thread_switches(pid_t pid);

int burn_100_ms(void *unused);
int wait_for_signal(void *unused);

int put_parameter(const char *name, const char *value);
int get_parameter(const char *name, char *value, size_t size);

/*
 * Machine code of void spin(uint64_t rounds), for text that a test maps
 * wherever it wants.
 */
extern const unsigned char spin_code[];
extern const size_t spin_code_size;

char *map_spin_code(int nr);
void spin_ns(const void *code, uint64_t ns);
int make_code(const char *path);
int write_code(int fd);

#endif /* SELFTESTS_WATCH_H */
