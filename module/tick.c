// SPDX-License-Identifier: GPL-2.0-only
/*
 * tick.c - when ticks come, and their outcomes
 *
 * Ticks fall at the times of schedule.h. A tick belongs to the program that its
 * CPU ran at that time. So each CPU keeps an interval while it runs a profiled
 * address space: opened when that is switched in, closed when it is switched
 * out. Interrupts find the program counter; they count the ticks that fell
 * since the last one, and so does closing. However late an interrupt comes, no
 * tick is lost, and none goes to the wrong program. There is one interval for
 * the profile of the address space, and one for each watch of the process. What
 * takes the ticks of an interval is its sink, a session or a watch.
 *
 * A CPU whose interrupt finds no interval is parked: it gets no further one
 * until a profiled address space is switched in.
 *
 * In a watch of wall-clock time each thread has ticks of its own, and takes them
 * along: an interval of such a watch is for one thread, until that is switched
 * out. Those that fell until it is switched in again are then counted
 * by an interrupt that the CPU sends to itself, as its memory and its registers
 * are at hand there.
 *
 * Interrupts come from perf's software cpu-clock, one counter for each CPU, or
 * from an hrtimer for each CPU where perf has no counter for us or the
 * administrator chose so.
 *
 * What a tick mostly executes is in this file and in headers, so that the compiler
 * can inline it.
 *
 * Context: see each function. In interrupts and context switches each CPU keeps
 * to its own struct profil_cpu, with hard interrupts off. A tick may take a
 * lock for a moment if its counter, bucket or mapping is not at hand.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/random.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <asm/irq_regs.h>
#include <asm/ptrace.h>

#include "counter.h"
#include "profil_private.h"
#include "schedule.h"
#include "thread.h"
#include "watcher.h"

/* The time of an interrupt that never comes. */
#define PROFIL_PARKED		U64_MAX

/* A CPU that is offline: it is never armed, since all times come later. */
#define PROFIL_OFFLINE		0

/*
 * The minimum time to the next interrupt. Two ticks may be closer; one
 * interrupt then finds both.
 */
#define PROFIL_GAP_NS		10000

/* A period of 13 days: without one, perf would not use a timer. */
#define PROFIL_PERF_PARKED_NS	BIT_ULL(50)

/* From perf, in kernel/events/core.c: the counter is throttled. */
#define PROFIL_PERF_THROTTLED	(~0ULL)

/**
 * struct profil_interval - while a CPU runs what one sink takes the ticks of
 * @sink: the session or watch, or NULL if the interval is not open; other CPUs
 *	read it
 * @member: the process in the watch; NULL for a session
 * @image: of the process, as of the last tick or switch
 * @since: when it was opened, or the CPU time last read
 * @schedule: the ticks, with the period of the last interval
 * @thread: that runs, in a watch of wall-clock time; NULL if there was no room
 *	for it
 * @due: its ticks that fell before it was switched in, and are not counted yet
 */
struct profil_interval {
	struct profil_sink *sink;
	struct profil_member *member;
	u32 image;
	u64 since;
	struct profil_schedule schedule;
	struct profil_thread *thread;
	struct profil_due due;
} ____cacheline_aligned;

/*
 * So many chains of waits a CPU finds in 2^20 ns, and in so much of that time;
 * others have none. Threads that wait for a moment only, again and again, cannot
 * take more of a CPU, whatever their stacks are like.
 */
#define PROFIL_WAIT_CHAINS	16
#define PROFIL_WAIT_SHIFT	20
#define PROFIL_WAIT_SHARE_NS	(BIT(PROFIL_WAIT_SHIFT) / 4)

/**
 * struct profil_cpu - of one CPU
 * @mm: address space of the task that runs, as of the last context switch that
 *	was watched; other CPUs read it
 * @signal: its process; other CPUs read it
 * @open: bit mask of the intervals that are open
 * @wall: those of them that are of watches of wall-clock time
 * @armed: time of the next interrupt, PROFIL_PARKED or PROFIL_OFFLINE
 * @rest: before that time, no interrupt of a tick walks stacks
 * @event: perf's counter, or NULL to use @timer
 * @timer: used without @event
 * @rearm: arms @event when perf has throttled it
 * @refresh: brings the CPU up to date with what it runs
 * @intervals: by the slots of their sinks
 * @wake: counts what is due of waits
 * @slice: the time, in units of 2^PROFIL_WAIT_SHIFT ns, that these are for:
 * @chains: number of chains of waits
 * @chains_ns: how long that took
 *
 * The interval of a session is open only if its address space is @mm, or was
 * until an exec that is under way; that of a watch only if it watches @signal,
 * or did until its leader was freed, while another thread goes on to its end
 * here.
 */
struct profil_cpu {
	struct mm_struct *mm;
	struct signal_struct *signal;
	unsigned long open;
	unsigned long wall;
	u64 armed;
	u64 rest;
	struct perf_event *event;
	struct hrtimer timer;
	struct irq_work rearm;
	call_single_data_t refresh;
	struct profil_interval intervals[PROFIL_SLOTS];
	struct irq_work wake;
	u64 slice;
	u64 chains_ns;
	u32 chains;
};

static DEFINE_PER_CPU_ALIGNED(struct profil_cpu, profil_cpus);

static enum profil_clock profil_clock;
static u64 profil_secret[2];
static int profil_hotplug_state;

