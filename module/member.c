// SPDX-License-Identifier: GPL-2.0-only
/*
 * member.c - which processes are in a watch
 *
 * A process joins when the watch begins, when it is forked, when it executes a
 * program, or when it is moved to another cgroup. Joining can fail only for
 * want of room; all memory was allocated when the watch began. It is removed
 * when its leader is freed, or when the watch ends; until then one that has
 * left stays, and takes no ticks. Another of its threads may still be on its
 * way to the end then: the ticks of that are counted until it is switched out,
 * or another process gets the member.
 *
 * The functions for tracepoints may be called with preemption off, and neither
 * sleep nor allocate. Those for fork, exec and the end are called for every
 * process of the machine while the clock is up.
 *
 * Context: see each function. Locks: profil_member_lock, then watcher->lock.
 */
#include <linux/binfmts.h>
#include <linux/capability.h>
#include <linux/cgroup.h>
#include <linux/file.h>
#include <linux/hashtable.h>
#include <linux/idr.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/user_namespace.h>

#include "profil_private.h"
#include "thread.h"
#include "watcher.h"

DEFINE_READ_MOSTLY_HASHTABLE(profil_members, PROFIL_MEMBER_BITS);

static DEFINE_RAW_SPINLOCK(profil_member_lock);

/* Watches of many processes; written under profil_member_lock, read by RCU. */
static LIST_HEAD(profil_wide);

/* --- who may */

/* A module has to do without: ptrace_may_access() is not exported. */
static bool profil_may_trace(const struct profil_watcher *watcher,
			     struct task_struct *task)
{
#ifdef MODULE
	return true;
#else
	return profil_watcher_is_perfmon(watcher) ||
	       ptrace_may_access(task, PTRACE_MODE_READ_REALCREDS);
#endif
}

/*
 * Is a process the current one or a descendant of it, and so in the scope of
 * users if that is restricted? Context: under rcu_read_lock().
 */
static bool profil_is_in_scope(const struct profil_watcher *watcher,
			       struct task_struct *task)
{
	if (profil_watcher_is_perfmon(watcher) ||
	    READ_ONCE(profil_limits.watch_scope) != PROFIL_SCOPE_DESCENDANTS)
		return true;
	while (task->pid && !same_thread_group(task, current))
		task = rcu_dereference(task->real_parent);
	return task->pid;
}

/*
 * A thread that has memory, as those have not that have ended, which also stay in
 * their old cgroup; the leader if none has. Context: under rcu_read_lock().
 */
static struct task_struct *profil_find_thread(struct task_struct *leader)
{
	struct task_struct *thread;
	u32 nr = 0;

	for_each_thread(leader, thread)
		if ((READ_ONCE(thread->mm) &&
		     !(READ_ONCE(thread->flags) & PF_EXITING)) ||
		    nr++ == PROFIL_MOVED_THREADS)
			return thread;
	return leader;
}

/*
 * Who may inspect a task depends on its memory, and on nothing else of a task of the
 * kernel. Context: task_lock() held.
 */
static bool profil_has_rights(const struct task_struct *task)
{
	return task->mm || task->flags & PF_KTHREAD;
}

/*
 * Call a function for a thread of a process, locked by task_lock(), whose rights are
 * those of the process.
 *
 * Context: under rcu_read_lock().
 * Return: what it returns; -ESRCH if all threads are about to end.
 */
static int profil_with_thread(struct profil_watcher *watcher,
			      struct task_struct *leader,
			      int (*function)(struct profil_watcher *watcher,
					      struct task_struct *task))
{
	struct task_struct *task;
	int err;

	do {
		task = profil_find_thread(leader);
		task_lock(task);
		err = profil_watcher_is_perfmon(watcher) ||
		      profil_has_rights(task) ? function(watcher, task) :
						-ESRCH;
		task_unlock(task);
		/* It may have just ended */
	} while (err == -ESRCH && profil_find_thread(leader) != task);
	return err;
}

/* --- members; profil_member_lock held */

/*
 * Members of users without CAP_PERFMON in one chain of the hash table, which
 * context switches walk: each user has less than one on average.
 */
#define PROFIL_MEMBER_CHAIN	32

