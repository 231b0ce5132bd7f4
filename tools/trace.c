// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace.c - follow a program through exec, fork and its end
 *
 * Every process and thread that the program starts is followed. It stops when
 * it starts, when it executes a program, when the loader hands over to the
 * program or has changed libraries, and for its signals, which are passed on;
 * between these it runs as if nobody were there. Whoever has ended is looked
 * at before it is reaped.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module.h"
#include "process.h"
#include "stop.h"
#include "trace.h"
#include "tracee.h"

/* The code segment of 64-bit programs */
#define USER_CS		0x33

/* Who has not stopped within this time is asleep, deep in the kernel. */
#define RELEASE_MS	1000

/**
 * struct trace - who is followed
 * @run: the run
 * @tracees: those
 * @signals: descriptor of the signals that come to us
 * @done: the program has ended
 * @stops_itself: it was the program that sent it the last SIGSTOP
 * @stopped: the program has stopped as a job does
 * @joined: we have stopped with it
 * @continued: the thread that has told that it goes on
 */
struct trace {
	struct run *run;
	struct tracees tracees;
	int signals;
	bool done;
	bool stops_itself;
	bool stopped;
	bool joined;
	pid_t continued;
};

/**
 * trace_attach() - follow a process and all that come from it
 * @pid: the process
 *
 * Return: 0, or -1 with errno.
 */
int trace_attach(pid_t pid)
{
	return ptrace(PTRACE_SEIZE, pid, NULL,
		      PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
		      PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE);
}

static void no_memory(struct trace *trace)
{
	fprintf(stderr, "profil: %s\n", strerror(ENOMEM));
	kill(trace->run->pid, SIGKILL);
}

/* Why a program that has just started cannot be profiled, or NULL. */
static const char *out_of_reach(pid_t tid)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return "it cannot be traced";
	if (regs.cs != USER_CS)
		return "a 32-bit program";
	return NULL;
}

/* Why a program cannot be made to do system calls, or NULL. */
static const char *out_of_calls(pid_t tid)
{
	struct process process;

	errno = 0;
	if (process_read(tid, &process))
		return "it is not in /proc";
	if (process.seccomp)
		return "its system calls are filtered (seccomp)";
	return NULL;
}

/* Profile what is mapped now. NULL, or what failed, with errno or 0. */
static const char *profile(struct run *run, struct space *space, pid_t tid,
			   bool executed)
{
	bool changed;

	if (space_look(space, tid, run->max_regions - 1, &changed))
		return "/proc";
	if (!changed)
		return NULL;
	if (run->samples)
		return samples_begin(run, space);
	return out_of_calls(tid) ?: module_begin(run, space, tid, executed);
}

static void begin_samples(struct run *run, struct tracee *tracee)
{
	static bool told;

	if (!run->samples)
		return;
	tracee->sampler = sampler_new(run->samples, tracee->tid);
	if (tracee->sampler || told)
		return;
	fprintf(stderr, "profil: threads without ticks: perf_event_open: %s\n",
		strerror(errno));
	told = true;
}

static void begin(struct run *run, struct tracee *tracee)
{
	struct space *space = tracee->space;
	const char *failed;

	errno = 0;
	failed = out_of_reach(tracee->tid) ?:
		profile(run, space, tracee->tid, true);
	if (failed) {
		image_fail(space->image, failed, errno);
		return;
	}
	if (space->base)
		loader_begin(&space->loader, tracee->tid, space->code);
	space->image->loader = space->loader;
	begin_samples(run, tracee);
}

static void on_exec(struct trace *trace, pid_t tid)
{
	struct tracee *tracee;
	unsigned long former;
	struct image *image;

	/* The thread that calls exec becomes the process; the others end */
	if (!ptrace(PTRACE_GETEVENTMSG, tid, NULL, &former) &&
	    (pid_t)former != tid)
		tracee_forget(&trace->tracees, former);
	tracee = tracee_find(&trace->tracees, tid);
	tracee_settle(&trace->tracees, tracee);
	tracee->started = true;
	space_put(tracee->space);
	module_look(trace->run);
	image = run_add_image(trace->run, image_new(tid, run_now_ns()));
	tracee->space = image ? space_new(image, tid) : NULL;
	if (!tracee->space) {
		no_memory(trace);
		return;
	}
	begin(trace->run, tracee);
	image->uncovered_ns = process_cpu_ns(tid) - tracee->cpu_ns;
}

