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
 * Context: see each function. Takes no lock in interrupts and context
 * switches, where each CPU keeps to its own struct profil_cpu with hard
 * interrupts off.
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
#include <linux/tracepoint.h>
#include <asm/irq_regs.h>
#include <asm/ptrace.h>
#include <trace/events/sched.h>

#include "counter.h"
#include "profil_private.h"
#include "schedule.h"

/* The time of an interrupt that never comes. */
#define PROFIL_PARKED		U64_MAX

/* A CPU that is offline: it is never armed, since all times come later. */
#define PROFIL_OFFLINE		0

/*
 * The minimum time to the next interrupt. Two ticks may be closer; one
 * interrupt then finds both.
 */
#define PROFIL_GAP_NS		10000

/* How long context switches are watched after the last profile has gone. */
#define PROFIL_CLOCK_LINGER	(10 * HZ)

/* A period of 13 days: without one, perf would not use a timer. */
#define PROFIL_PERF_PARKED_NS	BIT_ULL(50)

/* From perf, in kernel/events/core.c: the counter is throttled. */
#define PROFIL_PERF_THROTTLED	(~0ULL)

/**
 * struct profil_cpu - of one CPU
 * @running: address space of the task that runs, as of the last context switch
 *	that was watched; other CPUs read it
 * @session: of the interval that is open, or NULL
 * @since: when the interval was opened, or @session last read
 * @armed: time of the next interrupt, PROFIL_PARKED or PROFIL_OFFLINE
 * @schedule: the ticks, with the period of the last interval
 * @event: perf's counter, or NULL to use @timer
 * @timer: used without @event
 * @rearm: arms @event when perf has throttled it
 *
 * @session is not NULL only if @running is its address space.
 */
struct profil_cpu {
	struct mm_struct *running;
	struct profil_session *session;
	u64 since;
	u64 armed;
	struct profil_schedule schedule;
	struct perf_event *event;
	struct hrtimer timer;
	struct irq_work rearm;
};

static DEFINE_PER_CPU_ALIGNED(struct profil_cpu, profil_cpus);

static enum profil_clock profil_clock;
static u64 profil_secret[2];
static struct tracepoint *profil_switch;
static struct tracepoint *profil_exec;
static int profil_hotplug_state;

static DEFINE_MUTEX(profil_clock_mutex);
static DEFINE_MUTEX(profil_ipi_mutex);
static atomic_t profil_clock_users = ATOMIC_INIT(0);
static bool profil_clock_is_up;

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
	u64 nr = profil_schedule_advance(&cpu->schedule, now);

	if (unlikely(nr) && profil_session_is_on(session))
		profil_count_kernel(session, profil_clamp(nr));
	atomic64_add(now - cpu->since, &session->cpu_ns);
	cpu->session = NULL;
}

/* A timer's time is absolute, a counter's relative. */
static void profil_arm(struct profil_cpu *cpu, u64 now)
{
	struct perf_event *event = cpu->event;

	if (!event) {
		hrtimer_start(&cpu->timer, ns_to_ktime(cpu->armed),
			      HRTIMER_MODE_ABS_PINNED_HARD);
		return;
	}
	/*
	 * Starting a software clock that runs already moves its timer. perf
	 * does no more when it switches a task's counter in, under the same
	 * locks.
	 */
	local64_set(&event->hw.period_left,
		    max_t(s64, cpu->armed - now, PROFIL_GAP_NS));
	event->pmu->start(event, 0);
}

static void profil_interval_open(struct profil_cpu *cpu,
				 struct profil_session *session, u64 now)
{
	u32 period_ns = session->config->period_ns;

	cpu->session = session;
	cpu->since = now;
	if (likely(cpu->schedule.period_ns == period_ns))
		profil_schedule_advance(&cpu->schedule, now);
	else
		profil_schedule_start(&cpu->schedule, profil_secret,
				      smp_processor_id(), period_ns, now);
	if (cpu->schedule.next < cpu->armed) {
		cpu->armed = max(cpu->schedule.next, now + PROFIL_GAP_NS);
		profil_arm(cpu, now);
	}
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

/*
 * This CPU leaves the address space of its interval. Other CPUs may learn that
 * only when the interval is closed: they free a session when no CPU runs by it.
 */
static void profil_cpu_leave(struct mm_struct *mm)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);

	if (cpu->session)
		profil_interval_close(cpu, ktime_get_ns());
	/* Pairs with the acquire in profil_cpu_runs(). */
	smp_store_release(&cpu->running, mm);
}

