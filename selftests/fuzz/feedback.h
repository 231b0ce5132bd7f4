/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * feedback.h - make those calls again that reached new code of the module
 *
 * On a kernel with KCOV, which is make test-coverage's. Elsewhere, and for code
 * that runs in interrupts, there is no feedback, and calls are random.
 */
#ifndef FUZZ_FEEDBACK_H
#define FUZZ_FEEDBACK_H

#include <stdbool.h>

#include "numbers.h"

#define FEEDBACK_PLACES	(1 << 16)
#define FEEDBACK_KEPT	1024

/**
 * struct feedback - what the calls of one thread have reached
 * @trace: number of addresses, and the addresses, that a call came by; NULL
 *	without KCOV
 * @reached: whether any call came by an address, by the low bits of that
 * @nr_reached: number of those
 * @from: state of the random numbers that made the call; 0 if that was changed
 * @kept: states of calls that reached new code
 * @nr_kept: number of those
 */
struct feedback {
	unsigned long *trace;
	bool reached[FEEDBACK_PLACES];
	unsigned int nr_reached;
	__u64 from;
	__u64 kept[FEEDBACK_KEPT];
	unsigned int nr_kept;
};

void feedback_open(struct feedback *feedback);
__u64 feedback_choose(struct feedback *feedback, __u64 *state);
void feedback_begin(struct feedback *feedback);
void feedback_end(struct feedback *feedback);

#endif /* FUZZ_FEEDBACK_H */
