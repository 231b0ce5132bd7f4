// SPDX-License-Identifier: GPL-2.0-only
/*
 * tick.c - when ticks come, and their outcomes
 *
 * Ticks fall at the times of schedule.h. A tick belongs to the program that its
 * CPU ran at that time. So each CPU keeps an interval while it runs a profiled
 * address space: opened when that is switched in, closed when it is switched
 * out. Interrupts find the program counter; they count the ticks that fell
 * since the last one, and so does closing. However late an interrupt comes, no
 * tick is lost, and none goes to the wrong program.
 *
 * A CPU whose interrupt finds no interval is parked: it gets no further one
 * until a profiled address space is switched in.
 *
 * Interrupts come from perf's software cpu-clock, one counter for each CPU, or
 * from an hrtimer for each CPU where perf has no counter for us or the
 * administrator chose so.
 *
 * All code that a tick executes is in this file, so that the compiler can
 * inline it.
 *
 * Context: see each function. In interrupts and context switches each CPU keeps
 * to its own struct profil_cpu, with hard interrupts off. A tick may take a
 * lock for a moment if its counter, bucket or mapping is not at hand.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/jump_label.h>
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
 * struct profil_interval - while a CPU runs what one profile or watch counts
 * @since: when it was opened, or the CPU time last read
 * @schedule: the ticks, with the period of the last interval
 */
struct profil_interval {
	u64 since;
	struct profil_schedule schedule;
};

/**
 * struct profil_reader - one watch that may count what a CPU runs
 * @watcher: the watch, or NULL if the interval is not open; other CPUs read it
 * @member: the process in it, if the interval is open
 * @image: of the process, as of the last tick or switch
 * @interval: the interval
 */
struct profil_reader {
	struct profil_watcher *watcher;
	struct profil_member *member;
	u32 image;
	struct profil_interval interval;
} ____cacheline_aligned;

/* The bits of a CPU's intervals: its session's, and those of all watches. */
#define PROFIL_OWN	BIT(PROFIL_SLOTS)
#define PROFIL_WATCHES	(PROFIL_OWN - 1)

/**
 * struct profil_cpu - of one CPU
 * @running: address space of the task that runs, as of the last context switch
 *	that was watched; other CPUs read it
 * @signal: its process; other CPUs read it
 * @session: the session that is counted; valid if PROFIL_OWN is open
 * @open: bit mask of the intervals that are open: those of the @readers by slot,
 *	and PROFIL_OWN
 * @armed: time of the next interrupt, PROFIL_PARKED or PROFIL_OFFLINE
 * @interval: of @session
 * @event: perf's counter, or NULL to use @timer
 * @timer: used without @event
 * @rearm: arms @event when perf has throttled it
 * @refresh: brings the CPU up to date with the watches of what it runs
 * @readers: the watches, by their slot
 *
 * PROFIL_OWN is open only if @running is the address space of @session, and that
 * of a reader only if it watches @signal: or did until its leader was freed, while
 * another thread goes on to its end here.
 */
struct profil_cpu {
	struct mm_struct *running;
	struct signal_struct *signal;
	struct profil_session *session;
	unsigned long open;
	u64 armed;
	struct profil_interval interval;
	struct perf_event *event;
	struct hrtimer timer;
	struct irq_work rearm;
	call_single_data_t refresh;
	struct profil_reader readers[PROFIL_SLOTS];
};

static DEFINE_PER_CPU_ALIGNED(struct profil_cpu, profil_cpus);

static enum profil_clock profil_clock;
static u64 profil_secret[2];
static int profil_hotplug_state;

DEFINE_STATIC_KEY_FALSE(profil_is_watching);

static DEFINE_MUTEX(profil_ipi_mutex);

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

/* --- intervals; everything here with hard interrupts off */

/* Precision does not matter beyond 32 bits of ticks at once. */
static inline u32 profil_clamp(u64 nr)
{
	return min_t(u64, nr, U32_MAX);
}

