// SPDX-License-Identifier: GPL-2.0-only
/*
 * probes.c - the tracepoints, registered while there is a profile or a watch
 *
 * They are looked up by name, since modules cannot link to them.
 *
 * Context: see each function. Lock: profil_clock_mutex.
 */
#include <linux/tracepoint.h>
#include <trace/events/cgroup.h>
#include <trace/events/sched.h>

#include "profil_private.h"
#include "thread.h"
#include "watcher.h"

/* How long context switches are watched after the last profile or watch has gone. */
#define PROFIL_CLOCK_LINGER	(10 * HZ)

static DEFINE_MUTEX(profil_clock_mutex);
static atomic_t profil_clock_users = ATOMIC_INIT(0);

/* Those of the users that are watches. */
static atomic_t profil_clock_watches = ATOMIC_INIT(0);

/* Context: process. */
static void profil_sched_exec(void *data, struct task_struct *task,
			      pid_t old_pid, struct linux_binprm *bprm)
{
	profil_members_exec(bprm);
	profil_tick_exec();
}

/* Context: process. */
static void profil_sched_fork(void *data, struct task_struct *parent,
			      struct task_struct *child)
{
	profil_members_fork(parent, child);
}

/* Context: after a grace period of RCU. */
static void profil_sched_free(void *data, struct task_struct *task)
{
	profil_threads_free(task);
	profil_members_free(task);
}

#ifdef CONFIG_CGROUPS
/* Context: process, a spin lock held. */
static void profil_cgroup_attach(void *data, struct cgroup *cgroup,
				 const char *path, struct task_struct *task,
				 bool threadgroup)
{
	if (cgroup->root == &cgrp_dfl_root && profil_members_move(task))
		profil_clock_refresh_process(task->signal);
}
#endif

/**
 * struct profil_probe - a function for a tracepoint
 * @name: of the tracepoint
 * @function: the function
 * @tracepoint: found when the module is loaded
 */
struct profil_probe {
	const char *name;
	void *function;
	struct tracepoint *tracepoint;
};

static struct profil_probe profil_probes[] = {
	{ "sched_switch", profil_sched_switch },
	{ "sched_process_exec", profil_sched_exec },
	/* Only watches need these, which make forks and moves dearer */
	{ "sched_process_fork", profil_sched_fork },
	{ "sched_process_free", profil_sched_free },
#ifdef CONFIG_CGROUPS
	{ "cgroup_attach_task", profil_cgroup_attach },
#endif
};

#define PROFIL_PROBES_OF_PROFILES	2
#define PROFIL_PROBES_OF_WATCHES	ARRAY_SIZE(profil_probes)

/* So many of them are registered, the first ones. */
static unsigned int profil_nr_probes;

/* Keep @nr. Context: process, profil_clock_mutex held. */
static void profil_probes_unregister(unsigned int nr)
{
	struct profil_probe *probe;

	if (profil_nr_probes <= nr)
		return;
	while (profil_nr_probes > nr) {
		probe = &profil_probes[--profil_nr_probes];
		tracepoint_probe_unregister(probe->tracepoint, probe->function,
					    NULL);
	}
	tracepoint_synchronize_unregister();
}

/* Have @nr at least. Context: process, profil_clock_mutex held. */
static int profil_probes_register(unsigned int nr)
{
	unsigned int before = profil_nr_probes;
	struct profil_probe *probe;
	int err;

	if (before >= nr)
		return 0;
	while (profil_nr_probes < nr) {
		probe = &profil_probes[profil_nr_probes];
		err = tracepoint_probe_register(probe->tracepoint,
						probe->function, NULL);
		if (err) {
			profil_probes_unregister(before);
			return err;
		}
		profil_nr_probes++;
	}
	/* A process that found no probe is found among the tasks */
	if (nr == PROFIL_PROBES_OF_WATCHES)
		tracepoint_synchronize_unregister();
	if (!before)
		profil_clock_look();
	return 0;
}

static void profil_clock_stop_work(struct work_struct *work)
{
	mutex_lock(&profil_clock_mutex);
	if (!atomic_read(&profil_clock_users))
		profil_probes_unregister(0);
	else if (!atomic_read(&profil_clock_watches))
		profil_probes_unregister(PROFIL_PROBES_OF_PROFILES);
	mutex_unlock(&profil_clock_mutex);
}

static DECLARE_DELAYED_WORK(profil_clock_stop, profil_clock_stop_work);

/**
 * profil_clock_get() - have context switches and execs looked at
 * @watching: forks, ends and moves too, for a watch
 *
 * Context: process, may sleep, mmap_lock not held.
 * Return: 0 or -ENOMEM.
 */
int profil_clock_get(bool watching)
{
	int err;

	atomic_inc(&profil_clock_users);
	atomic_add(watching, &profil_clock_watches);
	mutex_lock(&profil_clock_mutex);
	err = profil_probes_register(watching ? PROFIL_PROBES_OF_WATCHES :
				     PROFIL_PROBES_OF_PROFILES);
	mutex_unlock(&profil_clock_mutex);
	if (err)
		profil_clock_put(watching);
	return err;
}

/**
 * profil_clock_get_running() - profil_clock_get() if there is a user already
 *
 * Context: any.
 * Return: whether there is one.
 */
bool profil_clock_get_running(void)
{
	return atomic_inc_not_zero(&profil_clock_users);
}

/**
 * profil_clock_put() - the reverse of profil_clock_get() and
 * profil_clock_get_running()
 * @watching: as it was
 *
 * Context: any. Stopping takes locks that may not be taken under mmap_lock, so
 * a work does it, and after a while: each start and stop patches kernel text.
 */
void profil_clock_put(bool watching)
{
	bool last = watching && atomic_dec_and_test(&profil_clock_watches);

	if (atomic_dec_and_test(&profil_clock_users) || last)
		mod_delayed_work(profil_wq, &profil_clock_stop,
				 PROFIL_CLOCK_LINGER);
}

static void __init profil_find_tracepoint(struct tracepoint *tracepoint,
					  void *data)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(profil_probes); i++)
		if (!strcmp(tracepoint->name, profil_probes[i].name))
			profil_probes[i].tracepoint = tracepoint;
}

/**
 * profil_probes_init() - find the tracepoints
 *
 * Return: 0; -EOPNOTSUPP if the kernel has no tracepoints.
 */
int __init profil_probes_init(void)
{
	unsigned int i;

	/* Only to have the compiler compare the prototypes. */
	check_trace_callback_type_sched_switch(profil_sched_switch);
	check_trace_callback_type_sched_process_exec(profil_sched_exec);
	check_trace_callback_type_sched_process_fork(profil_sched_fork);
	check_trace_callback_type_sched_process_free(profil_sched_free);
#ifdef CONFIG_CGROUPS
	check_trace_callback_type_cgroup_attach_task(profil_cgroup_attach);
#endif

	for_each_kernel_tracepoint(profil_find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(profil_probes); i++)
		if (!profil_probes[i].tracepoint)
			return -EOPNOTSUPP;
	return 0;
}

/* Nothing is profiled any more. */
void profil_probes_exit(void)
{
	cancel_delayed_work_sync(&profil_clock_stop);
	profil_probes_unregister(0);
}