static DEFINE_RAW_SPINLOCK(profil_ipi_lock);

/* --- the outcome of a tick */

static bool profil_has_region(const struct profil_session *session, u32 region)
{
	return region != PROFIL_NO_REGION &&
	       profil_region_is_on(session, region);
}

static noinline void profil_count_outside(struct profil_session *session,
					  u32 nr, bool user)
{
	atomic64_add(nr, &session->outside);
	if (!user) {
		/* Pairs with the barrier in profil_session_read(). */
		smp_wmb();
		atomic64_add(nr, &session->outside_kernel);
	}
}

/* A counter has reached its maximum: under System V's rule that is all. */
static noinline void profil_counter_is_full(struct profil_session *session,
					    u32 region, u32 clipped)
{
	atomic64_add(clipped, &session->stats[region].clipped);
	profil_session_full(session);
}

/*
 * Count @nr ticks at @pc. The page tables of the session's address space are
 * loaded whenever current->mm is that, in kernel mode too: interrupts are off
 * while another one is. After a thread has left its memory by exit, other tasks
 * write its ticks.
 */
static __always_inline void profil_count(struct profil_session *session,
					 u64 pc, u32 nr, bool user)
{
	const struct profil_config *config = session->config;
	const struct profil_map *map = &config->map;
	struct profil_added added = { .err = -EAGAIN };
	struct profil_region_stats *stats;
	u32 region = profil_map_find(map, pc);
	u64 index = 0;

	if (likely(profil_has_region(session, region))) {
		index = profil_map_index(map, region, pc);
	} else {
		region = map->overflow;
		if (!profil_has_region(session, region)) {
			profil_count_outside(session, nr, user);
			return;
		}
	}
	stats = &session->stats[region];
	if (user || likely(current->mm == session->mm))
		added = profil_counter_add(profil_config_address(config, region,
								 index),
					   config->width, config->full, nr);
	if (unlikely(added.err < 0)) {
		profil_pending_add(session, region, index, nr);
	} else {
		atomic64_add(nr - added.clipped, &stats->counted);
		if (unlikely(added.err == PROFIL_COUNTER_FULL))
			profil_counter_is_full(session, region, added.clipped);
	}
	if (!user) {
		/* Pairs with the barrier in profil_region_read(). */
		smp_wmb();
		atomic64_add(nr, &stats->kernel);
	}
}

/*
 * Count @nr ticks in kernel mode, at the program counter with which the task
 * returns to user mode. There is none in io_uring's and vhost's threads, nor
 * after the task has left the address space: by exec, or as the last by exit.
 */
static noinline void profil_count_kernel(struct profil_session *session, u32 nr)
{
	struct mm_struct *mm = current->mm;
	u64 pc = instruction_pointer(task_pt_regs(current));

	if (session->config->flags & PROFIL_SET_USER_ONLY)
		atomic64_add(nr, &session->left_out);
	else if (!pc || (mm != session->mm &&
			 (mm || !atomic_read(&session->mm->mm_users))))
		profil_count_outside(session, nr, false);
	else
		profil_count(session, pc, nr, false);
}

/*
 * Count @nr ticks of a session; @regs is what the interrupt has interrupted, or
 * NULL if nobody knows.
 */
static __always_inline void profil_session_tick(struct profil_session *session,
						u32 nr, struct pt_regs *regs)
{
	/* Without registers: a CPU that goes offline runs its timers */
	if (likely(regs && user_mode(regs)))
		profil_count(session, instruction_pointer(regs), nr, true);
	else
		profil_count_kernel(session, nr);
}

/* --- intervals; everything here with hard interrupts off */

static __always_inline void
profil_interval_count(const struct profil_interval *interval, u64 nr,
		      struct pt_regs *regs)
{
	/* Precision does not matter beyond 32 bits of ticks at once. */
	u32 ticks = min_t(u64, nr, U32_MAX);

	if (unlikely(interval->member))
		profil_watcher_tick(profil_sink_watcher(interval->sink),
				    interval->image, ticks, regs);
	else
		profil_session_tick(profil_sink_session(interval->sink), ticks,
				    regs);
}

/* Add the CPU time since the last call. */
static void profil_interval_account(struct profil_interval *interval, u64 now)
{
	u64 ns = now - interval->since;

	if (interval->member)
		profil_table_add(&profil_sink_watcher(interval->sink)->
				 images[interval->image].cpu_time_ns, ns);
	else
		atomic64_add(ns, &profil_sink_session(interval->sink)->cpu_ns);
	interval->since = now;
}

/*
 * What the interval is open for ends: count the ticks that are due, in the
 * kernel, and the time. A session that is full takes no more.
 */
static void profil_interval_end(struct profil_interval *interval, u64 now)
{
	u64 nr = profil_schedule_advance(&interval->schedule, now);

	if (unlikely(nr) &&
	    READ_ONCE(interval->sink->state) != PROFIL_STATE_FULL)
		profil_interval_count(interval, nr, NULL);
	profil_interval_account(interval, now);
}

static bool profil_wait_is_due(const struct profil_interval *interval)
{
	return interval->due.blocked | interval->due.runnable;
}

/*
 * Count the ticks of a wait. The thread may have been switched out again, or the
 * interval be closed, before the interrupt came that finds the chain.
 */
