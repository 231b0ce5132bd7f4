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

#include "run.h"
#include "samples.h"
#include "trace.h"

/* The module brings in the last ticks within this time. */
#define LAST_TICKS_US	30000

/* From the terminal they come to the program too, which decides. */
static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTSTP };

#define NR_IGNORED	(sizeof(ignored) / sizeof(ignored[0]))

/**
 * struct before - what the program is to find as we did
 * @mask: blocked signals
 * @actions: of the signals that we ignore
 * @files: how many descriptors it may have
 */
struct before {
	sigset_t mask;
	struct sigaction actions[NR_IGNORED];
	struct rlimit files;
};

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

/* What a process has begun to execute; NULL if there is no memory. */
struct image *run_add_image(struct run *run, pid_t pid)
{
	struct image **images = realloc(run->images, (run->nr + 1) *
					sizeof(*images));

	if (!images)
		return NULL;
	run->images = images;
	images[run->nr] = image_new(pid, run_now_ns());
	if (!images[run->nr])
		return NULL;
	return images[run->nr++];
}

/* Returns a descriptor from which our signals are read. */
static int take_signals(struct before *before)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	const struct sigaction chld = { .sa_handler = SIG_DFL };
	sigset_t mask;
	size_t i;

	for (i = 0; i < NR_IGNORED; i++)
		sigaction(ignored[i], &ignore, &before->actions[i]);
	sigaction(SIGCHLD, &chld, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, &before->mask);
	return signalfd(-1, &mask, SFD_CLOEXEC);
}

/* Every image keeps two open until the end. */
static void take_files(struct before *before)
{
	struct rlimit most;

	getrlimit(RLIMIT_NOFILE, &before->files);
	most.rlim_cur = before->files.rlim_max;
	most.rlim_max = before->files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &most);
}

static void give_back(const struct before *before)
{
	size_t i;

	setrlimit(RLIMIT_NOFILE, &before->files);
	for (i = 0; i < NR_IGNORED; i++)
		sigaction(ignored[i], &before->actions[i], NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* In the child. Waits until it is followed; says why it fails. */
static void __attribute__((noreturn))
execute(char **argv, const struct before *before, const int go[2], int errors)
{
	int error;
	char byte;

	close(go[1]);
	if (read(go[0], &byte, 1) != 1)
		_exit(RUN_FAILED);
	give_back(before);
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
	if (run->samples && samples_start(run->samples, run->pid)) {
		fprintf(stderr, "profil: perf_event_open: %s\n",
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
	struct before before;
	int go[2], errors[2];
	int signals = take_signals(&before);

	take_files(&before);
	if (signals < 0 || pipe2(go, O_CLOEXEC) || pipe2(errors, O_CLOEXEC)) {
		fprintf(stderr, "profil: %s\n", strerror(errno));
		return RUN_FAILED;
	}
	run->pid = fork();
	if (!run->pid)
		execute(run->argv, &before, go, errors[1]);
	close(errors[1]);
	if (run->pid < 0 || start(run, go[1])) {
		if (run->pid > 0)
			kill(run->pid, SIGKILL);
		return RUN_FAILED;
	}
	trace_follow(run, signals);
	if (!run->samples)
		usleep(LAST_TICKS_US);
	return exec_error(run, errors[0]);
}

/* One line, whatever is in the arguments. */
static void join(char *line, size_t room, char **argv)
{
	size_t length = 0;
	char *byte;

	line[0] = '\0';
	for (; *argv && length < room; argv++)
		length += snprintf(line + length, room - length, "%s%s",
				   length ? " " : "", *argv);
	for (byte = line; *byte; byte++)
		if ((unsigned char)*byte < ' ')
			*byte = ' ';
}

static int fill(const struct run *run, struct prf *prf)
{
	char command[4096];
	size_t i;

	join(command, sizeof(command), run->argv);
	if (prf_init(prf, command))
		return -1;
	prf->start_unix_ns = run->start_unix_ns;
	prf->wall_ns = run->wall_ns;
	prf->period_ns = run->period_ns;
	prf->clock = run->clock;
	prf->flags = run->user_only ? PRF_FLAG_USER_ONLY : 0;
	if (WIFSIGNALED(run->status)) {
		prf->exit_kind = PRF_SIGNALLED;
		prf->exit_code = WTERMSIG(run->status);
	} else {
		prf->exit_code = WEXITSTATUS(run->status);
	}
	for (i = 0; i < run->nr; i++)
		if (image_save(run->images[i], prf, run->bucket,
			       run->start_ns))
			return -1;
	return 0;
}

static void say_result(const struct run *run, const struct prf *prf)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < prf->nr; i++) {
		ticks += prf->images[i].ticks;
		if (prf->images[i].reach != PRF_FOLLOWED)
			fprintf(stderr, "profil: %s (%u) not profiled: %s\n",
				prf->images[i].name, prf->images[i].pid,
				prf->images[i].reason);
	}
	fprintf(stderr, "profil: %s %s %u; %llu ticks of %.3f ms in %s\n",
		run->argv[0],
		prf->exit_kind == PRF_SIGNALLED ? "died by signal" :
						  "exited with",
		prf->exit_code, (unsigned long long)ticks,
		prf->period_ns / 1e6, run->output);
}

/**
 * run_save() - write the profile
 * @run: that has ended
 *
 * Return: 0, or -1 and it has said why.
 */
int run_save(const struct run *run)
{
	struct prf prf;
	FILE *file;
	int failed;

	errno = ENOMEM;
	if (fill(run, &prf)) {
		fprintf(stderr, "profil: %s\n", strerror(errno));
		return -1;
	}
	file = fopen(run->output, "we");
	failed = !file || prf_write(file, &prf);
	if (file && fclose(file))
		failed = -1;
	if (failed)
		fprintf(stderr, "profil: %s: %s\n", run->output,
			strerror(errno));
	else
		say_result(run, &prf);
	prf_free(&prf);
	return failed ? -1 : 0;
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
