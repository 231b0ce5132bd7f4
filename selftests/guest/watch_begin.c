// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_begin.c - processes join a watch, and something comes in between
 *
 * A watch of a process is refused if the process becomes unreadable while it
 * joins. Until then it is a member: it may execute a program, so that its CPU
 * counts, and fork children that join, too. All of that must be undone before
 * the memory of the watch is freed. delay.ko gives the process the time.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "common.h"
#include "needs.h"
#include "watch.h"

NEEDS_ROOT;
NEEDS_TWO_CPUS;

#define ALICE		100001

/*
 * Before the second look at the rights of the process: for a kernel with
 * sanitizers the longer one.
 */
static const unsigned int delays_ms[] = { 800, 6000 };

/* Attempts that fail at the second look, and all. */
#define LATE		2
#define ATTEMPTS	20

static bool tell(int fd)
{
	return write(fd, "", 1) == 1;
}

static bool await(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1;
}

/*
 * The target forks a child that outlives the next attempt, and is unreadable
 * until that. As soon as the attempt has begun it executes itself.
 */
static int be_target(char **argv)
{
	int go = atoi(argv[2]), ready = atoi(argv[3]);
	unsigned int delay_ms = atoi(argv[4]);

	signal(SIGCHLD, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!fork()) {
		usleep(2 * delay_ms * 1000);
		burn_thread_ns(5 * MS);
		return 0;
	}
	prctl(PR_SET_DUMPABLE, 0);
	if (!tell(ready) || !await(go))
		return 1;
	prctl(PR_SET_DUMPABLE, 1);
	if (!tell(ready) || !await(go))
		return 1;
	usleep(delay_ms * 1000 / 8);
	execl("/proc/self/exe", argv[0], argv[1], argv[2], argv[3], argv[4],
	      NULL);
	return 1;
}

__attribute__((constructor(101))) static void executed(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "target"))
		_exit(be_target(argv));
}

/**
 * struct race - a watcher and its target
 * @delay_ms: how long the watcher is delayed
 * @target: the target
 * @go: pipe to it
 * @ready: pipe from it
 */
struct race {
	unsigned int delay_ms;
	pid_t target;
	int go[2];
	int ready[2];
};

static int start_target(struct race *race)
{
	char path[4096] = "", go[20], ready[20], delay[20];

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0 ||
	    pipe(race->go) || pipe(race->ready))
		return -1;
	snprintf(go, sizeof(go), "%d", race->go[0]);
	snprintf(ready, sizeof(ready), "%d", race->ready[1]);
	snprintf(delay, sizeof(delay), "%u", race->delay_ms);
	race->target = fork_child();
	if (!race->target) {
		pin_to(0);
		if (!become(ALICE))
			execl(path, path, "target", go, ready, delay, NULL);
		_exit(1);
	}
	return race->target < 0 ? -1 : 0;
}

/* Copy the name of a function of the module that may have a suffix. */
static bool find_function(const char *name, char *symbol, size_t size)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	size_t length = strlen(name);
	char line[300], found[200];
	bool is_found = false;

	while (file && !is_found && fgets(line, sizeof(line), file))
		is_found = sscanf(line, "%*s %*s %199s", found) == 1 &&
			   !strncmp(found, name, length) &&
			   (!found[length] || found[length] == '.');
	if (file)
		fclose(file);
	snprintf(symbol, size, "%s", found);
	return is_found;
}

/* Return: how many attempts failed when the process had joined. */
static int attempt(const struct race *race)
{
	struct profil_watch request =
		watch_request(PROFIL_WATCH_PROCESS, race->target,
			      PROFIL_WATCH_CHILDREN);
	int late = 0;

	for (int i = 0; i < ATTEMPTS && late < LATE; i++) {
		uint64_t begin;
		int error;

		if (!await(race->ready[0]) || !tell(race->go[1]) ||
		    !await(race->ready[0]) || !tell(race->go[1]))
			return 254;
		begin = monotonic_ns();
		error = watch_try(&request);
		late += error == EPERM &&
			monotonic_ns() - begin >= race->delay_ms * MS;
	}
	return late;
}

/* Waits for permission, so that delay.ko knows whom it delays. */
static int watch_target(void *race)
{
	pin_to(1);
	return become(ALICE) ? 255 : attempt(race);
}

/*
 * Return: how many attempts failed late, or -1 with errno if the watcher cannot
 * be delayed.
 */