static void profil_wait_count(struct profil_interval *interval, bool has_chain)
{
	struct profil_watcher *watcher = profil_sink_watcher(interval->sink);
	struct profil_due due = interval->due;

	interval->due = (struct profil_due) { 0 };
	if (has_chain && profil_watcher_has_chains(watcher))
		profil_chain_wait(watcher, interval->image, &due);
	else
		profil_watcher_wait(watcher, interval->image, &due, NULL);
}

/* The next interval may have the same period, and be that of another thread. */
static void profil_wait_end(struct profil_cpu *cpu,
			    struct profil_interval *interval)
{
	if (unlikely(profil_wait_is_due(interval)))
		profil_wait_count(interval, false);
	cpu->wall &= ~BIT(interval->sink->slot);
	interval->schedule.period_ns = 0;
}

static void profil_interval_drop(struct profil_cpu *cpu,
				 struct profil_interval *interval)
{
	if (unlikely(interval->sink->is_wall))
		profil_wait_end(cpu, interval);
	cpu->open &= ~BIT(interval->sink->slot);
	/*
	 * Other CPUs free a sink when no CPU has an interval of it. Pairs with
	 * the acquires in profil_cpu_runs() and profil_cpu_runs_watched().
	 */
	smp_store_release(&interval->sink, NULL);
}

static void profil_interval_close(struct profil_cpu *cpu,
				  struct profil_interval *interval, u64 now)
{
	profil_interval_end(interval, now);
	profil_interval_drop(cpu, interval);
}

/*
 * Starting a software clock that runs already moves its timer. perf does no
 * more when it switches a task's counter in, under the same locks. If perf stops the
 * counter just when it expires, and starts it again, it takes the period.
 */
static void profil_perf_arm(struct perf_event *event, u64 delay_ns)
{
#ifdef CONFIG_PERF_EVENTS
	delay_ns = max_t(s64, delay_ns, PROFIL_GAP_NS);
	event->hw.sample_period = delay_ns;
	local64_set(&event->hw.period_left, delay_ns);
	event->pmu->start(event, 0);
#endif
}

/* A timer's time is absolute, a counter's relative. */
static void profil_arm(struct profil_cpu *cpu, u64 now)
{
	if (cpu->event)
		profil_perf_arm(cpu->event, cpu->armed - now);
	else
		hrtimer_start(&cpu->timer, ns_to_ktime(cpu->armed),
			      HRTIMER_MODE_ABS_PINNED_HARD);
}

/* Go on with the ticks of the CPU. */
static void profil_interval_seek(struct profil_interval *interval, u64 now)
{
	struct profil_schedule *schedule = &interval->schedule;
	u32 period_ns = interval->sink->period_ns;

	if (likely(schedule->period_ns == period_ns))
		profil_schedule_advance(schedule, now);
	else
		profil_schedule_start(schedule, profil_secret,
				      smp_processor_id(), period_ns, now);
}

/* Does an interrupt walk stacks for an interval? */
static __always_inline bool
profil_interval_walks(const struct profil_interval *interval)
{
	return unlikely(interval->member) &&
	       profil_watcher_has_chains(profil_sink_watcher(interval->sink));
}

/* Have the CPU interrupted at the next tick of an interval. */
static void profil_interval_arm(struct profil_cpu *cpu,
				const struct profil_interval *interval, u64 now)
{
	u64 next = interval->schedule.next;

	if (profil_interval_walks(interval))
		next = max(next, cpu->rest);
	if (next < cpu->armed) {
		cpu->armed = max(next, now + PROFIL_GAP_NS);
		profil_arm(cpu, now);
	}
}

/*
 * Ticks fell while the thread did not run, or somebody has counted them.
 * @out: from profil_thread.out; 0 if it has run without an interval. Its process
 *	may have been elsewhere since
 */
static noinline void profil_wait_begin(struct profil_cpu *cpu,
				       struct profil_interval *interval,
				       struct task_struct *task, u64 out,
				       u64 now)
{
	/* Pairs with the release in profil_member_set(): @since is as new */
	smp_rmb();
	if (out < READ_ONCE(interval->member->since))
		out = 0;
	/* If it runs already, the interrupt that is about to come counts them */
	if (!out || task == current)
		profil_schedule_seek(&interval->schedule, out ?: now);
	else
		interval->due = profil_thread_due(interval->thread, task,
						  &interval->schedule, out,
						  now);
	if (profil_wait_is_due(interval)) {
		interval->due.offset |= profil_thread_wait(interval->thread,
							   task,
							   task_pt_regs(task));
		irq_work_queue(&cpu->wake);
	}
	profil_interval_arm(cpu, interval, now);
}

/* There was no room for the thread: its ticks are those of the CPU. */
static noinline void profil_thread_miss(struct profil_cpu *cpu,
					struct profil_interval *interval,
					u64 now)
{
	/* What is there may be the schedule of a thread */
	interval->schedule.period_ns = 0;
	profil_interval_seek(interval, now);
	profil_interval_arm(cpu, interval, now);
}

/*
 * A thread is switched in, or runs already: go on with its ticks, which have the
 * period of the interval. Whatever it calls comes last, so that the usual case
 * saves no registers.
 */
static __always_inline void profil_thread_in(struct profil_cpu *cpu,
					     struct profil_interval *interval,
					     struct task_struct *task, u64 now)
{
	struct profil_thread *thread = profil_thread_find(interval->member,
							  task);
	u64 out;

