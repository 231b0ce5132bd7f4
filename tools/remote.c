// SPDX-License-Identifier: GPL-2.0-only
/*
 * remote.c - system calls that a stopped program is made to do
 *
 * A few instructions are put over text that nobody executes, those at which
 * the program began, for as long as it takes; they do a list of calls. Nothing
 * is needed in the program: it may be static, and of any language. Signals are
 * blocked meanwhile, so that no call is interrupted and no handler sees the
 * borrowed registers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote.h"
#include "stop.h"

/* rbx: the next call; ebp: how many there are */
static const uint8_t code[REMOTE_CODE] = {
	0x48, 0x8b, 0x03,		/* mov (%rbx),%rax */
	0x48, 0x8b, 0x7b, 0x08,		/* mov 8(%rbx),%rdi */
	0x48, 0x8b, 0x73, 0x10,		/* mov 16(%rbx),%rsi */
	0x48, 0x8b, 0x53, 0x18,		/* mov 24(%rbx),%rdx */
	0x4c, 0x8b, 0x53, 0x20,		/* mov 32(%rbx),%r10 */
	0x4c, 0x8b, 0x43, 0x28,		/* mov 40(%rbx),%r8 */
	0x4d, 0x8b, 0x00,		/* mov (%r8),%r8 */
	0x0f, 0x05,			/* syscall */
	0x48, 0x89, 0x03,		/* mov %rax,(%rbx) */
	0x48, 0x83, 0xc3, 0x30,		/* add $48,%rbx */
	0xff, 0xcd,			/* dec %ebp */
	0x75, 0xd9,			/* jnz to the beginning */
	0xcc,				/* int3 */
};

/* Below the stack, and below what its owner may use without telling. */
#define BELOW_STACK	256
#define SCRATCH_SIZE	(REMOTE_CALLS * sizeof(struct remote_call) + \
			 REMOTE_TEXT)

#define MASK_SIZE	8

/* Memory of a process; -1 with errno. */
int remote_read(pid_t tid, uint64_t address, void *data, size_t size)
{
	const struct iovec local = { data, size };
	const struct iovec remote = { (void *)address, size };
	ssize_t got = process_vm_readv(tid, &local, 1, &remote, 1, 0);

	if (got >= 0 && (size_t)got < size)
		errno = EFAULT;
	return got == (ssize_t)size ? 0 : -1;
}

/* Also text, and while it runs. */
int remote_write(pid_t tid, uint64_t address, const void *data, size_t size)
{
	ssize_t done = -1;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", tid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	done = pwrite(fd, data, size, address);
	if (done >= 0 && (size_t)done < size)
		errno = EFAULT;
	close(fd);
	return done == (ssize_t)size ? 0 : -1;
}

/* Its next stop, in the form of waitpid(); -1 if it has died: left unreaped */
static int next_stop(pid_t tid)
{
	int status = -1;
	siginfo_t info;

	do {
		if (waitid(P_PID, tid, &info,
			   WSTOPPED | WEXITED | WNOWAIT | __WALL)) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
			return -1;
		status = stop_take(tid);
	} while (status < 0);
	return status;
}

/* On to the end of the calls. */
static int go_on(struct remote *remote)
{
	struct user_regs_struct regs;
	int status, signal;

	for (;;) {
		if (ptrace(PTRACE_CONT, remote->tid, NULL, NULL))
			return -1;
		status = next_stop(remote->tid);
		if (status < 0)
			return -1;
		signal = WSTOPSIG(status);
		if (status >> 16) {
			/* Its other threads have stopped, perhaps */
			remote->stopped = 1;
			continue;
		}
		/* Not to be blocked; the program gets it later */
		if (signal == SIGSTOP)
			remote->stop = 1;
		else if (signal == SIGTRAP &&
			 !ptrace(PTRACE_GETREGS, remote->tid, NULL, &regs) &&
			 regs.rip == remote->code + REMOTE_CODE)
			return 0;
		else if (signal != SIGTRAP)
			return -1;
	}
}

/**
 * remote_begin() - have a stopped thread work for us
 * @remote: receives what remote_end() puts back
 * @tid: the thread
 * @address: of text that nobody executes now
 *
 * Return: 0, or -1 with errno.
 */
int remote_begin(struct remote *remote, pid_t tid, uint64_t address)
{
	/* A breakpoint's must get through, or the kernel changes its handler */
	const uint64_t all = ~(1ULL << (SIGTRAP - 1));

	remote->tid = tid;
	remote->code = address;
	remote->stop = 0;
	remote->stopped = 0;
	if (ptrace(PTRACE_GETREGS, tid, NULL, &remote->regs) ||
	    ptrace(PTRACE_GETSIGMASK, tid, MASK_SIZE, &remote->mask) ||
	    remote_read(tid, address, remote->before, REMOTE_CODE) ||
	    remote_write(tid, address, code, REMOTE_CODE))
		return -1;
	remote->scratch = (remote->regs.rsp - BELOW_STACK - SCRATCH_SIZE) &
		~15ULL;
	return ptrace(PTRACE_SETSIGMASK, tid, MASK_SIZE, &all);
}

/**
 * remote_text() - a string that calls can refer to
 * @remote: of remote_begin()
 * @text: the string; there is room for one
 *
 * Return: its address, or 0.
 */
uint64_t remote_text(struct remote *remote, const char *text)
{
	uint64_t address = remote->scratch +
		REMOTE_CALLS * sizeof(struct remote_call);

	return remote_write(remote->tid, address, text, strlen(text) + 1) ?
		0 : address;
}

/**
 * remote_do() - some system calls, whatever becomes of each
 * @remote: of remote_begin()
 * @calls: the calls; receive their results
 * @nr: number of them, up to REMOTE_CALLS
 *
 * Return: 0, or -1 with errno if they could not be done.
 */
int remote_do(struct remote *remote, struct remote_call *calls, size_t nr)
{
	struct user_regs_struct regs = remote->regs;
	size_t i;

	for (i = 0; i < nr; i++)
		calls[i].fifth = remote->scratch +
			calls[i].fifth * sizeof(*calls);
	/* No system call is under way that could be restarted */
	regs.orig_rax = -1;
	regs.rip = remote->code;
	regs.rbx = remote->scratch;
	regs.rbp = nr;
	regs.r9 = 0;
	if (remote_write(remote->tid, remote->scratch, calls,
			 nr * sizeof(*calls)) ||
	    ptrace(PTRACE_SETREGS, remote->tid, NULL, &regs))
		return -1;
	if (go_on(remote)) {
		errno = ESRCH;
		return -1;
	}
	return remote_read(remote->tid, remote->scratch, calls,
			   nr * sizeof(*calls));
}

/**
 * remote_end() - leave the thread as it was
 * @remote: of remote_begin()
 *
 * If its process has stopped meanwhile, as a shell's job does, it will stop again
 * at once when it goes on.
 *
 * Return: 0, or -1 if it has died.
 */
int remote_end(struct remote *remote)
{
	remote->regs.orig_rax = -1;
	if (remote_write(remote->tid, remote->code, remote->before,
			 REMOTE_CODE) ||
	    ptrace(PTRACE_SETREGS, remote->tid, NULL, &remote->regs) ||
	    ptrace(PTRACE_SETSIGMASK, remote->tid, MASK_SIZE, &remote->mask))
		return -1;
	if (remote->stop)
		kill(remote->tid, SIGSTOP);
	if (remote->stopped)
		ptrace(PTRACE_INTERRUPT, remote->tid, NULL, NULL);
	return 0;
}
