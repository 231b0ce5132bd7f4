// SPDX-License-Identifier: GPL-2.0-only
/*
 * sum.c - sum up profiles, and find their functions
 */
#define _GNU_SOURCE
#include <err.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/sum.h"
#include "util/xalloc.h"

static enum sum_class class_of(uint32_t kind)
{
	switch (kind) {
	case PRF_PROGRAM:
		return SUM_PROGRAM;
	case PRF_ANONYMOUS:
		return SUM_OTHER;
	case PRF_KERNEL_TEXT:
		return SUM_KERNEL;
	case PRF_WAIT_RUNNABLE:
		return SUM_RUNNABLE;
	case PRF_WAIT_BLOCKED:
		return SUM_BLOCKED;
	case PRF_WAIT_IDLE:
		return SUM_IDLE;
	default:
		return SUM_LIBRARIES;
	}
}

/*
 * What distinguishes DSOs, and the index of the DSO in the sum. Where code was
 * made at run time, the symbols do: each process has its own at an address.
 */
struct key {
	const char *path;
	enum sum_class class;
	uint32_t build_id_len;
	uint8_t build_id[PRF_BUILD_ID];
	const struct prf_symbol *symbols;
	size_t index;
};

static int compare(const void *a, const void *b)
{
	const struct key *k = a, *l = b;
	int order = strcmp(k->path, l->path);

	if (order)
		return order;
	if (k->class != l->class)
		return k->class < l->class ? -1 : 1;
	if (k->build_id_len != l->build_id_len)
		return k->build_id_len < l->build_id_len ? -1 : 1;
	order = memcmp(k->build_id, l->build_id, k->build_id_len);
	if (order || k->symbols == l->symbols)
		return order;
	return (uintptr_t)k->symbols < (uintptr_t)l->symbols ? -1 : 1;
}

static struct key key_of(enum sum_class class, const struct prf_dso *mapping)
{
	struct key key = {
		.path = mapping->path,
		.class = class,
		.build_id_len = mapping->build_id_len,
	};

	memcpy(key.build_id, mapping->build_id, mapping->build_id_len);
	if (mapping->kind == PRF_ANONYMOUS)
		key.symbols = mapping->symbols;
	return key;
}

static struct sum_dso *find_dso(const struct sum *sum, enum sum_class class,
				const struct prf_dso *mapping)
{
	const struct key key = key_of(class, mapping);
	struct key **found = tfind(&key, &sum->keys, compare);

	return found ? &sum->dsos[(*found)->index] : NULL;
}

/* Enter the last DSO. */
static void add_key(struct sum *sum, struct key key)
{
	struct key *new = malloc(sizeof(*new));

	if (!new)
		err(2, NULL);
	*new = key;
	new->index = sum->nr_dsos - 1;
	new->path = sum->dsos[new->index].path;
	if (!tsearch(new, &sum->keys, compare))
		err(2, NULL);
}

static struct sum_dso *get_dso(struct sum *sum, enum sum_class class,
			       const struct prf_dso *mapping)
{
	struct sum_dso *dso = find_dso(sum, class, mapping);

	if (dso)
		return dso;
	sum->dsos = one_more(sum->dsos, sum->nr_dsos,
			     sizeof(*dso));
	dso = &sum->dsos[sum->nr_dsos++];
	memset(dso, 0, sizeof(*dso));
	dso->path = copy(mapping->path);
	dso->class = class;
	dso->build_id_len = mapping->build_id_len;
	memcpy(dso->build_id, mapping->build_id, mapping->build_id_len);
	add_key(sum, key_of(class, mapping));
	if (symbols_open(&dso->symbols, dso->path, mapping))
		err(2, NULL);
	return dso;
}

/* Extend the text of a DSO without symbols, in file offsets. */
static void widen(struct sum_dso *dso, const struct prf_dso *mapping)
{
	uint64_t end = mapping->pgoff + (mapping->end - mapping->start);

	if (dso->path[0] == '[')
		return;
	if (!dso->end || mapping->pgoff < dso->start)
		dso->start = mapping->pgoff;
	if (end > dso->end)
		dso->end = end;
}

