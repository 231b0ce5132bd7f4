// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls.c - cost of the module apart from ticks
 *
 *	calls PROFIL.KO [PARAMETERS]
 *	calls -p PROFIL.KO [PARAMETERS]
 *
 * Measures context switches, fork and exec: without the module; with the module
 * and no profile; with a profile of another process; and with a profile of
 * their own, with a period so long that there are no ticks. Then context
 * switches beside thousands of profiles of others, the calls that start and
 * stop a profile, and timer interrupts of an idle CPU.
 *
 * With -p it measures what could depend on the number of CPUs: how long the same
 * and the requests of a watch take on the first CPU, while all others are idle.
 * The clock counts the instructions of all CPUs.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define ROUNDS	3

static uint32_t bins[4096];
/* Each member of a ring reads the pipe that the previous one writes. */
#define MAX_RING	64

struct link {
	int read;
	int write;
};

static void close_link(struct link link)
{
	close(link.read);
	close(link.write);
}

/* Copy bytes from one pipe to the next until end of file. */
static void pass_on(struct link link)
{
	char byte;

	while (read(link.read, &byte, 1) == 1)
		if (write(link.write, &byte, 1) != 1)
			break;
}

static void make_pipe(int fds[2])
{
	if (pipe(fds))
		die("pipe: %m");
}

struct ring {
	int nr_members;
	pid_t members[MAX_RING];
	struct link link;
};

static pid_t start_member(struct link link, int not_mine, int nor_this)
{
	pid_t child = fork_child();

	if (child)
		return child;
	profil_stop(NULL, NULL, 0);
	close(not_mine);
	close(nor_this);
	pass_on(link);
	_exit(0);
}

/* The caller is the first member of the ring. */
static void start_ring(struct ring *ring, int nr_members)
{
	int first[2], to[2];
	int from, i;

	make_pipe(first);
	from = first[0];
	for (i = 1; i < nr_members; i++) {
		struct link link;

		make_pipe(to);
		link = (struct link){ from, to[1] };
		ring->members[i] = start_member(link, first[1], to[0]);
		close_link(link);
		from = to[0];
	}
	ring->nr_members = nr_members;
	ring->link = (struct link){ from, first[1] };
}

static void stop_ring(struct ring *ring)
{
	int i;

	close_link(ring->link);
	for (i = 1; i < ring->nr_members; i++)
		wait_child(ring->members[i]);
}

/* Make about @nr context switches. */
static void pass_around(const struct ring *ring, int nr)
{
	char byte = 0;

	for (nr /= ring->nr_members; nr > 0; nr--)
		if (write(ring->link.write, &byte, 1) != 1 ||
		    read(ring->link.read, &byte, 1) != 1)
			die("pipe: %m");
}

static void echo(int nr)
{
	struct ring ring;

	start_ring(&ring, 2);
	pass_around(&ring, nr);
	stop_ring(&ring);
}

static struct ring many;