static bool profil_chain_has_room(const struct signal_struct *signal)
{
	struct profil_member *member;
	unsigned int nr = 0;

	hlist_for_each_entry(member, profil_member_bucket(signal), node)
		nr += !profil_watcher_is_perfmon(member->watcher);
	return nr < PROFIL_MEMBER_CHAIN;
}

/* Only users without CAP_PERFMON have limits. */
static bool profil_member_charge(const struct profil_watcher *watcher,
				 const struct signal_struct *signal)
{
	return profil_watcher_is_perfmon(watcher) ||
	       (profil_chain_has_room(signal) &&
		profil_user_charge(watcher->user, PROFIL_CHARGE_MEMBERS, 1,
				   READ_ONCE(profil_limits.max_profiles)));
}

static void profil_member_uncharge(const struct profil_watcher *watcher)
{
	if (!profil_watcher_is_perfmon(watcher))
		profil_user_uncharge(watcher->user, PROFIL_CHARGE_MEMBERS, 1);
}

static void profil_member_reuse(struct rcu_head *rcu)
{
	struct profil_member *member =
		container_of(rcu, struct profil_member, rcu);
	struct profil_watcher *watcher = member->watcher;
	unsigned long flags;

	raw_spin_lock_irqsave(&watcher->lock, flags);
	rcu->next = watcher->free_members;
	watcher->free_members = rcu;
	WRITE_ONCE(watcher->nr_members, watcher->nr_members - 1);
	raw_spin_unlock_irqrestore(&watcher->lock, flags);
	profil_member_uncharge(watcher);
	profil_watcher_put(watcher);
}

static void profil_member_remove(struct profil_member *member)
{
	hlist_del_init_rcu(&member->node);
	profil_watcher_get(member->watcher);
	/* Who needs the room must not wait for seconds once more, with RCU_LAZY */
	call_rcu_hurry(&member->rcu, profil_member_reuse);
}

/* Return: does a watch count the process, in the same slot? */
static bool profil_is_taken(const struct profil_watcher *watcher,
			    const struct signal_struct *signal)
{
	struct profil_member *member;

	profil_for_each_member(member, signal)
		if (member->watcher->sink.slot == watcher->sink.slot &&
		    member->image != PROFIL_MEMBER_OFF)
			return true;
	return false;
}

/*
 * A member that is not found yet; profil_member_add() must follow.
 *
 * Return: the member; -EBUSY; -ENOSPC, also if the watch has ended.
 */
static struct profil_member *
profil_member_new(struct profil_watcher *watcher,
		  const struct task_struct *task)
{
	const struct signal_struct *signal = task->signal;
	u32 room = profil_watcher_room(watcher, watcher->request.processes,
				       __task_cred(task)->uid);
	struct profil_member *member;
	struct rcu_head *free = NULL;

	if (profil_is_taken(watcher, signal))
		return ERR_PTR(-EBUSY);
	if (!profil_member_charge(watcher, signal))
		return ERR_PTR(-ENOSPC);
	raw_spin_lock(&watcher->lock);
	if (profil_watcher_is_on(watcher) && watcher->nr_members < room)
		free = watcher->free_members;
	if (free) {
		watcher->free_members = free->next;
		WRITE_ONCE(watcher->nr_members, watcher->nr_members + 1);
	}
	raw_spin_unlock(&watcher->lock);
	if (!free) {
		profil_member_uncharge(watcher);
		return ERR_PTR(-ENOSPC);
	}
	member = container_of(free, struct profil_member, rcu);
	WRITE_ONCE(member->signal, signal);
	return member;
}

static void profil_member_add(struct profil_member *member, u32 image)
{
	WRITE_ONCE(member->added, ktime_get_ns());
	/* Pairs with the acquire in profil_interval_update(). */
	smp_store_release(&member->image, image);
	hlist_add_head_rcu(&member->node, profil_member_bucket(member->signal));
}

/*
 * Count a process that a watch lacks. While it ends, forks and execs still come
 * here, and it lacks nothing any more.
 */
static void profil_member_miss(const struct profil_watcher *watcher,
			       atomic64_t *number)
{
	if (profil_watcher_is_on(watcher))
		atomic64_inc(number);
}