/*
 * Add the names that a profile has. They may be the first to say which address
 * an offset in the file has.
 */
static void add_names(struct sum_dso *dso, const struct prf *run,
		      const struct prf_dso *mapping)
{
	bool known = symbols_known(&dso->symbols);
	size_t i;

	symbols_date(&dso->symbols, mapping, run->start_unix_ns,
		     !dso->nr_buckets);
	if (symbols_add(&dso->symbols, mapping))
		err(2, NULL);
	if (!symbols_known(&dso->symbols)) {
		widen(dso, mapping);
		return;
	}
	symbols_text(&dso->symbols, &dso->start, &dso->end);
	for (i = 0; !known && i < dso->nr_buckets; i++)
		dso->buckets[i].address = symbols_link(&dso->symbols,
						       dso->buckets[i].address);
}

static void add_bucket(struct sum *sum, struct sum_dso *dso,
		       const struct sum_bucket *bucket)
{
	dso->buckets = one_more(dso->buckets, dso->nr_buckets,
				sizeof(*bucket));
	dso->buckets[dso->nr_buckets++] = *bucket;
	dso->ticks += bucket->ticks;
	dso->ns += bucket->ns;
	if (bucket->ticks)
		sum->squares += bucket->ns * bucket->ns / bucket->ticks;
}

/*
 * Where a bucket of a mapping is in the sum, without its ticks. @caller: it is that
 * of a caller, rather than one with ticks
 */
static struct sum_bucket bucket_at(const struct sum_dso *dso,
				   const struct prf *run,
				   const struct prf_dso *mapping,
				   uint64_t offset, bool caller)
{
	bool start = caller && !(run->flags & PRF_FLAG_CALL_SITES);

	if (start)
		offset += mapping->bucket_bytes - 1;
	return (struct sum_bucket){
		.address = symbols_address(&dso->symbols, mapping, offset),
		.bytes = start ? 0 : mapping->bucket_bytes,
	};
}

/* @nr: number of places of callers in the mapping */
static void add_mapping(struct sum *sum, const struct prf *run,
			const struct prf_dso *mapping,
			const struct prf_site *callers, size_t nr)
{
	struct sum_dso *dso = get_dso(sum, class_of(mapping->kind),
				      mapping);
	enum prf_state state = prf_state_of(mapping);
	uint64_t *ticks = state == PRF_ON_CPU ? &sum->bucket_ticks :
						&sum->waits[state];
	struct sum_bucket new;
	size_t i;

	if (!dso->mapping)
		dso->mapping = mapping;
	add_names(dso, run, mapping);
	for (i = 0; i < mapping->nr; i++) {
		const struct prf_bucket *bucket = &mapping->buckets[i];

		new = bucket_at(dso, run, mapping, bucket->offset, false);
		new.ticks = bucket->count;
		new.ns = (double)bucket->count * run->period_ns;
		add_bucket(sum, dso, &new);
		*ticks += bucket->count;
	}
	for (i = 0; i < nr; i++) {
		new = bucket_at(dso, run, mapping, callers[i].offset, true);
		add_bucket(sum, dso, &new);
	}
}

/* Add the mappings of an exec that have ticks, or callers of code with ticks. */
static void add_mappings(struct sum *sum, const struct prf *run,
			 const struct prf_exec *exec)
{
	struct prf_site *callers = NULL;
	size_t nr = 0, first = 0, i, end;

	if (sum->callers)
		callers = prf_callers(exec, &nr);
	if (sum->callers && !callers)
		err(2, NULL);
	for (i = 0; i < exec->nr; i++, first = end) {
		for (end = first; end < nr && callers[end].dso == i; end++)
			;
		if (exec->dsos[i].nr || end > first)
			add_mapping(sum, run, &exec->dsos[i], callers + first,
				    end - first);
	}
	free(callers);
}

