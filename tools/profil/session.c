// SPDX-License-Identifier: GPL-2.0-only
/*
 * session.c - run a program and all its descendants under a backend
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profil/backend.h"
#include "profil/ptrace/trace.h"
#include "profil/session.h"
#include "util/array.h"
#include "util/term.h"

/*
 * Signals that profil ignores. The first two, so that a failed write returns an
 * error, from the start; the others, because the terminal sends them to the
 * program as well, which decides what to do.
 */
static const int ignored[] = {
	SIGPIPE, SIGXFSZ, SIGHUP, SIGINT, SIGQUIT, SIGTSTP,
};

#define NR_IGNORED	(sizeof(ignored) / sizeof(ignored[0]))
#define NR_OF_WRITING	2

/**
 * struct before - settings that the program inherits unchanged
 * @mask: signal mask
 * @actions: actions of the signals that profil ignores
 * @child: action of SIGCHLD
 * @files: RLIMIT_NOFILE
 * @size: RLIMIT_FSIZE
 */
static struct before {
	sigset_t mask;
	struct sigaction actions[NR_IGNORED];
	struct sigaction child;
	struct rlimit files;
	struct rlimit size;
} before;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/**
 * session_add_exec() - add an exec
 * @session: the session
 * @exec: the exec, which the session then owns, or NULL
 *
 * Return: the exec, or NULL if out of memory.
 */
struct exec *session_add_exec(struct session *session, struct exec *exec)
{
	struct exec **execs;

	if (!exec)
		return NULL;
	execs = array_grow(session->execs, session->nr, sizeof(*execs));
	if (!execs) {
		exec_free(exec);
		return NULL;
	}
	session->execs = execs;
	execs[session->nr++] = exec;
	return exec;
}

/**
 * session_ended() - record the end of a process
 * @session: the session
 * @pid: the process; a thread ID is ignored
 * @status: its wait status
 */
void session_ended(struct session *session, pid_t pid, int status)
{
	size_t i;

	/* PIDs are reused: take the last exec with this one */
	for (i = session->nr; i--;) {
		if (session->execs[i]->pid != pid)
			continue;
		session->execs[i]->end_ns = now_ns();
		session->execs[i]->status = status;
		return;
	}
}

static void ignore(size_t first, size_t end)
{
	const struct sigaction action = { .sa_handler = SIG_IGN };
	size_t i;

	for (i = first; i < end; i++)
		sigaction(ignored[i], &action, &before.actions[i]);
}

/**
 * session_ignore_writing() - have failed writes return errors; called once,
 * before profil prints anything
 */
void session_ignore_writing(void)
{
	ignore(0, NR_OF_WRITING);
}

/* Block the signals that profil handles; returns a signalfd for them. */
static int take_signals(void)
{
	const struct sigaction chld = { .sa_handler = SIG_DFL };
	sigset_t mask;

	ignore(NR_OF_WRITING, NR_IGNORED);
	sigaction(SIGCHLD, &chld, &before.child);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, &before.mask);
	return signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Raise a soft limit to the hard limit. */
static void take_all(int resource, struct rlimit *former)
{
	struct rlimit most;

	getrlimit(resource, former);
	most.rlim_cur = former->rlim_max;
	most.rlim_max = former->rlim_max;
	setrlimit(resource, &most);
}

/*
 * While it runs, an exec keeps files open; RLIMIT_FSIZE limits those with
 * counters.
 */
static void take_limits(void)
{
	take_all(RLIMIT_NOFILE, &before.files);
	take_all(RLIMIT_FSIZE, &before.size);
}

static void give_back(void)
{
	size_t i;

	setrlimit(RLIMIT_NOFILE, &before.files);
	setrlimit(RLIMIT_FSIZE, &before.size);
	for (i = 0; i < NR_IGNORED; i++)
		sigaction(ignored[i], &before.actions[i], NULL);
	sigaction(SIGCHLD, &before.child, NULL);
	sigprocmask(SIG_SETMASK, &before.mask, NULL);
}

/*
 * In the child: wait until profil traces it, then call exec. If that fails,
 * write errno to @errors.
 */
static void __attribute__((noreturn))
execute(char **argv, const int go[2], int errors)
{
	int error;
	char byte;

	close(go[1]);
	if (read(go[0], &byte, 1) != 1)
		_exit(EXIT_FAILED);
	give_back();
	execvp(argv[0], argv);
	error = errno;
	if (write(errors, &error, sizeof(error)) < 0)
		_exit(EXIT_FAILED);
	_exit(EXIT_NOT_FOUND);
}

/* Trace the child, then let it call exec. */
static int start(struct session *session, int go)
{
	if (trace_attach(session->pid)) {
		term_warn("cannot trace %s: %s", session->argv[0],
			  strerror(errno));
		return -1;
	}
	session->start_ns = now_ns();
	session->start_unix_ns = clock_ns(CLOCK_REALTIME);
	return write(go, "", 1) == 1 ? 0 : -1;
}

/*
 * Read errno from the pipe if exec failed; if it succeeded, the pipe was closed
 * on exec and is empty.
 */
static int exec_error(const struct session *session, int errors)
{
	struct stat status;
	int error;

	if (read(errors, &error, sizeof(error)) != sizeof(error))
		return 0;
	/* The kernel does not permit to execute a directory */
	if (error == EACCES && !stat(session->argv[0], &status) &&
	    S_ISDIR(status.st_mode))
		error = EISDIR;
	term_warn("%s: %s", session->argv[0], strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTED;
}

/**
 * session_run() - run the program to its end
 * @session: program and options
 *
 * Return: 0, or an enum exit_status after reporting the error.
 */
int session_run(struct session *session)
{
	int go[2], errors[2];
	int signals = take_signals();

	take_limits();
	if (signals < 0 || pipe2(go, O_CLOEXEC) || pipe2(errors, O_CLOEXEC)) {
		fprintf(stderr, "profil: %s\n", strerror(errno));
		return EXIT_FAILED;
	}
	session->pid = fork();
	if (!session->pid)
		execute(session->argv, go, errors[1]);
	close(errors[1]);
	if (session->pid < 0 || start(session, go[1])) {
		if (session->pid > 0)
			kill(session->pid, SIGKILL);
		return EXIT_FAILED;
	}
	trace_follow(session, signals);
	/* The user's RLIMIT_FSIZE applies to the profile */
	setrlimit(RLIMIT_FSIZE, &before.size);
	session->backend->end(session);
	return exec_error(session, errors[0]);
}

void session_free(struct session *session)
{
	size_t i;

	for (i = 0; i < session->nr; i++)
		exec_free(session->execs[i]);
	free(session->execs);
}