	interval->thread = thread;
	if (unlikely(!thread)) {
		profil_thread_miss(cpu, interval, now);
		return;
	}
	out = xchg(&thread->out, 0);
	interval->schedule.key = thread->schedule.key;
	interval->schedule.passed = thread->schedule.passed;
	interval->schedule.next = thread->schedule.next;
	if (unlikely(out != thread->since || interval->schedule.next <= now))
		profil_wait_begin(cpu, interval, task, out, now);
	else
		profil_interval_arm(cpu, interval, now);
}

/* The current thread, that of an interval, is switched out. @state: its state */
static __always_inline void
profil_thread_out(const struct profil_interval *interval, unsigned int state,
		  u64 now)
{
	struct profil_thread *thread = interval->thread;

	if (likely(thread)) {
		thread->schedule.passed = interval->schedule.passed;
		thread->schedule.next = interval->schedule.next;
	} else {
		/* It may have got its entry since it was switched in */
		thread = profil_thread_find(interval->member, current);
		if (!thread)
			return;
	}
	/* Another CPU that reads these meanwhile sees by @out that they are new */
	WRITE_ONCE(thread->since, now);
	WRITE_ONCE(thread->run_delay, profil_thread_run_delay(current));
	WRITE_ONCE(thread->state, state);
	/* Pairs with the acquire in thread.c. */
	smp_store_release(&thread->out, now);
}

static void profil_interval_begin(struct profil_cpu *cpu,
				  struct profil_interval *interval,
				  struct task_struct *task, u64 now)
{
	interval->since = now;
	if (unlikely(interval->sink->is_wall)) {
		cpu->wall |= BIT(interval->sink->slot);
		interval->schedule.period_ns = interval->sink->period_ns;
		profil_thread_in(cpu, interval, task, now);
	} else {
		profil_interval_seek(interval, now);
		profil_interval_arm(cpu, interval, now);
	}
}

/* What the interval is open for is switched out. @state: of the current task */
static void profil_interval_leave(struct profil_cpu *cpu,
				  struct profil_interval *interval,
				  unsigned int state, u64 now)
{
	profil_interval_end(interval, now);
	if (unlikely(interval->sink->is_wall))
		profil_thread_out(interval, state, now);
	profil_interval_drop(cpu, interval);
}

/* The watch is just ending: the wait of a thread that is switched in ends first. */
static void profil_thread_lose(const struct profil_member *member,
			       const struct task_struct *task, u64 now)
{
	struct profil_thread *thread = profil_thread_find(member, task);

	if (thread)
		profil_thread_settle(thread, now);
}

/*
 * @member, @image: of the process, for a watch; NULL and 0 for a session
 * @task: that runs, or that is switched in
 */
static noinline void profil_interval_open(struct profil_cpu *cpu,
					  struct profil_sink *sink,
					  struct profil_member *member,
					  u32 image, struct task_struct *task,
					  u64 now)
{
	struct profil_interval *interval = &cpu->intervals[sink->slot];

	/*
	 * Either this CPU finds that a watch has ended, or the refresh at its
	 * end finds the watch here, though the member may be gone by then.
	 */
	smp_store_mb(interval->sink, sink);
	if (READ_ONCE(sink->state) != PROFIL_STATE_ON) {
		WRITE_ONCE(interval->sink, NULL);
		if (sink->is_wall)
			profil_thread_lose(member, task, now);
		return;
	}
	interval->member = member;
	interval->image = image;
	cpu->open |= BIT(sink->slot);
	profil_interval_begin(cpu, interval, task, now);
}

/*
 * The session that counts an address space, if it is on. It cannot be freed
 * before interrupts are on again: its end waits for a refresh of this CPU.
 * Kernel threads only borrow an address space.
 */
static struct profil_session *profil_on_session(const struct profil_ctx *ctx,
						const struct task_struct *task)
{
	struct profil_session *session;

	if (!ctx || task->flags & PF_KTHREAD)
		return NULL;
	session = rcu_dereference_sched(ctx->session);
	return session && profil_session_is_on(session) ? session : NULL;
}

/*
 * A thread may have got its entry only since it was switched in. Up to now, the
 * ticks of the CPU are its own.
 */
static void profil_thread_adopt(struct profil_cpu *cpu,
				struct profil_interval *interval, u64 now)
{
	struct profil_thread *thread;

	if (interval->thread)
		return;
	thread = profil_thread_find(interval->member, current);
	if (!thread)
		return;
	profil_interval_end(interval, now);
	WRITE_ONCE(thread->out, 0);
	profil_interval_begin(cpu, interval, current, now);
}

/*
 * Bring an interval of the task that runs up to date with its sink, and the sink
 * with the CPU time. The member may have got another image, or have left; or it
 * is that of another process by now, since the leader of this one has been freed.
 *
 * Return: whether the interval goes on.
 */
static bool profil_interval_update(struct profil_cpu *cpu,
				   struct profil_interval *interval, u64 now)
{
	struct profil_member *member = interval->member;
	bool on = READ_ONCE(interval->sink->state) == PROFIL_STATE_ON;
	u32 image = 0;

	if (member) {
		/* Pairs with the release in profil_member_add(). */
		image = smp_load_acquire(&member->image);
		on = on && profil_is_image_on(image) &&
		     READ_ONCE(member->signal) == cpu->signal;
	} else {
		/* A thread that exits has left its memory, and runs on in it */
		on = on && profil_on_session(profil_ctx_find(cpu->mm),
					     current) ==
			   profil_sink_session(interval->sink);
	}
	if (!on) {
		profil_interval_close(cpu, interval, now);
		return false;
	}
	profil_interval_account(interval, now);
	interval->image = image;
	if (unlikely(interval->sink->is_wall))
		profil_thread_adopt(cpu, interval, now);
	return true;
}

