/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_record.h - write records of perf.data
 */
#ifndef PERF_RECORD_H
#define PERF_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>

#include "prf/prf.h"

/* For struct perf_event_attr: ID of the event, and fields of a sample. */
#define PERF_OUT_ID	1
#define PERF_OUT_FORMAT	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | \
			 PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
			 PERF_SAMPLE_PERIOD)

/* Maximum number of frames, each after a mark, with one that is elsewhere. */
#define PERF_OUT_DEPTH	(2 * PRF_CHAIN_DEPTH + 2)

/* Maximum bytes of a build ID. */
#define PERF_BUILD_ID	20

/**
 * struct perf_out - an output stream of records
 * @file: the stream; NULL to find the size of the records
 * @size: bytes of records so far
 * @period_ns: period of the run
 * @mode: PERF_RECORD_MISC_USER or PERF_RECORD_MISC_KERNEL, for mappings and
 *	samples
 * @has_chains: samples have chains of callers
 * @chain: that of the next sample, with the marks of perf
 * @depth: number of its elements
 * @pid: PID of the exec
 * @time: time of the last record; unique, so that perf keeps the order of
 *	records
 */
struct perf_out {
	FILE *file;
	uint64_t size;
	uint64_t period_ns;
	uint16_t mode;
	bool has_chains;
	uint64_t chain[PERF_OUT_DEPTH];
	size_t depth;
	uint32_t pid;
	uint64_t time;
};

void perf_put_comm(struct perf_out *out, const char *path);
void perf_put_mapping(struct perf_out *out, const struct prf_dso *dso);
void perf_add_frame(struct perf_out *out, uint64_t ip, bool kernel);
void perf_put_sample(struct perf_out *out, uint64_t ip, uint64_t ticks);
void perf_put_exit(struct perf_out *out, uint32_t ppid);

#endif /* PERF_RECORD_H */
