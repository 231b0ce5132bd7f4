// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracee.c - processes and threads that are followed
 */
#include <linux/kcmp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process.h"
#include "tracee.h"

struct tracee *tracee_find(struct tracees *tracees, pid_t tid)
{
	size_t i;

	for (i = 0; i < tracees->nr; i++)
		if (tracees->list[i].tid == tid)
			return &tracees->list[i];
	return NULL;
}

/* Of threads and after vfork(). Without kcmp(2), of threads alone. */
static bool share_memory(pid_t tid, pid_t parent)
{
	struct process process;

	if (!process_read(tid, &process) && process.tgid != tid)
		return true;
	return !syscall(SYS_kcmp, tid, parent, KCMP_VM, 0, 0);
}

/**
 * tracee_add() - a process or thread, of which nothing more is known
 * @tracees: receives it
 * @tid: the thread
 *
 * Return: the tracee, or NULL if there is no memory. It stays where it is
 * until the next comes or goes.
 */
struct tracee *tracee_add(struct tracees *tracees, pid_t tid)
{
	struct tracee *list, *tracee = tracee_find(tracees, tid);

	if (tracee)
		return tracee;
	list = reallocarray(tracees->list, tracees->nr + 1, sizeof(*list));
	if (!list)
		return NULL;
	tracees->list = list;
	tracee = &list[tracees->nr++];
	*tracee = (struct tracee) { .tid = tid };
	return tracee;
}

/**
 * tracee_born() - a process or thread has come into being
 * @tracees: receives it
 * @tid: the thread
 * @parent: the thread that has made it, and has stopped
 *
 * Return: the tracee, as tracee_add() does.
 */
struct tracee *tracee_born(struct tracees *tracees, pid_t tid, pid_t parent)
{
	struct tracee *tracee = tracee_add(tracees, tid), *from;

	if (!tracee || tracee->told)
		return tracee;
	from = tracee_find(tracees, parent);
	if (from && from->space) {
		tracee->forked = !share_memory(tid, from->tid);
		tracee->space = tracee->forked ? space_copy(from->space) :
						 space_get(from->space);
		if (!tracee->space)
			return NULL;
	}
	tracee->told = true;
	return tracee;
}

/* It, or a child of it that was given its own parent (CLONE_PARENT). */
static bool may_have_made(const struct tracee *tracee,
			  const struct process *child, uint64_t code)
{
	struct process process;

	if (!tracee->told || process_read(tracee->tid, &process))
		return false;
	/* Not every process tells where its code is */
	if (code && tracee->space && tracee->space->code != code)
		return false;
	return process.tgid == child->ppid || process.ppid == child->ppid;
}

/**
 * tracee_is_orphan() - nobody is left who could tell of it
 * @tracees: who is followed; all that have ended are forgotten
 * @tid: a thread that has not been told of
 *
 * Whoever is killed while it forks does not tell of its child.
 */
bool tracee_is_orphan(const struct tracees *tracees, pid_t tid)
{
	struct process child;
	struct start start;
	size_t i;

	/* Threads end with those that have made them */
	if (process_read(tid, &child) || child.tgid != tid)
		return false;
	process_start(tid, &start);
	for (i = 0; i < tracees->nr; i++)
		if (may_have_made(&tracees->list[i], &child, start.entry))
			return false;
	return true;
}

/**
 * tracee_settle() - up to now it has executed its image
 * @tracees: to which it belongs
 * @tracee: the tracee
 */
void tracee_settle(struct tracees *tracees, struct tracee *tracee)
{
	uint64_t cpu_ns = process_cpu_ns(tracee->tid);

	if (tracee->space && cpu_ns > tracee->cpu_ns)
		tracee->space->image->cpu_ns += cpu_ns - tracee->cpu_ns;
	tracee->cpu_ns = cpu_ns;
	sampler_free(tracees->run, tracee->sampler, tracee->space);
	tracee->sampler = NULL;
}

/** tracee_forget() - it has ended */
void tracee_forget(struct tracees *tracees, pid_t tid)
{
	struct tracee *tracee = tracee_find(tracees, tid);

	if (!tracee)
		return;
	tracee_settle(tracees, tracee);
	space_put(tracee->space);
	*tracee = tracees->list[--tracees->nr];
}

/** tracees_drain() - count the ticks of all that are in a space */
void tracees_drain(struct tracees *tracees, const struct space *space)
{
	size_t i;

	for (i = 0; i < tracees->nr; i++)
		if (tracees->list[i].space == space)
			sampler_drain(tracees->run, tracees->list[i].sampler,
				      space);
}

void tracees_free(struct tracees *tracees)
{
	while (tracees->nr)
		tracee_forget(tracees, tracees->list[0].tid);
	free(tracees->list);
}
