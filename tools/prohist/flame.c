// SPDX-License-Identifier: GPL-2.0-only
/*
 * flame.c - arrange the frames of a flame graph
 *
 * Frames are added in any order, and found by caller, DSO and name. Then those
 * too narrow to be seen are merged, for each caller, and the others arranged:
 * beside each other, what has more time first.
 */
#define _GNU_SOURCE
#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/flame.h"
#include "util/xalloc.h"

/* Empty slot of the table */
#define EMPTY	UINT32_MAX

/* Changes in percent of all, from which their colours are stronger */
static const double strong[] = { 1, 5 };

static uint64_t add_to_hash(uint64_t hash, const char *string)
{
	for (; *string; string++)
		hash = (hash ^ (unsigned char)*string) * 0x100000001b3ULL;
	return hash;
}

static uint64_t hash_of(uint32_t parent, const char *name, const char *dso)
{
	uint64_t hash = (parent + 1ULL) * 0x9e3779b97f4a7c15ULL;

	hash = add_to_hash(hash, name);
	if (dso)
		hash = add_to_hash(hash, dso);
	return hash ^ hash >> 32;
}

static bool same(const struct flame_frame *frame, uint32_t parent,
		 const char *name, const char *dso)
{
	if (frame->parent != parent || !dso != !frame->dso)
		return false;
	return !strcmp(frame->name, name) &&
		(!dso || !strcmp(frame->dso, dso));
}

/* Find the slot of a frame, or the one that it would have. */
static uint32_t *find(const struct flame *flame, uint32_t parent,
		      const char *name, const char *dso)
{
	size_t i = hash_of(parent, name, dso);
	uint32_t *slot;

	for (;; i++) {
		slot = &flame->table[i & (flame->slots - 1)];
		if (*slot == EMPTY ||
		    same(&flame->frames[*slot], parent, name, dso))
			return slot;
	}
}

/* Keep at least half of the slots empty. */
static void make_slots(struct flame *flame)
{
	size_t i;

	if (flame->slots > 2 * flame->nr)
		return;
	free(flame->table);
	flame->slots = flame->slots ? 2 * flame->slots : 1024;
	flame->table = malloc(flame->slots * sizeof(*flame->table));
	if (!flame->table)
		err(2, NULL);
	memset(flame->table, 0xff, flame->slots * sizeof(*flame->table));
	for (i = 0; i < flame->nr; i++) {
		const struct flame_frame *frame = &flame->frames[i];

		*find(flame, frame->parent, frame->name, frame->dso) = i;
	}
}

/* Find a frame, or add it. */
static uint32_t get_frame(struct flame *flame, uint32_t parent,
			  const char *name, const char *dso)
{
	uint32_t *slot;

	make_slots(flame);
	slot = find(flame, parent, name, dso);
	if (*slot != EMPTY)
		return *slot;
	*slot = flame->nr;
	flame->frames = one_more(flame->frames, flame->nr,
				 sizeof(*flame->frames));
	flame->frames[flame->nr++] = (struct flame_frame){
		.name = name,
		.dso = dso,
		.parent = parent,
		.depth = parent == FLAME_NONE ? 0 :
			 flame->frames[parent].depth + 1,
		.merged = 1,
	};
	return *slot;
}

/**
 * flame_has_programs() - are there several programs, which need frames?
 * @runs: the runs
 * @nr: number of runs
 */
bool flame_has_programs(const struct prf *runs, size_t nr)
{
	const char *first = NULL;
	size_t i, j;

	for (i = 0; i < nr; i++)
		for (j = 0; j < runs[i].nr; j++) {
			const struct prf_exec *exec = &runs[i].execs[j];
			const char *name = base_name(exec->name);
			uint64_t ticks = exec->ticks + prf_waits(exec);

			if (ticks && first && strcmp(first, name))
				return true;
			if (ticks)
				first = name;
		}
	return false;
}

/**
 * flame_add() - add the frames of a tree of calls
 * @flame: the frames; before the first ones, zero except for @diff, @sum and @wide
 * @tree: the tree; its sum and runs must remain
 * @side: whether it is of the profile before, 0, or after, 1; or of the only one, 0
 */
