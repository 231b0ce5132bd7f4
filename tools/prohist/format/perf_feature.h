/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_feature.h - write the header features of perf.data
 */
#ifndef PERF_FEATURE_H
#define PERF_FEATURE_H

#include <linux/perf_event.h>
#include <stdio.h>

#include "prohist/report.h"

#define PERF_FEATURES	7

/* A part of the file. */
struct perf_section {
	uint64_t offset;
	uint64_t size;
};

/**
 * struct perf_features - features in memory
 * @file: the stream that makes them
 * @data: their contents
 * @size: bytes of @data
 * @mask: a bit for each feature, by its number
 * @nr: number of features
 * @sections: where each one is, from the start of @data
 */
struct perf_features {
	FILE *file;
	char *data;
	size_t size;
	uint64_t mask;
	size_t nr;
	struct perf_section sections[PERF_FEATURES];
};

int perf_features_make(struct perf_features *features,
		       const struct report *report,
		       const struct perf_event_attr *attr);
void perf_features_write(struct perf_features *features, uint64_t at);

#endif /* PERF_FEATURE_H */