static void go_round(int nr)
{
	pass_around(&many, nr);
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

static uint64_t busy_with(void (*operate)(int nr), int nr)
{
	uint64_t begin = busy_ns();

	operate(nr);
	usleep(100000);
	return busy_ns() - begin;
}

static uint64_t elapsed_with(void (*operate)(int nr), int nr)
{
	uint64_t begin = monotonic_ns();

	operate(nr);
	return monotonic_ns() - begin;
}

/* The cost with the work that an operation defers, unless it is how long it takes */
static uint64_t (*cost_ns)(void (*operate)(int nr), int nr) = busy_with;

/* Cost of one operation. */
static struct sample instructions(void (*operate)(int nr), int nr)
{
	struct sample sample = { 0 };
	int round;

	operate(nr / 10 + 1);
	for (round = 0; round < ROUNDS; round++)
		sample_add(&sample, (double)cost_ns(operate, nr) / nr /
			   NS_PER_INSN);
	return sample;
}

static void report(const char *name, const char *where, struct sample sample)
{
	print_result(name, where, 0, sample_mean(&sample),
		     sample_error(&sample), "instructions");
}

static void programs(const char *where)
{
	report("switch", where, instructions(echo, 8000));
	report("fork", where, instructions(fork_and_wait, 200));
	report("exec", where, instructions(exec_and_wait, 200));
}

/* Count timer interrupts for ten seconds without any work. */
static void idle(const char *where)
{
	uint64_t before = timer_interrupts();

	sleep(10);
	print_result("idle", where, 0, (timer_interrupts() - before) / 10.0, 0,
		     "wakeups/s");
}

/* Profile processes that sleep: a child and its children. */
static pid_t profile_elsewhere(int nr)
{
	pid_t child = fork_child();

	if (child) {
		usleep(100000 + nr * 2000);
		return child;
	}
	setpgid(0, 0);
	set(1);
	while (--nr && fork_child())
		;
	if (status_now().unfollowed)
		die("not every child has a profile");
	for (;;)
		pause();
}

static void end_profiles(pid_t child)
{
	kill(-child, SIGKILL);
	wait_child(child);
	/* The module watches context switches for ten seconds more */
	sleep(12);
}

/* Measure context switches of unprofiled processes beside @nr profiles. */
static void switches_beside(int nr)
{
	pid_t other = nr ? profile_elsewhere(nr) : 0;
	struct sample sample;

	start_ring(&many, MAX_RING);
	sample = instructions(go_round, 600 * MAX_RING);
	stop_ring(&many);
	print_result("switch-beside", nr ? "profil" : "without", nr,
		     sample_mean(&sample),
		     sample_error(&sample), "instructions");
	if (other)
		end_profiles(other);
}

static int start_watch(enum profil_watch_target target, pid_t pid,
		       uint32_t flags)
{
	struct profil_watch watch = {
		.size = sizeof(watch),
		.target = target,
		.id = pid,
		.flags = flags,
		.period_ns = SECOND,
	};
	int fd = profil_watch_open(&watch);

	if (fd < 0)
		die("cannot start a watch: %m");
	return fd;
}

static pid_t sleep_elsewhere(void)
{
	pid_t child = fork_child();

	while (!child)
		pause();
	return child;
}

/* Measure beside a watch of another process, in one, and in one of all. */
static void watched(void)
{
	pid_t other = sleep_elsewhere();
	int fd = start_watch(PROFIL_WATCH_PROCESS, other,
			     PROFIL_WATCH_CHILDREN);

	programs("watch-somewhere");
	idle("watch-somewhere");
	close(fd);
	kill(other, SIGKILL);
	wait_child(other);
	fd = start_watch(PROFIL_WATCH_PROCESS, getpid(), PROFIL_WATCH_CHILDREN);
	programs("watch-own");
	close(fd);
	fd = start_watch(PROFIL_WATCH_MACHINE, 0, 0);
	programs("watch-machine");
	idle("watch-machine");
	close(fd);
	/* As between different programs */
	fd = start_watch(PROFIL_WATCH_MACHINE, 0, PROFIL_WATCH_SEPARATE);
	programs("watch-separate");
	close(fd);
	sleep(12);
}

/* A watch by a user of the processes of that user, of which there is one. */
static pid_t watch_as(uid_t user)
{
	pid_t child = fork_child();

	if (child)
		return child;
	setpgid(0, 0);
	if (become(user))
		die("cannot become a user: %m");
	start_watch(PROFIL_WATCH_USER, user, 0);
	for (;;)
		pause();
}

/* Measure beside watches of @nr other users: forks and execs look at each. */
static void watched_by_users(int nr)
{
	pid_t watchers[64];
	struct sample sample;
	int i;

	for (i = 0; i < nr; i++)
		watchers[i] = watch_as(100000 + i);
	usleep(500000);
	sample = instructions(fork_and_wait, 200);
	print_result("fork-beside", "watch-users", nr, sample_mean(&sample),
		     sample_error(&sample), "instructions");
	sample = instructions(exec_and_wait, 200);
	print_result("exec-beside", "watch-users", nr, sample_mean(&sample),
		     sample_error(&sample), "instructions");
	for (i = 0; i < nr; i++) {
		kill(watchers[i], SIGKILL);
		wait_child(watchers[i]);
	}
}

static int watched_fd;

static void ask_watch(int nr)
{
	struct profil_watch_status status = { .size = sizeof(status) };

	while (nr--)
		if (profil_watch_status(watched_fd, &status))
			die("cannot read the stats of a watch: %m");
}

static void watch_and_stop(int nr)
{
	while (nr--)
		close(start_watch(PROFIL_WATCH_MACHINE, 0, 0));
}

/* The second profile begins with the clock up, which stays so for ten seconds. */
static void processors(const char *file, const char *parameters)
{
	pid_t other;

	if (pin_to(0))
		die("cannot stay on the first CPU: %m");
	cost_ns = elapsed_with;
	programs("without");
	load_module(file, parameters);
	programs("nowhere");
	report("clock-up", "profil", (struct sample){
		.nr = 1,
		.sum = (double)elapsed_with(on_and_off, 1) / NS_PER_INSN,
	});
	report("on-off", "profil", instructions(on_and_off, 300));
	report("watch-on-off", "profil", instructions(watch_and_stop, 20));
	watched_fd = start_watch(PROFIL_WATCH_MACHINE, 0, 0);
	programs("watch-machine");
	report("watch-status", "profil", instructions(ask_watch, 300));
	close(watched_fd);
	/* As many as there can be */
	other = profile_elsewhere(1000);
	programs("somewhere");
	end_profiles(other);
	set(1);
	programs("own");
	report("status", "profil", instructions(ask, 300));
}

int main(int argc, char **argv)
{
	static const int beside[] = { 1, 1000, 4096 };
	static const int users[] = { 0, 1, 64 };
	pid_t other;
	bool is_processors = argc > 1 && !strcmp(argv[1], "-p");
	int i;

	argv += is_processors;
	argc -= is_processors;
	if (argc < 2)
		die("usage: calls [-p] PROFIL.KO [PARAMETERS]");
	if (system("cp $(which busybox) " TRUE_COPY))
		die("cannot copy busybox");
	if (is_processors) {
		processors(argv[1], argc > 2 ? argv[2] : "");
		return 0;
	}
	idle("without");
	/* Before programs(): state left by many processes makes fork slower */
	switches_beside(0);
	programs("without");
	load_module(argv[1], argc > 2 ? argv[2] : "");
	programs("nowhere");
	other = profile_elsewhere(1);
	programs("somewhere");
	idle("somewhere");
	end_profiles(other);
	for (i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
		switches_beside(beside[i]);
	watched();
	for (i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		watched_by_users(users[i]);
	programs("nowhere-again");

	report("on-off", "profil", instructions(on_and_off, 300));
	set(1);
	programs("own");
	idle("own");
	report("replace", "profil", instructions(replace, 300));
	report("replace-1000", "profil", instructions(replace_1000, 20));
	report("status", "profil", instructions(ask, 300));
	return 0;
}
