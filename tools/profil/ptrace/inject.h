/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inject.h - inject system calls into a stopped program
 */
#ifndef INJECT_H
#define INJECT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#define REMOTE_CODE	40

/**
 * struct remote - a stopped thread that makes injected calls
 * @tid: the thread
 * @code: address of the text that the injected code overwrites
 * @before: the original text, to be restored
 * @scratch: address of memory for the calls and their arguments
 * @regs: registers, to be restored
 * @mask: signal mask, to be restored
 * @stop: a SIGSTOP arrived during the calls
 * @stopped: a group-stop arrived during the calls; remote_end() makes the
 *	thread report it again
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
 * struct remote_call - an injected system call
 * @number: system call number; receives the result, -errno on failure
 * @arguments: the first four arguments
 * @fifth: index of an earlier call whose result is the fifth argument; the
 *	sixth is always 0
 */
struct remote_call {
	int64_t number;
	uint64_t arguments[4];
	uint64_t fifth;
};

/* Maximum number of calls in one go, and maximum bytes of text. */
#define REMOTE_CALLS	8
#define REMOTE_TEXT	64

int remote_begin(struct remote *remote, pid_t tid, uint64_t code);
uint64_t remote_text(struct remote *remote, const char *text);
int remote_do(struct remote *remote, struct remote_call *calls, size_t nr);
int remote_end(struct remote *remote);

int remote_read(pid_t tid, uint64_t address, void *data, size_t size);
int remote_write(pid_t tid, uint64_t address, const void *data, size_t size);

#endif /* INJECT_H */