/* The DSO that stands for ticks with only a known class */
static struct prf_dso whole(enum sum_class class)
{
	return (struct prf_dso){
		.kind = PRF_ANONYMOUS,
		.path = class == SUM_KERNEL ? "[kernel]" : "[elsewhere]",
	};
}

/* Add ticks with only a known class. */
static void add_whole(struct sum *sum, enum sum_class class, uint64_t ticks,
		      double period_ns)
{
	const struct sum_bucket bucket = {
		.bytes = 1,
		.ticks = ticks,
		.ns = ticks * period_ns,
	};
	const struct prf_dso mapping = whole(class);

	if (ticks)
		add_bucket(sum, get_dso(sum, class, &mapping), &bucket);
}

static void add_missed(struct sum *sum, const struct prf_exec *exec)
{
	struct sum_missed *missed;

	sum->missed = one_more(sum->missed, sum->nr_missed, sizeof(*missed));
	missed = &sum->missed[sum->nr_missed++];
	missed->name = copy(exec->name);
	missed->reason = copy(exec->reason);
}

static void add_exec(struct sum *sum, const struct prf *run,
		     const struct prf_exec *exec)
{
	struct prf_exec *numbers = &sum->numbers;
	size_t i;

	for (i = 0; i < PRF_OUTCOMES; i++)
		*prf_count(numbers, &prf_outcomes[i]) +=
			prf_have(exec, &prf_outcomes[i]);
	numbers->cpu_ns += exec->cpu_ns;
	numbers->covered_ns += exec->covered_ns;
	numbers->ticks += exec->ticks;
	numbers->kernel += exec->kernel;
	numbers->unfollowed += exec->unfollowed;
	for (i = 0; i < PRF_STATES; i++) {
		numbers->waits[i] += exec->waits[i];
		sum->waits_ns[i] += (double)exec->waits[i] * run->period_ns;
		numbers->hidden[i] += exec->hidden[i];
	}
	add_mappings(sum, run, exec);
	sum->bucket_ticks += exec->kernel_count;
	add_whole(sum, SUM_KERNEL,
		  exec->kernel_count + prf_placed(exec, PRF_IN_KERNEL),
		  run->period_ns);
	add_whole(sum, SUM_OTHER, prf_placed(exec, PRF_ELSEWHERE),
		  run->period_ns);
	if (exec->reach == PRF_NOT_REACHED)
		add_missed(sum, exec);
}

static void add_ends(struct sum *sum, const struct prf *prf)
{
	size_t i;

	if (!(prf->flags & PRF_FLAG_CHAINS))
		return;
	sum->chains = true;
	for (i = 0; i < PRF_CHAIN_ENDS; i++)
		sum->ends[i] += prf->chains[i];
}

/**
 * sum_add() - add a profile
 * @sum: zeroed except for @inlined, @callers and @states, or with profiles added, but
 *	not finished
 * @prf: the profile
 */
