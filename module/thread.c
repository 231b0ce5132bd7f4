// SPDX-License-Identifier: GPL-2.0-only
/*
 * thread.c - the threads of watches of wall-clock time
 *
 * A thread gets an entry when it is created, or executes a program, or when its
 * process joins the watch, and loses it when its task is freed, or when the watch
 * ends: by then it has been switched out for the last time. All entries were
 * allocated when the watch began.
 *
 * tick.c counts the ticks of a wait when that ends. Here are those of waits that
 * go on: how many there are, for the stats; and counting them, with their chains,
 * when the watch is stopped or its creator asks for it. The thread sleeps on
 * meanwhile.
 *
 * Context: see each function. Lock: profil_thread_lock.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

#include "profil_private.h"
#include "thread.h"
#include "watcher.h"

DEFINE_READ_MOSTLY_HASHTABLE(profil_threads, PROFIL_THREAD_BITS);

/* Protects the hash table, and the entries of all watches that are not in it. */
static DEFINE_RAW_SPINLOCK(profil_thread_lock);

/* --- entries; profil_thread_lock held */

/*
 * Entries of users without CAP_PERFMON in one chain of the hash table, which
 * context switches walk: 8192 threads make one for each chain on average.
 */
#define PROFIL_THREAD_CHAIN	32

static bool profil_bucket_has_room(const struct task_struct *task)
{
	struct profil_thread *thread;
	unsigned int nr = 0;

	hlist_for_each_entry(thread, profil_thread_bucket(task), node)
		nr += !profil_watcher_is_perfmon(thread->member->watcher);
	return nr < PROFIL_THREAD_CHAIN;
}

/* Return: an entry that is not in use any more; NULL if there is no room. */
static struct profil_thread *
profil_thread_take(struct profil_watcher *watcher, struct task_struct *task)
{
	struct rcu_head *free = watcher->free_threads;
	u32 room = profil_watcher_room(watcher, watcher->request.threads,
				       task_uid(task));

	if (!free || watcher->nr_threads >= room)
		return NULL;
	if (!profil_watcher_is_perfmon(watcher) &&
	    !profil_bucket_has_room(task))
		return NULL;
	watcher->free_threads = free->next;
	WRITE_ONCE(watcher->nr_threads, watcher->nr_threads + 1);
	return container_of(free, struct profil_thread, rcu);
}

/* All threads of a watch have the same secret, and each its own cells. */
static void profil_thread_init(struct profil_thread *thread,
			       struct profil_member *member,
			       struct task_struct *task, u64 now)
{
	const struct profil_watcher *watcher = member->watcher;

	thread->task = task;
	thread->member = member;
	thread->since = now;
	thread->run_delay = profil_thread_run_delay(task);
	thread->state = TASK_INTERRUPTIBLE;
	profil_schedule_start(&thread->schedule, watcher->cells, task->pid,
			      watcher->sink.period_ns, now);
	/* Pairs with the acquire in profil_thread_counted(). */
	smp_store_release(&thread->out, now);
}

static void profil_thread_insert(struct profil_member *member,
				 struct task_struct *task)
{
	struct profil_watcher *watcher = member->watcher;
	struct profil_thread *thread;

	if (!profil_watcher_is_on(watcher) || profil_thread_find(member, task))
		return;
	thread = profil_thread_take(watcher, task);
	if (!thread) {
		atomic64_inc(&watcher->unfollowed_threads);
		return;
	}
	profil_thread_init(thread, member, task, ktime_get_ns());
	hlist_add_head_rcu(&thread->node, profil_thread_bucket(task));
}

static void profil_thread_reuse(struct rcu_head *rcu)
{
	struct profil_thread *thread =
		container_of(rcu, struct profil_thread, rcu);
	struct profil_watcher *watcher = thread->member->watcher;
	unsigned long flags;

	raw_spin_lock_irqsave(&profil_thread_lock, flags);
	rcu->next = watcher->free_threads;
	watcher->free_threads = rcu;
	WRITE_ONCE(watcher->nr_threads, watcher->nr_threads - 1);
	raw_spin_unlock_irqrestore(&profil_thread_lock, flags);
	profil_watcher_put(watcher);
}

