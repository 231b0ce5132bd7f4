// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace.c - follow a program through exec, fork and its end
 *
 * Every process and thread that the program starts is followed. It stops when
 * it starts, when it executes a program, when the loader hands over to the
 * program, and for its signals, which are passed on; between these it runs as
 * if nobody were there. Whoever has ended is looked at before it is reaped.
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
#include "remote.h"
#include "samples.h"
#include "trace.h"

/* The code segment of 64-bit programs */
#define USER_CS		0x33
#define BREAKPOINT	0xccULL

/**
 * struct tracee - a process or thread
 * @tid: the thread
 * @image: what it executes; NULL before its first exec
 * @cpu_ns: of a process, its CPU time when it began with that
 */
struct tracee {
	pid_t tid;
	struct image *image;
	uint64_t cpu_ns;
};

/**
 * struct trace - who is followed
 * @run: the run
 * @signals: descriptor of the signals that come to us
 * @done: the program has ended
 * @nr: number of tracees
 * @tracees: in no order
 */
struct trace {
	struct run *run;
	int signals;
	bool done;
	size_t nr;
	struct tracee *tracees;
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
		      PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
		      PTRACE_O_TRACESYSGOOD);
}

static struct tracee *find(struct trace *trace, pid_t tid)
{
	size_t i;

	for (i = 0; i < trace->nr; i++)
		if (trace->tracees[i].tid == tid)
			return &trace->tracees[i];
	return NULL;
}

/* A thread executes what its process does; a child, what its parent does. */
static struct image *inherited(struct trace *trace, pid_t tid)
{
	struct process process;
	struct tracee *from;

	if (process_read(tid, &process))
		return NULL;
	from = find(trace, process.tgid != tid ? process.tgid : process.ppid);
	return from ? from->image : NULL;
}

static struct tracee *find_or_add(struct trace *trace, pid_t tid)
{
	struct tracee *tracee = find(trace, tid);
	struct tracee new = { .tid = tid };
	struct tracee *tracees;

	if (tracee)
		return tracee;
	tracees = realloc(trace->tracees, (trace->nr + 1) * sizeof(*tracees));
	if (!tracees)
		return NULL;
	trace->tracees = tracees;
	new.image = inherited(trace, tid);
	tracees[trace->nr] = new;
	return &tracees[trace->nr++];
}

/* Up to now it has executed that image. */
static void settle_cpu(struct tracee *tracee)
{
	uint64_t cpu_ns = process_cpu_ns(tracee->tid);

	if (tracee->image && cpu_ns > tracee->cpu_ns)
		tracee->image->cpu_ns += cpu_ns - tracee->cpu_ns;
	tracee->cpu_ns = cpu_ns;
}

static void forget(struct trace *trace, pid_t tid)
{
	struct tracee *tracee = find(trace, tid);

	if (!tracee)
		return;
	settle_cpu(tracee);
	*tracee = trace->tracees[--trace->nr];
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
	struct process process;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return "it cannot be traced";
	if (regs.cs != USER_CS)
		return "a 32-bit program";
	if (process_read(tid, &process))
		return "it is not in /proc";
	if (process.seccomp)
		return "its system calls are filtered (seccomp)";
	return NULL;
}

static int begin(struct run *run, struct image *image, unsigned int area,
		 pid_t tid)
{
	if (image_find_text(image, area, tid)) {
		image_fail(image, "/proc", errno);
		return -1;
	}
	if (run->samples)
		return samples_begin(run, image, area);
	return module_begin(run, image, area, tid);
}

/* Stop where the loader hands over to the program. */
static void set_breakpoint(struct image *image, pid_t tid)
{
	if (!image->entry)
		return;
	if (remote_peek(tid, image->entry, &image->entry_word) ||
	    remote_poke(tid, image->entry,
			(image->entry_word & ~0xffULL) | BREAKPOINT))
		image->entry = 0;
}

static void on_exec(struct trace *trace, struct tracee *tracee)
{
	pid_t tid = tracee->tid;
	const char *reason;
	unsigned long former;
	struct image *image;

	/* The thread that calls exec becomes the process; the others end */
	if (!ptrace(PTRACE_GETEVENTMSG, tid, NULL, &former) &&
	    (pid_t)former != tid) {
		forget(trace, former);
		tracee = find(trace, tid);
	}
	settle_cpu(tracee);
	image = run_add_image(trace->run, tid);
	if (!image) {
		no_memory(trace);
		return;
	}
	tracee->image = image;
	if (remote_leave_exec(tid))
		return;
	reason = out_of_reach(tid);
	if (reason) {
		image->reason = strdup(reason);
		return;
	}
	if (!begin(trace->run, image, 0, tid))
		set_breakpoint(image, tid);
	image->uncovered_ns = process_cpu_ns(tid) - tracee->cpu_ns;
}

