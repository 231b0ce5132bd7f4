// SPDX-License-Identifier: GPL-2.0-only
/*
 * tree.c - make the tree of calls
 *
 * Nodes are found by their caller and function in a hash table. Functions are
 * found by DSO and name, so that what is inlined here and called there is one.
 */
#define _GNU_SOURCE
#include <err.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/samples.h"
#include "prohist/tree.h"
#include "util/xalloc.h"

/* Slots of the hash table at first; a power of two */
#define SLOTS	1024

/* What distinguishes functions, and the index of the function */
struct key {
	const char *name;
	uint32_t dso;
	uint32_t index;
};

/* Where ticks of an exec go: into the tree, or into a list of them */
struct walk {
	struct tree *tree;
	const struct prf *run;
	const struct prf_exec *exec;
	struct tree_samples samples;
	uint32_t outermost;
	uint32_t unknown;
};

static void *zeroed(size_t nr, size_t size)
{
	void *array = calloc(nr + 1, size);

	if (!array)
		err(2, NULL);
	return array;
}

static int by_name(const void *a, const void *b)
{
	const struct key *k = a, *l = b;

	if (k->dso != l->dso)
		return k->dso < l->dso ? -1 : 1;
	return strcmp(k->name, l->name);
}

static uint32_t get_function(struct tree *tree, const char *name, uint32_t dso,
			     const struct sum_piece *piece)
{
	struct key *key = malloc(sizeof(*key)), **found;

	if (!key)
		err(2, NULL);
	*key = (struct key){ name, dso, tree->nr_functions };
	found = tsearch(key, &tree->keys, by_name);
	if (!found)
		err(2, NULL);
	if (*found != key) {
		free(key);
		return (*found)->index;
	}
	tree->functions = one_more(tree->functions, tree->nr_functions,
				   sizeof(*tree->functions));
	tree->functions[tree->nr_functions] = (struct tree_function){
		.name = name,
		.dso = dso,
		.piece = piece,
	};
	return tree->nr_functions++;
}

static void add_frame(struct tree *tree, const char *name, uint32_t dso,
		      const struct sum_piece *piece)
{
	tree->frames = one_more(tree->frames, tree->nr_frames,
				sizeof(*tree->frames));
	tree->frames[tree->nr_frames++] = get_function(tree, name, dso, piece);
}

/* List the functions of each piece, those that are inlined last. */
static void find_functions(struct tree *tree)
{
	const struct sum *sum = tree->sum;
	uint32_t *first = zeroed(sum->nr_pieces, sizeof(*first));
	size_t i, j, k;

	tree->firsts = first;
	for (i = 0; i < sum->nr_dsos; i++)
		for (j = 0; j < sum->dsos[i].nr_pieces; j++) {
			const struct sum_piece *piece = &sum->dsos[i].pieces[j];
			uint32_t dso = sum->dsos[i].shown;

			*first++ = tree->nr_frames;
			add_frame(tree, piece->name, dso, piece);
			for (k = piece->inlines.nr; k; k--)
				add_frame(tree,
					  piece->inlines.list[k - 1].name, dso,
					  piece);
		}
	*first = tree->nr_frames;
}

static uint32_t *slot_of(const struct tree *tree, uint32_t caller,
			 uint32_t function)
{
	uint64_t key = (uint64_t)caller << 32 | function;
	size_t at = key * 0x9e3779b97f4a7c15 >> 32;
	const struct tree_node *node;

	for (;; at++) {
		uint32_t *slot = &tree->slots[at & (tree->nr_slots - 1)];

		node = &tree->nodes[*slot];
		if (!*slot ||
		    (node->caller == caller && node->function == function))
			return slot;
	}
}

static void grow_slots(struct tree *tree)
{
	size_t i;

	free(tree->slots);
	tree->nr_slots = tree->nr_slots ? 2 * tree->nr_slots : SLOTS;
	tree->slots = zeroed(tree->nr_slots, sizeof(*tree->slots));
	for (i = 1; i < tree->nr; i++)
		*slot_of(tree, tree->nodes[i].caller,
			 tree->nodes[i].function) = i;
}