static int run_race(struct race *race, const char *symbol)
{
	struct child watcher = child_begin(watch_target, race);
	char parameters[300];
	int late, failed;

	snprintf(parameters, sizeof(parameters), "symbol=%s pid=%d ms=%u nth=2",
		 symbol, watcher.pid, race->delay_ms);
	failed = load_helper("delay", parameters);
	if (failed) {
		child_kill(&watcher);
		return -1;
	}
	late = child_end(&watcher);
	failed = unload_helper("delay");
	return failed ? -1 : late;
}

TEST(a_watch_that_fails_when_the_process_has_joined)
{
	char symbol[200];
	int late = 0;

	if (!find_function("profil_check_join", symbol, sizeof(symbol)))
		SKIP(return, "the compiler has inlined the function");
	for (size_t i = 0; i < ARRAY_SIZE(delays_ms) && !late; i++) {
		struct race race = { .delay_ms = delays_ms[i] };

		ASSERT_EQ(0, start_target(&race));
		late = run_race(&race, symbol);
		kill(race.target, SIGKILL);
		EXPECT_EQ(-SIGKILL, wait_child(race.target));
		/* Have the scheduler, fork and exec look for members */
		EXPECT_EQ(0, fork_some(300));
		TH_LOG("%d attempts failed after %u ms", late, race.delay_ms);
	}
	EXPECT_GE(LATE, late);
	if (late < 0)
		SKIP(return, "delay.ko was not built for this kernel");
	if (!late)
		SKIP(return, "this host is too slow for the race");
}

/* --- a child that leaves the cgroup while it joins the watch of it */

#define CGROUPS		"/sys/fs/cgroup"
#define CGROUP		CGROUPS "/profil-watch-begin"

static int fork_one(void *unused)
{
	pid_t child;

	(void)unused;
	if (enter_cgroup(0, CGROUP))
		return 1;
	raise(SIGSTOP);
	pin_to(0);
	child = fork_child();
	if (!child)
		for (;;)
			;
	return wait_child(child);
}

/* Who moves a process waits for forks that have begun: so this one is early. */
#define CHILD		20000

static bool move_child(void)
{
	uint64_t end = monotonic_ns() + 5 * SECOND;

	while (enter_cgroup(CHILD, CGROUPS))
		if (monotonic_ns() > end)
			return false;
	return true;
}

/* Return: was the child moved while it joined? It need not get that number. */
static bool leaves_while_it_joins(struct __test_metadata *_metadata,
				  struct child *parent, struct watch *watch)
{
	uint64_t ticks, delayed;
	char text[100];
	bool is_moved;

	snprintf(text, sizeof(text), "symbol=profil_table_image pid=%d ms=500",
		 parent->pid);
	ASSERT_EQ(0, load_helper("delay", text));
	snprintf(text, sizeof(text), "%d", CHILD - 1);
	ASSERT_EQ(0, write_file("/proc/sys/kernel/ns_last_pid", text));
	/* Of several moves, only the first one waits for all of RCU */
	for (int i = 0; i < 3; i++)
		write_file(CGROUPS "/cgroup.procs", "4194303");
	ASSERT_EQ(0, kill(parent->pid, SIGCONT));
	is_moved = move_child();
	delayed = number_of("/sys/module/delay/parameters/calls", "");
	EXPECT_EQ(0, unload_helper("delay"));
	if (!is_moved || !delayed)
		return false;
	sleep_ns(SECOND);
	ticks = watch_status(watch).ticks;
	sleep_ns(300 * MS);
	/* Of the parent, which only waits */
	EXPECT_GE(ticks + 5, watch_status(watch).ticks);
	return true;
}

TEST(a_child_that_leaves_the_cgroup_while_it_joins)
{
	bool is_tried = false;
	int fd;

	if (load_helper("delay", "symbol=profil_table_image"))
		SKIP(return, "delay.ko: %s", strerror(errno));
	ASSERT_EQ(0, unload_helper("delay"));
	mkdir(CGROUP, 0755);
	fd = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	pin_to(1);
	TRY_UNTIL(is_tried) {
		struct profil_watch request =
			watch_request(PROFIL_WATCH_CGROUP, fd, 0);
		struct child parent = child_begin(fork_one, NULL);
		struct watch watch;

		child_go(&parent);
		ASSERT_EQ(0, child_wait_stopped(&parent));
		ASSERT_EQ(0, watch_begin(&watch, &request));
		is_tried = leaves_while_it_joins(_metadata, &parent, &watch);
		/* Its child ends with it */
		EXPECT_EQ(-SIGKILL, child_kill(&parent));
		watch_end(&watch);
	}
	close(fd);
	while (rmdir(CGROUP))
		ASSERT_EQ(EBUSY, errno);
	if (!is_tried)
		SKIP(return, "this host is too slow for the race");
}

TEST_HARNESS_MAIN
