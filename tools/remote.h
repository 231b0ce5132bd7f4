/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * remote.h - system calls that a stopped program is made to do
 */
#ifndef REMOTE_H
#define REMOTE_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/**
 * struct remote - a stopped thread that works for us
 * @tid: the thread
 * @regs: its registers, to be put back
 * @word: the text that has been replaced by a system call instruction
 * @mask: its signal mask, to be put back
 * @stop: it was sent a SIGSTOP meanwhile
 */
struct remote {
	pid_t tid;
	struct user_regs_struct regs;
	uint64_t word;
	uint64_t mask;
	int stop;
};

int remote_leave_exec(pid_t tid);
int remote_begin(struct remote *remote, pid_t tid);
int remote_call(struct remote *remote, int64_t *result, long number,
		const uint64_t arguments[6]);
int remote_end(struct remote *remote);

int remote_peek(pid_t tid, uint64_t address, uint64_t *word);
int remote_poke(pid_t tid, uint64_t address, uint64_t word);

#endif /* REMOTE_H */
