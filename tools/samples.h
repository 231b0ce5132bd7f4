/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * samples.h - ticks by perf_event_open(2), where there is no module
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "run.h"

/**
 * struct sample - a tick
 * @tid: the thread
 * @pc: where it was in user mode
 * @kernel: it was in kernel mode, which it entered there
 */
struct sample {
	pid_t tid;
	uint64_t pc;
	bool kernel;
};

struct samples *samples_new(struct run *run);
int samples_start(struct samples *samples, pid_t pid);
int samples_wait_ms(const struct samples *samples);
bool samples_next(struct samples *samples, struct sample *sample);
int samples_begin(const struct run *run, struct image *image,
		  unsigned int area);
void samples_count(const struct run *run, struct image *image,
		   const struct sample *sample);
void samples_free(struct samples *samples);

#endif /* SAMPLES_H */