/* Return: the time, once for all that a context switch changes at that time. */
static __always_inline u64 profil_now(u64 *now)
{
	if (!*now)
		*now = ktime_get_ns();
	return *now;
}

/* Count what is due of the thread that is switched out. */
static noinline void profil_thread_count(struct profil_interval *interval,
					 u64 now)
{
	u64 nr = profil_schedule_advance(&interval->schedule, now);

	if (nr)
		profil_interval_count(interval, nr, NULL);
	if (profil_wait_is_due(interval))
		profil_wait_count(interval, false);
}

/*
 * From a thread of a watch of wall-clock time to another one: each takes its own
 * ticks along. Nothing is due of the current one. @state: of that
 */
static noinline void profil_thread_pass(struct profil_cpu *cpu,
					struct profil_interval *interval,
					struct profil_member *member,
					struct task_struct *task,
					unsigned int state, u64 now)
{
	profil_thread_out(interval, state, now);
	interval->member = member;
	profil_thread_in(cpu, interval, task, now);
}

/*
 * Open the interval of a watch of the process that runs, or pass it on from
 * another process of that watch. If it has the same image, nothing needs the
 * time: a tick that is due is counted by the interrupt that is about to come.
 */
static __always_inline void profil_member_run(struct profil_cpu *cpu,
					      struct profil_member *member,
					      u32 image,
					      struct task_struct *task,
					      unsigned int state, u64 *now)
{
	struct profil_sink *sink = &member->watcher->sink;
	struct profil_interval *interval = &cpu->intervals[sink->slot];

	if (interval->sink != sink ||
	    (sink->is_wall && image != interval->image)) {
		if (interval->sink)
			profil_interval_leave(cpu, interval, state,
					      profil_now(now));
		profil_interval_open(cpu, sink, member, image, task,
				     profil_now(now));
		return;
	}
	if (unlikely(sink->is_wall)) {
		if (unlikely(interval->schedule.next <= profil_now(now) ||
			     profil_wait_is_due(interval)))
			profil_thread_count(interval, *now);
		profil_thread_pass(cpu, interval, member, task, state, *now);
		return;
	}
	if (image != interval->image) {
		profil_interval_end(interval, profil_now(now));
		interval->image = image;
	}
	interval->member = member;
}

/* --- context switches */

/*
 * From a thread of a profiled address space to another: nothing has to be done,
 * unless a tick is due. That is the first one's.
 */
static __always_inline bool
profil_session_goes_on(const struct profil_cpu *cpu,
		       const struct profil_session *session, u64 *now)
{
	const struct profil_interval *interval =
		&cpu->intervals[PROFIL_SLOT_PROFILE];

	return interval->sink == &session->sink &&
	       interval->schedule.next > profil_now(now);
}

/*
 * Perhaps from or to an address space that is profiled, or a process that is
 * watched: the hash tables have something where they would be. @state: of the
 * current task, which is switched out; TASK_RUNNING if it is preempted
 */
static noinline void profil_cpu_switch(struct task_struct *next,
				       unsigned int state)
{
	const struct profil_ctx *ctx = profil_ctx_find(next->mm);
	struct profil_member *member = profil_member_first(next->signal);
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);
	struct profil_session *session = profil_on_session(ctx, next);
	unsigned long ending = cpu->open;
	u64 now = 0;

	for (; member; member = profil_member_next(member, next->signal)) {
		u32 image = READ_ONCE(member->image);

		if (profil_is_image_on(image)) {
			profil_member_run(cpu, member, image, next, state,
					  &now);
			ending &= ~BIT(member->watcher->sink.slot);
		}
	}
	if (session && profil_session_goes_on(cpu, session, &now)) {
		ending &= ~BIT(PROFIL_SLOT_PROFILE);
		session = NULL;
	}
	for (; ending; ending &= ending - 1)
		profil_interval_leave(cpu, &cpu->intervals[__ffs(ending)],
				      state, profil_now(&now));
	if (session)
		profil_interval_open(cpu, &session->sink, NULL, 0, next,
				     profil_now(&now));
}

/* compat.h has it for kernels before 5.18, whose probes have no such argument. */
#ifndef profil_switch_state
#define profil_switch_state(prev, prev_state)	(prev_state)
#endif

static inline unsigned long profil_bucket_use(const struct hlist_head *bucket)
{
	return (unsigned long)READ_ONCE(bucket->first);
}

/*
 * Every context switch comes here while there is any profile or watch; this
 * must cost next to nothing unless it is from or to a program that has one. So
 * there is one test for three conditions.
 *
 * Context: scheduler, its locks held.
 */
void notrace profil_sched_switch(void *data, bool preempt,
				 struct task_struct *prev,
				 struct task_struct *next,
				 unsigned int prev_state)
{
	struct signal_struct *signal = next->signal;
	struct mm_struct *mm = next->mm;

	this_cpu_write(profil_cpus.mm, mm);
	this_cpu_write(profil_cpus.signal, signal);
	/*
	 * Pairs with the barriers of refreshes: either this CPU finds the new
	 * session or member, or the refresh finds this CPU running it.
	 */
	smp_mb();
	if (likely(!(profil_bucket_use(profil_ctx_bucket(mm)) |
		     profil_bucket_use(profil_member_bucket(signal)) |
		     this_cpu_read(profil_cpus.open))))
		return;
	profil_cpu_switch(next, preempt ? TASK_RUNNING :
			  profil_switch_state(prev, prev_state));
}

