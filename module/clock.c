// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock.c - when ticks fall, and on whom
 *
 * Ticks fall at instants fixed by schedule.c. A tick belongs to the program
 * that the processor ran at its instant. So the time that a processor runs a
 * profiled address space is kept as an interval: it begins when the address
 * space is switched in, and is settled up to now by each interrupt of the
 * clock, and when the address space is switched out. Settling counts the
 * instants that have passed since. However late an interrupt comes, no tick is
 * lost, and none is counted for the wrong program.
 *
 * The interrupts serve to find the program counter. A processor whose
 * interrupt finds no profiled program is parked: it gets no further one until
 * a profiled address space is switched in.
 *
 * Context: said at each function. Lock taken: profil_clock_mutex around
 * starting and stopping; none in the rest, where each processor keeps to its
 * own struct profil_cpu with hard interrupts off.
 */
#include <linux/cpuhotplug.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <asm/ptrace.h>
#include <trace/events/sched.h>

#include "clock.h"
#include "compat.h"
#include "count.h"
#include "deliver.h"
#include "lookup.h"
#include "run.h"
#include "schedule.h"

/*
 * An interrupt is not asked for sooner than this. Two instants may be closer;
 * the ticks are then found together by one interrupt.
 */
#define PROFIL_GAP_NS		10000

/* How long the clock stays up when the last profile has gone. */
#define PROFIL_CLOCK_LINGER	HZ

/**
 * struct profil_cpu - what a processor is at
 * @is_up: its clock may be armed
 * @mm: the address space that is running, or NULL between intervals; read by
 *	other processors
 * @serial: of its run when the interval began
 * @since: time up to which it has been settled
 * @at: the schedule as it was then
 * @armed: when the next interrupt comes, or PROFIL_PARKED
 */
struct profil_cpu {
	bool is_up;
	struct mm_struct *mm;
	u64 serial;
	u64 since;
	struct profil_instant at;
	u64 armed;
};

static DEFINE_PER_CPU(struct profil_cpu, profil_cpus) = {
	.armed = PROFIL_PARKED,
};

static const struct profil_clock_ops *profil_clock_ops;
static struct profil_schedule profil_schedule;
static struct tracepoint *profil_switch;
static int profil_hotplug_state;

static DEFINE_MUTEX(profil_clock_mutex);
static atomic_t profil_clock_users = ATOMIC_INIT(0);
static bool profil_clock_is_up;

/* The address space whose time a task spends; kernel threads only borrow. */
static struct mm_struct *profil_task_mm(const struct task_struct *task)
{
	return task->flags & PF_KTHREAD ? NULL : task->mm;
}

/*
 * The same of the task that runs now. One that has left its memory by exit goes
 * on spending that time until it is switched out.
 */
static struct mm_struct *profil_current_mm(const struct profil_cpu *cpu)
{
	if (current->flags & PF_KTHREAD)
		return NULL;
	return current->mm ? current->mm : cpu->mm;
}

/*
 * The run of an address space, if it is on. Hard interrupts off, so that no
 * grace period ends meanwhile.
 */
static inline struct profil_run *profil_find_run(const struct mm_struct *mm)
{
	struct profil_space *space;
	struct profil_run *run;

	if (!mm)
		return NULL;
	space = profil_space_find(mm);
	if (!space)
		return NULL;
	run = rcu_dereference_sched(space->run);
	return run && profil_run_is_on(run) ? run : NULL;
}

/*
 * Begin an interval. Hard interrupts off.
 * Return: its first instant.
 */
static u64 profil_interval_open(struct profil_cpu *cpu, struct profil_run *run,
				struct mm_struct *mm, u64 now)
{
	cpu->serial = run->serial;
	cpu->since = now;
	cpu->at = profil_schedule_at(&profil_schedule, smp_processor_id(),
				     run->table->period_ns, now);
	WRITE_ONCE(cpu->mm, mm);
	/*
	 * Pairs with the barrier in profil_clock_end(): either that sees this
	 * interval, or no tick of it will see the run that was ended.
	 */
	smp_mb();
	return cpu->at.next;
}

