// SPDX-License-Identifier: GPL-2.0-only
/*
 * inject.c - inject system calls into a stopped program
 *
 * A few instructions, which make a list of calls, overwrite text that no thread
 * executes any more, at the program's entry point, until the calls are done.
 * The program needs no support for that: it may be static and in any language.
 * Signals are blocked meanwhile, so that they interrupt no call and no handler
 * runs with the borrowed registers.
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

#include "profil/ptrace/inject.h"
#include "profil/ptrace/stop.h"

/* rbx: address of the next call; ebp: number of calls left */
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

/* Distance from the stack pointer: skips the red zone. */
#define BELOW_STACK	256
#define SCRATCH_SIZE	(REMOTE_CALLS * sizeof(struct remote_call) + \
			 REMOTE_TEXT)

#define MASK_SIZE	8

/* Read memory of a process; -1 with errno. */
int remote_read(pid_t tid, uint64_t address, void *data, size_t size)
{
	const struct iovec local = { data, size };
	const struct iovec remote = { (void *)address, size };
	ssize_t got = process_vm_readv(tid, &local, 1, &remote, 1, 0);

	if (got >= 0 && (size_t)got < size)
		errno = EFAULT;
	return got == (ssize_t)size ? 0 : -1;
}

/*
 * Write memory of a process, even read-only text and while it runs; -1 with
 * errno.
 */
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

/*
 * Wait for the next stop; returns its wait status, or -1 if the thread died,
 * which is not reaped.
 */
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

/* Run the injected code up to its int3. */
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
			/* A group-stop, of all threads of the process */
			remote->stopped = 1;
			continue;
		}
		/* SIGSTOP cannot be blocked: remote_end() sends it again */
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
 * remote_begin() - prepare a stopped thread for injected calls
 * @remote: receives the state that remote_end() restores
 * @tid: the thread
 * @address: address of text that no thread executes any more
 *
 * Return: 0, or -1 with errno.
 */
int remote_begin(struct remote *remote, pid_t tid, uint64_t address)
{
	/*
	 * Not SIGTRAP: the kernel resets its handler if int3 raises it blocked
	 */
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
 * remote_text() - copy a string into the program for injected calls
 * @remote: prepared by remote_begin()
 * @text: the string, up to REMOTE_TEXT bytes; replaces the last one
 *
 * Return: the address of the copy, or 0.
 */
uint64_t remote_text(struct remote *remote, const char *text)
{
	uint64_t address = remote->scratch +
		REMOTE_CALLS * sizeof(struct remote_call);

	return remote_write(remote->tid, address, text, strlen(text) + 1) ?
		0 : address;
}

/**
 * remote_do() - make system calls in the program
 * @remote: prepared by remote_begin()
 * @calls: the calls; receive their results
 * @nr: number of calls, up to REMOTE_CALLS
 *
 * A call that fails does not keep the next ones from being made.
 *
 * Return: 0, or -1 with errno if the calls could not be injected.
 */
int remote_do(struct remote *remote, struct remote_call *calls, size_t nr)
{
	struct user_regs_struct regs = remote->regs;
	size_t i;

	for (i = 0; i < nr; i++)
		calls[i].fifth = remote->scratch +
			calls[i].fifth * sizeof(*calls);
	/* Not in a system call: the kernel must not restart one */
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
 * remote_end() - restore the thread
 * @remote: prepared by remote_begin()
 *
 * If a group-stop arrived meanwhile, as from a shell's job control, the thread
 * stops again as soon as it continues.
 *
 * Return: 0, or -1 if the thread has died.
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
