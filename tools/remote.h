/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * remote.h - system calls that a stopped program is made to do
 */
#ifndef REMOTE_H
#define REMOTE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#define REMOTE_CODE	40

/**
 * struct remote - a stopped thread that works for us
 * @tid: the thread
 * @code: address of the text that has been replaced
 * @before: what was there
 * @scratch: address of memory for calls and what they refer to
 * @regs: its registers, to be put back
 * @mask: its signal mask, to be put back
 * @stop: it was sent a SIGSTOP meanwhile
 * @stopped: its process has stopped meanwhile, and it went on
 */
struct remote {
	pid_t tid;
	uint64_t code;
	uint8_t before[REMOTE_CODE];
	uint64_t scratch;
	struct user_regs_struct regs;
	uint64_t mask;
	int stop;
	int stopped;
};

/**
 * struct remote_call - a system call
 * @number: of the call; receives what the kernel returned, -errno on failure
 * @arguments: of the call
 * @fifth: number of the call before it whose result is the fifth argument; a
 *	sixth is 0
 */
struct remote_call {
	int64_t number;
	uint64_t arguments[4];
	uint64_t fifth;
};

/* Calls that can be done in one go, and bytes that they can refer to. */
#define REMOTE_CALLS	8
#define REMOTE_TEXT	64

int remote_begin(struct remote *remote, pid_t tid, uint64_t code);
uint64_t remote_text(struct remote *remote, const char *text);
int remote_do(struct remote *remote, struct remote_call *calls, size_t nr);
int remote_end(struct remote *remote);

int remote_read(pid_t tid, uint64_t address, void *data, size_t size);
int remote_write(pid_t tid, uint64_t address, const void *data, size_t size);

#endif /* REMOTE_H */
