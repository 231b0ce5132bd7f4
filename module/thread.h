/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread.h - the threads of watches of wall-clock time, and how long they wait
 *
 * A thread that is switched out stores when that was, in @out; all ticks from
 * then on are due. Who takes @out from there counts them: the CPU that switches
 * the thread in, by an exchange; or a reader of the watch, by a compare and
 * exchange, who leaves the time up to which it has counted. So each tick is
 * counted once, and neither waits for the other. What a reader has found before
 * belongs to the wait that it counts: @out is another one in the next wait.
 */
#ifndef PROFIL_THREAD_H
#define PROFIL_THREAD_H

#include <linux/audit.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <asm/syscall.h>

#include "profil_private.h"
#include "schedule.h"
#include "watcher.h"

/*
 * Threads of a process that is moved to another cgroup: they are looked at one by
 * one, with interrupts off and under locks that fork and exec take, too.
 */
#define PROFIL_MOVED_THREADS	1024

/* A wait of so long has PROFIL_WAIT_LONG. */
#define PROFIL_LONG_WAIT_NS	NSEC_PER_SEC

/**
 * struct profil_thread - a thread in a watch of wall-clock time
 * @node: in profil_threads
 * @task: the key, with @member; removed before the task is freed
 * @member: its process in the watch
 * @out: up to when its ticks are counted while it is switched out; 0 while it
 *	runs, or does not count
 * @since: when it was switched out last
 * @run_delay: how long it had waited for CPUs before, see struct sched_info
 * @state: in which it was switched out; TASK_RUNNING: although it could run
 * @schedule: its ticks, as of @since
 * @rcu: delays reuse; then, links those that are free
 *
 * From @since to @schedule the CPU that switches the thread writes, before @out.
 */
struct profil_thread {
	struct hlist_node node;
	struct task_struct *task;
	struct profil_member *member;
	u64 out;
	u64 since;
	u64 run_delay;
	u32 state;
	struct profil_schedule schedule;
	struct rcu_head rcu;
};

/* thread.c */

#define PROFIL_THREAD_BITS	13

extern struct hlist_head profil_threads[1 << PROFIL_THREAD_BITS];

static inline struct hlist_head *
profil_thread_bucket(const struct task_struct *task)
{
	return &profil_threads[profil_hash(task, PROFIL_THREAD_BITS)];
}

/* Context: under rcu_read_lock(), or with hard interrupts off. */
static inline struct profil_thread *
profil_thread_find(const struct profil_member *member,
		   const struct task_struct *task)
{
	struct hlist_node *node = rcu_dereference_raw(hlist_first_rcu(profil_thread_bucket(task)));
	struct profil_thread *thread;

	for (; node; node = rcu_dereference_raw(hlist_next_rcu(node))) {
		thread = hlist_entry(node, struct profil_thread, node);
		if (thread->task == task && thread->member == member)
			return thread;
	}
	return NULL;
}

/* --- when the thread waited, and for what */

static inline u64 profil_thread_run_delay(const struct task_struct *task)
{
#ifdef CONFIG_SCHED_INFO
	return READ_ONCE(task->sched_info.run_delay);
#else
	return 0;
#endif
}

/*
 * For how long of the last @span_ns the thread has waited for a CPU. Its clock is
 * that of the scheduler, which agrees with others within some microseconds.
 */
static inline u64 profil_thread_queued(const struct profil_thread *thread,
				       const struct task_struct *task,
				       u64 span_ns)
{
	u64 __maybe_unused queued;
	u64 delay = 0;

	if (READ_ONCE(thread->state) == TASK_RUNNING)
		return span_ns;
#ifdef CONFIG_SCHED_INFO
	delay = profil_thread_run_delay(task) - READ_ONCE(thread->run_delay);
	/* Once: it is 0 while the thread is moved to another queue */
	queued = READ_ONCE(task->sched_info.last_queued);
	/*
	 * Since Linux 6.12 a thread that blocks may stay in the queue for a while,
	 * and sched_info says so if it is moved to another one meanwhile.
	 */
	if (queued && profil_task_state(task) == TASK_RUNNING)
		delay += max_t(s64, 0, local_clock() - queued);
#endif
	return min(delay, span_ns);
}

/* To seek in: only the rest changes when the thread is switched out. */
static inline struct profil_schedule
profil_thread_schedule(const struct profil_thread *thread)
{
	return (struct profil_schedule) {
		.key = thread->schedule.key,
		.period_ns = thread->schedule.period_ns,
	};
}

