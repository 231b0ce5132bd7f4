/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - a session: what is profiled, and how
 */
#ifndef SESSION_H
#define SESSION_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "prf/prf.h"

struct backend;

/* Exit statuses of profil itself, as in env(1), nice(1) and timeout(1) */
enum exit_status {
	EXIT_FAILED = 125,
	EXIT_NOT_EXECUTED = 126,
	EXIT_NOT_FOUND = 127,
};

/**
 * enum target - whose ticks a session counts
 * @TARGET_PROGRAM: of a program that profil runs, and of all its descendants
 * @TARGET_PROCESSES: of running processes, and of all that they start from now
 *	on
 * @TARGET_CGROUP: of the processes of a cgroup
 * @TARGET_USER: of the processes of a user
 * @TARGET_MACHINE: of everything
 */
enum target {
	TARGET_PROGRAM,
	TARGET_PROCESSES,
	TARGET_CGROUP,
	TARGET_USER,
	TARGET_MACHINE,
};

/**
 * struct session - the options and the state of a session
 * @target: whose ticks to count
 * @argv: the program and its arguments, with TARGET_PROGRAM
 * @nr_pids: number of processes, with TARGET_PROCESSES
 * @pids: the processes
 * @cgroup: path of the cgroup's directory, with TARGET_CGROUP
 * @uid: the user, with TARGET_USER
 * @duration_ns: end after this time; 0 to wait
 * @output: path of the output file
 * @named: the user chose it
 * @made: save_check() created it
 * @dos_output: path of the file for MS-DOS, or NULL
 * @dos_made: save_check() created it
 * @bucket: bytes of text in a bucket
 * @asked_ns: requested mean CPU time, or with @wall life of a thread, between ticks;
 *	0 for the default
 * @period_ns: the actual one
 * @per_process: write a file for each process
 * @dos: write a file for MS-DOS PROHIST as well
 * @paragraphs: paragraphs of 16 bytes in each bucket of that file; 0 for as few
 *	as fit
 * @wall: count also ticks that fall while threads do not run
 * @flat: count ticks without their callers
 * @call_sites: tell callers apart by their calls, not only by their functions
 * @kernel_set: the user has chosen @kernel or @user_only
 * @no_names: keep no names of functions in the profile
 * @renewed: a new watch follows one whose table is nearly full
 * @kernel: count ticks in kernel mode by function, too
 * @user_only: leave out ticks in kernel mode
 * @clock: enum prf_clock
 * @backend: source of the ticks
 * @state: what the backend keeps
 * @refresh: while attached, to be called once a second; or NULL
 * @poll: waits as poll(2) does, and does other work meanwhile; or NULL
 * @start_ns: start, on the monotonic clock
 * @start_unix_ns: start, in nanoseconds since the epoch
 * @end_ns: end, on the monotonic clock
 * @pid: PID of the program
 * @status: wait status of the program
 * @cpu_ns: CPU time of the program by the kernel's accounting; 0 if unknown
 * @prf: the profile
 */
struct session {
	enum target target;
	char **argv;
	size_t nr_pids;
	pid_t *pids;
	const char *cgroup;
	uid_t uid;
	uint64_t duration_ns;
	char *output;
	bool named;
	bool made;
	char *dos_output;
	bool dos_made;
	uint32_t bucket;
	uint64_t asked_ns;
	uint64_t period_ns;
	bool per_process;
	bool dos;
	uint64_t paragraphs;
	bool wall;
	bool flat;
	bool call_sites;
	bool kernel_set;
	bool no_names;
	bool renewed;
	bool kernel;
	bool user_only;
	uint32_t clock;
	const struct backend *backend;
	void *state;
	int (*refresh)(struct session *session);
	int (*poll)(struct pollfd *fds, nfds_t nr, int timeout_ms);
	uint64_t start_ns;
	uint64_t start_unix_ns;
	uint64_t end_ns;
	pid_t pid;
	int status;
	uint64_t cpu_ns;
	struct prf prf;
};

#define SECOND_NS	1000000000ULL

uint64_t now_ns(void);
uint64_t asleep_ns(void);
uint64_t unix_ns(uint64_t ns);
void session_ignore_writing(void);
void session_raise(int signal);
int session_poll(const struct session *session, struct pollfd *fds, nfds_t nr,
		 int timeout_ms);
int session_open(struct session *session);
int session_begin(struct session *session, pid_t pid);
bool session_wait(struct session *session, int signals, int other,
		  int timeout_ms);
void session_describe(const struct session *session, char *text, size_t room);
int session_run(struct session *session);
int session_attach(struct session *session);
void session_heed(void);
bool session_is_ending(void);
int session_end(struct session *session);

#endif /* SESSION_H */