static void on_stop(struct trace *trace, pid_t tid, int status);

/* Killed, it may be gone; its number will be another's. */
static bool is_there(pid_t tid)
{
	siginfo_t info;

	return !waitid(P_PID, tid, &info, WEXITED | WSTOPPED | WNOHANG |
		       WNOWAIT | __WALL);
}

/* A process or thread has made another, which may wait for this. */
static void on_birth(struct trace *trace, pid_t tid)
{
	struct tracee *tracee;
	unsigned long child;
	int held;

	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &child) || !is_there(child))
		return;
	tracee = tracee_born(&trace->tracees, child, tid);
	if (!tracee) {
		no_memory(trace);
		return;
	}
	held = tracee->held;
	tracee->held = 0;
	if (held)
		on_stop(trace, child, held);
}

/* A child that is to have counters of its own. */
static void separate(struct trace *trace, struct tracee *tracee)
{
	struct space *space = tracee->space;
	struct run *run = trace->run;
	const char *failed;
	struct image *copy;

	copy = run_add_image(run, image_copy(space->image, tracee->tid,
					     run_now_ns()));
	if (!copy) {
		no_memory(trace);
		return;
	}
	space_separate(space, copy);
	if (copy->reason)
		return;
	failed = run->samples ? samples_separate(space) :
		 out_of_calls(tracee->tid) ?:
		 module_separate(run, space, tracee->tid);
	if (failed)
		image_fail(copy, failed, errno);
}

/* Its first stop; it has not done anything yet. */
static void on_start(struct trace *trace, struct tracee *tracee)
{
	tracee->started = true;
	if (!tracee->space)
		return;
	if (trace->run->per_process && tracee->forked)
		separate(trace, tracee);
	if (!tracee->space->image->reason)
		begin_samples(trace->run, tracee);
}

static void say_elsewhere(struct image *image, const char *why, int error)
{
	if (image->told)
		return;
	image->told = true;
	fprintf(stderr, "profil: %s: libraries count as elsewhere: %s%s%s\n",
		image->name, why, error ? ": " : "",
		error ? strerror(error) : "");
}

/* The libraries that are mapped may be others than before: count these. */
static void on_loader(struct trace *trace, struct tracee *tracee,
		      enum loader_stop stop)
{
	struct space *space = tracee->space;
	const char *failed = NULL;

	errno = 0;
	if (stop == LOADER_ENTRY ||
	    loader_is_consistent(&space->loader, tracee->tid)) {
		tracees_drain(&trace->tracees, space);
		failed = profile(trace->run, space, tracee->tid, false);
		if (failed)
			say_elsewhere(space->image, failed, errno);
	} else if (errno == EPERM) {
		say_elsewhere(space->image, "its memory is not readable",
			      errno);
	}
	loader_go_on(&space->loader, tracee->tid, stop);
	if (stop != LOADER_ENTRY)
		return;
	failed = loader_follow(&space->loader, tracee->tid);
	if (failed)
		say_elsewhere(space->image, failed, 0);
	space->image->loader = space->loader;
}

/* Of the program itself, whose main thread may have ended. */
static bool is_of_program(const struct trace *trace, pid_t tid)
{
	struct process process;

	return tid == trace->run->pid ||
		(!process_read(tid, &process) &&
		 process.tgid == trace->run->pid);
}

/* Programs that have put the terminal in order stop themselves thus. */
static void on_sigstop(struct trace *trace, pid_t tid)
{
	siginfo_t info;

	if (is_of_program(trace, tid))
		trace->stops_itself =
			!ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) &&
			info.si_code <= 0 && info.si_pid == trace->run->pid;
}