/* Find what a node called, or add it. */
static uint32_t get_callee(struct tree *tree, uint32_t caller,
			   uint32_t function)
{
	uint32_t *slot;

	if (tree->nr * 2 >= tree->nr_slots)
		grow_slots(tree);
	slot = slot_of(tree, caller, function);
	if (*slot)
		return *slot;
	*slot = tree->nr;
	tree->nodes = one_more(tree->nodes, tree->nr, sizeof(*tree->nodes));
	tree->nodes[tree->nr] = (struct tree_node){
		.caller = caller,
		.function = function,
		.depth = tree->nodes[caller].depth + 1,
	};
	return tree->nr++;
}

static void add_root(struct tree *tree)
{
	tree->nodes = one_more(tree->nodes, 0, sizeof(*tree->nodes));
	tree->nodes[tree->nr++] = (struct tree_node){ .function = UINT32_MAX };
}

/* Find the node of a piece that another one called. */
static uint32_t get_piece(struct tree *tree, uint32_t caller, uint32_t dso,
			  uint32_t piece)
{
	const uint32_t *first = &tree->firsts[tree->sum->dsos[dso].before +
					      piece];
	uint32_t i;

	for (i = first[0]; i < first[1]; i++)
		caller = get_callee(tree, caller, tree->frames[i]);
	return caller;
}

static void add_ticks(struct walk *walk, uint32_t node, uint64_t ticks)
{
	struct tree_samples *samples = &walk->samples;

	if (!ticks)
		return;
	samples->list = one_more(samples->list, samples->nr,
				 sizeof(*samples->list));
	samples->list[samples->nr++] = (struct tree_sample){
		.node = node,
		.ticks = ticks,
		.ns = (double)ticks * walk->run->period_ns,
	};
}

/* Nodes of this exec whose callers are unknown have this one. */
static uint32_t get_unknown(struct walk *walk)
{
	if (!walk->unknown)
		walk->unknown = get_callee(walk->tree, walk->outermost,
			get_function(walk->tree, TREE_UNKNOWN, TREE_NO_DSO,
				     NULL));
	return walk->unknown;
}

/* Find the node of ticks with only a known class. */
static uint32_t get_whole(struct walk *walk, uint32_t caller,
			  enum sum_class class)
{
	const struct sum *sum = walk->tree->sum;
	const struct sum_dso *dso = sum_whole(sum, class);

	if (dso)
		return get_piece(walk->tree, caller, dso - sum->dsos, 0);
	/* The kernel called the kernel, and has no ticks itself */
	return get_callee(walk->tree, caller,
			  get_function(walk->tree, "[kernel]", TREE_NO_DSO,
				       NULL));
}

/* Find the node of a frame. */
static uint32_t get_node(struct walk *walk, uint32_t caller,
			 const struct prf_node *node, bool calls)
{
	const struct sum *sum = walk->tree->sum;
	const struct sum_bucket *bucket;
	const struct sum_dso *dso;

	if (node->dso == PRF_NODE_KERNEL)
		return get_whole(walk, caller, SUM_KERNEL);
	bucket = sum_node(sum, walk->run, walk->exec, node, calls, &dso);
	return get_piece(walk->tree, caller, dso - sum->dsos, bucket->piece);
}

/* Does a node have ticks, or call what has some? */
static bool *find_used(const struct prf_exec *exec)
{
	bool *used = zeroed(exec->nr_nodes, sizeof(*used));
	size_t i;

	for (i = exec->nr_nodes; i--; ) {
		const struct prf_node *node = &exec->nodes[i];

		used[i] |= node->count || node->below;
		if (used[i] && node->caller && node->caller != PRF_CUT)
			used[node->caller - 1] = true;
	}
	return used;
}

/*
 * Add the ticks of nodes. Those of a node itself are where its bucket begins, and
 * what it called is called by the function that begins there: in a bucket with the
 * end of one function and the start of another, these differ. Returns the ticks that
 * had no room, but have a node.
 */
