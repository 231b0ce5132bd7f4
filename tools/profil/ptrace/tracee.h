/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracee.h - traced processes and threads
 */
#ifndef TRACEE_H
#define TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profil/addrspace.h"
#include "profil/session.h"

/**
 * struct tracee - a traced thread
 * @tid: the thread
 * @space: its address space; NULL before its first exec
 * @cpu_ns: CPU time of the process when its current exec began; 0 for a thread
 *	that is not the first of its process
 * @sampler: its ticks, in the perf backend
 * @held: wait status of the stop in which it waits to be announced; 0 if it
 *	does not wait
 * @announced: its parent is known, by a ptrace event of the parent
 * @started: it has reported its first stop
 * @forked: it is the first thread in a copied address space
 */
struct tracee {
	pid_t tid;
	struct addrspace *space;
	uint64_t cpu_ns;
	struct sampler *sampler;
	int held;
	bool announced;
	bool started;
	bool forked;
};

/**
 * struct tracees - all traced threads
 * @session: the session
 * @nr: number of them
 * @list: the threads, in no order
 */
struct tracees {
	struct session *session;
	size_t nr;
	struct tracee *list;
};

struct tracee *tracee_find(struct tracees *tracees, pid_t tid);
struct tracee *tracee_add(struct tracees *tracees, pid_t tid);
struct tracee *tracee_born(struct tracees *tracees, pid_t tid, pid_t parent);
bool tracee_is_orphan(const struct tracees *tracees, pid_t tid);
void tracee_settle(struct tracees *tracees, struct tracee *tracee);
void tracee_forget(struct tracees *tracees, pid_t tid);
void tracees_drain(struct tracees *tracees, const struct addrspace *space);
void tracees_free(struct tracees *tracees);

#endif /* TRACEE_H */
