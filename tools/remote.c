// SPDX-License-Identifier: GPL-2.0-only
/*
 * remote.c - system calls that a stopped program is made to do
 *
 * The instruction at which the thread stands is replaced by a system call for
 * as long as it takes. Nothing is needed in the program: it may be static, and
 * of any language. Every signal is blocked meanwhile, so that no call is
 * interrupted and no handler sees the borrowed registers.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote.h"

/* syscall; the rest of the word does not matter */
#define SYSCALL_WORD	0x050fULL
#define SYSCALL_STOP	(SIGTRAP | 0x80)
#define MASK_SIZE	8

int remote_peek(pid_t tid, uint64_t address, uint64_t *word)
{
	errno = 0;
	*word = ptrace(PTRACE_PEEKTEXT, tid, address, NULL);
	return errno ? -1 : 0;
}

int remote_poke(pid_t tid, uint64_t address, uint64_t word)
{
	return ptrace(PTRACE_POKETEXT, tid, address, word);
}

/* Its next stop, in the form of waitpid(); -1 if it has died: left unreaped */
static int next_stop(pid_t tid)
{
	siginfo_t info;
	int status;

	while (waitid(P_PID, tid, &info,
		      WSTOPPED | WEXITED | WNOWAIT | __WALL))
		if (errno != EINTR)
			return -1;
	if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
		return -1;
	if (waitpid(tid, &status, __WALL) != tid)
		return -1;
	return status;
}

/* On to the beginning or the end of a system call. */
static int to_syscall_stop(pid_t tid, int *stop)
{
	int status;

	for (;;) {
		if (ptrace(PTRACE_SYSCALL, tid, NULL, NULL))
			return -1;
		status = next_stop(tid);
		if (status < 0)
			return -1;
		if (WSTOPSIG(status) == SYSCALL_STOP)
			return 0;
		/* Not to be blocked; the program gets it later */
		if (status >> 16 == 0 && WSTOPSIG(status) == SIGSTOP)
			*stop = 1;
	}
}

/**
 * remote_leave_exec() - to the end of execve()
 * @tid: a thread that has stopped with PTRACE_EVENT_EXEC
 *
 * Until there the kernel has yet to write the call's result into a register.
 *
 * Return: 0, or -1 if it has died.
 */
int remote_leave_exec(pid_t tid)
{
	int stop = 0;

	if (to_syscall_stop(tid, &stop))
		return -1;
	if (stop)
		kill(tid, SIGSTOP);
	return 0;
}

/**
 * remote_begin() - have a stopped thread work for us
 * @remote: receives what remote_end() puts back
 * @tid: the thread; not within a system call
 *
 * Return: 0, or -1.
 */
int remote_begin(struct remote *remote, pid_t tid)
{
	uint64_t all = ~0ULL;

	remote->tid = tid;
	remote->stop = 0;
	if (ptrace(PTRACE_GETREGS, tid, NULL, &remote->regs) ||
	    ptrace(PTRACE_GETSIGMASK, tid, MASK_SIZE, &remote->mask) ||
	    remote_peek(tid, remote->regs.rip, &remote->word) ||
	    remote_poke(tid, remote->regs.rip, SYSCALL_WORD))
		return -1;
	return ptrace(PTRACE_SETSIGMASK, tid, MASK_SIZE, &all);
}

/**
 * remote_call() - one system call
 * @remote: of remote_begin()
 * @result: receives what the kernel returned; below 0 it is -errno
 * @number: of the call
 * @arguments: of the call
 *
 * Return: 0, or -1 if it could not be done.
 */
int remote_call(struct remote *remote, int64_t *result, long number,
		const uint64_t arguments[6])
{
	struct user_regs_struct regs = remote->regs;

	/* No system call is under way that could be restarted */
	regs.orig_rax = -1;
	regs.rax = number;
	regs.rdi = arguments[0];
	regs.rsi = arguments[1];
	regs.rdx = arguments[2];
	regs.r10 = arguments[3];
	regs.r8 = arguments[4];
	regs.r9 = arguments[5];
	if (ptrace(PTRACE_SETREGS, remote->tid, NULL, &regs) ||
	    to_syscall_stop(remote->tid, &remote->stop) ||
	    to_syscall_stop(remote->tid, &remote->stop) ||
	    ptrace(PTRACE_GETREGS, remote->tid, NULL, &regs))
		return -1;
	*result = regs.rax;
	return 0;
}

/**
 * remote_end() - leave the thread as it was
 * @remote: of remote_begin()
 *
 * Return: 0, or -1 if it has died.
 */
int remote_end(struct remote *remote)
{
	remote->regs.orig_rax = -1;
	if (remote_poke(remote->tid, remote->regs.rip, remote->word) ||
	    ptrace(PTRACE_SETREGS, remote->tid, NULL, &remote->regs) ||
	    ptrace(PTRACE_SETSIGMASK, remote->tid, MASK_SIZE, &remote->mask))
		return -1;
	if (remote->stop)
		kill(remote->tid, SIGSTOP);
	return 0;
}
