// SPDX-License-Identifier: GPL-2.0-only
/*
 * attach.c - profile what runs already, until it ends or the user ends it
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profil/backend.h"
#include "profil/session.h"
#include "util/file.h"
#include "util/term.h"

#define REFRESH_NS	1000000000ULL

static sigset_t signals_to_end;

/**
 * session_heed() - have the signals that end profil wait, for session_is_ending()
 *
 * A shell has its background jobs ignore SIGINT, and profil nevertheless ends by it;
 * SIGHUP stays ignored under nohup(1).
 */
void session_heed(void)
{
	struct sigaction action;

	sigaddset(&signals_to_end, SIGINT);
	sigaddset(&signals_to_end, SIGTERM);
	sigaction(SIGHUP, NULL, &action);
	if (action.sa_handler != SIG_IGN)
		sigaddset(&signals_to_end, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals_to_end, NULL);
}

static int take_signals(void)
{
	session_heed();
	/* Where it is ignored, nobody can wait for a child */
	signal(SIGCHLD, SIG_DFL);
	return signalfd(-1, &signals_to_end, SFD_CLOEXEC);
}

/** session_is_ending() - has a signal come that ends what goes on? */
bool session_is_ending(void)
{
	sigset_t pending;

	sigpending(&pending);
	sigandset(&pending, &pending, &signals_to_end);
	return !sigisemptyset(&pending);
}

/* Open a pidfd for each process; -1 for one that has ended. */
static int open_processes(const struct session *session, int *fds)
{
	size_t i;

	for (i = 0; i < session->nr_pids; i++) {
		fds[i] = syscall(SYS_pidfd_open, session->pids[i], 0);
		if (fds[i] >= 0 || errno == ESRCH)
			continue;
		/* ENOENT since Linux 6.15 */
		term_warn("cannot profile process %d: pidfd_open: %s%s",
			  session->pids[i], strerror(errno),
			  errno == EINVAL || errno == ENOENT ?
			  "; it is a thread: give the ID of its process" :
			  errno == EMFILE ?
			  "; raise the limit by 'ulimit -n'" : "");
		return -1;
	}
	return 0;
}

/* Close the pidfds of those that have ended; returns one of the others. */
static int one_alive(const struct session *session, int *fds)
{
	int alive = -1;
	size_t i;

	for (i = 0; i < session->nr_pids; i++) {
		struct pollfd fd = { .fd = fds[i], .events = POLLIN };

		if (fds[i] < 0)
			continue;
		if (poll(&fd, 1, 0) <= 0) {
			alive = fds[i];
			continue;
		}
		close(fds[i]);
		fds[i] = -1;
	}
	return alive;
}

/* Milliseconds until a time, rounded up, at most INT_MAX; -1 if it is 0, for never */
static int time_until(uint64_t ns)
{
	uint64_t now = now_ns(), ms = (ns - now + 999999) / 1000000;

	if (!ns)
		return -1;
	return now >= ns ? 0 : ms < INT_MAX ? ms : INT_MAX;
}

static int earlier(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/*
 * Wait for a signal, the end of the time, or that of all processes. It is
 * enough to wait for one process at a time.
 */
static int wait_for_end(struct session *session, int signals, int *fds)
{
	struct signalfd_siginfo info;
	uint64_t end = 0, next = 0;

	if (session->duration_ns)
		end = now_ns() + session->duration_ns;
	if (session->refresh)
		next = session->start_ns + REFRESH_NS;
	for (;;) {
		int alive = one_alive(session, fds);
		bool is_due = !time_until(next);
		bool is_over = !time_until(end) ||
			(session->nr_pids && alive < 0);

		/* Once, even if profil was stopped for several periods */
		while (!time_until(next))
			next += REFRESH_NS;
		/* The last period may be shorter */
		if (session->refresh && (is_due || is_over) &&
		    session->refresh(session))
			return -1;
		if (is_over)
			return 0;
		if (session_wait(session, signals, alive,
				 earlier(time_until(end), time_until(next))))
			/* Another one ends what follows */
			return read(signals, &info, sizeof(info)) < 0 ? -1 : 0;
	}
}

/* Those of the processes that have ended meanwhile are left out. */
static int begin(struct session *session)
{
	int failed = -1;
	size_t i;

	if (session->target != TARGET_PROCESSES)
		return session_begin(session, 0);
	for (i = 0; i < session->nr_pids; i++) {
		if (!session_begin(session, session->pids[i]))
			failed = 0;
		else if (errno != ESRCH)
			return -1;
	}
	return failed;
}

/**
 * session_attach() - profile what runs already
 * @session: target and options
 *
 * Return: 0, or an enum exit_status after reporting the error.
 */
int session_attach(struct session *session)
{
	int signals = take_signals();
	int *fds = calloc(session->nr_pids + 1, sizeof(*fds));
	int failed;

	if (signals < 0 || !fds) {
		fprintf(stderr, "profil: %s\n", strerror(errno));
		free(fds);
		return EXIT_FAILED;
	}
	/* A process takes two: one for its end, and one for its watch */
	file_raise_limit();
	failed = open_processes(session, fds) || begin(session) ||
		 wait_for_end(session, signals, fds);
	free(fds);
	return failed ? EXIT_FAILED : 0;
}
