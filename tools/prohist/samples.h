/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * samples.h - the ticks of each exec in a sum
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "prohist/sum.h"

/**
 * struct sample - ticks of an exec in a bucket
 * @dso: index of the DSO
 * @piece: index of its piece
 * @bucket: index of its bucket; in samples of functions, of any
 * @ticks: the ticks
 * @ns: their CPU time
 */
struct sample {
	uint32_t dso;
	uint32_t piece;
	uint32_t bucket;
	uint64_t ticks;
	double ns;
};

/**
 * struct samples - all ticks of an exec
 * @by_function: one sample for each piece
 * @nr: number of samples
 * @list: the samples; free it
 */
struct samples {
	bool by_function;
	size_t nr;
	struct sample *list;
};

struct samples samples_by_function(const struct sum *sum, const struct prf *run,
				   const struct prf_exec *exec);
struct samples samples_of(const struct sum *sum, const struct prf *run,
			  const struct prf_exec *exec);

#endif /* SAMPLES_H */
