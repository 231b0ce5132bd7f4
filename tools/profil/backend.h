/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * backend.h - sources of ticks
 *
 * The kernel backend has the module count ticks; profil uses it when the device
 * exists. The perf backend takes samples from perf_event_open(2) and counts
 * them here.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include <linux/profil.h>
#include <stdbool.h>
#include <sys/types.h>

#include "profil/addrspace.h"
#include "profil/session.h"

struct sampler;

/**
 * struct backend - operations of a backend
 * @start: prepare, before the program runs, for @wait to return when @signals
 *	is readable; 0, or -1 with errno
 * @wait: wait until @signals is readable (return 0) or a thread may have ticks
 *	for sampler_drain() (return its thread ID)
 * @begin: profile what @space maps now; @tid is a stopped thread in it. If
 *	@executed, the thread is in its first stop after exec. NULL, or the name
 *	of what failed, with errno
 * @separate: give @space, of the stopped forked child @tid, counters of its
 *	own; its exec is already its own. NULL, or the name of what failed, with
 *	errno
 * @add_thread: a thread starts in a profiled address space; sets @sampler, for
 *	sampler_free(). 0, or -1 with errno
 * @collect: execs may have ended: keep their counters and stats, so that their
 *	files can be closed
 * @end: the session has ended: collect the last ticks and free the backend's
 *	memory
 */
struct backend {
	int (*start)(const struct session *session, int signals);
	pid_t (*wait)(const struct session *session, int signals);
	const char *(*begin)(struct session *session, struct addrspace *space,
			     pid_t tid, bool executed);
	const char *(*separate)(struct session *session,
				struct addrspace *space, pid_t tid);
	int (*add_thread)(const struct session *session, pid_t tid,
			  struct sampler **sampler);
	void (*collect)(const struct session *session);
	void (*end)(struct session *session);
};

extern const struct backend backend_kernel, backend_perf;

int backend_kernel_info(struct profil_info *info);
int backend_perf_open(struct session *session);

void sampler_drain(struct session *session, struct sampler *sampler,
		   const struct addrspace *space);
void sampler_free(struct session *session, struct sampler *sampler,
		  const struct addrspace *space);

#endif /* BACKEND_H */