/* Begin an interval, outside of the clock's interrupt. */
static void profil_interval_start(struct profil_cpu *cpu,
				  struct profil_run *run, struct mm_struct *mm,
				  u64 now)
{
	u64 next = profil_interval_open(cpu, run, mm, now);

	if (cpu->armed <= next || !cpu->is_up)
		return;
	cpu->armed = max(next, now + PROFIL_GAP_NS);
	profil_clock_ops->arm(cpu->armed, now);
}

/* The run of the interval that the processor is in, if that is still on. */
static struct profil_run *profil_interval_run(const struct profil_cpu *cpu)
{
	struct profil_run *run = profil_find_run(cpu->mm);

	return run && run->serial == cpu->serial ? run : NULL;
}

/*
 * Count what has passed since the interval was last settled. Hard interrupts
 * off.
 * Return: the next instant.
 */
static inline u64 profil_interval_settle(struct profil_cpu *cpu,
					 struct profil_run *run, u64 now,
					 u64 pc, bool user)
{
	struct profil_instant at =
		profil_schedule_after(&profil_schedule, smp_processor_id(),
				      run->table->period_ns, cpu->at, now);
	struct profil_tick tick = {
		.pc = pc,
		.nr = min_t(u64, at.passed - cpu->at.passed, U32_MAX),
		.user = user,
	};

	atomic64_add(now - cpu->since, &run->cpu_ns);
	cpu->since = now;
	cpu->at = at;
	if (tick.nr)
		profil_count(run, tick);
	return at.next;
}

/* The program counter with which a task will go on in user mode. */
static u64 profil_user_pc(struct task_struct *task)
{
	return instruction_pointer(task_pt_regs(task));
}

/*
 * End the interval, if there is one. The task that ran is known; what it ran it
 * may have left by exit, or for another program by exec.
 */
static void profil_interval_close(struct profil_cpu *cpu,
				  struct task_struct *task, u64 now)
{
	struct mm_struct *mm = profil_task_mm(task);
	struct profil_run *run;

	if (!cpu->mm)
		return;
	run = profil_interval_run(cpu);
	if (run && (!mm || mm == cpu->mm))
		profil_interval_settle(cpu, run, now, profil_user_pc(task),
				       false);
	if (run && mm != cpu->mm)
		profil_deliver_hurry(run);
	WRITE_ONCE(cpu->mm, NULL);
}

/**
 * profil_clock_tick() - the interrupt
 * @regs: what it interrupted; NULL if that is unknown, which it is when a
 *	processor that goes offline lets its timers expire
 *
 * Context: hard interrupt.
 * Return: when the next one shall come, or PROFIL_PARKED.
 */
u64 profil_clock_tick(struct pt_regs *regs)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);
	struct mm_struct *mm = profil_current_mm(cpu);
	u64 now = ktime_get_ns();
	struct profil_run *run;
	u64 next = PROFIL_PARKED;

	run = profil_find_run(mm);
	if (!run) {
		profil_interval_close(cpu, current, now);
	} else if (cpu->mm == mm && cpu->serial == run->serial) {
		bool user = regs && user_mode(regs);
		u64 pc = user ? instruction_pointer(regs) :
				profil_user_pc(current);

		next = profil_interval_settle(cpu, run, now, pc, user);
	} else if (current->mm) {
		/* The run was published a moment ago. */
		next = profil_interval_open(cpu, run, mm, now);
	} else {
		WRITE_ONCE(cpu->mm, NULL);
	}

	if (!cpu->is_up)
		next = PROFIL_PARKED;
	cpu->armed = max(next, now + PROFIL_GAP_NS);
	return cpu->armed;
}