static void profil_interval_close(struct profil_cpu *cpu, u64 now)
{
	struct profil_session *session = cpu->session;
	u64 nr = profil_schedule_advance(&cpu->interval.schedule, now);

	if (unlikely(nr) && profil_session_is_on(session))
		profil_count_kernel(session, profil_clamp(nr));
	atomic64_add(now - cpu->interval.since, &session->cpu_ns);
	cpu->open &= ~PROFIL_OWN;
}

/* The image has had the CPU since the last call. */
static void profil_reader_account(struct profil_reader *reader, u64 now)
{
	struct profil_watcher *watcher = reader->watcher;

	profil_table_add(&watcher->images[reader->image].cpu_time_ns,
			 now - reader->interval.since);
	reader->interval.since = now;
}

/*
 * What the interval of a watch is open for ends: count the ticks that are due,
 * in the kernel, and the time.
 */
static void profil_reader_end(struct profil_reader *reader, u64 now)
{
	u64 nr = profil_schedule_advance(&reader->interval.schedule, now);

	if (unlikely(nr))
		profil_table_tick(reader->watcher, reader->image,
				  profil_clamp(nr), NULL);
	profil_reader_account(reader, now);
}

static void profil_reader_close(struct profil_cpu *cpu, u32 slot, u64 now)
{
	profil_reader_end(&cpu->readers[slot], now);
	cpu->open &= ~BIT(slot);
	/* Pairs with the acquire in profil_cpu_runs_watched(). */
	smp_store_release(&cpu->readers[slot].watcher, NULL);
}

/* Return: the time, once for all that a context switch changes at that time. */
static __always_inline u64 profil_now(u64 *now)
{
	if (!*now)
		*now = ktime_get_ns();
	return *now;
}

/*
 * From a process in a watch to another task: the interval stays open if that is
 * in the same watch. If it has the same image, nothing needs the time: a tick
 * that is due is counted by the interrupt that is about to come.
 */
static __always_inline void profil_reader_pass(struct profil_cpu *cpu, u32 slot,
					       const struct task_struct *next,
					       u64 *now)
{
	struct profil_reader *reader = &cpu->readers[slot];
	struct profil_member *member =
		profil_member_find(reader->watcher, next->signal);
	u32 image = member ? READ_ONCE(member->image) : PROFIL_MEMBER_OFF;

	if (image != reader->image) {
		if (!profil_is_image_on(image)) {
			profil_reader_close(cpu, slot, profil_now(now));
			return;
		}
		profil_reader_end(reader, profil_now(now));
		reader->image = image;
	}
	reader->member = member;
}

/*
 * Starting a software clock that runs already moves its timer. perf does no
 * more when it switches a task's counter in, under the same locks.
 */