/* Return: has its image changed? */
static bool profil_member_set(struct profil_member *member, u32 image)
{
	bool changed = member->image != image;

	if (profil_is_image_on(image) && !profil_is_image_on(member->image))
		WRITE_ONCE(member->since, ktime_get_ns());
	/* Pairs with the acquire in profil_interval_update(). */
	smp_store_release(&member->image, image);
	return changed;
}

/* Return: the image of a process, or 0 if it takes no ticks or is NULL. */
static u32 profil_member_image(const struct profil_member *member)
{
	return member && profil_is_image_on(member->image) ? member->image : 0;
}

/* Return: has its image changed? */
static bool profil_member_leave(struct profil_member *member,
				struct task_struct *task)
{
	if (profil_watcher_is_wall(member->watcher) &&
	    profil_is_image_on(member->image))
		profil_threads_leave(member, task);
	return profil_member_set(member, PROFIL_MEMBER_OFF);
}

/* A file of overlayfs is mapped as the file below it. */
static u32 profil_exe_object(struct profil_watcher *watcher,
			     const struct linux_binprm *bprm)
{
	return profil_table_object(watcher, bprm->file,
				   d_real_inode(file_dentry(bprm->file)));
}

/* --- watches of many processes */

static bool profil_is_in_cgroup(const struct profil_watcher *watcher,
				struct task_struct *task)
{
#ifdef CONFIG_CGROUPS
	return cgroup_is_descendant(task_dfl_cgroup(task), watcher->cgroup);
#else
	return false;
#endif
}

/*
 * A process in a PID namespace can name no process outside of it: neither may
 * its watch have one.
 */
static bool profil_can_name(const struct profil_watcher *watcher,
			    struct task_struct *task)
{
	return profil_watcher_is_perfmon(watcher) ||
	       task_tgid_nr_ns(task, watcher->pid_ns);
}

static bool profil_is_target(const struct profil_watcher *watcher,
			     struct task_struct *task)
{
	/* First what is cheap, as the processes of all other users come here */
	switch (watcher->request.target) {
	case PROFIL_WATCH_USER:
		if (!uid_eq(__task_cred(task)->uid, watcher->uid))
			return false;
		break;
	case PROFIL_WATCH_CGROUP:
		if (!profil_is_in_cgroup(watcher, task))
			return false;
	}
	return profil_can_name(watcher, task);
}

static bool profil_belongs(const struct profil_watcher *watcher,
			   struct task_struct *task)
{
	return profil_is_target(watcher, task) &&
	       profil_may_inspect(watcher, task);
}

/* Count a process that is in no watch, as the creator may not inspect it. */
static void profil_withhold(struct profil_watcher *watcher,
			    struct task_struct *task)
{
	if (profil_is_target(watcher, task) &&
	    !profil_may_inspect(watcher, task))
		profil_member_miss(watcher, &watcher->withheld);
}

/*
 * A process joins a watch of many processes, leaves it, or changes its image.
 * @bprm: the program that it executes, or NULL
 * @parent: the image that it has, or that of its parent; or 0
 *
 * Not inline, so that a test can count its calls.
 *
 * Context: under rcu_read_lock(), profil_member_lock held.
 * Return: has its image changed?
 */
static noinline bool profil_wide_update(struct profil_watcher *watcher,
					struct task_struct *task,
					const struct linux_binprm *bprm,
					u32 parent)
{
	struct profil_member *member = profil_member_find(watcher, task->signal);
	bool is_new = !member;
	u32 image, exe;

	if (!profil_belongs(watcher, task)) {
		profil_withhold(watcher, task);
		return member && profil_member_leave(member, task);
	}
	if (is_new)
		member = profil_member_new(watcher, task);
	else if (member->image == PROFIL_MEMBER_OFF &&
		 profil_is_taken(watcher, task->signal))
		member = ERR_PTR(-EBUSY);
	if (IS_ERR(member)) {
		profil_member_miss(watcher, &watcher->unfollowed);
		return false;
	}
	exe = bprm ? profil_exe_object(watcher, bprm) :
		     watcher->images[parent].exe;
	image = profil_table_image(watcher, task, exe, parent);
	if (!is_new)
		return profil_member_set(member, image);
	profil_member_add(member, image);
	/*
	 * Who changes what that depends on has either found the member, or is seen
	 * here: pairs with the barrier in profil_follow().
	 */
	smp_mb();
	if (!profil_belongs(watcher, task))
		profil_member_leave(member, task);
	return true;
}