/* From or to an address space that may be profiled. */
static noinline void profil_interval_switch(struct profil_cpu *cpu,
					    struct task_struct *prev,
					    struct task_struct *next)
{
	struct mm_struct *mm = profil_task_mm(next);
	struct profil_run *run = profil_find_run(mm);

	if (cpu->mm || run) {
		u64 now = ktime_get_ns();

		profil_interval_close(cpu, prev, now);
		if (run)
			profil_interval_start(cpu, run, mm, now);
	}
}

/*
 * Every context switch comes here as long as there is any profile, so that what
 * concerns no profile is left after a glance.
 *
 * Context: scheduler, hard interrupts off, its locks held.
 */
static void profil_clock_switch(PROFIL_SWITCH_PARAMETERS)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);

	if (cpu->mm || profil_space_is_likely(next->mm))
		profil_interval_switch(cpu, prev, next);
}

/* Context: hard interrupts off. Settle, if the processor runs @info. */
static void profil_cpu_settle(void *info)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);
	struct mm_struct *mm = info;
	struct profil_run *run;

	if (cpu->mm != mm || profil_current_mm(cpu) != mm)
		return;
	run = profil_interval_run(cpu);
	if (run)
		profil_interval_settle(cpu, run, ktime_get_ns(),
				       profil_user_pc(current), false);
}

/* Context: hard interrupts off. Begin anew, if the processor runs @info. */
static void profil_cpu_begin(void *info)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);
	struct mm_struct *mm = info;
	struct profil_run *run;

	if (profil_task_mm(current) != mm)
		return;
	run = profil_find_run(mm);
	if (run && !(cpu->mm == mm && cpu->serial == run->serial))
		profil_interval_start(cpu, run, mm, ktime_get_ns());
}

/* Context: hard interrupts off. */
static void profil_cpu_end(void *info)
{
	struct profil_cpu *cpu = this_cpu_ptr(&profil_cpus);

	if (cpu->mm == info)
		WRITE_ONCE(cpu->mm, NULL);
}

static bool profil_cpu_runs(int cpu, void *info)
{
	return READ_ONCE(per_cpu(profil_cpus, cpu).mm) == info;
}

/**
 * profil_clock_settle() - settle an address space's intervals on every
 * processor that runs it
 * @mm: address space
 *
 * Context: process.
 */
void profil_clock_settle(struct mm_struct *mm)
{
	on_each_cpu_cond(profil_cpu_runs, profil_cpu_settle, mm, true);
}

/**
 * profil_clock_begin() - begin intervals wherever an address space runs
 * @mm: of the caller, its run just published
 *
 * Threads that are not running now begin theirs when they are switched in.
 *
 * Context: process.
 */
void profil_clock_begin(struct mm_struct *mm)
{
	if (atomic_read(&mm->mm_users) > 1) {
		on_each_cpu(profil_cpu_begin, mm, true);
	} else {
		local_irq_disable();
		profil_cpu_begin(mm);
		local_irq_enable();
	}
}

/**
 * profil_clock_end() - wait until no processor counts by an ended run
 * @mm: address space whose run has just been unpublished
 *
 * Counting happens with hard interrupts off and within an interval only. Who
 * has one is interrupted; when that interrupt has been taken, the count that
 * was under way is over, and the next one does not find the run.
 *
 * Context: process.
 */
void profil_clock_end(struct mm_struct *mm)
{
	/* Pairs with the barrier in profil_interval_open(). */
	smp_mb();
	on_each_cpu_cond(profil_cpu_runs, profil_cpu_end, mm, true);
}

/**
 * profil_clock_leave() - end the caller's interval of an address space that
 * ends
 * @mm: the address space, which nobody can write to any more
 *
 * What has passed since the last tick was covered too.
 *
 * Context: process.
 */