void flame_add(struct flame *flame, const struct tree *tree, int side)
{
	uint32_t *places = calloc(tree->nr, sizeof(*places));
	size_t i;

	if (!places)
		err(2, NULL);
	places[0] = get_frame(flame, FLAME_NONE, "everything", NULL);
	for (i = 1; i < tree->nr; i++) {
		const struct tree_node *node = &tree->nodes[i];
		const struct tree_function *function =
			&tree->functions[node->function];

		places[i] = get_frame(flame, places[node->caller],
				      function->name,
				      tree_dso(tree, function));
		flame->frames[places[i]].state = tree_state(tree, function);
		flame->frames[places[i]].self_ns[side] += node->ns;
	}
	free(places);
}

/**
 * flame_add_runs() - add the frames of all runs of a side, once for each side
 * @flame: as for flame_add()
 * @runs: the runs, which must remain
 * @nr: number of runs
 * @side: as for flame_add()
 * @programs: whether the outermost frames are the names of programs
 * @inlined: whether inlined functions have frames
 */
void flame_add_runs(struct flame *flame, const struct prf *runs, size_t nr,
		    int side, bool programs, bool inlined)
{
	struct sum *sum = &flame->sums[side];
	struct tree tree;

	sum->callers = true;
	sum_runs(sum, runs, nr, inlined);
	tree_make(&tree, sum, runs, nr, programs);
	flame_add(flame, &tree, side);
	tree_free(&tree);
}

/* Callers are before what they call. */
static void add_up(struct flame *flame)
{
	struct flame_frame *frame;
	size_t i, side;

	for (i = flame->nr; i-- > 0;) {
		frame = &flame->frames[i];
		for (side = 0; side < 2; side++) {
			frame->ns[side] += frame->self_ns[side];
			if (frame->parent != FLAME_NONE)
				flame->frames[frame->parent].ns[side] +=
					frame->ns[side];
		}
	}
}

static int descending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/* Time that a frame must have, for there to be no more than @most of them */
static double least_of(const struct flame *flame, double least, size_t most)
{
	double *list = calloc(flame->nr, sizeof(*list));
	size_t i;

	if (!list)
		err(2, NULL);
	for (i = 0; i < flame->nr; i++)
		list[i] = flame->frames[i].ns[flame->wide];
	least *= list[0];
	qsort(list, flame->nr, sizeof(*list), descending);
	if (flame->nr > most && list[most] >= least)
		least = nextafter(list[most], INFINITY);
	free(list);
	return least;
}

/* Frames that have gone, with those of their callers that have not */
static void find_gone(struct flame *flame)
{
	size_t i;

	for (i = 1; i < flame->nr; i++) {
		const struct flame_frame *frame = &flame->frames[i];

		if (!(frame->ns[1] > 0) &&
		    flame->frames[frame->parent].ns[1] > 0)
			flame->gone_ns += frame->ns[0];
	}
}

/* One frame for all that are called by the same one and are too narrow */
static void merge_into(struct flame_frame *merged,
		       const struct flame_frame *frame)
{
	size_t side;

	merged->merged += frame->merged;
	for (side = 0; side < 2; side++) {
		merged->ns[side] += frame->ns[side];
		merged->self_ns[side] += frame->ns[side];
	}
}

/*
 * Merge those with less time than @least. A frame may move down only: its caller
 * is before it, and has moved already, to @moved.
 */
static void merge(struct flame *flame, double least)
{
	uint32_t *moved = malloc(2 * flame->nr * sizeof(*moved));
	uint32_t *narrow = moved + flame->nr;
	struct flame_frame *list;
	size_t i, nr = 0;

	list = malloc(2 * flame->nr * sizeof(*list));
	if (!moved || !list)
		err(2, NULL);
	memset(moved, 0xff, 2 * flame->nr * sizeof(*moved));
	for (i = 0; i < flame->nr; i++) {
		struct flame_frame frame = flame->frames[i];
		uint32_t parent = frame.parent, caller = parent;

		if (parent != FLAME_NONE) {
			caller = moved[parent];
			/* Merged with its caller */
			if (caller == EMPTY)
				continue;
			frame.parent = caller;
		}
		if (i && frame.ns[flame->wide] < least) {
			if (narrow[parent] == EMPTY) {
				narrow[parent] = nr;
				list[nr++] = (struct flame_frame){
					.parent = caller,
					.depth = frame.depth,
				};
			}
			merge_into(&list[narrow[parent]], &frame);
			continue;
		}
		moved[i] = nr;
		list[nr++] = frame;
	}
	free(moved);
	free(flame->frames);
	flame->frames = list;
	flame->nr = nr;
}