/* A thread has stopped, as a shell's job does. */
static void on_group_stop(struct trace *trace, pid_t tid, int signal)
{
	ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	if (!is_of_program(trace, tid))
		return;
	/* Another stop, and not what was to be told of the former one */
	if (trace->continued == tid) {
		trace->continued = 0;
		trace->joined = false;
	}
	trace->stopped = signal != SIGSTOP || trace->stops_itself;
}

static void on_continue(struct trace *trace, pid_t tid)
{
	if (!is_of_program(trace, tid))
		return;
	trace->continued = tid;
	trace->stopped = false;
}

/*
 * When the program stops so do we, for the shell to see; once, though each
 * thread tells of it, some of them when it goes on.
 */
static void stop_with_it(struct trace *trace)
{
	if (trace->continued) {
		trace->joined = false;
	} else if (trace->stopped && !trace->joined) {
		trace->joined = true;
		raise(SIGSTOP);
	}
	trace->continued = 0;
	trace->stopped = false;
}

static bool stops_jobs(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
		signal == SIGTTOU;
}

static enum loader_stop stopped_by_loader(const struct tracee *tracee,
					  int status)
{
	if (status >> 16 || WSTOPSIG(status) != SIGTRAP || !tracee->space)
		return LOADER_NOT;
	return loader_stopped(&tracee->space->loader, tracee->tid);
}

static void on_event(struct trace *trace, struct tracee *tracee, int event)
{
	switch (event) {
	case PTRACE_EVENT_EXEC:
		on_exec(trace, tracee->tid);
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		on_birth(trace, tracee->tid);
		break;
	case PTRACE_EVENT_STOP:
		if (!tracee->started)
			on_start(trace, tracee);
		else
			on_continue(trace, tracee->tid);
		break;
	}
}

static void on_stop(struct trace *trace, pid_t tid, int status)
{
	struct tracee *tracee = tracee_add(&trace->tracees, tid);
	int signal = WSTOPSIG(status), event = status >> 16;
	enum loader_stop stop;

	if (!tracee) {
		no_memory(trace);
		return;
	}
	if (!tracee->told) {
		tracee->held = status;
		return;
	}
	if (event == PTRACE_EVENT_STOP && stops_jobs(signal)) {
		on_group_stop(trace, tid, signal);
		return;
	}
	stop = stopped_by_loader(tracee, status);
	if (stop)
		on_loader(trace, tracee, stop);
	else if (event)
		on_event(trace, tracee, event);
	else if (signal == SIGSTOP)
		on_sigstop(trace, tid);
	ptrace(PTRACE_CONT, tid, NULL, stop || event ? 0 : signal);
}

/* What is known of its loader; of an orphan, from what it executes. */
static const struct loader *loader_of(const struct trace *trace,
				      const struct tracee *tracee)
{
	const struct run *run = trace->run;
	struct start start;
	size_t i;

	if (tracee->space)
		return &tracee->space->loader;
	process_start(tracee->tid, &start);
	for (i = run->nr; i-- && start.entry;)
		if (run->images[i]->code == start.entry)
			return &run->images[i]->loader;
	return NULL;
}

static bool is_birth(int event)
{
	return event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
		event == PTRACE_EVENT_CLONE;
}

/* Let it go, with what it would have found without us. */
static void let_go(struct trace *trace, pid_t tid, int status)
{
	int signal = status >> 16 ? 0 : WSTOPSIG(status);
	const struct loader *loader;
	struct tracee *tracee;
	enum loader_stop stop;

	if (is_birth(status >> 16))
		on_birth(trace, tid);
	tracee = tracee_add(&trace->tracees, tid);
	loader = tracee ? loader_of(trace, tracee) : NULL;
	if (loader) {
		stop = stopped_by_loader(tracee, status);
		if (stop) {
			loader_go_on(&tracee->space->loader, tid, stop);
			signal = 0;
		}
		loader_leave(loader, tid);
	}
	ptrace(PTRACE_DETACH, tid, NULL, signal);
	tracee_forget(&trace->tracees, tid);
}