void sum_add(struct sum *sum, const struct prf *prf)
{
	struct prf_exec *numbers = &sum->numbers;
	const struct prf_exec before = *numbers;
	double untimed;
	size_t i;

	if (!sum->files) {
		sum->command = copy(prf->command);
		sum->clock = prf->clock;
	}
	if (sum->clock != prf->clock)
		sum->clock = 0;
	if (prf->flags & PRF_FLAG_USER_ONLY)
		sum->user_only = true;
	if (prf->flags & PRF_FLAG_RECORDS_LOST)
		sum->records_lost = true;
	if (prf->flags & PRF_FLAG_WALL)
		sum->wall = true;
	if (prf->kernel_unknown)
		sum->kernel_unknown = true;
	add_ends(sum, prf);
	sum->files++;
	sum->wall_ns += prf->wall_ns;
	for (i = 0; i < prf->nr; i++)
		add_exec(sum, prf, &prf->execs[i]);
	/*
	 * What no exec has is known of the run as a whole, but not the time of what
	 * it has left running
	 */
	if (prf->cpu_ns > numbers->cpu_ns - before.cpu_ns)
		numbers->cpu_ns = before.cpu_ns + prf->cpu_ns;
	numbers->unfollowed += prf->unfollowed;
	sum->withheld += prf->withheld;
	sum->unfollowed_threads += prf->unfollowed_threads;
	sum->time_ns += (double)(numbers->ticks - before.ticks) *
			prf->period_ns;
	untimed = (double)(numbers->cpu_ns - before.cpu_ns) -
		  (numbers->covered_ns - before.covered_ns);
	sum->untimed_ns += fmax(untimed, 0) + prf->period_ns *
		(double)(prf_placed(numbers, PRF_MISSING) -
			 prf_placed(&before, PRF_MISSING));
	sum->period_ns = numbers->ticks ? sum->time_ns / numbers->ticks :
					  prf->period_ns;
}

static int same_first(const void *a, const void *b)
{
	const struct sum_function *f = a, *g = b;

	if (f->dso != g->dso)
		return f->dso < g->dso ? -1 : 1;
	return strcmp(f->name, g->name);
}

static int more_first(const void *a, const void *b)
{
	const struct sum_function *f = a, *g = b;

	if (f->ns != g->ns)
		return f->ns < g->ns ? 1 : -1;
	return same_first(a, b);
}

/* "inner (inlined in middle, outer)" */
static char *function_name(const struct sum_piece *piece)
{
	const struct inlines *inlines = &piece->inlines;
	char *name = NULL;
	FILE *stream;
	size_t size, i;

	if (!inlines->nr)
		return copy(piece->name);
	stream = open_memstream(&name, &size);
	if (!stream)
		err(2, NULL);
	fprintf(stream, "%s (inlined in ", inlines->list[0].name);
	for (i = 1; i < inlines->nr; i++)
		fprintf(stream, "%s, ", inlines->list[i].name);
	fprintf(stream, "%s)", piece->name);
	if (fclose(stream))
		err(2, NULL);
	return name;
}

static void add_functions(struct sum *sum, size_t index)
{
	const struct sum_dso *dso = &sum->dsos[index];
	struct sum_function *function;
	size_t i;

	for (i = 0; i < dso->nr_pieces; i++) {
		sum->functions = one_more(sum->functions, sum->nr_functions,
					  sizeof(*function));
		function = &sum->functions[sum->nr_functions++];
		dso->pieces[i].label = function_name(&dso->pieces[i]);
		function->name = copy(dso->pieces[i].label);
		function->piece = &dso->pieces[i];
		function->dso = dso->shown;
		function->ticks = dso->pieces[i].ticks;
		function->ns = dso->pieces[i].ns;
	}
}

static void merge_functions(struct sum *sum)
{
	struct sum_function *list = sum->functions;
	size_t i, nr = 0;

	for (i = 0; i < sum->nr_functions; i++) {
		if (nr && !same_first(&list[nr - 1], &list[i])) {
			list[nr - 1].ticks += list[i].ticks;
			list[nr - 1].ns += list[i].ns;
			free(list[i].name);
			continue;
		}
		list[nr++] = list[i];
	}
	sum->nr_functions = nr;
}

static int by_class(const void *a, const void *b)
{
	const struct sum_dso *d = a, *e = b;

	if (d->class != e->class)
		return d->class < e->class ? -1 : 1;
	if (d->ns != e->ns)
		return d->ns < e->ns ? 1 : -1;
	return strcmp(d->path, e->path);
}

/* The DSOs have moved. */
static void renumber(struct sum *sum)
{
	size_t i;

	for (i = 0; i < sum->nr_dsos; i++) {
		const struct sum_dso *dso = &sum->dsos[i];
		const struct prf_dso unmapped = whole(dso->class);
		const struct key key = key_of(dso->class,
					      dso->mapping ?: &unmapped);

		(*(struct key **)tfind(&key, &sum->keys, compare))->index = i;
	}
}

