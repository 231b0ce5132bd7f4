// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.c - run a program to its end
 *
 * The program is a child of profil, and keeps the streams, the process group,
 * and the signal settings that profil has got. Towards the shell, profil acts
 * as the program does: it stops when the program stops.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profil/backend.h"
#include "profil/session.h"
#include "util/term.h"

/*
 * Signals that profil itself causes. It ignores the first two, so that a failed
 * write returns an error; the others are faults, and a limit of its own.
 */
static const int own[] = {
	SIGPIPE, SIGXFSZ, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGXCPU,
};

#define NR_IGNORED	2

/**
 * struct before - settings that the program inherits unchanged
 * @mask: signal mask
 * @actions: actions of the signals that profil ignores
 * @child: action of SIGCHLD
 */
static struct before {
	sigset_t mask;
	struct sigaction actions[NR_IGNORED];
	struct sigaction child;
} before;

/**
 * session_ignore_writing() - have failed writes return errors; called once,
 * before profil prints anything
 */
void session_ignore_writing(void)
{
	const struct sigaction action = { .sa_handler = SIG_IGN };
	size_t i;

	for (i = 0; i < NR_IGNORED; i++)
		sigaction(own[i], &action, &before.actions[i]);
}

/*
 * Block all signals that others send; returns a signalfd for them. Blocked
 * signals arrive there even if they are ignored.
 */
static int take_signals(void)
{
	const struct sigaction chld = { .sa_handler = SIG_DFL };
	sigset_t mask;
	size_t i;

	sigaction(SIGCHLD, &chld, &before.child);
	sigfillset(&mask);
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&mask, own[i]);
	sigprocmask(SIG_BLOCK, &mask, &before.mask);
	return signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void give_back(void)
{
	size_t i;

	for (i = 0; i < NR_IGNORED; i++)
		sigaction(own[i], &before.actions[i], NULL);
	sigaction(SIGCHLD, &before.child, NULL);
	sigprocmask(SIG_SETMASK, &before.mask, NULL);
}

/** session_raise() - stop, or end, by the default action of a signal */
void session_raise(int signal)
{
	const struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t mask;

	sigaction(signal, &action, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	sigprocmask(SIG_BLOCK, &mask, NULL);
}

/*
 * In the child: wait until profil counts, then call exec. If that fails, write
 * errno to @errors.
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
 * struct job - what stops
 * @asked: the terminal has asked profil to stop
 * @stopped: the signal by which the program has stopped, or 0
 */
struct job {
	bool asked;
	int stopped;
};

/*
 * If the terminal has stopped the program, stop too, so that the shell notices;
 * the shell continues both. A program that others have stopped is theirs to
 * continue, which they would not do with profil.
 */
static void stop_with(struct job *job)
{
	int signal = job->stopped;

	if (!job->asked || !signal)
		return;
	job->asked = false;
	job->stopped = 0;
	session_raise(signal);
}

static uint64_t time_ns(const struct timeval *time)
{
	return (time->tv_sec * 1000000ULL + time->tv_usec) * 1000;
}

/* Returns whether the program has ended. */
static bool look_after(struct session *session, struct job *job)
{
	struct rusage usage;
	int status;

	while (wait4(session->pid, &status, WNOHANG | WUNTRACED | WCONTINUED,
		     &usage) > 0) {
		if (WIFSTOPPED(status)) {
			job->stopped = WSTOPSIG(status);
		} else if (WIFCONTINUED(status)) {
			job->stopped = 0;
		} else {
			session->status = status;
			session->cpu_ns = time_ns(&usage.ru_utime) +
					  time_ns(&usage.ru_stime);
			return true;
		}
	}
	stop_with(job);
	return false;
}

/*
 * Forward what was sent to profil. The program has it already if it comes from
 * the terminal, which sends to the whole process group, or from the program
 * itself, by kill(0).
 */
static void forward(const struct session *session,
		    const struct signalfd_siginfo *info)
{
	bool of_group = info->ssi_signo == SIGINT ||
		info->ssi_signo == SIGQUIT || info->ssi_signo == SIGWINCH;

	if (!(of_group && info->ssi_code == SI_KERNEL) &&
	    (pid_t)info->ssi_pid != session->pid)
		kill(session->pid, info->ssi_signo);
}

static bool handle_signals(struct session *session, struct job *job,
			   int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGTSTP:
		case SIGTTIN:
		case SIGTTOU:
			job->asked = true;
			break;
		case SIGCHLD:
		case SIGCONT:
			break;
		default:
			forward(session, &info);
		}
	}
	return look_after(session, job);
}

static void follow(struct session *session, int signals)
{
	struct job job = {};

	while (!handle_signals(session, &job, signals))
		session_wait(session, signals, -1, -1);
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

	if (signals < 0 || pipe2(go, O_CLOEXEC) || pipe2(errors, O_CLOEXEC)) {
		fprintf(stderr, "profil: %s\n", strerror(errno));
		return EXIT_FAILED;
	}
	session->pid = fork();
	if (!session->pid)
		execute(session->argv, go, errors[1]);
	close(errors[1]);
	if (session->pid < 0) {
		fprintf(stderr, "profil: fork: %s\n", strerror(errno));
		return EXIT_FAILED;
	}
	if (session_begin(session, session->pid) ||
	    write(go[1], "", 1) != 1) {
		kill(session->pid, SIGKILL);
		return EXIT_FAILED;
	}
	follow(session, signals);
	session_heed();
	return exec_error(session, errors[0]);
}