/* --- tracepoints */

/*
 * Is a process in a watch, or is there one of many processes that @child may join?
 * For all others no lock is taken, however many watch them: the forks and execs of
 * the whole machine would wait for each other.
 *
 * Context: as profil_may_inspect() for @child.
 */
static bool profil_is_wanted(struct task_struct *task,
			     struct task_struct *child)
{
	struct profil_watcher *watcher;
	bool wanted;

	rcu_read_lock();
	wanted = profil_member_first(task->signal);
	list_for_each_entry_rcu(watcher, &profil_wide, wide)
		wanted = wanted || profil_belongs(watcher, child);
	if (!wanted)
		list_for_each_entry_rcu(watcher, &profil_wide, wide)
			profil_withhold(watcher, child);
	rcu_read_unlock();
	return wanted;
}

/*
 * A process forks, executes a program, or is moved: have the watches follow.
 * @child: the child, or @task
 * @bprm: the program that it executes, or NULL
 * @follow: for a watch that the process is in by itself
 *
 * Return: has an image of the process changed, or has it joined a watch?
 */
static __always_inline bool
profil_follow(struct task_struct *task, struct task_struct *child,
	      struct linux_binprm *bprm,
	      bool (*follow)(struct profil_member *member,
			     struct task_struct *child,
			     struct linux_binprm *bprm))
{
	struct profil_watcher *watcher;
	struct profil_member *member;
	unsigned long flags;
	bool changed = false;

	/*
	 * Either this finds a watch that begins, or that finds the process as it
	 * is now: pairs with the barriers in profil_join_process() and
	 * profil_processes_begin().
	 */
	smp_mb();
	if (!profil_is_wanted(task, child))
		return false;
	raw_spin_lock_irqsave(&profil_member_lock, flags);
	rcu_read_lock();
	profil_for_each_member(member, task->signal)
		if (!profil_watcher_is_wide(member->watcher))
			changed |= follow(member, child, bprm);
	list_for_each_entry(watcher, &profil_wide, wide) {
		member = profil_member_find(watcher, task->signal);
		changed |= profil_wide_update(watcher, child, bprm,
					      profil_member_image(member));
	}
	rcu_read_unlock();
	raw_spin_unlock_irqrestore(&profil_member_lock, flags);
	return changed;
}

static bool profil_follow_fork(struct profil_member *parent,
			       struct task_struct *child,
			       struct linux_binprm *unused)
{
	struct profil_watcher *watcher = parent->watcher;
	struct profil_member *member;

	if (!profil_is_image_on(parent->image) ||
	    !(watcher->request.flags & PROFIL_WATCH_CHILDREN))
		return false;
	member = profil_member_new(watcher, child);
	if (IS_ERR(member)) {
		profil_member_miss(watcher, &watcher->unfollowed);
		return false;
	}
	profil_member_add(member, profil_table_inherit(watcher, child,
						       parent->image));
	return true;
}

/* A thread runs now, or will soon: have its watches of wall-clock time follow it. */
static void profil_follow_thread(struct task_struct *task)
{
	struct profil_member *member;

	rcu_read_lock();
	profil_for_each_member(member, task->signal)
		if (profil_watcher_is_wall(member->watcher) &&
		    profil_is_image_on(READ_ONCE(member->image)))
			profil_thread_add(member, task);
	rcu_read_unlock();
}

/*
 * The same for the threads of a process that has been moved, since @begin.
 * Context: under rcu_read_lock().
 */
static void profil_follow_threads(struct task_struct *process, u64 begin)
{
	struct profil_member *member;

	profil_for_each_member(member, process->signal)
		if (profil_watcher_is_wall(member->watcher) &&
		    profil_is_image_on(READ_ONCE(member->image)))
			profil_threads_join(member, process,
					    READ_ONCE(member->added) >= begin);
}

