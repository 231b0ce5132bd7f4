/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * metrics.h - numbers for Prometheus
 */
#ifndef METRICS_H
#define METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "prf/prf.h"

/**
 * struct metrics - what push.c counts
 * @ticks: ticks by outcome
 * @encoded: ticks in the profiles that were made to be sent
 * @lost: ticks that were on their way when a watch ended
 * @watches: watches begun
 * @period_ns: CPU time between ticks
 */
struct metrics {
	uint64_t ticks[PRF_OUTCOMES];
	uint64_t encoded;
	uint64_t lost;
	uint64_t watches;
	uint64_t period_ns;
};

extern struct metrics metrics;

void metrics_add(const struct prf *prf);
char *metrics_text(size_t *size);

#endif /* METRICS_H */