static uint64_t walk_nodes(struct walk *walk)
{
	const struct prf_exec *exec = walk->exec;
	uint32_t *nodes = zeroed(exec->nr_nodes, sizeof(*nodes));
	bool *calling = prf_calling(exec), *used = find_used(exec);
	uint64_t below = 0;
	size_t i;

	if (!calling)
		err(2, NULL);
	for (i = 0; i < exec->nr_nodes; i++) {
		const struct prf_node *node = &exec->nodes[i];
		uint32_t caller = walk->outermost;

		if (!used[i])
			continue;
		if (node->caller == PRF_CUT)
			caller = get_unknown(walk);
		else if (node->caller)
			caller = nodes[node->caller - 1];
		if (node->count)
			add_ticks(walk, get_node(walk, caller, node, false),
				  node->count);
		nodes[i] = get_node(walk, caller, node, calling[i]);
		if (node->below)
			add_ticks(walk, get_whole(walk, nodes[i], SUM_OTHER),
				  node->below);
		below += node->below;
	}
	free(used);
	free(calling);
	free(nodes);
	return below;
}

/* Add ticks in the kernel or elsewhere of which nobody knows the callers. */
static void walk_whole(struct walk *walk, enum sum_class class, uint64_t ticks)
{
	if (ticks)
		add_ticks(walk, get_whole(walk, get_unknown(walk), class),
			  ticks);
}

static void walk_flat(struct walk *walk)
{
	const struct samples samples = samples_of(walk->tree->sum, walk->run,
						  walk->exec);
	size_t i;

	for (i = 0; i < samples.nr; i++)
		add_ticks(walk, get_piece(walk->tree, get_unknown(walk),
					  samples.list[i].dso,
					  samples.list[i].piece),
			  samples.list[i].ticks);
	free(samples.list);
}

/* Find the ticks of an exec, and their nodes, which are added to the tree. */
static struct tree_samples walk_exec(struct tree *tree, const struct prf *run,
				     const struct prf_exec *exec)
{
	struct walk walk = { .tree = tree, .run = run, .exec = exec };
	uint64_t below;

	if (tree->programs)
		walk.outermost = get_callee(tree, 0,
			get_function(tree, base_name(exec->name), TREE_NO_DSO,
				     NULL));
	if (exec->nr_nodes) {
		below = walk_nodes(&walk);
		walk_whole(&walk, SUM_KERNEL, prf_placed(exec, PRF_IN_KERNEL));
		walk_whole(&walk, SUM_OTHER,
			   prf_placed(exec, PRF_ELSEWHERE) - below);
	} else {
		walk_flat(&walk);
	}
	return walk.samples;
}

/**
 * tree_samples_of() - find the ticks of an exec in a tree of its run
 *
 * Return: the samples; the list is to be freed.
 */
struct tree_samples tree_samples_of(const struct tree *tree,
				    const struct prf *run,
				    const struct prf_exec *exec)
{
	/* All nodes are there: nothing is added */
	return walk_exec((struct tree *)tree, run, exec);
}

/** tree_state() - what threads do in a function */
enum prf_state tree_state(const struct tree *tree,
			  const struct tree_function *function)
{
	return function->dso == TREE_NO_DSO ? PRF_ON_CPU :
		sum_state(tree->sum->dsos[function->dso].class);
}

/* Time in a node itself; before finish(), states are those of itself, too. */
static void add_own(const struct tree *tree, struct tree_node *node,
		    uint64_t ticks, double ns)
{
	node->ticks += ticks;
	node->ns += ns;
	node->states[tree_state(tree, &tree->functions[node->function])] += ns;
}

static void add_exec(struct tree *tree, const struct prf *run,
		     const struct prf_exec *exec)
{
	const struct tree_samples samples = walk_exec(tree, run, exec);
	size_t i;

	for (i = 0; i < samples.nr; i++) {
		const struct tree_sample *sample = &samples.list[i];

		add_own(tree, &tree->nodes[sample->node], sample->ticks,
			sample->ns);
	}
	free(samples.list);
}