/* To an address space that may be profiled. */
static noinline void profil_cpu_enter(const struct task_struct *next)
{
	struct mm_struct *mm = profil_task_mm(next);
	struct profil_session *session;

	/*
	 * Pairs with the barrier in profil_clock_refresh(): either this CPU
	 * finds the new session, or its refresh finds this CPU running @mm.
	 */
	smp_mb();
	session = mm ? profil_find_session(mm) : NULL;
	if (session)
		profil_interval_open(this_cpu_ptr(&profil_cpus), session,
				     ktime_get_ns());
}

static noinline void profil_cpu_switch(const struct task_struct *next)
{
	profil_cpu_leave(next->mm);
	profil_cpu_enter(next);
}

/*
 * Every context switch comes here while there is any profile; this must cost
 * next to nothing unless it is from or to a profiled program.
 *
 * Context: scheduler, its locks held.
 */
static void profil_sched_switch(void *data, bool preempt,
				struct task_struct *prev,
				struct task_struct *next,
				unsigned int prev_state)
{
	struct mm_struct *mm = next->mm;

	if (unlikely(this_cpu_read(profil_cpus.session))) {
		profil_cpu_switch(next);
		return;
	}
	this_cpu_write(profil_cpus.running, mm);
	if (unlikely(!hlist_empty(profil_ctx_bucket(mm))))
		profil_cpu_enter(next);
}

/*
 * A program has been executed. Mostly the old address space has been freed,
 * which closed the interval; but others may still use it, such as the parent
 * after vfork().
 *
 * Context: process.
 */
static void profil_sched_exec(void *data, struct task_struct *task,
			      pid_t old_pid, struct linux_binprm *bprm)
{
	unsigned long flags;

	local_irq_save(flags);
	if (this_cpu_read(profil_cpus.running) != current->mm)
		profil_cpu_leave(current->mm);
	local_irq_restore(flags);
}

/*
 * Bring this CPU up to date with the session of address space @info, if it runs
 * that: close the interval of another session, open one, or add to the time
 * covered. Ticks that are due in an interval that goes on are left to the
 * interrupt that is about to come, which knows the program counter.
 */
static void profil_cpu_refresh(void *info)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);
	struct mm_struct *mm = info;
	struct profil_session *session = NULL;
	u64 now = ktime_get_ns();

	if (profil_task_mm(current) == mm)
		session = profil_find_session(mm);
	if (session && cpu->session == session) {
		atomic64_add(now - cpu->since, &session->cpu_ns);
		cpu->since = now;
		return;
	}
	if (cpu->session && cpu->session->mm == mm)
		profil_interval_close(cpu, now);
	if (session)
		profil_interval_open(cpu, session, now);
}

static bool profil_cpu_runs(int cpu, void *info)
{
	/* Pairs with the release in profil_cpu_leave(). */
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
	/* Pairs with the barrier in profil_cpu_enter(). */
	smp_mb();
	on_each_cpu_cond(profil_cpu_runs, profil_cpu_refresh, mm, true);
	mutex_unlock(&profil_ipi_mutex);
}

/* --- interrupts */

/* Count the ticks that fell, with hard interrupts off; sets cpu->armed. */
static __always_inline void profil_tick(struct profil_cpu *cpu,
					struct pt_regs *regs)
{
	struct profil_session *session = cpu->session;
	u64 now = ktime_get_ns();
	u32 nr;

	if (unlikely(!session || !profil_session_is_on(session))) {
		if (session)
			profil_interval_close(cpu, now);
		cpu->armed = PROFIL_PARKED;
		return;
	}
	nr = profil_clamp(profil_schedule_advance(&cpu->schedule, now));
	cpu->armed = max(cpu->schedule.next, now + PROFIL_GAP_NS);
	if (unlikely(!nr))
		return;
	/* Without registers: a CPU that goes offline runs its timers */
	if (likely(regs && user_mode(regs)))
		profil_count(session, instruction_pointer(regs), nr, true);
	else
		profil_count_kernel(session, nr);
}

static enum hrtimer_restart profil_timer_expired(struct hrtimer *timer)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);

	profil_tick(cpu, get_irq_regs());
	if (cpu->armed == PROFIL_PARKED)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(cpu->armed));
	return HRTIMER_RESTART;
}

/* Context: hard interrupt. */
static void profil_rearm(struct irq_work *work)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);

	if (cpu->armed != PROFIL_PARKED && cpu->armed != PROFIL_OFFLINE)
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
	event->hw.sample_period = cpu->armed == PROFIL_PARKED ?
		PROFIL_PERF_PARKED_NS : cpu->armed - expired;
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