/**
 * profil_thread_due() - the ticks of a thread that does not run
 * @thread: the thread
 * @task: its task
 * @schedule: of the thread; goes on to @now
 * @out: up to when they are counted
 * @now: up to when they are due
 *
 * A thread waits for something first, and then for a CPU.
 */
static inline struct profil_due
profil_thread_due(const struct profil_thread *thread,
		  const struct task_struct *task,
		  struct profil_schedule *schedule, u64 out, u64 now)
{
	struct profil_due due = { 0 };
	u64 ready;

	profil_schedule_seek(schedule, out);
	if (now <= out)
		return due;
	ready = now - profil_thread_queued(thread, task, now - out);
	due.blocked = profil_schedule_advance(schedule, ready);
	due.runnable = profil_schedule_advance(schedule, now);
	if (ready >= READ_ONCE(thread->since) + PROFIL_LONG_WAIT_NS)
		due.offset = PROFIL_WAIT_LONG;
	return due;
}

/* riscv has the number in a register that is the program's own at an exception. */
static inline bool profil_in_syscall(struct task_struct *task,
				     struct pt_regs *regs)
{
#ifdef CONFIG_RISCV
	return regs->cause == EXC_SYSCALL;
#else
	return syscall_get_nr(task, regs) != -1;
#endif
}

/*
 * What a thread waits in. @regs: with which it has entered the kernel; zeros if they
 * cannot be read. A number that no system call has may be anything.
 */
static inline u32 profil_thread_wait(const struct profil_thread *thread,
				     struct task_struct *task,
				     struct pt_regs *regs)
{
	u32 state = READ_ONCE(thread->state), wait;
	long nr;

	if (state & __TASK_TRACED)
		return PROFIL_WAIT_TRACED;
	if (state & __TASK_STOPPED)
		return PROFIL_WAIT_STOPPED;
	if (!instruction_pointer(regs))
		return PROFIL_WAIT_UNKNOWN;
	if (!profil_in_syscall(task, regs))
		return PROFIL_WAIT_FAULT;
	nr = syscall_get_nr(task, regs);
	if (nr < 0 || nr >= PROFIL_WAIT_COMPAT - PROFIL_WAIT_SYSCALL)
		return PROFIL_WAIT_UNKNOWN;
	wait = PROFIL_WAIT_SYSCALL + nr;
	return syscall_get_arch(task) & __AUDIT_ARCH_64BIT ?
	       wait : wait + PROFIL_WAIT_COMPAT;
}

/* --- a thread whose wait goes on, counted from outside */

/**
 * struct profil_sleeper - a thread that waits
 * @thread: the thread
 * @task: its task; a reference
 * @image: index of the image of its process
 * @out: up to when its ticks were counted
 * @now: up to when they are due
 * @regs: with which it has entered the kernel, if it waits still
 * @who: its process and its user
 */
struct profil_sleeper {
	struct profil_thread *thread;
	struct task_struct *task;
	u32 image;
	u64 out;
	u64 now;
	struct pt_regs regs;
	struct profil_deferred who;
};

/*
 * Take the ticks of the wait, unless that has ended: all that was read of the
 * thread before holds for it then.
 */
static inline bool profil_sleeper_claim(struct profil_sleeper *sleeper,
					struct profil_due *due)
{
	struct profil_thread *thread = sleeper->thread;
	struct profil_schedule schedule = profil_thread_schedule(thread);

	*due = profil_thread_due(thread, sleeper->task, &schedule,
				 sleeper->out, sleeper->now);
	due->offset |= profil_thread_wait(thread, sleeper->task,
					  &sleeper->regs);
	return cmpxchg(&thread->out, sleeper->out, sleeper->now) ==
	       sleeper->out;
}

/* chain.c, on x86-64 only */

#ifdef CONFIG_X86_64
void profil_chain_sleeper(struct profil_sleeper *sleeper);
#else
static inline void profil_chain_sleeper(struct profil_sleeper *sleeper)
{
}
#endif

/* --- thread.c */

void profil_thread_add(struct profil_member *member, struct task_struct *task);
void profil_threads_join(struct profil_member *member,
			 struct task_struct *process, bool is_new);
void profil_threads_leave(struct profil_member *member,
			  struct task_struct *process);
void profil_threads_free(struct task_struct *task);
void profil_threads_end(struct profil_watcher *watcher, u64 now);
void profil_thread_settle(struct profil_thread *thread, u64 now);
void profil_threads_read(struct profil_watcher *watcher,
			 struct profil_watch_status *status);
int profil_threads_collect(struct profil_watcher *watcher, u64 now);

#endif /* PROFIL_THREAD_H */