/* For qsort_r() */
static int by_caller(const void *a, const void *b, void *context)
{
	const struct flame *flame = context;
	const struct flame_frame *f = &flame->frames[*(const uint32_t *)a];
	const struct flame_frame *g = &flame->frames[*(const uint32_t *)b];
	double x = f->ns[flame->wide], y = g->ns[flame->wide];
	int order;

	if (f->parent != g->parent)
		return f->parent + 1 < g->parent + 1 ? -1 : 1;
	if (!f->name != !g->name)
		return f->name ? -1 : 1;
	if (x != y || !f->name)
		return x < y ? 1 : -1;
	order = strcmp(f->name, g->name);
	return order ?: strcmp(f->dso ?: "", g->dso ?: "");
}

/* Index of the first frame that is called by each one, or EMPTY */
static uint32_t *first_called(const struct flame *flame, const uint32_t *order)
{
	uint32_t *first = malloc(flame->nr * sizeof(*first));
	size_t i;

	if (!first)
		err(2, NULL);
	memset(first, 0xff, flame->nr * sizeof(*first));
	for (i = flame->nr; i-- > 1;)
		first[flame->frames[order[i]].parent] = i;
	return first;
}

/* What arrange() needs beside its arguments; @to is where it puts the frames. */
struct arrangement {
	const struct flame *flame;
	const uint32_t *order;
	const uint32_t *first;
	struct flame_frame *to;
	size_t nr;
};

/* Put a frame, and what it calls behind it. */
static void arrange(struct arrangement *arrangement, uint32_t index,
		    uint32_t parent, double left)
{
	const struct flame *flame = arrangement->flame;
	uint32_t here = arrangement->nr++;
	struct flame_frame *frame = &arrangement->to[here];
	size_t i = arrangement->first[index];

	*frame = flame->frames[index];
	frame->parent = parent;
	frame->left = left;
	for (; i < flame->nr; i++) {
		uint32_t called = arrangement->order[i];

		if (flame->frames[called].parent != index)
			break;
		arrange(arrangement, called, here, left);
		left += flame->frames[called].ns[flame->wide];
	}
}

static void arrange_all(struct flame *flame)
{
	uint32_t *order = malloc(flame->nr * sizeof(*order)), *first;
	struct arrangement arrangement = {
		.flame = flame,
		.to = malloc(flame->nr * sizeof(*flame->frames)),
	};
	size_t i;

	if (!order || !arrangement.to)
		err(2, NULL);
	for (i = 0; i < flame->nr; i++)
		order[i] = i;
	qsort_r(order, flame->nr, sizeof(*order), by_caller, flame);
	first = first_called(flame, order);
	arrangement.order = order;
	arrangement.first = first;
	arrange(&arrangement, 0, FLAME_NONE, 0);
	free(order);
	free(first);
	free(flame->frames);
	flame->frames = arrangement.to;
}

static int more_first(const void *a, const void *b)
{
	const struct flame_dso *d = a, *e = b;

	if (d->ns != e->ns)
		return d->ns < e->ns ? 1 : -1;
	return strcmp(d->name, e->name);
}

static struct flame_dso *get_dso(struct flame_dso **list, size_t *nr,
				 const char *name)
{
	size_t i;

	for (i = 0; i < *nr; i++)
		if (!strcmp((*list)[i].name, name))
			return &(*list)[i];
	*list = one_more(*list, *nr, sizeof(**list));
	(*list)[*nr] = (struct flame_dso){ .name = name };
	return &(*list)[(*nr)++];
}

/* Those with the most time have colours of their own; states have theirs. */
static void choose_dsos(struct flame *flame)
{
	struct flame_dso *list = NULL;
	size_t nr = 0, i;

	for (i = 0; i < flame->nr; i++) {
		const struct flame_frame *frame = &flame->frames[i];

		if (frame->state != PRF_ON_CPU)
			flame->states[frame->state] +=
				frame->self_ns[flame->wide];
		else if (frame->dso)
			get_dso(&list, &nr, frame->dso)->ns +=
				frame->self_ns[flame->wide];
	}
	if (nr)
		qsort(list, nr, sizeof(*list), more_first);
	for (i = 0; i < nr; i++) {
		size_t colour = i + 1 < FLAME_DSOS ? i + 1 : 0;

		flame->dsos[colour].ns += list[i].ns;
		if (colour)
			flame->dsos[colour].name = list[i].name;
	}
	free(list);
}