static void perf_event_release_kernel(struct perf_event *event)
{
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

/* Context: the CPU's hotplug thread; nothing profiled runs here any more. */
static int profil_cpu_offline(unsigned int nr)
{
	struct profil_cpu *cpu = per_cpu_ptr(&profil_cpus, nr);

	/* From now on an interrupt parks the CPU, and rearms nothing. */
	irq_work_sync(&cpu->rearm);
	if (cpu->event)
		perf_event_release_kernel(cpu->event);
	cpu->event = NULL;
	/* A timer that is pending would move to another CPU. */
	hrtimer_cancel(&cpu->timer);
	cpu->armed = PROFIL_OFFLINE;
	return 0;
}

/*
 * Set @running, which nothing else does before the first context switch that is
 * watched. Context: hard interrupts off.
 */
static void profil_cpu_look(void *unused)
{
	WRITE_ONCE(this_cpu_ptr(&profil_cpus)->running, current->mm);
}

/* Context: process, profil_clock_mutex held. */
static int profil_clock_up(void)
{
	int err;

	err = tracepoint_probe_register(profil_switch, profil_sched_switch,
					NULL);
	if (err)
		return err;
	err = tracepoint_probe_register(profil_exec, profil_sched_exec, NULL);
	if (err) {
		tracepoint_probe_unregister(profil_switch, profil_sched_switch,
					    NULL);
		tracepoint_synchronize_unregister();
		return err;
	}
	on_each_cpu(profil_cpu_look, NULL, true);
	profil_clock_is_up = true;
	return 0;
}

/* Context: process, profil_clock_mutex held. */
static void profil_clock_down(void)
{
	tracepoint_probe_unregister(profil_exec, profil_sched_exec, NULL);
	tracepoint_probe_unregister(profil_switch, profil_sched_switch, NULL);
	tracepoint_synchronize_unregister();
	profil_clock_is_up = false;
}

static void profil_clock_stop_work(struct work_struct *work)
{
	mutex_lock(&profil_clock_mutex);
	if (profil_clock_is_up && !atomic_read(&profil_clock_users))
		profil_clock_down();
	mutex_unlock(&profil_clock_mutex);
}

static DECLARE_DELAYED_WORK(profil_clock_stop, profil_clock_stop_work);

/* Where the interrupts come from. */
enum profil_clock profil_clock_kind(void)
{
	return READ_ONCE(profil_clock);
}

/**
 * profil_clock_get() - have context switches watched
 *
 * Context: process, may sleep, mmap_lock not held.
 * Return: 0 or -ENOMEM.
 */
int profil_clock_get(void)
{
	int err = 0;

	atomic_inc(&profil_clock_users);
	mutex_lock(&profil_clock_mutex);
	if (!profil_clock_is_up)
		err = profil_clock_up();
	mutex_unlock(&profil_clock_mutex);
	if (err)
		profil_clock_put();
	return err;
}

/**
 * profil_clock_get_running() - profil_clock_get() if they are watched already
 *
 * Context: any.
 * Return: whether they are.
 */
bool profil_clock_get_running(void)
{
	return atomic_inc_not_zero(&profil_clock_users);
}

/**
 * profil_clock_put() - the reverse of profil_clock_get() and its variant
 *
 * Context: any. Stopping takes locks that may not be taken under mmap_lock, so
 * a work does it, and after a while: each start and stop patches kernel text.
 */
void profil_clock_put(void)
{
	if (atomic_dec_and_test(&profil_clock_users))
		mod_delayed_work(profil_wq, &profil_clock_stop,
				 PROFIL_CLOCK_LINGER);
}

static void __init profil_find_tracepoint(struct tracepoint *tracepoint,
					  void *data)
{
	if (!strcmp(tracepoint->name, "sched_switch"))
		profil_switch = tracepoint;
	else if (!strcmp(tracepoint->name, "sched_process_exec"))
		profil_exec = tracepoint;
}

/**
 * profil_clock_init() - prepare all CPUs
 * @clock: source of the interrupts
 *
 * Return: 0; -EOPNOTSUPP if the kernel has no tracepoints; -ENOMEM.
 */
int __init profil_clock_init(enum profil_clock clock)
{
	int state;

	/* Only to have the compiler compare the prototypes. */
	check_trace_callback_type_sched_switch(profil_sched_switch);
	check_trace_callback_type_sched_process_exec(profil_sched_exec);

	for_each_kernel_tracepoint(profil_find_tracepoint, NULL);
	if (!profil_switch || !profil_exec)
		return -EOPNOTSUPP;
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
void profil_clock_exit(void)
{
	cancel_delayed_work_sync(&profil_clock_stop);
	if (profil_clock_is_up)
		profil_clock_down();
	cpuhp_remove_state(profil_hotplug_state);
}