/* --- refresh */

/*
 * Bring this CPU up to date with the session and the watches of the task that
 * runs: close the intervals of those that have ended, or that it has left; add
 * to the CPU time of those that go on; open the others. Ticks that are due are
 * left to the interrupt that is about to come, which knows the program counter,
 * unless their thread has got its entry meanwhile.
 *
 * Context: hard interrupts off.
 */
static void profil_cpu_refresh(void *unused)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);
	struct profil_session *session;
	struct profil_member *member;
	unsigned long open;
	u64 now;

	/*
	 * If profil_clock_refresh_process() finds this on its way, it finds what
	 * that is for: pairs with the barrier there.
	 */
	smp_mb();
	now = ktime_get_ns();
	for (open = cpu->open; open; open &= open - 1)
		profil_interval_update(cpu, &cpu->intervals[__ffs(open)], now);
	if (cpu->signal != current->signal)
		return;
	profil_for_each_member(member, current->signal) {
		u32 image = READ_ONCE(member->image);

		if (profil_is_image_on(image) &&
		    !(cpu->open & BIT(member->watcher->sink.slot)))
			profil_interval_open(cpu, &member->watcher->sink,
					     member, image, current, now);
	}
	session = profil_on_session(profil_ctx_find(current->mm), current);
	if (session && cpu->mm == current->mm &&
	    !(cpu->open & BIT(PROFIL_SLOT_PROFILE)))
		profil_interval_open(cpu, &session->sink, NULL, 0, current, now);
}

/**
 * profil_tick_exec() - the current process has executed a program
 *
 * Mostly the old address space has been freed, which closed the interval; but
 * others may still use it, such as the parent after vfork().
 *
 * Context: process.
 */
void profil_tick_exec(void)
{
	unsigned long flags;

	local_irq_save(flags);
	this_cpu_write(profil_cpus.mm, current->mm);
	if (this_cpu_read(profil_cpus.open) ||
	    !hlist_empty(profil_member_bucket(current->signal)))
		profil_cpu_refresh(NULL);
	local_irq_restore(flags);
}

static bool profil_cpu_runs(int nr, void *info)
{
	struct profil_cpu *cpu = per_cpu_ptr(&profil_cpus, nr);
	struct profil_sink *sink;

	/*
	 * In this order: the CPU opens the interval after it has stored the
	 * address space, and closes it after it has stored the next one.
	 */
	if (smp_load_acquire(&cpu->mm) == info)
		return true;
	/* Pairs with the release in profil_interval_drop(). */
	sink = smp_load_acquire(&cpu->intervals[PROFIL_SLOT_PROFILE].sink);
	/* Not freed: its end needs profil_ipi_lock, too */
	return sink && profil_sink_session(sink)->mm == info;
}

static bool profil_cpu_runs_watched(int nr, void *info)
{
	const struct profil_watcher *watcher = info;
	struct profil_cpu *cpu = per_cpu_ptr(&profil_cpus, nr);
	const struct profil_member *member;

	/* Pairs with the release in profil_interval_drop(). */
	if (smp_load_acquire(&cpu->intervals[watcher->sink.slot].sink) ==
	    &watcher->sink)
		return true;
	member = profil_member_find(watcher, READ_ONCE(cpu->signal));
	return member && profil_is_image_on(READ_ONCE(member->image));
}

/*
 * One caller at a time, as in membarrier(2): many cannot flood a CPU. It is not
 * preempted meanwhile, unlike those that wait for it: so nobody waits for tasks
 * that get no CPU, of which there may be any number.
 */
static void profil_clock_refresh_where(smp_cond_func_t runs, void *info)
{
	while (!raw_spin_trylock(&profil_ipi_lock)) {
		cpu_relax();
		cond_resched();
	}
	/* Pairs with the barrier in profil_sched_switch(). */
	smp_mb();
	rcu_read_lock();
	on_each_cpu_cond(runs, profil_cpu_refresh, info, true);
	rcu_read_unlock();
	raw_spin_unlock(&profil_ipi_lock);
}

/**
 * profil_clock_refresh() - have all CPUs notice a change of a session
 * @mm: address space whose session begins, ends, is replaced or is read
 *
 * When this returns, intervals of the session that was unpublished before are
 * closed and none can be opened: nothing counts by it any more. Intervals of
 * the one that is published now are open wherever @mm runs. The time that a
 * session covers is up to date.
 *
 * Interrupts the CPUs that run @mm and no others.
 *
 * Context: process; mmap_lock may be held.
 */
void profil_clock_refresh(struct mm_struct *mm)
{
	profil_clock_refresh_where(profil_cpu_runs, mm);
}

/**
 * profil_clock_refresh_watch() - have all CPUs notice a change of a watch
 * @watcher: the watch that begins, ends or is read; its members stay until this
 *	returns
 *
 * When this returns intervals are open wherever a member runs if the watch is
 * on, and closed if it is off. The CPU time of its images is up to date.
 *
 * Interrupts the CPUs that run a member that takes ticks and no others.
 *
 * Context: process.
 */
