/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tree.h - the tree of calls: who called whom, in all selected runs
 *
 * Execs and runs are merged: a node is a function, reached by one chain of
 * callers. Times are CPU times, or those of waits, as in struct sum.
 */
#ifndef TREE_H
#define TREE_H

#include "prohist/sum.h"

/* DSO of functions that are none */
#define TREE_NO_DSO	UINT32_MAX

/* Function of nodes whose callers are unknown */
#define TREE_UNKNOWN	"[unknown callers]"

/**
 * struct tree_function - a function, inlined or not
 * @name: its name, or TREE_UNKNOWN, or the name of a program
 * @dso: index of its DSO in the sum, or TREE_NO_DSO
 * @piece: a piece of it, or of a function that it is inlined in; or NULL
 * @ticks: ticks in it
 * @ns: their CPU time
 * @total: ticks in it and what it called: each once, even if it called itself
 * @total_ns: their CPU time
 */
struct tree_function {
	const char *name;
	uint32_t dso;
	const struct sum_piece *piece;
	uint64_t ticks;
	double ns;
	uint64_t total;
	double total_ns;
};

/**
 * struct tree_node - a function with one chain of callers
 * @caller: index of its caller; 0 if it is outermost
 * @function: index of the function
 * @callee: index of what it called that has the most time, or 0
 * @next: index of what its caller called that has the next most time, or 0
 * @depth: number of its callers, and 1
 * @ticks: ticks in it
 * @ns: their CPU time
 * @total: ticks in it and what it called
 * @total_ns: their CPU time
 * @states: that by enum prf_state
 */
struct tree_node {
	uint32_t caller;
	uint32_t function;
	uint32_t callee;
	uint32_t next;
	uint32_t depth;
	uint64_t ticks;
	double ns;
	uint64_t total;
	double total_ns;
	double states[PRF_STATES];
};

/**
 * struct tree - the tree of calls
 * @sum: the sum of the runs
 * @nr_functions: number of functions
 * @functions: functions
 * @nr: number of nodes
 * @nodes: nodes, callers before what they called; the first is the root, which
 *	calls the outermost frames, and is no function
 *
 * The other members are private to tree.c.
 */
struct tree {
	const struct sum *sum;
	size_t nr_functions;
	struct tree_function *functions;
	size_t nr;
	struct tree_node *nodes;
	bool programs;
	void *keys;
	uint32_t *firsts;
	uint32_t *frames;
	size_t nr_frames;
	size_t nr_slots;
	uint32_t *slots;
};

/**
 * struct tree_sample - ticks of an exec
 * @node: index of their node
 * @ticks: the ticks
 * @ns: their CPU time
 */
struct tree_sample {
	uint32_t node;
	uint64_t ticks;
	double ns;
};

/**
 * struct tree_samples - all ticks of an exec
 * @nr: number of samples
 * @list: the samples, of which several may have the same node; free it
 */
struct tree_samples {
	size_t nr;
	struct tree_sample *list;
};

void tree_make(struct tree *tree, const struct sum *sum, const struct prf *runs,
	       size_t nr, bool programs);
void tree_callers(struct tree *tree, const struct tree *from, const char *name);
void tree_callees(struct tree *tree, const struct tree *from, const char *name);
struct tree_samples tree_samples_of(const struct tree *tree,
				    const struct prf *run,
				    const struct prf_exec *exec);
uint32_t tree_next(const struct tree *tree, uint32_t node);
const struct tree_function *tree_find(const struct tree *tree,
				      const struct sum_dso *dso,
				      const char *name);
enum prf_state tree_state(const struct tree *tree,
			  const struct tree_function *function);
const char *tree_dso(const struct tree *tree,
		     const struct tree_function *function);
void tree_free(struct tree *tree);

#endif /* TREE_H */