/**
 * profil_members_fork() - a process has been forked, or a thread created
 * @parent: the caller
 * @child: has not run yet
 */
void profil_members_fork(struct task_struct *parent, struct task_struct *child)
{
	if (parent->signal != child->signal)
		profil_follow(parent, child, NULL, profil_follow_fork);
	else
		/*
		 * Pairs with the barriers in profil_members_begin() and
		 * profil_threads_join().
		 */
		smp_mb();
	if (!hlist_empty(profil_member_bucket(child->signal)))
		profil_follow_thread(child);
}

static bool profil_follow_exec(struct profil_member *member,
			       struct task_struct *task,
			       struct linux_binprm *bprm)
{
	struct profil_watcher *watcher = member->watcher;
	u32 parent = profil_member_image(member);

	if (member->image == PROFIL_MEMBER_OFF)
		return false;
	if (!profil_may_inspect(watcher, task)) {
		profil_member_miss(watcher, &watcher->withheld);
		return profil_member_leave(member, task);
	}
	return profil_member_set(member,
				 profil_table_image(watcher, task,
						    profil_exe_object(watcher,
								      bprm),
						    parent));
}

/**
 * profil_members_exec() - the current process has executed a program
 * @bprm: the program
 */
void profil_members_exec(struct linux_binprm *bprm)
{
	profil_follow(current, current, bprm, profil_follow_exec);
	if (!hlist_empty(profil_member_bucket(current->signal)))
		profil_follow_thread(current);
}

static bool profil_follow_move(struct profil_member *member,
			       struct task_struct *task,
			       struct linux_binprm *unused)
{
	struct profil_watcher *watcher = member->watcher;
	u32 image = profil_member_image(member);

	return image &&
	       profil_member_set(member,
				 profil_table_image(watcher, task,
						    watcher->images[image].exe,
						    image));
}

/*
 * The rights of the process cannot be looked at now: it leaves the watches that
 * it is no target of any more, and joins only those that need not look.
 */
static bool profil_move_unseen(struct task_struct *task)
{
	struct profil_watcher *watcher;
	struct profil_member *member;
	unsigned long flags;
	bool changed = false;

	raw_spin_lock_irqsave(&profil_member_lock, flags);
	profil_for_each_member(member, task->signal)
		if (!profil_watcher_is_wide(member->watcher))
			changed |= profil_follow_move(member, task, NULL);
	list_for_each_entry(watcher, &profil_wide, wide) {
		member = profil_member_find(watcher, task->signal);
		if (profil_watcher_is_perfmon(watcher))
			changed |= profil_wide_update(watcher, task, NULL,
						      profil_member_image(member));
		else if (!profil_is_target(watcher, task))
			changed |= member && profil_member_leave(member, task);
		else if (!member || !profil_is_image_on(member->image))
			profil_member_miss(watcher, &watcher->unfollowed);
	}
	raw_spin_unlock_irqrestore(&profil_member_lock, flags);
	return changed;
}

/*
 * Not with task_lock(), which may sleep on PREEMPT_RT. Context: under
 * rcu_read_lock(), so that a task that lives is not freed, which removes its
 * members, before it is one.
 */
static bool profil_move(struct task_struct *task)
{
	bool changed;

	if (!spin_trylock(&task->alloc_lock))
		return profil_move_unseen(task);
	/* It may have just ended */
	if (profil_has_rights(task))
		changed = profil_follow(task, task, NULL, profil_follow_move);
	else
		changed = profil_move_unseen(task);
	spin_unlock(&task->alloc_lock);
	return changed;
}

/**
 * profil_members_move() - a process has been moved to another cgroup
 * @task: a task of it; those that are not leaders do not matter
 *
 * Return: have CPUs that run it to notice?
 */
bool profil_members_move(struct task_struct *task)
{
	bool changed;
	u64 begin;

	if (!thread_group_leader(task))
		return false;
	begin = ktime_get_ns();
	rcu_read_lock();
	changed = atomic_read(&task->signal->live) &&
		  profil_move(profil_find_thread(task));
	if (changed)
		profil_follow_threads(task, begin);
	rcu_read_unlock();
	return changed;
}