void profil_clock_refresh_watch(struct profil_watcher *watcher)
{
	profil_clock_refresh_where(profil_cpu_runs_watched, watcher);
}

/**
 * profil_clock_refresh_process() - have CPUs notice that a process has joined a
 * watch, has left one, or has got another image
 * @signal: the process
 *
 * Interrupts the CPUs that run the process and no others, and does not wait for
 * them.
 *
 * Context: any but hard interrupt.
 */
void profil_clock_refresh_process(const struct signal_struct *signal)
{
	struct profil_cpu *cpu;
	int nr;

	/* No CPU goes offline */
	preempt_disable();
	/* Pairs with the barrier in profil_sched_switch(). */
	smp_mb();
	for_each_online_cpu(nr) {
		cpu = per_cpu_ptr(&profil_cpus, nr);
		/* Fails if it is on its way, which will do */
		if (READ_ONCE(cpu->signal) == signal)
			smp_call_function_single_async(nr, &cpu->refresh);
	}
	preempt_enable();
}

/* --- interrupts */

static __always_inline bool
profil_interval_has_changed(const struct profil_interval *interval)
{
	if (unlikely(interval->member))
		return interval->image != READ_ONCE(interval->member->image);
	return READ_ONCE(interval->sink->state) != PROFIL_STATE_ON;
}

/* Return: time of the next tick of the interval. */
static __always_inline u64
profil_interval_tick(struct profil_cpu *cpu, struct profil_interval *interval,
		     struct pt_regs *regs, u64 now)
{
	u64 nr;

	if (unlikely(profil_interval_has_changed(interval)) &&
	    !profil_interval_update(cpu, interval, now))
		return PROFIL_PARKED;
	nr = profil_schedule_advance(&interval->schedule, now);
	if (likely(nr))
		profil_interval_count(interval, nr, regs);
	return interval->schedule.next;
}

/*
 * A walk of a long stack may take longer than a period: as much time again is the
 * program's, before the next interrupt, and before the next walk if another interrupt
 * comes meanwhile. @now: moves on by so much
 */
static noinline u64 profil_tick_watches(struct profil_cpu *cpu,
					struct pt_regs *regs, u64 *now)
{
	unsigned long open = cpu->open & ~BIT(PROFIL_SLOT_PROFILE);
	u64 next = PROFIL_PARKED;
	bool walks, walked = false;
	u64 after;

	for (; open; open &= open - 1) {
		struct profil_interval *interval =
			&cpu->intervals[__ffs(open)];

		walks = interval->schedule.next <= *now &&
			profil_interval_walks(interval);
		/* The interrupt is one of another interval */
		if (unlikely(walks && *now < cpu->rest)) {
			next = min(next, cpu->rest);
			continue;
		}
		walked |= walks;
		next = min(next, profil_interval_tick(cpu, interval, regs,
						      *now));
	}
	if (walked) {
		after = ktime_get_ns();
		*now = after + (after - *now);
		cpu->rest = *now + PROFIL_GAP_NS;
	}
	return next;
}

/*
 * Count the ticks that fell, with hard interrupts off; sets cpu->armed. The
 * session's come first, so that the compiler knows where that interval is.
 */
static __always_inline void profil_tick(struct profil_cpu *cpu,
					struct pt_regs *regs)
{
	u64 now = ktime_get_ns(), armed = cpu->armed;
	u64 next = PROFIL_PARKED;

	/* Intervals that begin now must not arm the clock in its own interrupt. */
	cpu->armed = PROFIL_OFFLINE;
	if (likely(cpu->open & BIT(PROFIL_SLOT_PROFILE)))
		next = profil_interval_tick(cpu,
					    &cpu->intervals[PROFIL_SLOT_PROFILE],
					    regs, now);
	if (unlikely(cpu->open & ~BIT(PROFIL_SLOT_PROFILE)))
		next = min(next, profil_tick_watches(cpu, regs, &now));
	if (unlikely(armed == PROFIL_OFFLINE))
		return;
	cpu->armed = next == PROFIL_PARKED ? PROFIL_PARKED :
		     max(next, now + PROFIL_GAP_NS);
}

static bool profil_is_armed(const struct profil_cpu *cpu)
{
	return cpu->armed != PROFIL_PARKED && cpu->armed != PROFIL_OFFLINE;
}

static enum hrtimer_restart profil_timer_expired(struct hrtimer *timer)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);

	profil_tick(cpu, get_irq_regs());
	if (!profil_is_armed(cpu))
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(cpu->armed));
	return HRTIMER_RESTART;
}

/* Context: hard interrupt. */
static void profil_rearm(struct irq_work *work)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);

	if (profil_is_armed(cpu))
		profil_arm(cpu, ktime_get_ns());
}

/* Has the CPU time for another chain of a wait? */
static bool profil_has_chain(struct profil_cpu *cpu, u64 now)
{
	u64 slice = now >> PROFIL_WAIT_SHIFT;

	if (cpu->slice != slice) {
		cpu->slice = slice;
		cpu->chains = 0;
		cpu->chains_ns = 0;
	}
	return cpu->chains++ < PROFIL_WAIT_CHAINS &&
	       cpu->chains_ns < PROFIL_WAIT_SHARE_NS;
}

/*
 * The thread has just been switched in: count the ticks that fell before.
 *
 * Context: hard interrupt.
 */
