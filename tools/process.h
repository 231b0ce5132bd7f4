/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process.h - what /proc tells of a process
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * struct process - of /proc/PID/status
 * @tgid: the process, if the other is a thread
 * @ppid: its parent
 * @seccomp: mode of its filter of system calls; 0 none
 */
struct process {
	pid_t tgid;
	pid_t ppid;
	int seccomp;
};

/**
 * struct start - what the kernel told the program when it started
 * @entry: address of its first instruction
 * @loader: address of the loader, 0 if it has none
 * @headers: address of the program headers
 * @nr_headers: number of these
 */
struct start {
	uint64_t entry;
	uint64_t loader;
	uint64_t headers;
	uint64_t nr_headers;
};

FILE *process_open(pid_t pid, const char *name);
char *process_program(pid_t pid);
int process_read(pid_t pid, struct process *process);
int process_start(pid_t pid, struct start *start);
uint64_t process_cpu_ns(pid_t pid);

#endif /* PROCESS_H */
