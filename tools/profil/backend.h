/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * backend.h - sources of ticks
 *
 * backend_watch has the kernel module count ticks in a table that profil maps;
 * profil uses it when the device exists. backend_perf takes samples from
 * perf_event_open(2) and counts them here.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include <sys/types.h>

#include "profil/session.h"

/**
 * struct backend - operations of a backend
 * @open: check that the backend can be used, and set the session's clock; called
 *	once, before the program is forked. NULL, or the name of what failed,
 *	with errno
 * @begin: begin to count; from now on, the session has its period_ns. With
 *	TARGET_PROGRAM, @pid is the forked child, which waits and then calls
 *	exec: what it does before that is not counted. With TARGET_PROCESSES,
 *	@pid is a running process, and this is called for each of them. With
 *	other targets, @pid is 0. NULL, or the name of what failed, with errno
 * @descriptor: a descriptor to poll for POLLIN, or -1 if there is none; asked
 *	for before each poll
 * @drain: the descriptor is readable
 * @end: stop counting, and add an exec to the session's prf for each program
 *	image, in the order in which they started; prf_init() is done. The
 *	session's end_ns is the end. Frees what the backend has, also if @begin
 *	failed or was not called. 0, or -1 with errno
 */
struct backend {
	const char *(*open)(struct session *session);
	const char *(*begin)(struct session *session, pid_t pid);
	int (*descriptor)(const struct session *session);
	void (*drain)(struct session *session);
	int (*end)(struct session *session);
};

extern const struct backend backend_watch, backend_perf;

#endif /* BACKEND_H */