static int by_path(const void *a, const void *b)
{
	const struct sum_dso *d = a, *e = b;

	return strcmp(d->path, e->path);
}

static void keep(void *dso __attribute__((unused)))
{
}

/* Show code that was made at run time as one, whatever process made it. */
static void find_shown(struct sum *sum)
{
	void *made = NULL;
	size_t i;

	for (i = 0; i < sum->nr_dsos; i++) {
		struct sum_dso *dso = &sum->dsos[i], *shown = dso, **found;

		if (dso->mapping && dso->mapping->kind == PRF_ANONYMOUS) {
			found = tsearch(dso, &made, by_path);
			if (!found)
				err(2, NULL);
			shown = *found;
		}
		dso->shown = shown - sum->dsos;
		shown->shown_ticks += dso->ticks;
		shown->shown_ns += dso->ns;
	}
	tdestroy(made, keep);
}

/** sum_finish() - after the last sum_add(), sort, and find functions */
void sum_finish(struct sum *sum)
{
	size_t i;

	if (sum->nr_dsos) {
		qsort(sum->dsos, sum->nr_dsos, sizeof(*sum->dsos), by_class);
		renumber(sum);
	}
	find_shown(sum);
	for (i = 0; i < sum->nr_dsos; i++) {
		struct sum_dso *dso = &sum->dsos[i];

		sum_find_pieces(dso, sum->inlined);
		dso->before = sum->nr_pieces;
		sum->nr_pieces += dso->nr_pieces;
		add_functions(sum, i);
		sum->classes[dso->class] += dso->ticks;
		sum->classes_ns[dso->class] += dso->ns;
		sum->placed += dso->ticks;
		sum->placed_ns += dso->ns;
	}
	if (sum->nr_functions) {
		qsort(sum->functions, sum->nr_functions,
		      sizeof(*sum->functions), same_first);
		merge_functions(sum);
		qsort(sum->functions, sum->nr_functions,
		      sizeof(*sum->functions), more_first);
	}
}

/**
 * sum_runs() - sum up several profiles
 * @sum: zeroed except for @callers and @states; to be freed
 * @runs: the profiles
 * @nr: their number
 * @inlined: whether inlined functions count for themselves
 */
void sum_runs(struct sum *sum, const struct prf *runs, size_t nr, bool inlined)
{
	size_t i;

	sum->inlined = inlined;
	for (i = 0; i < nr; i++)
		sum_add(sum, &runs[i]);
	sum_finish(sum);
}

/**
 * sum_close() - close the symbols of all DSOs
 * @sum: a finished sum, of which names and ticks will do from now on
 */
void sum_close(struct sum *sum)
{
	size_t i;

	for (i = 0; i < sum->nr_dsos; i++) {
		symbols_close(&sum->dsos[i].symbols);
		sum->dsos[i].symbols = (struct symbols){ .fd = -1 };
	}
}

/** sum_dso() - find the DSO of a mapping; NULL if it has no ticks */
const struct sum_dso *sum_dso(const struct sum *sum,
			      const struct prf_dso *mapping)
{
	return find_dso(sum, class_of(mapping->kind), mapping);
}

/**
 * sum_whole() - find the DSO of ticks with only a known class
 * @class: SUM_KERNEL or SUM_OTHER
 *
 * Return: the DSO, or NULL if there are no such ticks.
 */
const struct sum_dso *sum_whole(const struct sum *sum, enum sum_class class)
{
	const struct prf_dso mapping = whole(class);

	return find_dso(sum, class, &mapping);
}

/**
 * sum_node() - find the bucket of a node
 * @sum: the finished sum of the runs, with callers
 * @run: the run
 * @exec: the exec
 * @node: a node with ticks, or that has called something
 * @calls: whether it has called something, see prf_calling()
 * @dso: receives its DSO
 *
 * Return: the bucket; NULL in the kernel, if no ticks there lack a function.
 */