/**
 * profil_members_free() - a task has been switched out for the last time, and
 * been released
 * @task: the task; of the tasks of a process the leader is released last, but
 *	one of the others may have been the last to be switched out
 */
void profil_members_free(struct task_struct *task)
{
	struct profil_member *member;
	unsigned long flags;

	if (!thread_group_leader(task))
		return;
	/* The members of others that this walks may be removed meanwhile */
	rcu_read_lock();
	if (profil_member_first(task->signal)) {
		raw_spin_lock_irqsave(&profil_member_lock, flags);
		profil_for_each_member(member, task->signal)
			profil_member_remove(member);
		raw_spin_unlock_irqrestore(&profil_member_lock, flags);
	}
	rcu_read_unlock();
}

/* --- beginning and end */

static int profil_ask_rights(struct profil_watcher *watcher,
			     struct task_struct *task)
{
	return profil_may_inspect(watcher, task) ? 0 : -EPERM;
}

/*
 * Not inline, so that a test can delay it. Context: under rcu_read_lock().
 * Return: 0, -EPERM, or -ESRCH if the process is about to end.
 */
static noinline int profil_check_join(struct profil_watcher *watcher,
				      struct task_struct *leader)
{
	return profil_with_thread(watcher, leader, profil_ask_rights);
}

/* Return: as profil_member_new(). */
static struct profil_member *profil_join_waiting(struct profil_watcher *watcher,
						 struct task_struct *task)
{
	struct profil_member *member;

	raw_spin_lock_irq(&profil_member_lock);
	member = profil_member_new(watcher, task);
	if (!IS_ERR(member))
		profil_member_add(member, PROFIL_MEMBER_WAITING);
	raw_spin_unlock_irq(&profil_member_lock);
	return member;
}

/*
 * The process may execute a program at any time. Once it is a member exec looks
 * at its rights; so they are looked at here after that.
 *
 * Context: under rcu_read_lock(): so the task cannot be freed, which removes
 * its members, before it is one.
 */
static int profil_join_process(struct profil_watcher *watcher)
{
	const struct profil_watch *request = &watcher->request;
	struct task_struct *task = pid_task(find_vpid(request->id),
					    PIDTYPE_TGID);
	struct profil_member *member;
	int err;

	if (!task || !atomic_read(&task->signal->live))
		return -ESRCH;
	if (!profil_is_in_scope(watcher, task) ||
	    !profil_may_trace(watcher, task))
		return -EPERM;
	err = profil_check_join(watcher, task);
	if (err)
		return err;
	member = profil_join_waiting(watcher, task);
	if (IS_ERR(member))
		return PTR_ERR(member);
	/* Pairs with the barrier in profil_follow(). */
	smp_mb();
	err = profil_check_join(watcher, task);
	raw_spin_lock_irq(&profil_member_lock);
	if (err)
		profil_member_remove(member);
	else if (!(request->flags & PROFIL_WATCH_AT_EXEC) &&
		 member->image == PROFIL_MEMBER_WAITING)
		WRITE_ONCE(member->image,
			   profil_table_image(watcher, profil_find_thread(task),
					      0, 0));
	raw_spin_unlock_irq(&profil_member_lock);
	return err;
}

static int profil_join_locked(struct profil_watcher *watcher,
			      struct task_struct *task)
{
	raw_spin_lock_irq(&profil_member_lock);
	if (!profil_member_find(watcher, task->signal))
		profil_wide_update(watcher, task, NULL, 0);
	raw_spin_unlock_irq(&profil_member_lock);
	return 0;
}

/* A process of a watch of many. Context: under rcu_read_lock(). */
static void profil_join_wide(struct profil_watcher *watcher, struct pid *pid)
{
	struct task_struct *leader = pid_task(pid, PIDTYPE_TGID);

	/* First what takes no lock, as the processes of all users come here */
	if (!leader || !atomic_read(&leader->signal->live) ||
	    !profil_is_target(watcher, profil_find_thread(leader)))
		return;
	/* One that has ended meanwhile is not missing */
	if (profil_with_thread(watcher, leader, profil_join_locked) &&
	    atomic_read(&leader->signal->live))
		profil_member_miss(watcher, &watcher->unfollowed);
}

