/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * listing.h - the instructions of a function, with their ticks
 */
#ifndef LISTING_H
#define LISTING_H

#include "prohist/sum.h"
#include "symbolize/disasm.h"
#include "symbolize/source.h"

/**
 * struct listing - the instructions of a function, with their ticks
 * @dso: DSO of the function
 * @piece: the function
 * @instructions: its instructions
 * @ticks: ticks of each instruction
 * @ns: their CPU time
 * @others: number of instructions after it that may have some of these ticks,
 *	because they begin in the same bucket
 */
struct listing {
	const struct sum_dso *dso;
	const struct sum_piece *piece;
	struct instructions instructions;
	uint64_t *ticks;
	double *ns;
	size_t *others;
};

int listing_make(struct listing *listing);
bool listing_shares(const struct listing *listing);
uint64_t listing_before(const struct listing *listing);
uint64_t listing_beyond(const struct listing *listing);
bool listing_is_older(const struct listing *listing,
		      const struct source *source);
void listing_free(struct listing *listing);

#endif /* LISTING_H */
