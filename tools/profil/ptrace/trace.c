// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace.c - trace a program through exec, fork and exit
 *
 * Traces every process and thread that the program starts. A tracee stops when
 * it starts, after exec, when rtld hands over to the program or has changed the
 * list of libraries, and for its signals, which it gets. Between these stops it
 * runs as if it were not traced. An ended process is inspected before it is
 * reaped.
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

#include "profil/backend.h"
#include "profil/proc.h"
#include "profil/ptrace/stop.h"
#include "profil/ptrace/trace.h"
#include "profil/ptrace/tracee.h"
#include "util/term.h"

/* The code segment of 64-bit programs */
#define USER_CS		0x33

/* A thread that does not stop within this time sleeps in the kernel. */
#define RELEASE_MS	1000

/**
 * struct trace - state of the tracer
 * @session: the session
 * @tracees: all traced threads
 * @signals: signalfd of profil
 * @done: the program has ended
 * @stops_itself: the program sent its last SIGSTOP to itself
 * @stopped: the program is in a group-stop, by job control
 * @joined: profil has stopped with it
 * @continued: thread that reported that the program continues
 */
struct trace {
	struct session *session;
	struct tracees tracees;
	int signals;
	bool done;
	bool stops_itself;
	bool stopped;
	bool joined;
	pid_t continued;
};

/**
 * trace_attach() - trace a process and all its descendants
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
	kill(trace->session->pid, SIGKILL);
}

/* Why a program cannot be profiled after exec, or NULL. */
static const char *out_of_reach(pid_t tid)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return "cannot be traced";
	if (regs.cs != USER_CS)
		return "a 32-bit program";
	return NULL;
}

/* Profile what is mapped now. NULL, or what failed, with errno or 0. */
static const char *profile(struct session *session, struct addrspace *space,
			   pid_t tid, bool executed)
{
	bool changed;

	if (addrspace_look(space, tid, session->max_regions - 1, &changed))
		return "/proc";
	if (!changed)
		return NULL;
	return session->backend->begin(session, space, tid, executed);
}

static void add_thread(struct session *session, struct tracee *tracee)
{
	static bool warned;

	if (!session->backend->add_thread(session, tracee->tid,
					  &tracee->sampler) || warned)
		return;
	fprintf(stderr, "profil: cannot sample all threads: perf_event_open: %s\n",
		strerror(errno));
	warned = true;
}

static void begin(struct session *session, struct tracee *tracee)
{
	struct addrspace *space = tracee->space;
	const char *failed;

	errno = 0;
	failed = out_of_reach(tracee->tid) ?:
		profile(session, space, tracee->tid, true);
	if (failed) {
		exec_fail(space->exec, failed, errno);
		return;
	}
	if (space->base)
		loader_begin(&space->loader, tracee->tid, space->code);
	space->exec->loader = space->loader;
	add_thread(session, tracee);
}

static void on_exec(struct trace *trace, pid_t tid)
{
	struct tracee *tracee;
	unsigned long former;
	struct exec *exec;

	/* The thread that calls exec takes over the PID; the others end */
	if (!ptrace(PTRACE_GETEVENTMSG, tid, NULL, &former) &&
	    (pid_t)former != tid)
		tracee_forget(&trace->tracees, former);
	tracee = tracee_find(&trace->tracees, tid);
	tracee_settle(&trace->tracees, tracee);
	tracee->started = true;
	addrspace_put(tracee->space);
	trace->session->backend->collect(trace->session);
	exec = session_add_exec(trace->session, exec_new(tid, now_ns()));
	tracee->space = exec ? addrspace_new(exec, tid) : NULL;
	if (!tracee->space) {
		no_memory(trace);
		return;
	}
	begin(trace->session, tracee);
	exec->uncovered_ns = process_cpu_ns(tid) - tracee->cpu_ns;
}

static void on_stop(struct trace *trace, pid_t tid, int status);

/* A killed thread may be gone, and its ID reused. */
static bool is_there(pid_t tid)
{
	siginfo_t info;

	return !waitid(P_PID, tid, &info, WEXITED | WSTOPPED | WNOHANG |
		       WNOWAIT | __WALL);
}

/* A thread has created another, which may already wait to be announced. */
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

/* Give a forked child counters of its own. */
static void separate(struct trace *trace, struct tracee *tracee)
{
	struct addrspace *space = tracee->space;
	struct session *session = trace->session;
	const char *failed;
	struct exec *copy;

	copy = session_add_exec(session, exec_copy(space->exec, tracee->tid,
						   now_ns()));
	if (!copy) {
		no_memory(trace);
		return;
	}
	addrspace_separate(space, copy);
	if (copy->reason)
		return;
	failed = session->backend->separate(session, space, tracee->tid);
	if (failed)
		exec_fail(copy, failed, errno);
}

/* The first stop of a thread, before it runs any instruction. */
static void on_start(struct trace *trace, struct tracee *tracee)
{
	tracee->started = true;
	if (!tracee->space)
		return;
	if (trace->session->per_process && tracee->forked)
		separate(trace, tracee);
	if (!tracee->space->exec->reason)
		add_thread(trace->session, tracee);
}

