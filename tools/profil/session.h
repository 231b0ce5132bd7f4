/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - a session: a program and all its descendants
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profil/exec.h"

struct backend;
struct samples;

/* Exit statuses of profil itself, as in env(1), nice(1) and timeout(1) */
enum exit_status {
	EXIT_FAILED = 125,
	EXIT_NOT_EXECUTED = 126,
	EXIT_NOT_FOUND = 127,
};

/**
 * struct session - the options and the state of a session
 * @argv: the program and its arguments
 * @output: path of the output file
 * @named: the user chose it
 * @made: save_check() created it
 * @dos_output: path of the file for MS-DOS, or NULL
 * @dos_made: save_check() created it
 * @bucket: bytes of text for each counter
 * @asked_ns: requested mean CPU time between ticks
 * @period_ns: actual mean CPU time between ticks
 * @max_regions: maximum number of regions of a profile
 * @per_process: write a file for each process
 * @dos: write a file for MS-DOS PROHIST as well
 * @paragraphs: paragraphs of 16 bytes in each bucket of that file; 0 for as few
 *	as fit
 * @user_only: leave out ticks in kernel mode
 * @by_caller: count ticks in kernel mode where the program called the kernel
 * @clock: enum prf_clock
 * @backend: source of the ticks
 * @samples: state of the perf backend
 * @start_ns: start, on the monotonic clock
 * @start_unix_ns: start, in nanoseconds since the epoch
 * @wall_ns: duration
 * @pid: PID of the program
 * @status: wait status of the program
 * @nr: number of execs
 * @execs: execs in the order in which they started
 */
struct session {
	char **argv;
	char *output;
	bool named;
	bool made;
	char *dos_output;
	bool dos_made;
	uint32_t bucket;
	uint64_t asked_ns;
	uint64_t period_ns;
	uint32_t max_regions;
	bool per_process;
	bool dos;
	uint64_t paragraphs;
	bool user_only;
	bool by_caller;
	uint32_t clock;
	const struct backend *backend;
	struct samples *samples;
	uint64_t start_ns;
	uint64_t start_unix_ns;
	uint64_t wall_ns;
	pid_t pid;
	int status;
	size_t nr;
	struct exec **execs;
};

uint64_t now_ns(void);
void session_ignore_writing(void);
struct exec *session_add_exec(struct session *session, struct exec *exec);
void session_ended(struct session *session, pid_t pid, int status);
int session_run(struct session *session);
void session_free(struct session *session);

#endif /* SESSION_H */