/*
 * Is it where the loader hands over? A process that comes from a fork before
 * that has the breakpoint too, in memory of its own.
 */
static bool at_breakpoint(const struct tracee *tracee)
{
	const struct image *image = tracee->image;
	struct user_regs_struct regs;
	uint64_t word;

	return image && image->entry &&
		!ptrace(PTRACE_GETREGS, tracee->tid, NULL, &regs) &&
		regs.rip == image->entry + 1 &&
		!remote_peek(tracee->tid, image->entry, &word) &&
		(word & 0xff) == BREAKPOINT &&
		(image->entry_word & 0xff) != BREAKPOINT;
}

/* The libraries are mapped; put the text back and count them too. */
static void on_loaded(struct trace *trace, const struct tracee *tracee)
{
	struct image *image = tracee->image;
	struct user_regs_struct regs;

	ptrace(PTRACE_GETREGS, tracee->tid, NULL, &regs);
	regs.rip = image->entry;
	regs.orig_rax = -1;
	remote_poke(tracee->tid, image->entry, image->entry_word);
	ptrace(PTRACE_SETREGS, tracee->tid, NULL, &regs);
	if (image->loaded)
		return;
	image->loaded = true;
	if (!begin(trace->run, image, 1, tracee->tid))
		return;
	fprintf(stderr, "profil: %s: libraries count as elsewhere: %s\n",
		image->name, image->reason ?: "");
	free(image->reason);
	image->reason = NULL;
}

/* It has stopped as a shell's job does: so do we, for the shell to see. */
static void on_group_stop(struct trace *trace, pid_t tid, int signal)
{
	ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	if (tid == trace->run->pid && signal != SIGSTOP)
		raise(SIGSTOP);
}

static bool stops_jobs(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
		signal == SIGTTOU;
}

static void on_stop(struct trace *trace, pid_t tid, int status)
{
	struct tracee *tracee = find_or_add(trace, tid);
	int signal = WSTOPSIG(status), event = status >> 16;

	if (!tracee) {
		no_memory(trace);
		return;
	}
	if (event == PTRACE_EVENT_STOP && stops_jobs(signal)) {
		on_group_stop(trace, tid, signal);
		return;
	}
	if (event == PTRACE_EVENT_EXEC) {
		on_exec(trace, tracee);
	} else if (!event && signal == SIGTRAP && at_breakpoint(tracee)) {
		on_loaded(trace, tracee);
		signal = 0;
	}
	if (event || signal == (SIGTRAP | 0x80))
		signal = 0;
	ptrace(PTRACE_CONT, tid, NULL, signal);
}

static void on_end(struct trace *trace, pid_t tid, int status)
{
	struct run *run = trace->run;

	if (tid != run->pid)
		return;
	run->status = status;
	run->wall_ns = run_now_ns() - run->start_ns;
	trace->done = true;
}

/* What we count ourselves. */
static void count_samples(struct trace *trace)
{
	struct sample sample;
	struct tracee *tracee;

	while (samples_next(trace->run->samples, &sample)) {
		tracee = find(trace, sample.tid);
		if (tracee && tracee->image)
			samples_count(trace->run, tracee->image, &sample);
	}
}

/* Everything that there is to be waited for. */
static void handle_events(struct trace *trace)
{
	siginfo_t info;
	int status;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG |
			   WNOWAIT | __WALL) || !info.si_pid)
			return;
		count_samples(trace);
		if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
			forget(trace, info.si_pid);
		if (waitpid(info.si_pid, &status, WNOHANG | __WALL) !=
		    info.si_pid)
			continue;
		if (WIFSTOPPED(status))
			on_stop(trace, info.si_pid, status);
		else
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

/* Nobody may be left with a breakpoint. */
static bool still_loading(const struct trace *trace)
{
	size_t i;

	for (i = 0; i < trace->nr; i++) {
		const struct image *image = trace->tracees[i].image;

		if (image && image->entry && !image->loaded)
			return true;
	}
	return false;
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
	struct trace trace = { .run = run, .signals = signals };
	struct pollfd poll_fd = { .fd = signals, .events = POLLIN };
	size_t i;

	while (!trace.done || still_loading(&trace)) {
		if (poll(&poll_fd, 1, samples_wait_ms(run->samples)) > 0)
			handle_signal(&trace);
		count_samples(&trace);
		handle_events(&trace);
	}
	for (i = 0; i < trace.nr; i++)
		settle_cpu(&trace.tracees[i]);
	free(trace.tracees);
}