static void find_totals(struct tree *tree)
{
	size_t i, j;

	for (i = tree->nr; i--; ) {
		struct tree_node *node = &tree->nodes[i];

		node->total += node->ticks;
		node->total_ns += node->ns;
		if (!i)
			break;
		tree->nodes[node->caller].total += node->total;
		tree->nodes[node->caller].total_ns += node->total_ns;
		for (j = 0; j < PRF_STATES; j++)
			tree->nodes[node->caller].states[j] += node->states[j];
	}
}

/* For qsort_r(): by caller, and what has most time first */
static int most_first(const void *a, const void *b, void *of)
{
	const struct tree *tree = of;
	const struct tree_node *n = &tree->nodes[*(const uint32_t *)a];
	const struct tree_node *m = &tree->nodes[*(const uint32_t *)b];

	if (n->caller != m->caller)
		return n->caller < m->caller ? -1 : 1;
	if (n->total_ns != m->total_ns)
		return n->total_ns < m->total_ns ? 1 : -1;
	return (n->function > m->function) - (n->function < m->function);
}

static void link_nodes(struct tree *tree)
{
	uint32_t *order = zeroed(tree->nr, sizeof(*order));
	struct tree_node *nodes = tree->nodes;
	size_t i;

	for (i = 1; i < tree->nr; i++)
		order[i - 1] = i;
	qsort_r(order, tree->nr - 1, sizeof(*order), most_first, tree);
	for (i = tree->nr - 1; i--; ) {
		nodes[order[i]].next = nodes[nodes[order[i]].caller].callee;
		nodes[nodes[order[i]].caller].callee = order[i];
	}
	free(order);
}

/**
 * tree_next() - the next node, depth first
 * @tree: the tree
 * @node: a node, or 0 at first
 *
 * Return: what it called that has the most time; or what its caller, or a caller
 * of that, called next; 0 after the last node.
 */
uint32_t tree_next(const struct tree *tree, uint32_t node)
{
	if (tree->nodes[node].callee)
		return tree->nodes[node].callee;
	while (node && !tree->nodes[node].next)
		node = tree->nodes[node].caller;
	return node ? tree->nodes[node].next : 0;
}

/* After the last of what a node called, it and perhaps its callers are left. */
static void leave(const struct tree *tree, uint32_t node, uint32_t *inside)
{
	if (tree->nodes[node].callee)
		return;
	for (; node; node = tree->nodes[node].caller) {
		inside[tree->nodes[node].function]--;
		if (tree->nodes[node].next)
			return;
	}
}

/* Sum up by function: what it called counts only in its outermost call. */
static void find_function_totals(struct tree *tree)
{
	uint32_t *inside = zeroed(tree->nr_functions, sizeof(*inside));
	uint32_t node = 0;

	while ((node = tree_next(tree, node))) {
		const struct tree_node *at = &tree->nodes[node];
		struct tree_function *function = &tree->functions[at->function];

		function->ticks += at->ticks;
		function->ns += at->ns;
		if (!inside[at->function]++) {
			function->total += at->total;
			function->total_ns += at->total_ns;
		}
		leave(tree, node, inside);
	}
	free(inside);
}

static void finish(struct tree *tree)
{
	find_totals(tree);
	link_nodes(tree);
	find_function_totals(tree);
}

/**
 * tree_make() - make the tree of calls
 * @tree: receives the tree; free with tree_free()
 * @sum: the finished sum of the runs, with callers
 * @runs: the runs
 * @nr: number of runs
 * @programs: whether the outermost frames are the names of programs
 *
 * With sum->inlined, inlined functions are called by what they are inlined in.
 */
void tree_make(struct tree *tree, const struct sum *sum, const struct prf *runs,
	       size_t nr, bool programs)
{
	size_t i, j;

	*tree = (struct tree){ .sum = sum, .programs = programs };
	find_functions(tree);
	add_root(tree);
	for (i = 0; i < nr; i++)
		for (j = 0; j < runs[i].nr; j++)
			add_exec(tree, &runs[i], &runs[i].execs[j]);
	finish(tree);
}

