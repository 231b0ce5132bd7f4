/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - a run of a program, with everything that it starts
 */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "image.h"

struct samples;

/* Our own exit statuses, as those of env(1), nice(1) and timeout(1) */
enum run_failure {
	RUN_FAILED = 125,
	RUN_NOT_EXECUTED = 126,
	RUN_NOT_FOUND = 127,
};

/**
 * struct run - a run
 * @argv: the program and its arguments
 * @output: path of the file
 * @made: there was no such file
 * @dos_output: path of the file for MS-DOS, or NULL
 * @dos_made: there was no such file
 * @bucket: bytes of text for each counter
 * @asked_ns: mean CPU time between ticks, as asked for
 * @period_ns: the true one
 * @max_regions: the most that a profile may have
 * @per_process: each process has a file of its own
 * @dos: there is to be a file as MS-DOS PROFIL wrote it, too
 * @paragraphs: in a bucket of that; 0 for as few as can be
 * @user_only: leave out what happens in kernel mode
 * @by_caller: count that where the program called the kernel, and not apart
 * @clock: enum prf_clock
 * @samples: ticks that we count ourselves; NULL if the module does
 * @start_ns: on the monotonic clock
 * @start_unix_ns: on the clock of the day
 * @wall_ns: how long it took
 * @pid: of the program
 * @status: of the program, as waitpid() tells it
 * @nr: number of images
 * @images: in the order in which they started
 */
struct run {
	char **argv;
	char *output;
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
	struct samples *samples;
	uint64_t start_ns;
	uint64_t start_unix_ns;
	uint64_t wall_ns;
	pid_t pid;
	int status;
	size_t nr;
	struct image **images;
};

uint64_t run_now_ns(void);
void run_ignore_writing(void);
struct image *run_add_image(struct run *run, struct image *image);
void run_ended(struct run *run, pid_t pid, int status);
int run_program(struct run *run);
void run_free(struct run *run);

#endif /* RUN_H */
