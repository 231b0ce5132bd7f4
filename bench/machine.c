// SPDX-License-Identifier: GPL-2.0-only
/*
 * machine.c - cost of profiling the whole machine
 *
 *	machine bare
 *	machine watch HZ
 *	machine chains HZ
 *	machine perf HZ FILE
 *	machine bpf HZ
 *
 * Runs processes that compute, that switch, that fork and that execute, and
 * measures how long the CPUs are busy with them and with the profiler, from when
 * the profiler is up until the last process has ended. Starting and stopping
 * the profiler is not measured. With chains, the watch counts by chain of callers,
 * with tables for all that runs here. With perf, FILE gets its samples; with bpf,
 * a BPF program counts by process and stacks.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bpf_peer.h"
#include "chains.h"

#define ROUNDS		2
#define COMPUTING	3
#define COMPUTE_US	300000
#define SWITCHES	10000
#define FORKS		100
#define EXECS		100

static pid_t begin(void)
{
	pid_t child = fork_child();

	if (child < 0)
		die("fork: %m");
	return child;
}

static pid_t compute(void)
{
	pid_t child = begin();
	int us;

	if (child)
		return child;
	for (us = COMPUTE_US; us; us--)
		spend_us();
	_exit(0);
}

static void pass_on(int from, int to, int nr)
{
	char byte = 0;

	while (nr--)
		if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
			_exit(1);
	_exit(0);
}

/* Two processes that pass a byte to each other. */
static void switch_often(pid_t children[2])
{
	int there[2], back[2];

	if (pipe(there) || pipe(back) || write(there[1], "", 1) != 1)
		die("pipe: %m");
	children[0] = begin();
	if (!children[0])
		pass_on(there[0], back[1], SWITCHES / 2);
	children[1] = begin();
	if (!children[1])
		pass_on(back[0], there[1], SWITCHES / 2);
	close(there[0]);
	close(there[1]);
	close(back[0]);
	close(back[1]);
}

static void fork_and_wait(int execute)
{
	pid_t child = begin();

	if (!child) {
		if (execute)
			execl(TRUE_COPY, "true", NULL);
		_exit(execute);
	}
	if (wait_child(child))
		die("a child failed");
}

static void work(void)
{
	pid_t children[COMPUTING + 2];
	int i;

	for (i = 0; i < COMPUTING; i++)
		children[i] = compute();
	switch_often(children + COMPUTING);
	for (i = 0; i < FORKS; i++)
		fork_and_wait(0);
	for (i = 0; i < EXECS; i++)
		fork_and_wait(1);
	for (i = 0; i < COMPUTING + 2; i++)
		if (wait_child(children[i]))
			die("a child failed");
}

/* Wait until a profiler that starts has nothing left to do. */
static void settle(void)
{
	uint64_t begin, busy;

	do {
		begin = busy_ns();
		sleep(1);
		busy = busy_ns() - begin;
	} while (busy > SECOND / 20);
}

static pid_t start_perf(const char *hz, const char *file)
{
	pid_t child = begin();

	if (!child) {
		execlp("perf", "perf", "record", "-q", "-B", "-N", "-a", "-e",
		       "cpu-clock", "-F", hz, "-o", file, NULL);
		_exit(127);
	}
	return child;
}

/*
 * Load tables of callers, in a child: a process that has read them takes longer
 * to fork.
 */
static void load_tables(const struct watch *watch)
{
	pid_t child = begin();

	if (!child)
		_exit(load_own_callers(watch) ||
		      load_callers_of(watch, TRUE_COPY));
	if (wait_child(child))
		die("cannot load tables of callers");
}

static void start_watch(struct watch *watch, uint64_t period_ns,
			unsigned int flags)
{
	const struct profil_watch request = {
		.size = sizeof(request),
		.flags = flags,
		.target = PROFIL_WATCH_MACHINE,
		.period_ns = period_ns,
	};

	if (watch_begin(watch, &request))
		die("cannot start a watch: %m");
	if (flags & PROFIL_WATCH_CHAINS)
		load_tables(watch);
}

static void stop_watch(struct watch *watch, const char *tool)
{
	struct profil_watch_status last = watch_stop(watch);

	print_result("machine-lost", tool, last.ticks,
		     last.unresolved + last.coarse + last.unfollowed, 0,
		     "ticks");
	if (watch->as.flags & PROFIL_WATCH_CHAINS)
		print_result("machine-complete", tool, last.ticks,
			     100.0 * last.chains[PROFIL_CHAIN_COMPLETE] /
			     last.ticks, 0, "% of ticks");
	watch_end(watch);
}

static void start_bpf(uint64_t period_ns)
{
	bpf_start(&(struct bpf_request){
		.scope = BPF_SCOPE_MACHINE,
		.text = &__executable_start,
		.size = &etext - &__executable_start,
		.shift = 2,
		.period_ns = period_ns,
	});
}

static void measure(const char *tool, double hz)
{
	int round;

	/* The first one warms the caches */
	work();
	for (round = 0; round < ROUNDS; round++) {
		uint64_t begin = busy_ns();

		work();
		print_result("machine", tool, hz,
			     (double)(busy_ns() - begin) / NS_PER_INSN, 0,
			     "instructions");
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	double hz = argc > 2 ? atof(argv[2]) : 0;
	char tool[32];
	struct watch watch;
	pid_t perf;

	if (system("cp $(which busybox) " TRUE_COPY))
		die("cannot copy busybox");
	snprintf(tool, sizeof(tool), hz ? "%s-%.0f" : "%s", kind, hz);
	if (!strcmp(kind, "bare")) {
		settle();
		measure(tool, hz);
	} else if ((!strcmp(kind, "watch") || !strcmp(kind, "chains")) && hz) {
		start_watch(&watch, SECOND / hz,
			    *kind == 'c' ? PROFIL_WATCH_CHAINS : 0);
		settle();
		measure(tool, hz);
		stop_watch(&watch, tool);
	} else if (!strcmp(kind, "bpf") && hz) {
		start_bpf(SECOND / hz);
		settle();
		measure(tool, hz);
		bpf_stop();
	} else if (!strcmp(kind, "perf") && hz && argc > 3) {
		perf = start_perf(argv[2], argv[3]);
		settle();
		measure(tool, hz);
		kill(perf, SIGINT);
		waitpid(perf, NULL, 0);
	} else {
		die("usage: machine bare | watch HZ | chains HZ | perf HZ FILE | bpf HZ");
	}
	return 0;
}