/* Those that wait to be told of, all of them or those that wait in vain. */
static void let_held_go(struct trace *trace, bool all)
{
	struct tracees *tracees = &trace->tracees;
	size_t i;

	for (i = tracees->nr; i--;)
		if (tracees->list[i].held &&
		    (all || tracee_is_orphan(tracees, tracees->list[i].tid)))
			let_go(trace, tracees->list[i].tid,
			       tracees->list[i].held);
}

static void on_end(struct trace *trace, pid_t tid, int status)
{
	struct run *run = trace->run;

	run_ended(run, tid, status);
	if (tid != run->pid)
		return;
	run->status = status;
	run->wall_ns = run_now_ns() - run->start_ns;
	trace->done = true;
}

/*
 * Everything that there is to be waited for; whether there was anything. Whoever
 * is told of as stopped may be killed before that is taken: its end is next.
 */
static bool handle_events(struct trace *trace,
			  void (*on)(struct trace *trace, pid_t tid,
				     int status))
{
	siginfo_t info;
	bool any;
	int status;

	for (any = false;; any = true) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG |
			   WNOWAIT | __WALL) || !info.si_pid)
			return any;
		if (info.si_code == CLD_TRAPPED ||
		    info.si_code == CLD_STOPPED) {
			status = stop_take(info.si_pid);
			if (status >= 0)
				on(trace, info.si_pid, status);
			continue;
		}
		tracee_forget(&trace->tracees, info.si_pid);
		if (waitpid(info.si_pid, &status, WNOHANG | __WALL) ==
		    info.si_pid)
			on_end(trace, info.si_pid, status);
	}
}

/* A signal for us; one that ends us is for the program to decide about. */
static void handle_signal(struct trace *trace)
{
	struct signalfd_siginfo info;

	if (read(trace->signals, &info, sizeof(info)) == sizeof(info) &&
	    info.ssi_signo == SIGTERM)
		kill(trace->run->pid, SIGTERM);
}

/* Until something has happened; ticks, which we count ourselves, are counted. */
static void wait_for_event(struct trace *trace)
{
	struct pollfd poll_fd = { .fd = trace->signals, .events = POLLIN };
	struct tracee *tracee;
	pid_t tid;

	if (!trace->run->samples) {
		poll(&poll_fd, 1, -1);
		return;
	}
	while ((tid = samples_wait(trace->run->samples))) {
		tracee = tracee_find(&trace->tracees, tid);
		if (tracee)
			sampler_drain(trace->run, tracee->sampler,
				      tracee->space);
	}
}

/*
 * What still runs must not meet a breakpoint when nobody is there. The text is
 * put back while it runs; then whoever has met one already has to be heard.
 */
static void release(struct trace *trace)
{
	struct pollfd poll_fd = { .fd = trace->signals, .events = POLLIN };
	struct tracees *tracees = &trace->tracees;
	size_t i;

	let_held_go(trace, true);
	for (i = 0; i < tracees->nr; i++) {
		if (tracees->list[i].space)
			loader_leave(&tracees->list[i].space->loader,
				     tracees->list[i].tid);
		ptrace(PTRACE_INTERRUPT, tracees->list[i].tid, NULL, NULL);
	}
	while (tracees->nr) {
		if (handle_events(trace, let_go))
			continue;
		if (poll(&poll_fd, 1, RELEASE_MS) <= 0)
			return;
		handle_signal(trace);
	}
}

/**
 * trace_follow() - until the program has ended
 * @run: the run
 * @signals: descriptor of signalfd(), for SIGCHLD and those to be passed on
 *
 * What the program leaves running goes on, without being followed.
 */
void trace_follow(struct run *run, int signals)
{
	struct trace trace = {
		.run = run,
		.tracees = { .run = run },
		.signals = signals,
	};
	struct tracee *tracee;

	tracee = tracee_add(&trace.tracees, run->pid);
	if (!tracee || (run->samples && samples_watch(run->samples, signals)))
		no_memory(&trace);
	else
		tracee->told = true;
	while (!trace.done) {
		wait_for_event(&trace);
		handle_signal(&trace);
		handle_events(&trace, on_stop);
		let_held_go(&trace, false);
		stop_with_it(&trace);
	}
	release(&trace);
	tracees_free(&trace.tracees);
}