const struct sum_bucket *sum_node(const struct sum *sum, const struct prf *run,
				  const struct prf_exec *exec,
				  const struct prf_node *node, bool calls,
				  const struct sum_dso **dso)
{
	struct sum_bucket bucket;

	if (node->dso == PRF_NODE_KERNEL) {
		*dso = sum_whole(sum, SUM_KERNEL);
		return *dso ? (*dso)->buckets : NULL;
	}
	*dso = sum_dso(sum, &exec->dsos[node->dso]);
	bucket = bucket_at(*dso, run, &exec->dsos[node->dso], node->offset,
			   calls);
	return sum_find(*dso, bucket.address, bucket.bytes);
}

/* Share of the time without ticks in itself and the time of ticks, from 0 to 1 */
static double untimed_beside(const struct sum *sum, double ns)
{
	double missing = sum->untimed_ns;

	return missing > 0 ? missing / (missing + ns) : 0;
}

/**
 * sum_untimed() - share of the CPU time that has no ticks, from 0 to 1
 *
 * That is the time that was not covered, and that of ticks lost or clipped.
 */
double sum_untimed(const struct sum *sum)
{
	return untimed_beside(sum, sum_states_ns(sum, PRF_ON_CPU) +
			      sum->period_ns *
			      prf_placed(&sum->numbers, PRF_UNSELECTED));
}

/** sum_adds_up() - is every tick accounted for? */
bool sum_adds_up(const struct sum *sum)
{
	const struct prf_exec *numbers = &sum->numbers;
	uint64_t ticks = 0;
	int i;

	for (i = 0; i < PRF_OUTCOMES; i++)
		ticks += prf_have(numbers, &prf_outcomes[i]);
	for (i = 0; i < PRF_STATES; i++)
		if (numbers->waits[i] != sum->waits[i] + numbers->hidden[i])
			return false;
	return numbers->ticks == ticks && numbers->counted == sum->bucket_ticks;
}

/** sum_meaning() - what became of the ticks of an outcome */
const char *sum_meaning(const struct sum *sum,
			const struct prf_outcome *outcome)
{
	if (outcome->offset != offsetof(struct prf_exec, lost))
		return outcome->meaning;
	if (sum->records_lost)
		return "not counted: a ring was full, as profil was not let run, or the thread ended";
	if (sum->clock == PRF_CLOCK_PERF_EVENT_OPEN)
		return "not counted: the thread ended before its next tick";
	return outcome->meaning;
}

/**
 * sum_weight() - number of ticks, all of one period, that know as much
 *
 * The ticks of files with different periods have different times.
 */
double sum_weight(const struct sum *sum)
{
	return sum->squares > 0 ?
		sum->placed_ns * sum->placed_ns / sum->squares : 0;
}

/**
 * sum_scaled() - CPU time as a number of ticks of the mean period
 * @sum: the sum
 * @ns: CPU time of an item
 * @rest: 0 at first; keeps what rounding leaves for the next item
 *
 * For formats that have one number for each item. It is the number of ticks if
 * all files have the same period. Else, numbers rounded one by one would add up
 * to another time than that of all items.
 */
uint64_t sum_scaled(const struct sum *sum, double ns, double *rest)
{
	double exact = *rest, whole;

	if (sum->placed_ns > 0)
		exact += ns / sum->placed_ns * sum->placed;
	whole = fmax(floor(exact + 0.5), 0);
	*rest = exact - whole;
	return whole;
}

/** sum_percent() - share of the CPU time of all ticks placed, in percent */
double sum_percent(const struct sum *sum, double ns)
{
	return sum->placed_ns > 0 ? 100 * ns / sum->placed_ns : 0;
}

/**
 * sum_error() - half width of a share's 95 % confidence interval, in percent
 *
 * Uses the normal approximation. If much of the CPU time has no ticks, all of
 * that time may belong to this share, or none of it.
 */
