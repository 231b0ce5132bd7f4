// SPDX-License-Identifier: GPL-2.0-only
/*
 * wall.c - cost of knowing what threads wait in
 *
 *	wall WHAT WORK [NR]
 *
 * Does the work, in a watch of itself if WHAT is watch, wall or wall-chains; else
 * WHAT is the profiler that runs this. The work is
 *
 * switches	two threads take turns: no tick falls in between
 * others	the same, with a watch of another process
 * waits	sleep for 500 us, 13 frames deep; with a watch, five ticks fall
 * sleepers	NR threads sleep: begin a watch, read its status, collect, and
 *		stop it; the results are for each thread
 *
 * Prints the instructions of a switch, of a wait, or of each request.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "chains.h"

#define ROUNDS		3
#define SWITCHES	10000
#define WAITS		500
#define DEPTH		10

static struct watch watch = { .fd = -1 };

static void begin(const char *what, pid_t pid, uint64_t period_ns, int threads)
{
	struct profil_watch request =
		watch_request(PROFIL_WATCH_PROCESS, pid, 0);

	request.period_ns = period_ns;
	if (!strncmp(what, "wall", 4)) {
		request.flags = PROFIL_WATCH_WALL;
		request.threads = threads;
	} else if (strcmp(what, "watch")) {
		return;
	}
	if (!strcmp(what, "wall-chains"))
		request.flags |= PROFIL_WATCH_CHAINS;
	if (watch_begin(&watch, &request))
		die("cannot start a watch: %m");
}

static void load_tables(const char *what)
{
	if (!strcmp(what, "wall-chains") && load_own_callers(&watch))
		die("cannot load tables of callers: %m");
}

/* --- switches */

static void switch_often(void)
{
	if (switch_threads(SWITCHES))
		die("cannot switch threads: %m");
}

/* --- waits */

static __attribute__((noinline)) void wait_often(int depth)
{
	struct timespec span = { 0, 500 * US };

	if (depth)
		wait_often(depth - 1);
	for (int i = 0; !depth && i < WAITS; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
	/* Not a jump, which would leave no frame */
	asm volatile("" : : : "memory");
}

static void wait_deep(void)
{
	wait_often(DEPTH);
}

/* With all that the work entails: also what others do for it, in other threads */
static void measure(const char *work, const char *what, void (*function)(void),
		    int nr)
{
	struct sample sample = { 0 };

	load_tables(what);
	function();
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t begin = busy_ns();

		function();
		sample_add(&sample, (double)(busy_ns() - begin) / nr /
			   NS_PER_INSN);
	}
	print_result(work, what, 0, sample_mean(&sample),
		     sample_error(&sample), "instructions");
}

/* --- sleepers */

/* Not the time for which the caller of a collection rests */
static void report_request(const char *request, const char *what, int nr,
			   uint64_t begin)
{
	char name[40];

	snprintf(name, sizeof(name), "wall-%s", request);
	print_result(name, what, nr, (double)(busy_ns() - begin) / nr /
		     NS_PER_INSN, 0, "instructions");
}

static void measure_sleepers(const char *what, int nr)
{
	struct profil_watch_status status = { .size = sizeof(status) };
	uint64_t before;

	write_file("/proc/sys/kernel/threads-max", "20000");
	if (begin_sleepers(nr))
		die("cannot create %d threads", nr);
	usleep(20000);
	before = busy_ns();
	begin(what, getpid(), 0, nr + 1);
	report_request("begin", what, nr, before);
	load_tables(what);
	usleep(20000);
	before = busy_ns();
	if (profil_watch_status(watch.fd, &status))
		die("cannot read the status of a watch: %m");
	report_request("status", what, nr, before);
	if (status.threads != nr + 1)
		die("not all threads are in the watch");
	before = busy_ns();
	ioctl(watch.fd, PROFIL_IOC_WATCH_COLLECT, NULL);
	report_request("collect", what, nr, before);
	usleep(20000);
	before = busy_ns();
	ioctl(watch.fd, PROFIL_IOC_WATCH_STOP, NULL);
	report_request("stop", what, nr, before);
}

int main(int argc, char **argv)
{
	const char *what, *work;
	pid_t other;

	if (argc < 3)
		die("usage: wall WHAT WORK [NR]");
	what = argv[1];
	work = argv[2];
	if (!strcmp(work, "switches")) {
		begin(what, getpid(), SECOND, 0);
		measure("wall-switch", what, switch_often, SWITCHES);
	} else if (!strcmp(work, "others")) {
		other = fork_child();
		while (!other)
			pause();
		begin(what, other, SECOND, 0);
		measure("wall-others", what, switch_often, SWITCHES);
	} else if (!strcmp(work, "waits")) {
		begin(what, getpid(), 100 * US, 0);
		measure("wall-wait", what, wait_deep, WAITS);
	} else if (argc > 3) {
		measure_sleepers(what, atoi(argv[3]));
	}
	watch_end(&watch);
	return 0;
}
