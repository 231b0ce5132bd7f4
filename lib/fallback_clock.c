// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * fallback_clock.c - have ticks come in user space
 *
 * Every thread has a timer on its own CPU time, set for the next tick of its
 * schedule, which is the device's (module/schedule.h). The kernel looks at such
 * timers at its own clock tick, while the thread runs. So a signal comes up to
 * a jiffy late, but never while the thread sleeps; all ticks that are due by
 * then count where it finds the program. A perf event is on time, but silent in
 * the kernel: the tick that it leaves out is held until the timer finds the
 * thread in a system call, and counts where that returns.
 *
 * A further timer, on the CPU time of the process, looks for new threads: their
 * schedules begin where their CPU time did.
 *
 * SIGURG, since its default action is to ignore it: a signal that is late, after
 * the profile was stopped, the handler replaced or another program executed,
 * does no harm.
 */
#define _GNU_SOURCE 1
/* Makes struct dirent that of getdents64(2) */
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "fallback_profile.h"
#include "schedule.h"

/* timer_create(2) has this name, the GNU C library before 2.41 only this member */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id	_sigev_un._tid
#endif

#define FALLBACK_SIGNAL		SIGURG

/*
 * A tick that is so much CPU time overdue is counted as lost: the thread had
 * blocked the signal, or ran between two jiffies only, and nobody knows where
 * it was. A virtual CPU may be stopped for half as long, and the program with
 * it.
 */
#define FALLBACK_LATE_NS	100000000

/*
 * Looking for threads takes a microsecond or two for each, and happens again
 * after so much CPU time for each: a part in fifty.
 */
#define FALLBACK_SCAN_NS	100000

/* A thread that has run for so long is looked for. */
#define FALLBACK_UNKNOWN_NS	200000

/* Less than a jiffy, and more than it takes to set a timer */
#define FALLBACK_SOON_NS	200000

/*
 * A held tick whose thread so many signals of the timer have not found in a
 * system call was due in a page fault, or the like: it counts where the next one
 * finds the thread.
 */
#define FALLBACK_PATIENCE	100

/* From the kernel's posix-timers.h: whose CPU time, and which */
#define CPUCLOCK_THREAD		4
#define CPUCLOCK_USER		1
#define CPUCLOCK_ALL		2

/**
 * struct fallback_thread - a thread and its ticks
 * @tid: its number; 0 marks a free slot
 * @timer: the kernel's number of its timer
 * @perf: its event, set for the same time
 * @scan: number of the last scan that found it
 * @start_ns: its CPU time when its schedule began
 * @seen_ns: its CPU time when it last handled a tick
 * @fires_ns: its CPU time at which the event fires, if it is in user mode then
 * @held: ticks that were due in the kernel, and have not been counted
 * @open: ticks of which that is not known
 * @patience: signals of the timer for which the first of @held waits
 * @schedule: its ticks
 */
struct fallback_thread {
	pid_t tid;
	int timer;
	struct fallback_perf perf;
	u64 scan;
	u64 start_ns;
	u64 seen_ns;
	u64 fires_ns;
	u64 held;
	u64 open;
	u32 patience;
	struct profil_schedule schedule;
};

/**
 * struct fallback_clock - all that changes; cleared at fork
 * @lock: the holder's number, as FUTEX_LOCK_PI has it: a handler may have to
 *	wait for a thread of lower priority
 * @runs: the timers of process @pid have been made
 * @pid: by vfork() or CLONE_VM another one may have this memory, too
 * @which: CPUCLOCK_USER or CPUCLOCK_ALL
 * @secret: of the schedules
 * @scout: timer that looks for new threads
 * @scans: number of the last scan
 * @start_ns: CPU time of the process when the profile began
 * @ended_ns: of that, CPU time of threads that have ended
 * @unknown_ns: CPU time of no known thread, after the last scan
 * @next_scan_ns: CPU time of the process at the next one
 * @estimated: ticks of threads that ended before they were found
 * @old: what the signal did before
 * @nr: number of threads
 * @entries: of /proc/self/task
 */
struct fallback_clock {
	u32 lock;
	bool runs;
	pid_t pid;
	u32 which;
	u64 secret[2];
	int scout;
	u64 scans;
	u64 start_ns;
	u64 ended_ns;
	s64 unknown_ns;
	u64 next_scan_ns;
	u64 estimated;
	struct sigaction old;
	u32 nr;
	char entries[2048] __attribute__((aligned(8)));
};