static void profil_perf_arm(struct perf_event *event, u64 delay_ns)
{
#ifdef CONFIG_PERF_EVENTS
	local64_set(&event->hw.period_left,
		    max_t(s64, delay_ns, PROFIL_GAP_NS));
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

static void profil_interval_begin(struct profil_cpu *cpu,
				  struct profil_interval *interval,
				  u32 period_ns, u64 now)
{
	struct profil_schedule *schedule = &interval->schedule;

	interval->since = now;
	if (likely(schedule->period_ns == period_ns))
		profil_schedule_advance(schedule, now);
	else
		profil_schedule_start(schedule, profil_secret,
				      smp_processor_id(), period_ns, now);
	if (schedule->next < cpu->armed) {
		cpu->armed = max(schedule->next, now + PROFIL_GAP_NS);
		profil_arm(cpu, now);
	}
}

static void profil_interval_open(struct profil_cpu *cpu,
				 struct profil_session *session, u64 now)
{
	cpu->session = session;
	cpu->open |= PROFIL_OWN;
	profil_interval_begin(cpu, &cpu->interval, session->config->period_ns,
			      now);
}

/*
 * The member may have got another image, or have left; or it is that of another
 * process by now, since the leader of this one has been freed.
 *
 * Return: whether the interval goes on.
 */
static bool profil_reader_update(struct profil_cpu *cpu, u32 slot, u64 now)
{
	struct profil_reader *reader = &cpu->readers[slot];
	struct profil_member *member = reader->member;
	/* Pairs with the release in profil_member_add(). */
	u32 image = smp_load_acquire(&member->image);

	if (!profil_is_image_on(image) ||
	    READ_ONCE(member->signal) != cpu->signal ||
	    READ_ONCE(reader->watcher->state) != PROFIL_STATE_ON) {
		profil_reader_close(cpu, slot, now);
		return false;
	}
	profil_reader_account(reader, now);
	reader->image = image;
	return true;
}

static noinline void profil_reader_open(struct profil_cpu *cpu,
					struct profil_member *member, u32 image,
					u64 now)
{
	u32 slot = member->watcher->slot;
	struct profil_reader *reader = &cpu->readers[slot];

	/*
	 * Either this CPU finds that the watch has ended, or the refresh at its
	 * end finds the watch here, though the member may be gone by then.
	 */
	smp_store_mb(reader->watcher, member->watcher);
	if (READ_ONCE(member->watcher->state) != PROFIL_STATE_ON) {
		WRITE_ONCE(reader->watcher, NULL);
		return;
	}
	reader->member = member;
	reader->image = image;
	cpu->open |= BIT(slot);
	profil_interval_begin(cpu, &reader->interval,
			      member->watcher->period_ns, now);
}

/*
 * The session that counts an address space, if it is on. It cannot be freed
 * before interrupts are on again: its end waits for a refresh of this CPU.
 */
static struct profil_session *profil_find_session(const struct mm_struct *mm)
{
	struct profil_session *session;
	struct profil_ctx *ctx = profil_ctx_find(mm);

	if (!ctx)
		return NULL;
	session = rcu_dereference_sched(ctx->session);
	return session && profil_session_is_on(session) ? session : NULL;
}

/* Kernel threads only borrow an address space. */
static struct mm_struct *profil_task_mm(const struct task_struct *task)
{
	return task->flags & PF_KTHREAD ? NULL : task->mm;
}

/* Open the intervals of the watches of a process that are not open. */
static __always_inline void
profil_cpu_open_watches(struct profil_cpu *cpu, const struct task_struct *task,
			u64 *now)
{
	struct profil_member *member;

	profil_for_each_member(member, task->signal) {
		u32 image = READ_ONCE(member->image);

		if (profil_is_image_on(image) &&
		    !(cpu->open & BIT(member->watcher->slot)))
			profil_reader_open(cpu, member, image, profil_now(now));
	}
}

/*
 * From or to an address space that may be profiled, or a process that may be
 * watched.
 */
static noinline void profil_cpu_switch(const struct task_struct *next)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);
	struct profil_session *session = NULL;
	unsigned long open;
	u64 now = 0;

	if (cpu->open & PROFIL_OWN)
		profil_interval_close(cpu, profil_now(&now));
	for (open = cpu->open; open; open &= open - 1)
		profil_reader_pass(cpu, __ffs(open), next, &now);
	/*
	 * Other CPUs may learn that this one has left an address space or a
	 * watch only when the interval is closed: they free a session when no
	 * CPU runs by it. Pairs with the acquire in profil_cpu_runs().
	 */
	smp_store_release(&cpu->running, next->mm);
	/* Pairs with the acquire in profil_cpu_runs_watched(). */
	smp_store_release(&cpu->signal, next->signal);

	/*
	 * Pairs with the barriers in profil_clock_refresh() and
	 * profil_clock_refresh_watch(): either this CPU finds the new session or
	 * member, or their refresh finds this CPU running it.
	 */
	smp_mb();
	if (!hlist_empty(profil_ctx_bucket(next->mm)) && profil_task_mm(next))
		session = profil_find_session(next->mm);
	if (session)
		profil_interval_open(cpu, session, profil_now(&now));
	profil_cpu_open_watches(cpu, next, &now);
}

/* The same where there may be a watch, too. */
static __always_inline void
profil_watching_switch(const struct task_struct *next)
{
	struct signal_struct *signal = next->signal;
	struct mm_struct *mm = next->mm;

	this_cpu_write(profil_cpus.running, mm);
	this_cpu_write(profil_cpus.signal, signal);
	/* As in profil_cpu_switch(). */
	smp_mb();
	if (likely(hlist_empty(profil_ctx_bucket(mm)) &&
		   hlist_empty(profil_member_bucket(signal))))
		return;
	if (profil_ctx_find(mm) || profil_member_first(signal))
		profil_cpu_switch(next);
}

