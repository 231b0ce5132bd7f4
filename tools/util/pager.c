// SPDX-License-Identifier: GPL-2.0-only
/*
 * pager.c - show output page by page, as git does
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/pager.h"

#define DEFAULT	"command -v less > /dev/null && exec less; exec cat"

static pid_t pager;

/* The terminal is the pager's until it ends. */
static void wait_for_pager(void)
{
	fclose(stdout);
	close(STDERR_FILENO);
	waitpid(pager, NULL, 0);
}

/* As git does: the pager is interrupted, too, and decides when to end. */
static void end_by_signal(int number)
{
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	waitpid(pager, NULL, 0);
	signal(number, SIG_DFL);
	raise(number);
}

static void run_pager(const char *command, int from)
{
	dup2(from, STDIN_FILENO);
	/* Quit if it fits one screen; pass colours; leave the screen as it is */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

/**
 * pager_start() - pipe the output through a pager, until the program exits
 *
 * The pager is the command in $PAGER, or less. If $PAGER is empty, standard
 * output is not a terminal, or memory is short, the output remains as it is.
 */
void pager_start(void)
{
	const char *command = getenv("PAGER");
	int ends[2];

	if (!isatty(STDOUT_FILENO) || (command && !*command) ||
	    pipe2(ends, O_CLOEXEC))
		return;
	pager = fork();
	if (!pager)
		run_pager(command ?: DEFAULT, ends[0]);
	if (pager > 0) {
		dup2(ends[1], STDOUT_FILENO);
		if (isatty(STDERR_FILENO))
			dup2(ends[1], STDERR_FILENO);
		signal(SIGINT, end_by_signal);
		signal(SIGQUIT, end_by_signal);
		atexit(wait_for_pager);
	}
	close(ends[0]);
	close(ends[1]);
}