static void say_elsewhere(struct exec *exec, const char *why, int error)
{
	if (exec->warned)
		return;
	exec->warned = true;
	term_warn("%s: libraries count as elsewhere: %s%s%s", exec->name, why,
		  error ? ": " : "", error ? strerror(error) : "");
}

/* rtld may have changed the list of libraries: profile those mapped now. */
static void on_loader(struct trace *trace, struct tracee *tracee,
		      enum loader_stop stop)
{
	struct addrspace *space = tracee->space;
	const char *failed = NULL;

	errno = 0;
	if (stop == LOADER_ENTRY ||
	    loader_is_consistent(&space->loader, tracee->tid)) {
		tracees_drain(&trace->tracees, space);
		failed = profile(trace->session, space, tracee->tid, false);
		if (failed)
			say_elsewhere(space->exec, failed, errno);
	} else if (errno == EPERM) {
		say_elsewhere(space->exec, "cannot read its memory",
			      errno);
	}
	loader_go_on(&space->loader, tracee->tid, stop);
	if (stop != LOADER_ENTRY)
		return;
	failed = loader_follow(&space->loader, tracee->tid);
	if (failed)
		say_elsewhere(space->exec, failed, 0);
	space->exec->loader = space->loader;
}

/* Is it a thread of the program? Its main thread may have ended. */
static bool is_of_program(const struct trace *trace, pid_t tid)
{
	struct process process;

	return tid == trace->session->pid ||
		(!process_read(tid, &process) &&
		 process.tgid == trace->session->pid);
}

/* A program that restores the terminal before it stops sends itself SIGSTOP. */
static void on_sigstop(struct trace *trace, pid_t tid)
{
	siginfo_t info;

	if (is_of_program(trace, tid))
		trace->stops_itself =
			!ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) &&
			info.si_code <= 0 && info.si_pid == trace->session->pid;
}

/* A thread is in a group-stop, as by a shell's job control. */
static void on_group_stop(struct trace *trace, pid_t tid, int signal)
{
	ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	if (!is_of_program(trace, tid))
		return;
	/* A new stop, not a late report of the former one */
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
 * Stop with the program, for the shell to see; only once, although each thread
 * reports the stop, some only after the program continues.
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
	if (!tracee->announced) {
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

/*
 * Breakpoints in the tracee's rtld; for an orphan, those of the exec with the
 * same entry point.
 */
static const struct loader *loader_of(const struct trace *trace,
				      const struct tracee *tracee)
{
	const struct session *session = trace->session;
	struct start start;
	size_t i;

	if (tracee->space)
		return &tracee->space->loader;
	process_start(tracee->tid, &start);
	for (i = session->nr; i-- && start.entry;)
		if (session->execs[i]->code == start.entry)
			return &session->execs[i]->loader;
	return NULL;
}

static bool is_birth(int event)
{
	return event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
		event == PTRACE_EVENT_CLONE;
}

/* Detach a thread, with the signal and registers it would have untraced. */
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

/* Detach the threads that wait to be announced: all, or only the orphans. */
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
	struct session *session = trace->session;

	session_ended(session, tid, status);
	if (tid != session->pid)
		return;
	session->status = status;
	session->wall_ns = now_ns() - session->start_ns;
	trace->done = true;
}

/*
 * Handle all pending events; returns whether there were any. A tracee reported
 * as stopped may be killed before its stop is consumed: then its end is the
 * next event.
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

/* Pass SIGTERM on to the program, which decides what to do. */
static void handle_signal(struct trace *trace)
{
	struct signalfd_siginfo info;

	if (read(trace->signals, &info, sizeof(info)) == sizeof(info) &&
	    info.ssi_signo == SIGTERM)
		kill(trace->session->pid, SIGTERM);
}

/* Wait for an event of a tracee or a signal. */
static void wait_for_event(struct trace *trace)
{
	struct session *session = trace->session;
	struct tracee *tracee;
	pid_t tid;

	while ((tid = session->backend->wait(session, trace->signals))) {
		tracee = tracee_find(&trace->tracees, tid);
		if (tracee)
			sampler_drain(session, tracee->sampler, tracee->space);
	}
}

/*
 * Remaining tracees must not hit a breakpoint untraced, which would kill them.
 * Restore the text while they run, then wait for stops of those that have
 * already hit one.
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
 * trace_follow() - trace until the program has ended
 * @session: the session
 * @signals: signalfd for SIGCHLD and the signals to pass on
 *
 * Detaches processes that outlive the program; they go on untraced.
 */
void trace_follow(struct session *session, int signals)
{
	struct trace trace = {
		.session = session,
		.tracees = { .session = session },
		.signals = signals,
	};
	struct tracee *tracee;

	tracee = tracee_add(&trace.tracees, session->pid);
	if (!tracee || session->backend->start(session, signals))
		no_memory(&trace);
	else
		tracee->announced = true;
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