/*
 * Every context switch comes here while there is any profile or watch; this
 * must cost next to nothing unless it is from or to a program that has one.
 *
 * Context: scheduler, its locks held.
 */
void profil_sched_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	struct mm_struct *mm = next->mm;

	if (unlikely(this_cpu_read(profil_cpus.open))) {
		profil_cpu_switch(next);
		return;
	}
	if (static_branch_unlikely(&profil_is_watching)) {
		profil_watching_switch(next);
		return;
	}
	this_cpu_write(profil_cpus.running, mm);
	/* As in profil_cpu_switch(). */
	smp_mb();
	if (likely(hlist_empty(profil_ctx_bucket(mm))))
		return;
	if (profil_ctx_find(mm))
		profil_cpu_switch(next);
}

/*
 * Bring this CPU up to date with the watches of the task that runs: close the
 * intervals of those that have ended, or that it has left; add to the CPU time
 * of the image that it has had until now; open those of new watches. Ticks that
 * are due are left to the interrupt that is about to come.
 *
 * Context: hard interrupts off.
 */
static void profil_cpu_refresh_watches(void *unused)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);
	unsigned long open;
	u64 now;

	/*
	 * If profil_clock_refresh_process() finds this on its way, it finds what
	 * that is for: pairs with the barrier there.
	 */
	smp_mb();
	now = ktime_get_ns();
	for (open = cpu->open & PROFIL_WATCHES; open; open &= open - 1)
		profil_reader_update(cpu, __ffs(open), now);
	if (cpu->signal == current->signal)
		profil_cpu_open_watches(cpu, current, &now);
}

/* --- exec */

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
	struct profil_cpu *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&profil_cpus);
	if (cpu->running != current->mm) {
		if (cpu->open & PROFIL_OWN)
			profil_interval_close(cpu, ktime_get_ns());
		/* Pairs with the acquire in profil_cpu_runs(). */
		smp_store_release(&cpu->running, current->mm);
	}
	if (!hlist_empty(profil_member_bucket(current->signal)))
		profil_cpu_refresh_watches(NULL);
	local_irq_restore(flags);
}

/* --- refresh */

/*
 * Bring this CPU up to date with the session of address space @info, if it runs
 * that: close the interval of another session, open one, or add to the time
 * covered. Ticks that are due in an interval that goes on are left to the
 * interrupt that is about to come, which knows the program counter.
 */
static void profil_cpu_refresh(void *info)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);
	bool is_open = cpu->open & PROFIL_OWN;
	struct mm_struct *mm = info;
	struct profil_session *session = NULL;
	u64 now = ktime_get_ns();

	if (profil_task_mm(current) == mm)
		session = profil_find_session(mm);
	if (session && is_open && cpu->session == session) {
		atomic64_add(now - cpu->interval.since, &session->cpu_ns);
		cpu->interval.since = now;
		return;
	}
	if (is_open && cpu->session->mm == mm)
		profil_interval_close(cpu, now);
	if (session)
		profil_interval_open(cpu, session, now);
}