static void profil_wake(struct irq_work *work)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);
	unsigned long open;
	bool walks;
	u64 now;

	for (open = cpu->wall; open; open &= open - 1) {
		struct profil_interval *interval =
			&cpu->intervals[__ffs(open)];

		now = ktime_get_ns();
		if (!profil_wait_is_due(interval))
			continue;
		walks = profil_interval_walks(interval) &&
			profil_has_chain(cpu, now);
		profil_wait_count(interval, walks);
		if (walks)
			cpu->chains_ns += ktime_get_ns() - now;
	}
}

#ifdef CONFIG_PERF_EVENTS
/*
 * perf restarts the counter's timer at its last expiry plus hw.sample_period,
 * which it reads when this has returned.
 *
 * Where perf_event_max_sample_rate is low perf stops a counter after so many
 * samples in a clock tick, and starts it again in the next one: in step with
 * the kernel's clock, as no tick may be. hw.interrupts is reset, as the
 * kernel's hard lockup detector does, so that the number is not reached. If
 * one sample is too many already the counter stops all the same; then it is
 * started anew here, as soon as perf is done with it. min_period_us is what
 * limits the rate.
 *
 * Context: hard interrupt.
 */
static void profil_perf_overflow(struct perf_event *event,
				 struct perf_sample_data *data,
				 struct pt_regs *regs)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);
	u64 expired = ktime_to_ns(hrtimer_get_expires(&event->hw.hrtimer));

	profil_tick(cpu, regs);
	event->hw.sample_period = profil_is_armed(cpu) ?
		cpu->armed - expired : PROFIL_PERF_PARKED_NS;
	if (unlikely(event->hw.interrupts == PROFIL_PERF_THROTTLED))
		irq_work_queue(&cpu->rearm);
	event->hw.interrupts = 0;
}

/*
 * Context: the CPU's hotplug thread, and not the caller's: perf would check
 * whether that user may monitor the CPU.
 */
static struct perf_event *profil_perf_create(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = PROFIL_PERF_PARKED_NS,
		.pinned = 1,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL,
						profil_perf_overflow, NULL);
}
#else
static struct perf_event *profil_perf_create(unsigned int cpu)
{
	return ERR_PTR(-EOPNOTSUPP);
}
#endif

/* --- beginning and end */

/* Context: the CPU's hotplug thread. */
static int profil_cpu_online(unsigned int nr)
{
	struct profil_cpu *cpu = per_cpu_ptr(&profil_cpus, nr);
	struct perf_event *event = NULL;

	hrtimer_setup(&cpu->timer, profil_timer_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_HARD);
	cpu->rearm = IRQ_WORK_INIT_HARD(profil_rearm);
	cpu->wake = IRQ_WORK_INIT_HARD(profil_wake);
	cpu->refresh.func = profil_cpu_refresh;
	if (profil_clock == PROFIL_CLOCK_PERF)
		event = profil_perf_create(nr);
	if (IS_ERR(event)) {
		pr_notice("perf has no counter for CPU %u (error %ld): using timers instead\n",
			  nr, -PTR_ERR(event));
		WRITE_ONCE(profil_clock, PROFIL_CLOCK_HRTIMER);
		event = NULL;
	}
	cpu->event = event;
	cpu->armed = PROFIL_PARKED;
	return 0;
}

/*
 * Context: the CPU's hotplug thread. What is profiled may still run here, such
 * as a thread of the kernel.
 */
static int profil_cpu_offline(unsigned int nr)
{
	struct profil_cpu *cpu = per_cpu_ptr(&profil_cpus, nr);

	/* From now on nothing arms the CPU. */
	WRITE_ONCE(cpu->armed, PROFIL_OFFLINE);
	irq_work_sync(&cpu->rearm);
	irq_work_sync(&cpu->wake);
	if (cpu->event)
		perf_event_release_kernel(cpu->event);
	cpu->event = NULL;
	/* A timer that is pending would move to another CPU. */
	hrtimer_cancel(&cpu->timer);
	return 0;
}

/* Context: hard interrupts off. */
static void profil_cpu_look(void *unused)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);

	WRITE_ONCE(cpu->mm, current->mm);
	WRITE_ONCE(cpu->signal, current->signal);
}

/* Where the interrupts come from. */
enum profil_clock profil_clock_kind(void)
{
	return READ_ONCE(profil_clock);
}

/**
 * profil_clock_look() - have all CPUs know what they run
 *
 * Nothing else does before the first context switch that is watched.
 *
 * Context: process.
 */
void profil_clock_look(void)
{
	on_each_cpu(profil_cpu_look, NULL, true);
}

/**
 * profil_tick_init() - prepare all CPUs
 * @clock: source of the interrupts
 *
 * Return: 0 or -ENOMEM.
 */
int __init profil_tick_init(enum profil_clock clock)
{
	int state;

	get_random_bytes(profil_secret, sizeof(profil_secret));
	profil_clock = clock;
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "profil:online",
				  profil_cpu_online, profil_cpu_offline);
	if (state < 0)
		return state;
	profil_hotplug_state = state;
	return 0;
}

/* Nothing is profiled any more. */
void profil_tick_exit(void)
{
	profil_clock_look();
	/*
	 * A refresh may be on its way. This waits for a thread on each CPU, which
	 * runs after it.
	 */
	cpuhp_remove_state(profil_hotplug_state);
}
