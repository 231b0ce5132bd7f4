// SPDX-License-Identifier: GPL-2.0-only
/*
 * proc.c - read /proc/PID
 */
#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profil/proc.h"

/* Open a file of a process or thread for reading. */
FILE *process_open(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return fopen(path, "re");
}

/*
 * Path of the program that a process runs; to be freed. "?" if it is not
 * readable, NULL if out of memory.
 */
char *process_program(pid_t pid)
{
	char link[64], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return strdup("?");
	path[length] = '\0';
	return strdup(path);
}

int process_read(pid_t pid, struct process *process)
{
	FILE *file = process_open(pid, "status");
	char line[256];

	memset(process, 0, sizeof(*process));
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "Tgid:", 5))
			process->tgid = atoi(line + 5);
		else if (!strncmp(line, "PPid:", 5))
			process->ppid = atoi(line + 5);
		else if (!strncmp(line, "Seccomp:", 8))
			process->seccomp = atoi(line + 8);
	}
	fclose(file);
	return 0;
}

int process_start(pid_t pid, struct start *start)
{
	FILE *file = process_open(pid, "auxv");
	Elf64_auxv_t entry;

	memset(start, 0, sizeof(*start));
	if (!file)
		return -1;
	while (fread(&entry, sizeof(entry), 1, file) == 1) {
		if (entry.a_type == AT_ENTRY)
			start->entry = entry.a_un.a_val;
		else if (entry.a_type == AT_BASE)
			start->loader = entry.a_un.a_val;
		else if (entry.a_type == AT_PHDR)
			start->headers = entry.a_un.a_val;
		else if (entry.a_type == AT_PHNUM)
			start->nr_headers = entry.a_un.a_val;
	}
	fclose(file);
	return 0;
}

/*
 * CPU time of a process, in nanoseconds, with that of its ended threads; also
 * of a zombie. 0 for a thread ID.
 */
uint64_t process_cpu_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}
