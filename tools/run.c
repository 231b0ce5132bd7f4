// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.c - a run of a program, with everything that it starts
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "module.h"
#include "run.h"
#include "samples.h"
#include "trace.h"

/*
 * What cannot be written is an error to us from the beginning. What comes from
 * the terminal comes to the program too, which decides.
 */
static const int ignored[] = {
	SIGPIPE, SIGXFSZ, SIGHUP, SIGINT, SIGQUIT, SIGTSTP,
};

#define NR_IGNORED	(sizeof(ignored) / sizeof(ignored[0]))
#define NR_OF_WRITING	2

/**
 * struct before - what the program is to find as we did
 * @mask: blocked signals
 * @actions: of the signals that we ignore
 * @child: action of SIGCHLD
 * @files: how many descriptors it may have
 * @size: how large a file may be
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

uint64_t run_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/**
 * run_add_image() - what a process has begun to execute
 * @run: the run
 * @image: the image, or NULL; belongs to the run then
 *
 * Return: the image, or NULL if there is no memory.
 */
struct image *run_add_image(struct run *run, struct image *image)
{
	struct image **images;

	if (!image)
		return NULL;
	images = reallocarray(run->images, run->nr + 1, sizeof(*images));
	if (!images) {
		image_free(image);
		return NULL;
	}
	run->images = images;
	images[run->nr++] = image;
	return image;
}

/**
 * run_ended() - a process has ended
 * @run: the run
 * @pid: the process, or a thread
 * @status: as waitpid() tells it
 */
void run_ended(struct run *run, pid_t pid, int status)
{
	size_t i;

	/* Numbers of processes are used again: the last one it is */
	for (i = run->nr; i--;) {
		if (run->images[i]->pid != pid)
			continue;
		run->images[i]->end_ns = run_now_ns();
		run->images[i]->status = status;
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

/** run_ignore_writing() - to be called once, before anything is said */
void run_ignore_writing(void)
{
	ignore(0, NR_OF_WRITING);
}

/* Returns a descriptor from which our signals are read. */
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

/* As much as one may have. */
static void take_all(int resource, struct rlimit *former)
{
	struct rlimit most;

	getrlimit(resource, former);
	most.rlim_cur = former->rlim_max;
	most.rlim_max = former->rlim_max;
	setrlimit(resource, &most);
}

/* Every image keeps some files open while it runs; they hold the counters. */
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

/* In the child. Waits until it is followed; says why it fails. */
static void __attribute__((noreturn))
execute(char **argv, const int go[2], int errors)
{
	int error;
	char byte;

	close(go[1]);
	if (read(go[0], &byte, 1) != 1)
		_exit(RUN_FAILED);
	give_back();
	execvp(argv[0], argv);
	error = errno;
	if (write(errors, &error, sizeof(error)) < 0)
		_exit(RUN_FAILED);
	_exit(RUN_NOT_FOUND);
}

/* Follow the child and let it go; then all is the kernel's doing and ours. */
static int start(struct run *run, int go)
{
	if (trace_attach(run->pid)) {
		fprintf(stderr, "profil: cannot trace %s: %s\n", run->argv[0],
			strerror(errno));
		return -1;
	}
	run->start_ns = run_now_ns();
	run->start_unix_ns = clock_ns(CLOCK_REALTIME);
	return write(go, "", 1) == 1 ? 0 : -1;
}

/*
 * What became of exec: nothing can be read from the pipe when it succeeded,
 * which closed the other end.
 */
static int exec_error(const struct run *run, int errors)
{
	int error;

	if (read(errors, &error, sizeof(error)) != sizeof(error))
		return 0;
	fprintf(stderr, "profil: %s: %s\n", run->argv[0], strerror(error));
	return error == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTED;
}

/**
 * run_program() - run it to its end
 * @run: what to run, and how
 *
 * Return: 0, or an exit status of ours: enum run_failure. It has said why.
 */
int run_program(struct run *run)
{
	int go[2], errors[2];
	int signals = take_signals();

	take_limits();
	if (signals < 0 || pipe2(go, O_CLOEXEC) || pipe2(errors, O_CLOEXEC)) {
		fprintf(stderr, "profil: %s\n", strerror(errno));
		return RUN_FAILED;
	}
	run->pid = fork();
	if (!run->pid)
		execute(run->argv, go, errors[1]);
	close(errors[1]);
	if (run->pid < 0 || start(run, go[1])) {
		if (run->pid > 0)
			kill(run->pid, SIGKILL);
		return RUN_FAILED;
	}
	trace_follow(run, signals);
	/* The profile is a file like any other */
	setrlimit(RLIMIT_FSIZE, &before.size);
	if (run->samples)
		samples_end(run);
	else
		module_end(run);
	return exec_error(run, errors[0]);
}

void run_free(struct run *run)
{
	size_t i;

	for (i = 0; i < run->nr; i++)
		image_free(run->images[i]);
	free(run->images);
	if (run->samples)
		samples_free(run->samples);
}