static void sum_up_merged(struct flame *flame)
{
	size_t i;

	for (i = 0; i < flame->nr; i++) {
		const struct flame_frame *frame = &flame->frames[i];

		if (frame->depth > flame->deepest)
			flame->deepest = frame->depth;
		if (frame->name)
			continue;
		flame->merged += frame->merged;
		flame->merged_ns += frame->ns[flame->wide];
	}
}

/**
 * flame_finish() - merge frames that are too narrow, and arrange the others
 * @flame: the frames, the first one of which is everything; their array is replaced
 * @least: share of everything from which a frame is wide enough, from 0 to 1
 * @most: maximum number of frames that are not merged
 */
void flame_finish(struct flame *flame, double least, size_t most)
{
	add_up(flame);
	choose_dsos(flame);
	if (flame->diff)
		find_gone(flame);
	merge(flame, least_of(flame, least, most));
	arrange_all(flame);
	sum_up_merged(flame);
}

/** flame_percent() - share of everything, of one side, in percent */
double flame_percent(const struct flame *flame, const struct flame_frame *frame,
		     int side)
{
	double all = flame->frames->ns[side];

	return all > 0 ? 100 * frame->ns[side] / all : 0;
}

/**
 * flame_change() - change of the share of a frame
 *
 * Return: 0 if it may be chance; 1, 2 or 3 for little, more or much growth, and
 * the same below 0 if it shrank.
 */
int flame_change(const struct flame *flame, const struct flame_frame *frame)
{
	double change = flame_percent(flame, frame, 1) -
		flame_percent(flame, frame, 0);
	int strength = 1;
	size_t i;

	if (!diff_is_change(flame->diff, frame->ns, flame->nr))
		return 0;
	for (i = 0; i < sizeof(strong) / sizeof(strong[0]); i++)
		strength += fabs(change) >= strong[i];
	return change < 0 ? -strength : strength;
}

/** flame_colour() - index of the colour of a frame by its DSO, or by its state */
unsigned int flame_colour(const struct flame *flame,
			  const struct flame_frame *frame)
{
	unsigned int i;

	if (frame->state != PRF_ON_CPU)
		return FLAME_WAITS + frame->state - PRF_RUNNABLE;
	for (i = 1; frame->dso && i < FLAME_DSOS && flame->dsos[i].name; i++)
		if (!strcmp(frame->dso, flame->dsos[i].name))
			return i;
	return 0;
}

/**
 * flame_legend() - what has colours: DSOs, what has more time first; then states
 * @flame: the frames, after flame_finish()
 * @keys: receives them; the last DSO is those that share a colour, as one
 *
 * Return: their number.
 */
size_t flame_legend(const struct flame *flame,
		    struct flame_key keys[FLAME_COLOURS])
{
	double all = flame->frames->ns[flame->wide];
	size_t nr = 0, i;

	for (i = 1; i <= FLAME_DSOS; i++) {
		unsigned int colour = i % FLAME_DSOS;
		const struct flame_dso *dso = &flame->dsos[colour];

		if (dso->name || dso->ns > 0)
			keys[nr++] = (struct flame_key){
				.colour = colour,
				.name = dso->name ?: "other DSOs",
				.percent = 100 * dso->ns / all,
			};
	}
	for (i = PRF_RUNNABLE; i < PRF_STATES; i++)
		if (flame->states[i] > 0)
			keys[nr++] = (struct flame_key){
				.colour = FLAME_WAITS + i - PRF_RUNNABLE,
				.name = prf_states[i].name,
				.percent = 100 * flame->states[i] / all,
			};
	return nr;
}

/** flame_free() - free all memory of a flame graph */
void flame_free(struct flame *flame)
{
	free(flame->frames);
	free(flame->table);
	sum_free(&flame->sums[0]);
	sum_free(&flame->sums[1]);
}
