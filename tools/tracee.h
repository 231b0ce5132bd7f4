/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracee.h - processes and threads that are followed
 */
#ifndef TRACEE_H
#define TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "run.h"
#include "samples.h"
#include "space.h"

/**
 * struct tracee - a process or thread
 * @tid: the thread
 * @space: where it is; NULL before its first exec
 * @cpu_ns: of a process, its CPU time when it began with its image
 * @sampler: its ticks, if we count them
 * @held: the stop in which it waits until it is told of, as waitpid() tells it;
 *	0 if it does not
 * @told: who has made it is known
 * @started: its first stop has been seen
 * @forked: it is the first thread of a space that was copied
 */
struct tracee {
	pid_t tid;
	struct space *space;
	uint64_t cpu_ns;
	struct sampler *sampler;
	int held;
	bool told;
	bool started;
	bool forked;
};

/**
 * struct tracees - who is followed
 * @run: the run
 * @nr: number of them
 * @list: in no order
 */
struct tracees {
	struct run *run;
	size_t nr;
	struct tracee *list;
};

struct tracee *tracee_find(struct tracees *tracees, pid_t tid);
struct tracee *tracee_add(struct tracees *tracees, pid_t tid);
struct tracee *tracee_born(struct tracees *tracees, pid_t tid, pid_t parent);
bool tracee_is_orphan(const struct tracees *tracees, pid_t tid);
void tracee_settle(struct tracees *tracees, struct tracee *tracee);
void tracee_forget(struct tracees *tracees, pid_t tid);
void tracees_drain(struct tracees *tracees, const struct space *space);
void tracees_free(struct tracees *tracees);

#endif /* TRACEE_H */