static struct fallback_clock *fallback_clock;

/*
 * A hash table of threads, by number, and the number of its slots less one. A
 * child finds its parent's there, to close the events.
 */
static struct fallback_thread *fallback_threads;
static u32 fallback_mask;

/* --- the lock */

static struct fallback_clock *fallback_clock_get(void)
{
	struct fallback_clock *clock, *first = NULL;

	clock = __atomic_load_n(&fallback_clock, __ATOMIC_ACQUIRE);
	if (clock)
		return clock;
	clock = mmap(NULL, sizeof(*clock), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (clock == MAP_FAILED)
		return NULL;
	if (madvise(clock, sizeof(*clock), MADV_WIPEONFORK))
		goto unmap;
	if (__atomic_compare_exchange_n(&fallback_clock, &first, clock, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return clock;
unmap:
	munmap(clock, sizeof(*clock));
	return first;
}

/* The caller has blocked all signals: the holder cannot be interrupted. */
static void fallback_acquire(struct fallback_clock *clock)
{
	u32 tid = gettid();
	u32 free = 0;

	while (!__atomic_compare_exchange_n(&clock->lock, &free, tid, false,
					    __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (!syscall(SYS_futex, &clock->lock,
			     FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL))
			return;
		sched_yield();
		free = 0;
	}
}

static void fallback_release(struct fallback_clock *clock)
{
	u32 tid = gettid();

	if (!__atomic_compare_exchange_n(&clock->lock, &tid, 0, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		syscall(SYS_futex, &clock->lock,
			FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG);
}

static void fallback_set_own(u32 which, const void *start, size_t bytes)
{
	fallback_own[which].start = (uintptr_t)start;
	fallback_own[which].end = start ? (uintptr_t)start + bytes : 0;
}

static int fallback_clock_begin(struct fallback_clock *clock,
				const struct fallback_profile *profile);

/**
 * fallback_lock() - block all signals and take the lock
 * @mask: receives the signal mask
 *
 * A forked child that inherited a profile begins to count here.
 *
 * Return: 0; or an error, and nothing has changed: -ENOMEM, or -EBUSY if the
 * profile is that of another process, whose memory this one shares.
 */
int fallback_lock(sigset_t *mask)
{
	struct fallback_clock *clock = fallback_clock_get();
	static const u64 all = ~0ULL;

	if (!clock)
		return -ENOMEM;
	memset(mask, 0, sizeof(*mask));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, mask, sizeof(all));
	fallback_acquire(clock);
	if (clock->runs && clock->pid != getpid()) {
		fallback_unlock(mask);
		return -EBUSY;
	}
	fallback_set_own(FALLBACK_OWN_CLOCK, clock, sizeof(*clock));
	if (fallback_current && !clock->runs)
		fallback_clock_begin(clock, fallback_current);
	return 0;
}

/* Release the lock, and restore the signal mask. */
void fallback_unlock(const sigset_t *mask)
{
	fallback_release(fallback_clock);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, sizeof(u64));
}

/*
 * Let the child count too; one that was made by other calls than fork() counts
 * when it first calls this library.
 */
static void fallback_child(void)
{
	int error = errno;
	sigset_t mask;

	if (fallback_current && !fallback_lock(&mask))
		fallback_unlock(&mask);
	errno = error;
}

/* Here, since pthread_atfork() is not safe in signal handlers. */
static __attribute__((constructor)) void fallback_watch_fork(void)
{
	pthread_atfork(NULL, NULL, fallback_child);
}

/* --- CPU time */

/* The kernel's number for the CPU time of a thread; of the process, if 0. */
static clockid_t fallback_clockid(const struct fallback_clock *clock, pid_t tid)
{
	u32 id = (~(u32)tid << 3) | clock->which;

	return tid ? id | CPUCLOCK_THREAD : id;
}

static u64 fallback_cpu_ns(const struct fallback_clock *clock, pid_t tid)
{
	struct timespec time;

	if (clock_gettime(fallback_clockid(clock, tid), &time))
		return 0;
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* --- timers */

#if UINTPTR_MAX == UINT64_MAX
#define FALLBACK_TIMER_SETTIME	SYS_timer_settime
#else
#define FALLBACK_TIMER_SETTIME	SYS_timer_settime64
#endif

struct fallback_timer_value {
	int64_t interval[2];
	int64_t seconds;
	int64_t ns;
};

/* A timer that signals thread @tid, or any thread if 0. */
static int fallback_timer_create(const struct fallback_clock *clock, pid_t tid)
{
	struct sigevent event = {
		.sigev_notify = tid ? SIGEV_THREAD_ID : SIGEV_SIGNAL,
		.sigev_signo = FALLBACK_SIGNAL,
		.sigev_notify_thread_id = tid,
	};
	int timer;

	if (syscall(SYS_timer_create, fallback_clockid(clock, tid), &event,
		    &timer))
		return -errno;
	return timer;
}

/*
 * Absolute, in CPU time; and every @period_ns from then on, in case that a
 * signal is lost: the program may have taken it over for a while.
 */
static int fallback_timer_set(int timer, u64 ns, u32 period_ns)
{
	struct fallback_timer_value value = {
		.interval = { 0, period_ns },
		.seconds = ns / 1000000000,
		.ns = ns % 1000000000,
	};

	return syscall(FALLBACK_TIMER_SETTIME, timer, TIMER_ABSTIME, &value,
		       NULL) ? -errno : 0;
}

/* --- threads */

static struct fallback_thread *fallback_slot(struct fallback_thread *threads,
					     u32 mask, pid_t tid)
{
	u32 i = (u32)tid * 2654435761U >> 7;

	while (threads[i & mask].tid && threads[i & mask].tid != tid)
		i++;
	return &threads[i & mask];
}

static struct fallback_thread *fallback_find(pid_t tid)
{
	struct fallback_thread *thread;

	if (!fallback_threads)
		return NULL;
	thread = fallback_slot(fallback_threads, fallback_mask, tid);
	return thread->tid ? thread : NULL;
}

static size_t fallback_table_bytes(u32 mask)
{
	return (mask + 1) * sizeof(struct fallback_thread);
}

/* Make room in the table for one more thread; half of it stays free. */
static bool fallback_make_room(u32 nr)
{
	struct fallback_thread *old = fallback_threads, *threads;
	u32 old_mask = fallback_mask, mask = old ? 2 * old_mask + 1 : 63;
	u32 i;

	if (old && 2 * nr < old_mask)
		return true;
	threads = mmap(NULL, fallback_table_bytes(mask), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (threads == MAP_FAILED)
		return false;
	for (i = 0; old && i <= old_mask; i++)
		if (old[i].tid)
			*fallback_slot(threads, mask, old[i].tid) = old[i];
	/* The process may fork at any moment: the child uses these */
	__atomic_store_n(&fallback_threads, threads, __ATOMIC_SEQ_CST);
	__atomic_store_n(&fallback_mask, mask, __ATOMIC_SEQ_CST);
	fallback_set_own(FALLBACK_OWN_THREADS, threads,
			 fallback_table_bytes(mask));
	if (old)
		munmap(old, fallback_table_bytes(old_mask));
	return true;
}

/* Move up those that a search would not find any more. */
static void fallback_remove(u32 index)
{
	struct fallback_thread *threads = fallback_threads;
	u32 mask = fallback_mask;
	u32 i;

	threads[index].tid = 0;
	for (i = (index + 1) & mask; threads[i].tid; i = (i + 1) & mask) {
		struct fallback_thread thread = threads[i];

		threads[i].tid = 0;
		*fallback_slot(threads, mask, thread.tid) = thread;
	}
}

static void fallback_free_table(void)
{
	struct fallback_thread *threads = fallback_threads;

	__atomic_store_n(&fallback_threads, NULL, __ATOMIC_SEQ_CST);
	fallback_set_own(FALLBACK_OWN_THREADS, NULL, 0);
	if (threads)
		munmap(threads, fallback_table_bytes(fallback_mask));
}

/*
 * Have the thread signalled at its next tick, or for those that wait at the next
 * jiffy; its CPU time is @now. A timer that is set for the past would fire at
 * once, and wake a thread that sleeps.
 */
static int fallback_thread_arm(struct fallback_thread *thread, u64 now)
{
	u64 next = thread->schedule.next;

	thread->fires_ns = now + fallback_perf_set(&thread->perf, next > now ?
						   next - now : 0);
	if (next <= now)
		next = now + 1;
	if (thread->held + thread->open && next > now + FALLBACK_SOON_NS)
		next = now + FALLBACK_SOON_NS;
	return fallback_timer_set(thread->timer, next,
				  thread->schedule.period_ns);
}

/*
 * The schedule begins at CPU time @start_ns of the thread. Ticks that are due
 * already make the timer fire when the thread next runs.
 */
static void fallback_thread_start(const struct fallback_clock *clock,
				  struct fallback_thread *thread, u64 start_ns,
				  u32 period_ns)
{
	thread->start_ns = start_ns;
	thread->seen_ns = start_ns;
	thread->held = 0;
	thread->open = 0;
	profil_schedule_start(&thread->schedule, clock->secret, thread->tid,
			      period_ns, start_ns);
	fallback_thread_arm(thread, fallback_cpu_ns(clock, thread->tid));
}

/* User time is not what perf's clock counts. */
static void fallback_thread_open(const struct fallback_clock *clock,
				 struct fallback_thread *thread)
{
	thread->perf.fd = -1;
	if (clock->which == CPUCLOCK_ALL)
		fallback_perf_open(&thread->perf, thread->tid, FALLBACK_SIGNAL);
}

static void fallback_thread_close(struct fallback_thread *thread)
{
	fallback_perf_stop(&thread->perf);
	fallback_perf_close(&thread->perf);
	syscall(SYS_timer_delete, thread->timer);
}

/* Give a thread its timer. Its schedule began @past_ns ago. */
static int fallback_register(struct fallback_clock *clock, pid_t tid,
			     u64 past_ns, u32 period_ns)
{
	u64 now = fallback_cpu_ns(clock, tid);
	struct fallback_thread *thread;
	int timer;

	if (!fallback_make_room(clock->nr))
		return -ENOMEM;
	timer = fallback_timer_create(clock, tid);
	if (timer < 0)
		return timer;
	thread = fallback_slot(fallback_threads, fallback_mask, tid);
	*thread = (struct fallback_thread){
		.tid = tid,
		.timer = timer,
		.scan = clock->scans,
	};
	fallback_thread_open(clock, thread);
	clock->nr++;
	fallback_thread_start(clock, thread, now > past_ns ? now - past_ns : 0,
			      period_ns);
	return 0;
}

/*
 * The thread may have got past its last tick, but not to the next one. Ticks
 * that wait have nowhere to count.
 */
static void fallback_ended(struct fallback_clock *clock,
			   struct fallback_thread *thread)
{
	struct fallback_counts *counts = fallback_current ?
		fallback_current->counts : NULL;
	u64 end_ns = thread->seen_ns +
		     (thread->schedule.next - thread->seen_ns) / 2;

	clock->ended_ns += end_ns - thread->start_ns;
	if (counts && !counts->full)
		counts->unseen += thread->held + thread->open;
	fallback_thread_close(thread);
}

/*
 * A thread whose number was another's has a timer of the other still, which
 * never fires. Only those that are long overdue are asked.
 */
static void fallback_check_thread(struct fallback_clock *clock,
				  struct fallback_thread *thread)
{
	u64 now = fallback_cpu_ns(clock, thread->tid);
	int timer;

	if (now >= thread->seen_ns &&
	    (now < thread->schedule.next + FALLBACK_LATE_NS ||
	     fallback_thread_arm(thread, now) != -ESRCH))
		return;
	timer = fallback_timer_create(clock, thread->tid);
	if (timer < 0)
		return;
	fallback_ended(clock, thread);
	thread->timer = timer;
	fallback_thread_open(clock, thread);
	fallback_thread_start(clock, thread, 0, thread->schedule.period_ns);
}

static void fallback_found(struct fallback_clock *clock, pid_t tid,
			   u64 past_ns, u32 period_ns)
{
	struct fallback_thread *thread = fallback_find(tid);

	if (thread) {
		thread->scan = clock->scans;
		fallback_check_thread(clock, thread);
	} else {
		fallback_register(clock, tid, past_ns, period_ns);
	}
}

/*
 * The directory may leave out a thread while others end, so ask for the CPU
 * time of one that was not found: there is none of a thread that has ended.
 */
static bool fallback_has_ended(const struct fallback_clock *clock,
			       const struct fallback_thread *thread)
{
	struct timespec time;

	return thread->scan != clock->scans &&
	       clock_gettime(fallback_clockid(clock, thread->tid), &time);
}

static void fallback_forget_ended(struct fallback_clock *clock)
{
	u32 i = 0;

	while (fallback_threads && i <= fallback_mask) {
		struct fallback_thread *thread = &fallback_threads[i];

		if (!thread->tid || !fallback_has_ended(clock, thread)) {
			i++;
			continue;
		}
		fallback_ended(clock, thread);
		clock->nr--;
		fallback_remove(i);
	}
}

/* Ticks that are due in a thread, but have not been counted. */
static u64 fallback_due(const struct fallback_thread *thread, u64 now)
{
	struct profil_schedule schedule = thread->schedule;

	return now > thread->seen_ns ? profil_schedule_advance(&schedule, now) :
				       0;
}

/*
 * The CPU time of the process that is of no thread known here. The ticks of
 * @settled have just been counted.
 */
static s64 fallback_unknown_ns(const struct fallback_clock *clock,
			       struct fallback_time *time,
			       const struct fallback_thread *settled)
{
	u64 known_ns = clock->ended_ns;
	u32 i;

	/* First: threads go on meanwhile */
	time->covered_ns = fallback_cpu_ns(clock, 0) - clock->start_ns;
	time->due = 0;
	for (i = 0; fallback_threads && i <= fallback_mask; i++) {
		const struct fallback_thread *thread = &fallback_threads[i];
		u64 now;

		if (!thread->tid)
			continue;
		now = fallback_cpu_ns(clock, thread->tid);
		if (thread != settled)
			time->due += fallback_due(thread, now) +
				     thread->held + thread->open;
		if (now > thread->start_ns)
			known_ns += now - thread->start_ns;
	}
	return time->covered_ns - known_ns;
}

/* Look for threads that are new, and for those that have ended. */
static void fallback_scan(struct fallback_clock *clock, u32 period_ns)
{
	struct fallback_time time;
	s64 unknown_ns = fallback_unknown_ns(clock, &time, NULL);
	u64 past_ns = unknown_ns > 0 ? unknown_ns : 0;
	int fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/task",
			 O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long bytes, at;

	if (fd < 0)
		return;
	clock->scans++;
	while ((bytes = syscall(SYS_getdents64, fd, clock->entries,
				sizeof(clock->entries))) > 0) {
		for (at = 0; at < bytes;) {
			struct dirent *entry =
				(void *)(clock->entries + at);
			pid_t tid = atoi(entry->d_name);

			if (tid > 0)
				fallback_found(clock, tid, past_ns, period_ns);
			at += entry->d_reclen;
		}
	}
	syscall(SYS_close, fd);
	if (!bytes)
		fallback_forget_ended(clock);
}

/*
 * Look for threads if there must be one that is not known, and again after a
 * period, or later if there are many. The ticks of known threads do that. The
 * timer is for when there are none: the kernel may signal a thread that sleeps,
 * before Linux 6.4 always the first one.
 */
static void fallback_scout(struct fallback_clock *clock, u32 period_ns)
{
	u64 wait_ns = (u64)clock->nr * FALLBACK_SCAN_NS;
	struct fallback_time time;

	if (fallback_cpu_ns(clock, 0) < clock->next_scan_ns)
		return;
	if (fallback_unknown_ns(clock, &time, NULL) >
	    clock->unknown_ns + FALLBACK_UNKNOWN_NS) {
		fallback_scan(clock, period_ns);
		clock->unknown_ns = fallback_unknown_ns(clock, &time, NULL);
	}
	if (wait_ns < period_ns)
		wait_ns = period_ns;
	clock->next_scan_ns = clock->start_ns + time.covered_ns + wait_ns;
	fallback_timer_set(clock->scout, clock->next_scan_ns + 2 * wait_ns,
			   period_ns);
}

/* --- ticks */

/* Why fallback_tick() is called */
enum fallback_cause { FALLBACK_EVENT, FALLBACK_TIMER, FALLBACK_END };

/* Has the thread just made a system call, or will it make one again? */
static bool fallback_is_in_call(u64 pc)
{
	u8 code[2 * FALLBACK_CALL_BYTES];

	return !fallback_read(code, pc - FALLBACK_CALL_BYTES, sizeof(code)) &&
	       (FALLBACK_IS_CALL(code) ||
		FALLBACK_IS_CALL(code + FALLBACK_CALL_BYTES));
}

/*
 * Let @nr more ticks count here or wait. Return: how many count.
 *
 * The event was set for the first of them. If it fired in time, the thread was
 * in user mode; if not, in the kernel, and what was due before the event was set
 * again may have been in either.
 */
static u64 fallback_sort(struct fallback_thread *thread, u64 nr, u64 now,
			 enum fallback_cause cause, u64 pc)
{
	u64 gap_ns = thread->fires_ns - thread->seen_ns;

	/* The program may have closed the event */
	if (thread->perf.fd < 0)
		cause = FALLBACK_END;
	if (cause == FALLBACK_EVENT && now < thread->fires_ns + gap_ns / 2)
		return nr;
	if (nr && now >= thread->fires_ns && cause != FALLBACK_END) {
		if (!thread->held++)
			thread->patience = FALLBACK_PATIENCE;
		nr--;
	}
	thread->open += nr;
	if (cause == FALLBACK_EVENT)
		return 0;
	nr = thread->open;
	thread->open = 0;
	if (thread->held && (cause == FALLBACK_END || !thread->patience-- ||
			     fallback_is_in_call(pc))) {
		nr += thread->held;
		thread->held = 0;
	}
	return nr;
}

static void fallback_tick(struct fallback_clock *clock,
			  struct fallback_thread *thread,
			  const struct fallback_profile *profile, u64 pc,
			  enum fallback_cause cause)
{
	u64 now = fallback_cpu_ns(clock, thread->tid);
	u64 nr, late = 0;

	if (now > FALLBACK_LATE_NS + thread->seen_ns)
		late = profil_schedule_advance(&thread->schedule,
					       now - FALLBACK_LATE_NS);
	nr = profil_schedule_advance(&thread->schedule, now);
	nr = fallback_sort(thread, nr, now, cause, pc);
	thread->seen_ns = now;
	if (!profile->counts->full) {
		profile->counts->unseen += late;
		if (nr)
			fallback_count(profile, pc, nr);
	}
	fallback_thread_arm(thread, now);
}

static void fallback_signal(int number, siginfo_t *info, void *context)
{
	struct fallback_clock *clock = fallback_clock;
	const struct fallback_profile *profile;
	struct fallback_thread *thread;
	int error = errno;

	(void)number;
	/* Not an urgent message at a socket, nor kill(2) */
	if (info->si_code != SI_TIMER && info->si_code != POLL_IN)
		return;
	fallback_acquire(clock);
	profile = fallback_current;
	if (clock->runs) {
		fallback_scout(clock, profile->period_ns);
		thread = fallback_find(gettid());
		if (thread)
			fallback_tick(clock, thread, profile,
				      FALLBACK_PC((ucontext_t *)context),
				      info->si_code == SI_TIMER ?
				      FALLBACK_TIMER : FALLBACK_EVENT);
	}
	fallback_release(clock);
	errno = error;
}

/* --- beginning and end */

static u32 fallback_which(const struct fallback_profile *profile)
{
	return profile->flags & PROFIL_SET_USER_ONLY ? CPUCLOCK_USER :
						       CPUCLOCK_ALL;
}

static int fallback_take_signal(struct fallback_clock *clock)
{
	struct sigaction action = {
		.sa_sigaction = fallback_signal,
		.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK,
	};

	/* More than sigfillset() does: the C library's own signals, too */
	memset(&action.sa_mask, 0xff, sizeof(action.sa_mask));
	if (sigaction(FALLBACK_SIGNAL, NULL, &clock->old))
		return -errno;
	if (clock->old.sa_sigaction == fallback_signal)
		clock->old = (struct sigaction){ .sa_handler = SIG_DFL };
	else if (clock->old.sa_handler != SIG_DFL &&
		 clock->old.sa_handler != SIG_IGN)
		return -EBUSY;
	return sigaction(FALLBACK_SIGNAL, &action, NULL) ? -errno : 0;
}

static bool fallback_has_signal(void)
{
	struct sigaction action;

	return !sigaction(FALLBACK_SIGNAL, NULL, &action) &&
	       action.sa_sigaction == fallback_signal;
}

/* Unless the program has taken the signal over meanwhile. */
static void fallback_give_signal_back(const struct fallback_clock *clock)
{
	if (fallback_has_signal())
		sigaction(FALLBACK_SIGNAL, &clock->old, NULL);
}

static void fallback_clock_end(struct fallback_clock *clock)
{
	u32 i;

	clock->runs = false;
	syscall(SYS_timer_delete, clock->scout);
	for (i = 0; fallback_threads && i <= fallback_mask; i++)
		if (fallback_threads[i].tid)
			fallback_thread_close(&fallback_threads[i]);
	fallback_free_table();
	clock->nr = 0;
	fallback_give_signal_back(clock);
}

/* Let the schedules of all threads begin now. */
static void fallback_clock_restart(struct fallback_clock *clock, u32 period_ns)
{
	u32 i;

	clock->start_ns = fallback_cpu_ns(clock, 0);
	clock->ended_ns = 0;
	clock->unknown_ns = 0;
	clock->estimated = 0;
	for (i = 0; i <= fallback_mask; i++) {
		struct fallback_thread *thread = &fallback_threads[i];

		if (thread->tid)
			fallback_thread_start(clock, thread,
					      fallback_cpu_ns(clock, thread->tid),
					      period_ns);
	}
	clock->next_scan_ns = clock->start_ns + period_ns;
	fallback_timer_set(clock->scout, clock->next_scan_ns, period_ns);
}

/* The descriptors of the parent's events, if this is a forked child. */
static void fallback_drop_inherited(void)
{
	u32 i;

	for (i = 0; fallback_threads && i <= fallback_mask; i++)
		if (fallback_threads[i].tid)
			fallback_perf_close(&fallback_threads[i].perf);
	fallback_free_table();
}

static int fallback_clock_begin(struct fallback_clock *clock,
				const struct fallback_profile *profile)
{
	int err;

	fallback_drop_inherited();
	err = fallback_take_signal(clock);
	if (err)
		return err;
	clock->which = fallback_which(profile);
	/* Too early after boot there are none; then the thread's number must do */
	syscall(SYS_getrandom, clock->secret, sizeof(clock->secret),
		GRND_NONBLOCK);
	clock->scout = fallback_timer_create(clock, 0);
	if (clock->scout < 0) {
		fallback_give_signal_back(clock);
		return clock->scout;
	}
	clock->runs = true;
	clock->pid = getpid();
	fallback_scan(clock, profile->period_ns);
	if (!fallback_find(gettid()))
		err = fallback_register(clock, gettid(), 0, profile->period_ns);
	if (err)
		fallback_clock_end(clock);
	else
		fallback_clock_restart(clock, profile->period_ns);
	return err;
}

/**
 * fallback_clock_start() - have ticks come for a profile
 * @profile: becomes the current one, in place of any other, if this succeeds
 *
 * Return: 0, or -EBUSY if the program handles the signal itself, -EAGAIN if the
 * user has no more timers (RLIMIT_SIGPENDING), -ENOMEM.
 */
int fallback_clock_start(const struct fallback_profile *profile)
{
	struct fallback_clock *clock = fallback_clock;
	int err = 0;

	if (clock->runs && !fallback_has_signal())
		err = fallback_take_signal(clock);
	if (err)
		return err;
	if (clock->runs && clock->which == fallback_which(profile)) {
		fallback_scan(clock, profile->period_ns);
		fallback_clock_restart(clock, profile->period_ns);
		return 0;
	}
	if (clock->runs)
		fallback_clock_end(clock);
	return fallback_clock_begin(clock, profile);
}

/* Have no more ticks come. */
void fallback_clock_stop(void)
{
	if (fallback_clock->runs)
		fallback_clock_end(fallback_clock);
}

/**
 * fallback_clock_read() - read the CPU time, and what is known of it
 * @profile: the current one; its ticks that nobody saw are brought up to date
 * @time: receives the result
 * @pc: where the ticks that are due in this thread count, when the profile is
 *	about to end; 0 leaves them to the signal that is about to come
 *
 * CPU time of the process that is of no known thread was of threads that ended
 * before they were found.
 */
void fallback_clock_read(const struct fallback_profile *profile,
			 struct fallback_time *time, u64 pc)
{
	struct fallback_clock *clock = fallback_clock;
	struct fallback_thread *self;
	s64 unknown_ns;
	u64 estimated;

	*time = (struct fallback_time){ 0 };
	if (!clock->runs)
		return;
	fallback_scan(clock, profile->period_ns);
	self = fallback_find(gettid());
	if (self && pc)
		fallback_tick(clock, self, profile, pc, FALLBACK_END);
	unknown_ns = fallback_unknown_ns(clock, time, pc ? self : NULL);
	if (profile->counts->full)
		time->due = 0;
	if (profile->counts->full || unknown_ns <= 0)
		return;
	estimated = unknown_ns / profile->period_ns;
	if (estimated > clock->estimated) {
		profile->counts->unseen += estimated - clock->estimated;
		clock->estimated = estimated;
	}
}