void profil_clock_leave(const struct mm_struct *mm)
{
	struct profil_cpu *cpu;
	struct profil_run *run;

	local_irq_disable();
	cpu = this_cpu_ptr(&profil_cpus);
	if (cpu->mm == mm) {
		run = profil_interval_run(cpu);
		if (run)
			atomic64_add(ktime_get_ns() - cpu->since,
				     &run->cpu_ns);
		WRITE_ONCE(cpu->mm, NULL);
	}
	local_irq_enable();
}

static void profil_clock_find_switch(struct tracepoint *tracepoint, void *data)
{
	if (!strcmp(tracepoint->name, "sched_switch"))
		profil_switch = tracepoint;
}

/* Context: process, on the processor. */
static int profil_cpu_online(unsigned int nr)
{
	struct profil_cpu *cpu = per_cpu_ptr(&profil_cpus, nr);
	int err = profil_clock_ops->online(nr);

	if (err)
		return err;
	cpu->armed = PROFIL_PARKED;
	WRITE_ONCE(cpu->is_up, true);
	return 0;
}

/* Context: process, on the processor. */
static int profil_cpu_offline(unsigned int nr)
{
	struct profil_cpu *cpu = per_cpu_ptr(&profil_cpus, nr);

	WRITE_ONCE(cpu->is_up, false);
	profil_clock_ops->offline(nr);
	cpu->armed = PROFIL_PARKED;
	WRITE_ONCE(cpu->mm, NULL);
	return 0;
}

/* Context: process, profil_clock_mutex held. */
static int profil_clock_up(void)
{
	int state;
	int err;

	err = tracepoint_probe_register(profil_switch, profil_clock_switch,
					NULL);
	if (err)
		return err;
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "profil:online",
				  profil_cpu_online, profil_cpu_offline);
	if (state < 0) {
		tracepoint_probe_unregister(profil_switch, profil_clock_switch,
					    NULL);
		tracepoint_synchronize_unregister();
		return state;
	}
	profil_hotplug_state = state;
	profil_clock_is_up = true;
	return 0;
}

/* Context: process, profil_clock_mutex held. */
static void profil_clock_down(void)
{
	tracepoint_probe_unregister(profil_switch, profil_clock_switch, NULL);
	tracepoint_synchronize_unregister();
	cpuhp_remove_state(profil_hotplug_state);
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

/* What makes the ticks. */
enum profil_clock profil_clock_kind(void)
{
	return profil_clock_ops->kind;
}

/**
 * profil_clock_get() - have the clock run
 *
 * Context: process, may sleep, mmap_lock not held.
 * Return: 0, or an error of the perf subsystem or of CPU hotplug.
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
 * profil_clock_get_again() - have the clock run on
 *
 * Context: any.
 * Return: whether it runs.
 */
bool profil_clock_get_again(void)
{
	return atomic_inc_not_zero(&profil_clock_users);
}

/**
 * profil_clock_put() - the reverse of both
 *
 * Context: any. The clock is stopped by a worker and after a while, since
 * stopping it takes locks that may not be taken under mmap_lock, and since
 * programs that start and stop often should not pay for it.
 */
void profil_clock_put(void)
{
	if (atomic_dec_and_test(&profil_clock_users))
		mod_delayed_work(profil_wq, &profil_clock_stop,
				 PROFIL_CLOCK_LINGER);
}

int __init profil_clock_init(const struct profil_clock_ops *ops)
{
	/* Only to have the compiler compare the prototypes. */
	check_trace_callback_type_sched_switch(profil_clock_switch);

	for_each_kernel_tracepoint(profil_clock_find_switch, NULL);
	if (!profil_switch)
		return -EOPNOTSUPP;
	get_random_bytes(&profil_schedule, sizeof(profil_schedule));
	profil_clock_ops = ops;
	return 0;
}

void profil_clock_exit(void)
{
	cancel_delayed_work_sync(&profil_clock_stop);
	if (profil_clock_is_up)
		profil_clock_down();
}