static bool profil_cpu_runs(int cpu, void *info)
{
	/* Pairs with the release in profil_cpu_switch(). */
	return smp_load_acquire(&per_cpu(profil_cpus, cpu).running) == info;
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
 * Interrupts the CPUs that run @mm and no others. One caller at a time, as in
 * membarrier(2), so that many cannot flood a CPU.
 *
 * Context: process; mmap_lock may be held.
 */
void profil_clock_refresh(struct mm_struct *mm)
{
	mutex_lock(&profil_ipi_mutex);
	/* Pairs with the barrier in profil_cpu_switch(). */
	smp_mb();
	on_each_cpu_cond(profil_cpu_runs, profil_cpu_refresh, mm, true);
	mutex_unlock(&profil_ipi_mutex);
}

static bool profil_cpu_runs_watched(int nr, void *info)
{
	const struct profil_watcher *watcher = info;
	struct profil_cpu *cpu = per_cpu_ptr(&profil_cpus, nr);
	const struct signal_struct *signal;
	const struct profil_member *member;

	/* Pairs with the release in profil_reader_close(). */
	if (smp_load_acquire(&cpu->readers[watcher->slot].watcher) == watcher)
		return true;
	/* Pairs with the release in profil_cpu_switch(). */
	signal = smp_load_acquire(&cpu->signal);
	member = profil_member_find(watcher, signal);
	return member && profil_is_image_on(READ_ONCE(member->image));
}

/**
 * profil_clock_refresh_watch() - have all CPUs notice a change of a watch
 * @watcher: the watch that begins, ends or is read; its members stay until this
 *	returns
 *
 * When this returns intervals are open wherever a member runs if the watch is
 * on, and closed if it is off. The CPU time of its images is up to date.
 *
 * Interrupts the CPUs that run a member that takes ticks and no others, as
 * profil_clock_refresh().
 *
 * Context: process.
 */
void profil_clock_refresh_watch(struct profil_watcher *watcher)
{
	mutex_lock(&profil_ipi_mutex);
	/* Pairs with the barrier in profil_cpu_switch(). */
	smp_mb();
	rcu_read_lock();
	on_each_cpu_cond(profil_cpu_runs_watched, profil_cpu_refresh_watches,
			 watcher, true);
	rcu_read_unlock();
	mutex_unlock(&profil_ipi_mutex);
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
	/* Pairs with the barrier in profil_cpu_switch(). */
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

/* Return: time of the next tick of a watch. */
static u64 profil_tick_watch(struct profil_cpu *cpu, u32 slot,
			     struct pt_regs *regs, u64 now)
{
	struct profil_reader *reader = &cpu->readers[slot];
	u64 nr;

	if (unlikely(reader->image != READ_ONCE(reader->member->image)) &&
	    !profil_reader_update(cpu, slot, now))
		return PROFIL_PARKED;
	nr = profil_schedule_advance(&reader->interval.schedule, now);
	if (likely(nr))
		profil_table_tick(reader->watcher, reader->image,
				  profil_clamp(nr), regs);
	return reader->interval.schedule.next;
}

static noinline u64 profil_tick_watches(struct profil_cpu *cpu,
					struct pt_regs *regs, u64 now)
{
	unsigned long open = cpu->open & PROFIL_WATCHES;
	u64 next = PROFIL_PARKED;

	for (; open; open &= open - 1)
		next = min(next, profil_tick_watch(cpu, __ffs(open), regs,
						   now));
	return next;
}

/* Return: time of the next tick of a session. */
static __always_inline u64 profil_tick_session(struct profil_cpu *cpu,
					       struct pt_regs *regs, u64 now)
{
	struct profil_session *session = cpu->session;
	u32 nr;

	if (unlikely(!profil_session_is_on(session))) {
		profil_interval_close(cpu, now);
		return PROFIL_PARKED;
	}
	nr = profil_clamp(profil_schedule_advance(&cpu->interval.schedule,
						  now));
	/* Without registers: a CPU that goes offline runs its timers */
	if (likely(nr && regs && user_mode(regs)))
		profil_count(session, instruction_pointer(regs), nr, true);
	else if (nr)
		profil_count_kernel(session, nr);
	return cpu->interval.schedule.next;
}

/* Count the ticks that fell, with hard interrupts off; sets cpu->armed. */
static __always_inline void profil_tick(struct profil_cpu *cpu,
					struct pt_regs *regs)
{
	u64 now = ktime_get_ns();
	u64 next = PROFIL_PARKED;

	if (likely(cpu->open & PROFIL_OWN))
		next = profil_tick_session(cpu, regs, now);
	if (unlikely(cpu->open & PROFIL_WATCHES))
		next = min(next, profil_tick_watches(cpu, regs, now));
	if (unlikely(cpu->armed == PROFIL_OFFLINE))
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
	cpu->refresh.func = profil_cpu_refresh_watches;
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

	WRITE_ONCE(cpu->running, current->mm);
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