double sum_error(const struct sum *sum, double ns)
{
	double share = sum_percent(sum, ns) / 100;
	double untimed = untimed_beside(sum, sum->placed_ns);
	double error = 0;

	if (sum_untimed(sum) > SUM_UNTIMED)
		error = untimed * fmax(share, 1 - share);
	if (sum->placed)
		error += 1.96 * sqrt(fmax(share * (1 - share), 0) /
				     sum_weight(sum));
	return 100 * fmin(error, 1);
}

/** sum_state() - what threads did at the ticks of a class */
enum prf_state sum_state(enum sum_class class)
{
	return class < SUM_CPU_CLASSES ? PRF_ON_CPU :
		PRF_RUNNABLE + (class - SUM_RUNNABLE);
}

/** sum_classes() - number of classes that a sum may have ticks in */
size_t sum_classes(const struct sum *sum)
{
	return sum->wall ? SUM_CLASSES : SUM_CPU_CLASSES;
}

/** sum_states_ns() - time of the ticks placed that fell in a state */
double sum_states_ns(const struct sum *sum, enum prf_state state)
{
	double ns = 0;
	int class;

	for (class = 0; class < SUM_CLASSES; class++)
		if (sum_state(class) == state)
			ns += sum->classes_ns[class];
	return ns;
}

/** sum_class_name() - name of a class in reports */
const char *sum_class_name(enum sum_class class)
{
	static const char * const names[SUM_CPU_CLASSES] = {
		[SUM_PROGRAM] = "program",
		[SUM_LIBRARIES] = "libraries",
		[SUM_KERNEL] = "kernel",
		[SUM_OTHER] = "other",
	};

	return class < SUM_CPU_CLASSES ? names[class] :
		prf_states[sum_state(class)].name;
}

/** sum_dso_name() - path of a DSO without directories */
const char *sum_dso_name(const struct sum *sum, size_t dso)
{
	return base_name(sum->dsos[dso].path);
}

/**
 * sum_label() - name of a function, for readers that show no DSO
 * @dso: its DSO, or NULL
 * @name: its name
 *
 * A function and what it waits in may have one name: "read", "read [blocked]".
 *
 * Return: the label, to be freed.
 */
char *sum_label(const struct sum_dso *dso, const char *name)
{
	char *label;

	if (!dso || sum_state(dso->class) == PRF_ON_CPU ||
	    !strcmp(name, dso->path))
		return copy(name);
	if (asprintf(&label, "%s %s", name, dso->path) < 0)
		err(2, NULL);
	return label;
}

/** clock_name() - name of the source of ticks */
const char *clock_name(uint32_t clock)
{
	switch (clock) {
	case PRF_CLOCK_PERF:
		return "perf (kernel module)";
	case PRF_CLOCK_HRTIMER:
		return "hrtimer (kernel module)";
	case PRF_CLOCK_PERF_EVENT_OPEN:
		return "perf_event_open";
	default:
		return "several";
	}
}

static void free_dso(struct sum_dso *dso)
{
	size_t i;

	for (i = 0; i < dso->nr_pieces; i++) {
		free(dso->pieces[i].name);
		free(dso->pieces[i].label);
		inlines_free(&dso->pieces[i].inlines);
	}
	symbols_close(&dso->symbols);
	free(dso->pieces);
	free(dso->buckets);
	free(dso->path);
}

/** sum_free() - free all memory of a sum */
void sum_free(struct sum *sum)
{
	size_t i;

	for (i = 0; i < sum->nr_dsos; i++)
		free_dso(&sum->dsos[i]);
	for (i = 0; i < sum->nr_functions; i++)
		free(sum->functions[i].name);
	for (i = 0; i < sum->nr_missed; i++) {
		free(sum->missed[i].name);
		free(sum->missed[i].reason);
	}
	tdestroy(sum->keys, free);
	free(sum->dsos);
	free(sum->functions);
	free(sum->missed);
	free(sum->command);
}
