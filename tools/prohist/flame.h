/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flame.h - frames of a flame graph
 */
#ifndef FLAME_H
#define FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prohist/diff.h"
#include "prohist/tree.h"

/* DSOs with a colour of their own; the others share the first one. */
#define FLAME_DSOS	8

/* Behind these are the colours of waits, by their state */
#define FLAME_WAITS	FLAME_DSOS
#define FLAME_COLOURS	(FLAME_WAITS + PRF_STATES - PRF_RUNNABLE)

/* Parent of the frame of everything */
#define FLAME_NONE	UINT32_MAX

/**
 * struct flame_frame - a function in one chain of callers
 * @name: its name; NULL if it stands for frames that are too narrow
 * @dso: name of its DSO; NULL of a program, or of everything
 * @state: what threads do in it
 * @parent: index of its caller, which is before it, or FLAME_NONE
 * @depth: number of frames that called it
 * @merged: number of frames that it stands for
 * @left: CPU time to the left of it, on the side that gives the width, in ns
 * @ns: CPU time in it and in what it calls, before and after, in ns; of the
 *	only profile, or those compared
 * @self_ns: CPU time in itself
 */
struct flame_frame {
	const char *name;
	const char *dso;
	enum prf_state state;
	uint32_t parent;
	uint32_t depth;
	uint32_t merged;
	double left;
	double ns[2];
	double self_ns[2];
};

/**
 * struct flame_dso - a DSO with a colour
 * @name: its name; NULL for all others
 * @ns: its CPU time on the side that gives the width, in ns
 */
struct flame_dso {
	const char *name;
	double ns;
};

/**
 * struct flame_key - an entry of the legend
 * @colour: as of flame_colour()
 * @name: name of the DSO, or "other DSOs", or name of the state of waits
 * @percent: its part of the CPU time on the side that gives the width
 */
struct flame_key {
	unsigned int colour;
	const char *name;
	double percent;
};

/**
 * struct flame - the frames of a flame graph
 * @diff: the comparison, of which it has both sides; NULL if there is one profile
 * @sum: sum of the only profile, or NULL
 * @wide: the side that gives the width: 0, or with @diff 1
 * @wall: the profiles have waits
 * @nr: number of frames
 * @frames: the frames; after flame_finish() each before what it calls, and what
 *	has more time first
 * @deepest: greatest depth
 * @merged: number of frames that were too narrow
 * @merged_ns: their CPU time, in ns
 * @gone_ns: CPU time before of frames that have none after, in ns
 * @dsos: DSOs with colours
 * @states: by enum prf_state, the time of waits on the side that gives the width,
 *	in ns
 * @sums: sums of each side with callers, of flame_add_runs()
 * @slots: number of @table, a power of two
 * @table: finds frames by hash; private to flame.c
 */
struct flame {
	const struct diff *diff;
	const struct sum *sum;
	int wide;
	bool wall;
	size_t nr;
	struct flame_frame *frames;
	uint32_t deepest;
	size_t merged;
	double merged_ns;
	double gone_ns;
	struct flame_dso dsos[FLAME_DSOS];
	double states[PRF_STATES];
	struct sum sums[2];
	size_t slots;
	uint32_t *table;
};

bool flame_has_programs(const struct prf *runs, size_t nr);
void flame_add(struct flame *flame, const struct tree *tree, int side);
void flame_add_runs(struct flame *flame, const struct prf *runs, size_t nr,
		    int side, bool programs, bool inlined);
void flame_finish(struct flame *flame, double least, size_t most);
double flame_percent(const struct flame *flame, const struct flame_frame *frame,
		     int side);
int flame_change(const struct flame *flame, const struct flame_frame *frame);
unsigned int flame_colour(const struct flame *flame,
			  const struct flame_frame *frame);
size_t flame_legend(const struct flame *flame,
		    struct flame_key keys[FLAME_COLOURS]);
void flame_free(struct flame *flame);

#endif /* FLAME_H */
