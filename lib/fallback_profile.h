/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * fallback_profile.h - a profile that is counted in user space; internal to
 * fallback*.c
 *
 * The lock, the clock and the counts are in memory that the kernel clears at
 * fork: a child counts from zero, whatever call created it, and finds the lock
 * free. What a profile is (struct fallback_profile) is inherited and never
 * changes.
 */
#ifndef PROFIL_FALLBACK_PROFILE_H
#define PROFIL_FALLBACK_PROFILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profil.h"
#include "region.h"

/*
 * Where a signal's ucontext_t has the program counter, and the instruction of a
 * system call.
 */
#if defined(__x86_64__) || defined(__i386__)
#define FALLBACK_CALL_BYTES	2
#define FALLBACK_IS_CALL(code)	(((code)[0] == 0x0f && (code)[1] == 0x05) || \
				 ((code)[0] == 0xcd && (code)[1] == 0x80))
#elif defined(__riscv)
#define FALLBACK_CALL_BYTES	4
#define FALLBACK_IS_CALL(code)	((code)[0] == 0x73 && (code)[1] == 0 && \
				 (code)[2] == 0 && (code)[3] == 0)
#else
#define FALLBACK_CALL_BYTES	4
#define FALLBACK_IS_CALL(code)	((code)[0] == 0x01 && (code)[1] == 0 && \
				 (code)[2] == 0 && (code)[3] == 0xd4)
#endif

#if defined(__x86_64__)
#define FALLBACK_PC(context)	((context)->uc_mcontext.gregs[REG_RIP])
#elif defined(__i386__)
#define FALLBACK_PC(context)	((u32)(context)->uc_mcontext.gregs[REG_EIP])
#elif defined(__aarch64__)
#define FALLBACK_PC(context)	((context)->uc_mcontext.pc)
#elif defined(__riscv)
#define FALLBACK_PC(context)	((context)->uc_mcontext.__gregs[REG_PC])
#endif

/* On other architectures the library does not count in user space. */
#ifdef FALLBACK_PC
#define FALLBACK_HAS_PC		true
#else
#define FALLBACK_HAS_PC		false
#define FALLBACK_PC(context)	((void)(context), 0)
#endif

/**
 * struct fallback_stats - ticks of one region
 * @counted: in its counters
 * @clipped: that found their counter full
 * @lost: whose counter could not be written
 * @state: why the region has been disabled since the start, or 0
 */
struct fallback_stats {
	u64 counted;
	u64 clipped;
	u64 lost;
	u32 state;
};

/**
 * struct fallback_counts - what a profile has counted; cleared at fork
 * @full: a counter has reached 32767, and the profile has stopped
 * @outside: ticks in no region that is on
 * @unseen: ticks whose program counter nobody could find out
 * @stats: ticks of each region
 */
struct fallback_counts {
	bool full;
	u64 outside;
	u64 unseen;
	struct fallback_stats stats[];
};

/**
 * struct fallback_profile - a profile; never changes
 * @bytes: size of the mapping that begins here
 * @flags: PROFIL_SET_*
 * @width: bytes of a counter
 * @max: largest value of a counter
 * @period_ns: mean time between ticks
 * @map: the regions
 * @counts: in the same mapping
 */
struct fallback_profile {
	size_t bytes;
	u32 flags;
	u32 width;
	u32 max;
	u32 period_ns;
	struct profil_map map;
	struct fallback_counts *counts;
};

/* fallback_count.c */

/**
 * struct fallback_own - memory of the clock, into which no tick may go
 * @start: its first byte
 * @end: the byte after it; 0 if there is no such memory
 */
struct fallback_own {
	u64 start;
	u64 end;
};

enum { FALLBACK_OWN_CLOCK, FALLBACK_OWN_THREADS, FALLBACK_NR_OWN };

/* The clock sets it while it holds the lock. */
extern struct fallback_own fallback_own[FALLBACK_NR_OWN];

int fallback_read(void *to, u64 from, size_t size);
int fallback_write(u64 to, const void *from, size_t size);
int fallback_check(const struct fallback_profile *profile);
void fallback_count(const struct fallback_profile *profile, u64 pc, u64 nr);

/* fallback_perf.c */

/**
 * struct fallback_perf - the perf event of a thread
 * @fd: its descriptor, or -1
 * @id: the kernel's number of the event
 */
struct fallback_perf {
	int fd;
	u64 id;
};

void fallback_perf_open(struct fallback_perf *perf, pid_t tid, int number);
u64 fallback_perf_set(struct fallback_perf *perf, u64 ns);
void fallback_perf_stop(struct fallback_perf *perf);
void fallback_perf_close(struct fallback_perf *perf);

/* fallback_clock.c; the caller holds the lock */

/**
 * struct fallback_time - CPU time since the profile began in this process
 * @covered_ns: CPU time of all threads
 * @due: ticks whose signal has not been handled yet
 */
struct fallback_time {
	u64 covered_ns;
	u64 due;
};

int fallback_lock(sigset_t *mask);
void fallback_unlock(const sigset_t *mask);
int fallback_clock_start(const struct fallback_profile *profile);
void fallback_clock_stop(void);
void fallback_clock_read(const struct fallback_profile *profile,
			 struct fallback_time *time, u64 pc);

/* The profile that counts, or NULL. */
extern struct fallback_profile *fallback_current;

#endif /* PROFIL_FALLBACK_PROFILE_H */
