/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * fallback_perf.h - perf events of single threads; internal to the library
 */
#ifndef PROFIL_FALLBACK_PERF_H
#define PROFIL_FALLBACK_PERF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct fallback_perf - the event of a thread
 * @fd: its descriptor, or -1
 * @id: the kernel's number of the event
 */
struct fallback_perf {
	int fd;
	uint64_t id;
};

void fallback_perf_open(struct fallback_perf *perf, pid_t tid, int number);
uint64_t fallback_perf_set(struct fallback_perf *perf, uint64_t ns);
void fallback_perf_stop(struct fallback_perf *perf);
void fallback_perf_close(struct fallback_perf *perf);

#endif /* PROFIL_FALLBACK_PERF_H */