static bool profil_thread_is_known(const struct task_struct *task)
{
	const struct profil_thread *thread;
	bool known = false;

	rcu_read_lock();
	hlist_for_each_entry_rcu(thread, profil_thread_bucket(task), node)
		known |= thread->task == task;
	rcu_read_unlock();
	return known;
}

/* --- tasks come and go */

/**
 * profil_thread_add() - follow a thread, unless it is followed already
 * @member: its process; in a watch of wall-clock time
 * @task: its task; current, or not yet running, or under rcu_read_lock()
 *
 * Its ticks are due from now on. If it runs, a refresh of its CPU must follow.
 *
 * Context: any but with the scheduler's locks held.
 */
void profil_thread_add(struct profil_member *member, struct task_struct *task)
{
	unsigned long flags;

	/* Those of io_uring and vhost have no registers of their own, either */
	if (READ_ONCE(task->flags) &
	    (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return;
	raw_spin_lock_irqsave(&profil_thread_lock, flags);
	profil_thread_insert(member, task);
	raw_spin_unlock_irqrestore(&profil_thread_lock, flags);
}

/**
 * profil_threads_join() - follow the threads of a process that has been moved
 * @member: the process; it takes ticks
 * @process: any of its threads
 * @is_new: it has become a member just now: none of its threads is followed yet
 *
 * Those beyond PROFIL_MOVED_THREADS are neither looked at nor followed. Threads
 * that are created meanwhile are in the list of threads, or follow by themselves. A
 * refresh of the CPUs that run the process must follow.
 *
 * Context: any but with the scheduler's locks held; under rcu_read_lock().
 */
void profil_threads_join(struct profil_member *member,
			 struct task_struct *process, bool is_new)
{
	struct task_struct *task;
	u32 nr = 0;
	int others;

	/* Those that begin or end now may be among them or not */
	others = data_race(get_nr_threads(process)) - PROFIL_MOVED_THREADS;
	if (is_new && others > 0)
		atomic64_add(others, &member->watcher->unfollowed_threads);
	/* Pairs with the barrier in profil_members_fork(). */
	smp_mb();
	for_each_thread(process, task) {
		if (nr++ == PROFIL_MOVED_THREADS)
			break;
		if (!READ_ONCE(task->exit_state))
			profil_thread_add(member, task);
	}
}

/**
 * profil_threads_leave() - count the waits of a process that leaves a watch
 * @member: the process, with the image that it has had
 * @process: any of its threads
 *
 * Their entries stay; those that come back are followed from when they run next.
 * Waits of more than PROFIL_MOVED_THREADS threads are not counted.
 *
 * Context: as profil_threads_join().
 */
void profil_threads_leave(struct profil_member *member,
			  struct task_struct *process)
{
	struct profil_thread *thread;
	struct task_struct *task;
	u64 now = ktime_get_ns();
	u32 nr = 0;

	for_each_thread(process, task) {
		if (nr++ == PROFIL_MOVED_THREADS)
			break;
		thread = profil_thread_find(member, task);
		if (thread)
			profil_thread_settle(thread, now);
	}
}

/**
 * profil_threads_free() - a task has been switched out for the last time, and
 * been released
 * @task: the task
 *
 * Context: any.
 */
void profil_threads_free(struct task_struct *task)
{
	struct profil_thread *thread;
	struct hlist_node *next;
	unsigned long flags;

	if (!profil_thread_is_known(task))
		return;
	raw_spin_lock_irqsave(&profil_thread_lock, flags);
	hlist_for_each_entry_safe(thread, next, profil_thread_bucket(task),
				  node) {
		if (thread->task != task)
			continue;
		hlist_del_init_rcu(&thread->node);
		profil_watcher_get(thread->member->watcher);
		call_rcu_hurry(&thread->rcu, profil_thread_reuse);
	}
	raw_spin_unlock_irqrestore(&profil_thread_lock, flags);
}

/* --- waits that go on */

/*
 * A thread that has ended is never switched in again, and one that is just about
 * to is left alone. Context: its task is not freed.
 *
 * @image: gets the image of its process, which may leave the watch meanwhile
 *
 * Return: up to when its ticks are counted; 0 if it does not wait.
 */
static u64 profil_thread_counted(const struct profil_thread *thread, u32 *image)
{
	/* Pairs with the releases in profil_thread_init() and in tick.c. */
	u64 out = smp_load_acquire(&thread->out);

	/* Pairs with the release in profil_member_set(): @since is as new */
	*image = smp_load_acquire(&thread->member->image);
	if (READ_ONCE(thread->task->exit_state) ||
	    !profil_is_image_on(*image) ||
	    out < READ_ONCE(thread->member->since))
		return 0;
	return out;
}

/*
 * The registers with which a thread that sleeps has entered the kernel. It may
 * have woken up, and its stack be gone, by now.
 */
static bool profil_thread_regs(struct task_struct *task, struct pt_regs *regs)
{
	return !copy_from_kernel_nofault(regs, task_pt_regs(task),
					 sizeof(*regs));
}

/**
 * profil_thread_settle() - count the wait of a thread, without a chain
 * @thread: the thread; its task is not freed meanwhile
 * @now: up to when, unless the watch has ended before; what comes later does not
 *	count
 *
 * If the wait ends meanwhile, the CPU that switches the thread in counts it, and
 * nothing that was read here, its registers above all.
 *
 * Context: any.
 */
void profil_thread_settle(struct profil_thread *thread, u64 now)
{
	struct profil_schedule schedule;
	struct profil_due due;
	struct pt_regs regs;
	u32 image;
	u64 out = profil_thread_counted(thread, &image);
	u64 ended = READ_ONCE(thread->member->watcher->ended);

	if (!out)
		return;
	schedule = profil_thread_schedule(thread);
	due = profil_thread_due(thread, thread->task, &schedule, out,
				ended ?: now);
	if (profil_thread_regs(thread->task, &regs))
		due.offset |= profil_thread_wait(thread, thread->task, &regs);
	if (cmpxchg(&thread->out, out, 0) == out)
		profil_watcher_wait(thread->member->watcher, image, &due, NULL);
}

/**
 * profil_threads_end() - the watch has ended: count the waits, without chains
 * @watcher: the watch; off, and refreshed
 * @now: when it has ended
 *
 * Context: process.
 */
void profil_threads_end(struct profil_watcher *watcher, u64 now)
{
	struct profil_thread *thread = watcher->threads;
	u32 i;

	for (i = 0; i < watcher->request.threads; i++, thread++) {
		raw_spin_lock_irq(&profil_thread_lock);
		if (!hlist_unhashed(&thread->node)) {
			profil_thread_settle(thread, now);
			hlist_del_init_rcu(&thread->node);
		}
		raw_spin_unlock_irq(&profil_thread_lock);
		cond_resched();
	}
}

static void profil_thread_read(const struct profil_thread *thread, u64 now,
			       struct profil_watch_status *status)
{
	struct profil_schedule schedule = profil_thread_schedule(thread);
	struct profil_due due;
	u32 image;
	u64 out = profil_thread_counted(thread, &image);

	if (!out)
		return;
	due = profil_thread_due(thread, thread->task, &schedule, out, now);
	status->asleep_blocked += due.blocked;
	status->asleep_runnable += due.runnable;
}

/**
 * profil_threads_read() - the ticks of waits that go on
 * @watcher: a watch that is on
 * @status: gets them, and the number of threads
 *
 * Context: process.
 */
void profil_threads_read(struct profil_watcher *watcher,
			 struct profil_watch_status *status)
{
	const struct profil_thread *thread = watcher->threads;
	u64 now = ktime_get_ns();
	u32 i;

	status->threads = READ_ONCE(watcher->nr_threads);
	for (i = 0; i < watcher->request.threads; i++, thread++) {
		cond_resched();
		if (hlist_unhashed_lockless(&thread->node))
			continue;
		raw_spin_lock_irq(&profil_thread_lock);
		if (!hlist_unhashed(&thread->node))
			profil_thread_read(thread, now, status);
		raw_spin_unlock_irq(&profil_thread_lock);
	}
}

/* --- counting the waits that go on, with their chains */

/*
 * So often a thread is tried whose mappings are just changing, after so many
 * microseconds; then it has no chain.
 */
#define PROFIL_COLLECT_TRIES	4
#define PROFIL_COLLECT_US	500

/**
 * struct profil_collection - a collection of waits
 * @watcher: the watch
 * @now: up to when they are counted
 * @is_cancelled: whoever waits for it has been killed
 * @ns: for how long it has worked
 * @done: completed at the end
 * @work: has an address space of others, as only a kernel thread may
 */
struct profil_collection {
	struct profil_watcher *watcher;
	u64 now;
	bool is_cancelled;
	u64 ns;
	struct completion done;
	struct work_struct work;
};

/* Has a thread ticks that are due? Context: profil_thread_lock held. */
static bool profil_sleeper_is_due(struct profil_sleeper *sleeper,
				  const struct profil_thread *thread, u64 now)
{
	struct profil_schedule schedule = profil_thread_schedule(thread);

	sleeper->out = profil_thread_counted(thread, &sleeper->image);
	if (!sleeper->out || sleeper->out >= now)
		return false;
	profil_schedule_seek(&schedule, sleeper->out);
	return profil_schedule_advance(&schedule, now);
}

/* Return: whether the thread waits; profil_sleeper_put() must follow if so. */
static bool profil_sleeper_get(struct profil_sleeper *sleeper,
			       struct profil_thread *thread, u64 now)
{
	bool waits;

	if (hlist_unhashed_lockless(&thread->node))
		return false;
	raw_spin_lock_irq(&profil_thread_lock);
	waits = !hlist_unhashed(&thread->node) &&
		profil_sleeper_is_due(sleeper, thread, now);
	if (waits)
		sleeper->task = get_task_struct(thread->task);
	raw_spin_unlock_irq(&profil_thread_lock);
	if (!waits)
		return false;
	sleeper->thread = thread;
	sleeper->now = now;
	sleeper->who.pid = task_tgid_nr_ns(sleeper->task,
					   thread->member->watcher->pid_ns);
	sleeper->who.uid = task_uid(sleeper->task);
	if (!profil_thread_regs(sleeper->task, &sleeper->regs))
		memset(&sleeper->regs, 0, sizeof(sleeper->regs));
	return true;
}

static void profil_sleeper_put(struct profil_sleeper *sleeper)
{
	put_task_struct(sleeper->task);
}

/* Count a wait that has no chain. */
static void profil_sleeper_count(struct profil_sleeper *sleeper)
{
	struct profil_due due;

	if (profil_sleeper_claim(sleeper, &due))
		profil_watcher_wait(sleeper->thread->member->watcher,
				    sleeper->image, &due, &sleeper->who);
}

/*
 * Whoever may have read its stack when it joined the watch need not be allowed to
 * any more. And the memory of a thread that does not wait any more may be that of
 * another program. Context: task_lock() held.
 */
static bool profil_sleeper_may_walk(const struct profil_sleeper *sleeper)
{
	struct profil_thread *thread = sleeper->thread;
	bool may;

	rcu_read_lock();
	may = profil_may_inspect(thread->member->watcher, sleeper->task);
	rcu_read_unlock();
	return may && READ_ONCE(thread->out) == sleeper->out;
}

/* Return: the memory of the thread, a reference to the structure; or NULL. */
static struct mm_struct *profil_sleeper_mm(struct profil_sleeper *sleeper)
{
	struct task_struct *task = sleeper->task;
	struct mm_struct *mm = NULL;

	if (!user_mode(&sleeper->regs))
		return NULL;
	task_lock(task);
	/* It is set before the memory changes; its neighbours may change now */
	if (task->mm && data_race(!task->in_execve) &&
	    profil_sleeper_may_walk(sleeper)) {
		mm = task->mm;
		mmgrab(mm);
	}
	task_unlock(task);
	return mm;
}

/* Return: whether the mappings could be looked up. */
static bool profil_sleeper_walk(struct profil_sleeper *sleeper,
				struct mm_struct *mm)
{
	if (profil_mm_trylock(mm) != PROFIL_MM_LOCKED)
		return false;
	kthread_use_mm(mm);
	profil_chain_sleeper(sleeper);
	kthread_unuse_mm(mm);
	profil_mm_unlock(mm);
	return true;
}

/* @is_last: it is not tried again. Return: whether it need not be. */
static bool profil_sleeper_try(struct profil_sleeper *sleeper, bool is_last)
{
	struct mm_struct *mm = NULL;
	bool ok = false;

	if (profil_watcher_has_chains(sleeper->thread->member->watcher))
		mm = profil_sleeper_mm(sleeper);
	if (mm) {
		ok = profil_sleeper_walk(sleeper, mm);
		mmdrop(mm);
	}
	if (ok || (mm && !is_last))
		return ok;
	profil_sleeper_count(sleeper);
	return true;
}

/* Return: whether all that wait have been counted. */
static bool profil_collect_all(const struct profil_collection *collection,
			       bool is_last)
{
	struct profil_watcher *watcher = collection->watcher;
	struct profil_sleeper sleeper;
	bool all = true;
	u32 i;

	for (i = 0; i < watcher->request.threads; i++) {
		if (READ_ONCE(collection->is_cancelled))
			return true;
		if (profil_sleeper_get(&sleeper, &watcher->threads[i],
				       collection->now)) {
			all &= profil_sleeper_try(&sleeper, is_last);
			profil_sleeper_put(&sleeper);
		}
		cond_resched();
	}
	return all;
}

static void profil_collect(struct work_struct *work)
{
	struct profil_collection *collection =
		container_of(work, struct profil_collection, work);
	u32 tries = PROFIL_COLLECT_TRIES;
	u64 begin = ktime_get_ns();

	while (!profil_collect_all(collection, !--tries))
		usleep_range(PROFIL_COLLECT_US, 2 * PROFIL_COLLECT_US);
	collection->ns = ktime_get_ns() - begin;
	complete(&collection->done);
}

/**
 * profil_threads_collect() - count the waits that go on
 * @watcher: a watch of wall-clock time
 * @now: up to when
 *
 * Context: process, may sleep; after profil_user_collect(), which it ends.
 * Return: 0; -EINTR, a fatal signal has arrived, and some are not counted.
 */
int profil_threads_collect(struct profil_watcher *watcher, u64 now)
{
	struct profil_collection collection = {
		.watcher = watcher, .now = now,
	};
	int err;

	init_completion(&collection.done);
	INIT_WORK_ONSTACK(&collection.work, profil_collect);
	queue_work(profil_wq, &collection.work);
	err = wait_for_completion_killable(&collection.done);
	WRITE_ONCE(collection.is_cancelled, err);
	/* Waits for the next thread at most */
	cancel_work_sync(&collection.work);
	destroy_work_on_stack(&collection.work);
	profil_user_collected(watcher->user, collection.ns);
	return err ? -EINTR : 0;
}