/* A thread of a process that has joined. Context: under rcu_read_lock(). */
static void profil_join_thread(struct profil_watcher *watcher, struct pid *pid)
{
	struct task_struct *task = pid_task(pid, PIDTYPE_PID);
	struct profil_member *member;

	if (!task || READ_ONCE(task->exit_state))
		return;
	member = profil_member_find(watcher, task->signal);
	if (member && profil_is_image_on(READ_ONCE(member->image)))
		profil_thread_add(member, task);
}

/* By their numbers: there may be so many that others must run in between. */
static void profil_join_each(struct profil_watcher *watcher,
			     void (*join)(struct profil_watcher *watcher,
					  struct pid *pid))
{
	struct pid_namespace *ns = watcher->pid_ns;
	struct pid *pid;
	int nr = 1;

	while (profil_watcher_is_perfmon(watcher) && ns->parent)
		ns = ns->parent;
	do {
		rcu_read_lock();
		pid = idr_get_next(&ns->idr, &nr);
		if (pid)
			join(watcher, pid);
		rcu_read_unlock();
		nr++;
		cond_resched();
	} while (pid);
}

/*
 * Every fork and exec of the machine looks at all watches of many processes: so
 * many users without CAP_PERFMON may have one.
 */
#define PROFIL_MAX_WIDE	64

/* Context: profil_member_lock held. Return: 0, -EBUSY or -EUSERS. */
static int profil_wide_check(const struct profil_watcher *watcher)
{
	struct profil_watcher *other;
	u32 nr = 0;

	list_for_each_entry(other, &profil_wide, wide) {
		if (other->sink.slot != watcher->sink.slot)
			continue;
		nr++;
		if (profil_watcher_is_perfmon(other) ||
		    other->user == watcher->user)
			return -EBUSY;
	}
	return nr < PROFIL_MAX_WIDE ? 0 : -EUSERS;
}

/* Have fork and exec know the watch, if there is room. */
static int profil_wide_add(struct profil_watcher *watcher)
{
	int err;

	raw_spin_lock_irq(&profil_member_lock);
	err = profil_wide_check(watcher);
	if (!err)
		list_add_rcu(&watcher->wide, &profil_wide);
	raw_spin_unlock_irq(&profil_member_lock);
	return err;
}

static int profil_processes_begin(struct profil_watcher *watcher)
{
	int err;

	if (!profil_watcher_is_wide(watcher)) {
		rcu_read_lock();
		err = profil_join_process(watcher);
		rcu_read_unlock();
		return err;
	}
	err = profil_wide_add(watcher);
	if (err)
		return err;
	/* Pairs with the barrier in profil_follow(). */
	smp_mb();
	profil_join_each(watcher, profil_join_wide);
	return 0;
}

/**
 * profil_members_begin() - have the processes join with which a watch begins
 * @watcher: the watch; on
 *
 * Processes and threads that are created meanwhile are found among the tasks, or
 * join by themselves. A refresh of the CPUs that run them must follow.
 *
 * Context: process, may sleep; the clock is up.
 * Return: 0, -ESRCH, -EPERM, -EBUSY or -EUSERS.
 */
int profil_members_begin(struct profil_watcher *watcher)
{
	int err = profil_processes_begin(watcher);

	if (!err && profil_watcher_is_wall(watcher)) {
		/* Pairs with the barrier in profil_members_fork(). */
		smp_mb();
		profil_join_each(watcher, profil_join_thread);
	}
	return err;
}

/**
 * profil_members_end() - remove all members of a watch
 * @watcher: the watch; off, and refreshed
 *
 * Context: process.
 */
void profil_members_end(struct profil_watcher *watcher)
{
	u32 i;

	raw_spin_lock_irq(&profil_member_lock);
	list_del_rcu(&watcher->wide);
	raw_spin_unlock_irq(&profil_member_lock);
	for (i = 0; i < watcher->request.processes; i++) {
		struct hlist_node *node = &watcher->members[i].node;

		raw_spin_lock_irq(&profil_member_lock);
		if (!hlist_unhashed(node)) {
			hlist_del_init_rcu(node);
			profil_member_uncharge(watcher);
		}
		raw_spin_unlock_irq(&profil_member_lock);
		cond_resched();
	}
}
