// SPDX-License-Identifier: GPL-2.0-only
/*
 * inspect.c - which tasks the creator of a watch may inspect
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sched/coredump.h>
#ifndef PROFIL_NO_EXEC_STATE
#include <linux/sched/exec_state.h>
#endif
#include <linux/user_namespace.h>

#include "profil_private.h"
#include "watcher.h"

/* As cap_capable() of the kernel. */
static bool profil_cred_capable(const struct cred *cred,
				const struct user_namespace *ns, int cap)
{
	while (ns != cred->user_ns) {
		if (ns->level <= cred->user_ns->level)
			return false;
		/* The owner of a user namespace has all capabilities in it */
		if (ns->parent == cred->user_ns &&
		    uid_eq(ns->owner, cred->euid))
			return true;
		ns = ns->parent;
	}
	return cap_raised(cred->cap_effective, cap);
}

/* compat.h has these two for kernels before 7.2. */
#ifndef PROFIL_NO_EXEC_STATE
static bool profil_is_dumpable(const struct task_struct *task)
{
	return READ_ONCE(rcu_dereference(task->exec_state)->dumpable) ==
	       TASK_DUMPABLE_OWNER;
}

/* Who may inspect it if it is not; NULL if the task has no memory. */
static const struct user_namespace *
profil_dump_ns(const struct task_struct *task)
{
	return task->mm ? rcu_dereference(task->exec_state)->user_ns : NULL;
}
#endif

static bool profil_is_same_user(const struct cred *cred,
				const struct cred *other)
{
	return uid_eq(cred->uid, other->euid) &&
	       uid_eq(cred->uid, other->suid) &&
	       uid_eq(cred->uid, other->uid) &&
	       gid_eq(cred->gid, other->egid) &&
	       gid_eq(cred->gid, other->sgid) &&
	       gid_eq(cred->gid, other->gid);
}

static bool profil_has_no_more(const struct cred *cred,
			       const struct cred *other)
{
	return cred->user_ns == other->user_ns &&
	       cap_issubset(other->cap_permitted, cred->cap_permitted);
}

/**
 * profil_may_inspect() - may the creator of a watch inspect a task?
 * @watcher: the watch
 * @task: the task
 *
 * As ptrace_may_access() with PTRACE_MODE_READ_REALCREDS, which is not exported,
 * but for the security modules.
 *
 * Context: under rcu_read_lock(); the task is the current one, or has not run
 * yet, or is locked by task_lock().
 * Return: whether it may.
 */
bool profil_may_inspect(const struct profil_watcher *watcher,
			struct task_struct *task)
{
	const struct cred *cred = watcher->cred;
	const struct cred *other = __task_cred(task);
	const struct user_namespace *dump_ns;

	if (profil_watcher_is_perfmon(watcher))
		return true;
	if (!profil_cred_capable(cred, other->user_ns, CAP_SYS_PTRACE) &&
	    !(profil_is_same_user(cred, other) &&
	      profil_has_no_more(cred, other)))
		return false;
	/*
	 * A task that takes on other credentials is marked as not dumpable
	 * before: who finds the new ones must find that. Pairs with the barrier
	 * in commit_creds().
	 */
	smp_rmb();
	dump_ns = profil_dump_ns(task);
	return dump_ns && (profil_is_dumpable(task) ||
			   profil_cred_capable(cred, dump_ns, CAP_SYS_PTRACE));
}
