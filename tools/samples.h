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
#include "space.h"

struct sampler;

struct samples *samples_new(struct run *run);
int samples_watch(const struct samples *samples, int fd);
pid_t samples_wait(const struct samples *samples);
const char *samples_begin(const struct run *run, struct space *space);
const char *samples_separate(struct space *space);
void samples_end(struct run *run);
void samples_free(struct samples *samples);

struct sampler *sampler_new(struct samples *samples, pid_t tid);
void sampler_drain(struct run *run, struct sampler *sampler,
		   const struct space *space);
void sampler_free(struct run *run, struct sampler *sampler,
		  const struct space *space);

#endif /* SAMPLES_H */
