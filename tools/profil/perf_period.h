/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_period.h - draw a period that no rhythm of a program meets
 */
#ifndef PERF_PERIOD_H
#define PERF_PERIOD_H

#include <stdint.h>

uint64_t perf_period_us(uint64_t about_us);

#endif /* PERF_PERIOD_H */
