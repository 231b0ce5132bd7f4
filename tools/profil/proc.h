/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * proc.h - read /proc/PID
 */
#ifndef PROC_H
#define PROC_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * struct process - fields of /proc/PID/status
 * @tgid: thread group ID, the process of a thread
 * @ppid: PID of the parent
 * @seccomp: seccomp mode; 0 if system calls are not filtered
 */
struct process {
	pid_t tgid;
	pid_t ppid;
	int seccomp;
};

/**
 * struct start - addresses from the auxiliary vector
 * @entry: entry point of the program (AT_ENTRY)
 * @loader: load address of rtld (AT_BASE); 0 if the program is static
 * @headers: address of the program headers (AT_PHDR)
 * @nr_headers: number of program headers (AT_PHNUM)
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

#endif /* PROC_H */