/* The functions of another tree, under the same numbers, without times */
static void copy_functions(struct tree *tree, const struct tree *from)
{
	size_t i;

	*tree = (struct tree){
		.sum = from->sum,
		.nr_functions = from->nr_functions,
		.functions = zeroed(from->nr_functions,
				    sizeof(*tree->functions)),
	};
	for (i = 0; i < from->nr_functions; i++)
		tree->functions[i] = (struct tree_function){
			.name = from->functions[i].name,
			.dso = from->functions[i].dso,
			.piece = from->functions[i].piece,
		};
	add_root(tree);
}

static bool is_called(const struct tree *tree, uint32_t node, const char *name)
{
	const struct tree_node *at = &tree->nodes[node];

	return node && sum_called(tree->functions[at->function].name, name);
}

/* Is a node the outermost call of a function of this name? */
static bool is_outermost(const struct tree *tree, uint32_t node,
			 const char *name)
{
	if (!is_called(tree, node, name))
		return false;
	do
		node = tree->nodes[node].caller;
	while (node && !is_called(tree, node, name));
	return !node;
}

/**
 * tree_callers() - make a tree of the callers of a function
 * @tree: receives the tree: its outermost frames are the function, and what it
 *	calls are its callers; free with tree_free() before @from
 * @from: the tree of calls
 * @name: name of the function, as for sum_called()
 *
 * The time of a node is that of the function and what it called, if it was called
 * so; of a chain that has the function several times, the outermost one counts.
 */
void tree_callers(struct tree *tree, const struct tree *from, const char *name)
{
	uint32_t node = 0, up, at;
	size_t i;

	copy_functions(tree, from);
	while ((node = tree_next(from, node))) {
		if (!is_outermost(from, node, name))
			continue;
		for (at = 0, up = node; up; up = from->nodes[up].caller)
			at = get_callee(tree, at, from->nodes[up].function);
		tree->nodes[at].ticks += from->nodes[node].total;
		tree->nodes[at].ns += from->nodes[node].total_ns;
		for (i = 0; i < PRF_STATES; i++)
			tree->nodes[at].states[i] +=
				from->nodes[node].states[i];
	}
	finish(tree);
}

/**
 * tree_callees() - make a tree of what a function called
 * @tree: receives the tree: its outermost frames are the function; free with
 *	tree_free() before @from
 * @from: the tree of calls
 * @name: name of the function, as for sum_called()
 */
void tree_callees(struct tree *tree, const struct tree *from, const char *name)
{
	uint32_t *copies = zeroed(from->nr, sizeof(*copies));
	uint32_t node = 0, copy;

	copy_functions(tree, from);
	while ((node = tree_next(from, node))) {
		const struct tree_node *at = &from->nodes[node];

		if (!copies[at->caller] && !is_called(from, node, name))
			continue;
		copy = get_callee(tree, copies[at->caller], at->function);
		add_own(tree, &tree->nodes[copy], at->ticks, at->ns);
		copies[node] = copy;
	}
	free(copies);
	finish(tree);
}

/** tree_find() - find a function by its DSO and name; NULL if it is not there */
const struct tree_function *tree_find(const struct tree *tree,
				      const struct sum_dso *dso,
				      const char *name)
{
	const struct key key = { name, dso->shown, 0 };
	struct key **found = tfind(&key, &tree->keys, by_name);

	return found ? &tree->functions[(*found)->index] : NULL;
}

/** tree_dso() - name of a function's DSO without directories, or NULL */
const char *tree_dso(const struct tree *tree,
		     const struct tree_function *function)
{
	return function->dso == TREE_NO_DSO ? NULL :
		sum_dso_name(tree->sum, function->dso);
}

/** tree_free() - free all memory of a tree */
void tree_free(struct tree *tree)
{
	tdestroy(tree->keys, free);
	free(tree->functions);
	free(tree->nodes);
	free(tree->firsts);
	free(tree->frames);
	free(tree->slots);
}
