// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls.c - what the module costs where no tick comes
 *
 *	calls PROFIL.KO [PARAMETERS]
 *
 * Context switches, fork and exec: without the module, with the module and no
 * profile, with a profile of somebody else, and with one's own, whose period is
 * so long that there are no ticks. Then the calls that start and stop a
 * profile, and what an idle processor is woken for.
 */
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define ROUNDS	3

/* In memory: what comes from the host's files takes as long as the host does. */
#define TRUE_COPY	"/dev/shm/true"

static uint32_t bins[4096];
static int pipes[2][2];

static void make_pipes(void)
{
	if (pipe(pipes[0]) || pipe(pipes[1]))
		die("pipe: %m");
}

/* Sends back what it gets, until there is no more. */
static pid_t start_echo(void)
{
	pid_t child;
	char byte;

	make_pipes();
	child = fork_child();
	if (child) {
		close(pipes[0][0]);
		return child;
	}
	profil_stop(NULL, NULL, 0);
	close(pipes[0][1]);
	while (read(pipes[0][0], &byte, 1) == 1)
		if (write(pipes[1][1], &byte, 1) != 1)
			break;
	_exit(0);
}

/* Two context switches each. */
static void echo(int nr)
{
	pid_t child = start_echo();
	char byte = 0;

	while (nr--)
		if (write(pipes[0][1], &byte, 1) != 1 ||
		    read(pipes[1][0], &byte, 1) != 1)
			die("pipe: %m");
	close(pipes[0][1]);
	close(pipes[1][0]);
	close(pipes[1][1]);
	wait_child(child);
}

static void fork_and_wait(int nr)
{
	while (nr--) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			die("fork: %m");
	}
}

static void exec_and_wait(int nr)
{
	while (nr--) {
		pid_t child = vfork();

		if (!child) {
			execl(TRUE_COPY, "true", NULL);
			_exit(1);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			die("vfork: %m");
	}
}

static void set(int nr_regions)
{
	static struct profil_region regions[1000];
	int i;

	for (i = 0; i < nr_regions; i++)
		regions[i] = (struct profil_region){
			(uintptr_t)bins, sizeof(bins), 0x10000 * (i + 1), 65536
		};
	if (set_regions(regions, nr_regions, 4, SECOND, 0))
		die("cannot start a profile: %m");
}

static void on_and_off(int nr)
{
	while (nr--) {
		set(1);
		profil_stop(NULL, NULL, 0);
	}
}

static void replace(int nr)
{
	while (nr--)
		set(1);
}

static void replace_1000(int nr)
{
	while (nr--)
		set(1000);
}

static void ask(int nr)
{
	while (nr--)
		status_now();
}

/* Of one operation, and of what it leaves to be done. */
static struct sample instructions(void (*operate)(int nr), int nr)
{
	struct sample sample = { 0 };
	int round;

	operate(nr / 10 + 1);
	for (round = 0; round < ROUNDS; round++) {
		uint64_t begin = busy_ns();

		operate(nr);
		usleep(100000);
		sample_add(&sample, (double)(busy_ns() - begin) / nr /
			   NS_PER_INSN);
	}
	return sample;
}

static void report(const char *name, const char *where, double share,
		   struct sample sample)
{
	print_result(name, where, 0, sample_mean(&sample) * share,
		     sample_error(&sample) * share, "instructions");
}

static void programs(const char *where)
{
	report("switch", where, 0.5, instructions(echo, 4000));
	report("fork", where, 1, instructions(fork_and_wait, 200));
	report("exec", where, 1, instructions(exec_and_wait, 200));
}

/* Timer interrupts in ten seconds in which nobody has anything to do. */
static void idle(const char *where)
{
	uint64_t before = timer_interrupts();

	sleep(10);
	print_result("idle", where, 0, (timer_interrupts() - before) / 10.0, 0,
		     "wakeups/s");
}

static pid_t profile_elsewhere(void)
{
	pid_t child = fork_child();

	if (child) {
		usleep(100000);
		return child;
	}
	set(1);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	pid_t other;

	if (argc < 2)
		die("usage: calls PROFIL.KO [PARAMETERS]");
	if (system("cp $(which busybox) " TRUE_COPY))
		die("cannot copy busybox");
	programs("without");
	idle("without");
	load_module(argv[1], argc > 2 ? argv[2] : "");
	programs("nowhere");
	other = profile_elsewhere();
	programs("somewhere");
	idle("somewhere");
	kill(other, SIGKILL);
	wait_child(other);
	/* Until the clock has been stopped */
	sleep(3);
	programs("nowhere-again");

	report("on-off", "profil", 1, instructions(on_and_off, 300));
	set(1);
	programs("own");
	idle("own");
	report("replace", "profil", 1, instructions(replace, 300));
	report("replace-1000", "profil", 1, instructions(replace_1000, 20));
	report("status", "profil", 1, instructions(ask, 300));
	return 0;
}
