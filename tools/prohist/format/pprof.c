// SPDX-License-Identifier: GPL-2.0-only
/*
 * pprof.c - write profile.proto.gz, for pprof
 *
 * Each bucket is a location, which is an address in a mapping. It has a sample
 * for each exec with ticks in it, and if these have chains of callers, for each
 * chain, whose locations begin with it.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pprof/pprof_message.h"
#include "prohist/report.h"
#include "prohist/samples.h"

/**
 * struct out - the profile being written
 * @pprof: its messages
 * @mapping: the last mapping
 * @locations: number of locations so far
 * @first: number of locations before those of each DSO
 * @wall: there are waits
 * @states: labels of states
 */
struct out {
	struct pprof pprof;
	uint64_t mapping;
	uint64_t locations;
	uint64_t *first;
	bool wall;
	struct proto states[PRF_STATES];
};

/* Program and PID of samples; where there are waits, what the thread did, too */
#define LABELS	3

struct labels {
	struct proto list[LABELS];
};

/**
 * struct frame - a function of a location
 * @name: index of its name
 * @file: path of the source file, or "" if unknown
 */
struct frame {
	uint64_t name;
	const char *file;
};

/**
 * struct frames - the functions of locations, innermost first
 * @nr: number of functions
 * @list: the functions
 * @lines: their numbers, 0 if they have not been written; and the lines
 */
struct frames {
	size_t nr;
	struct frame *list;
	struct pprof_line *lines;
};

/*
 * Add a function, of which @place is a line. A function of which lines come from
 * several files is one function for each.
 */
static void find_function(struct out *out, struct frames *frames, size_t i,
			  const struct place *place)
{
	struct pprof_line *line = &frames->lines[i];
	struct frame *frame = &frames->list[i];
	const char *file = place->file ?: "";

	if (!line->function || strcmp(file, frame->file))
		line->function = pprof_function(&out->pprof, frame->name, file);
	frame->file = file;
	line->line = place->line;
}

/* The function of a piece, and the functions inlined there, innermost first. */
static struct frames make_frames(struct out *out, const struct sum_dso *dso,
				 const struct sum_piece *piece)
{
	const struct inlines *inlines = &piece->inlines;
	struct frames frames = { .nr = inlines->nr + 1 };
	char *label;
	size_t i;

	frames.list = calloc(frames.nr, sizeof(*frames.list));
	frames.lines = calloc(frames.nr, sizeof(*frames.lines));
	if (!frames.list || !frames.lines)
		err(2, NULL);
	for (i = 0; i < inlines->nr; i++)
		frames.list[i].name = pprof_string(&out->pprof,
						   inlines->list[i].name);
	label = sum_label(dso, piece->name);
	frames.list[i].name = pprof_string(&out->pprof, label);
	free(label);
	for (i = 0; i < inlines->nr; i++) {
		const struct place call = {
			.file = inlines->list[i].file,
			.line = inlines->list[i].line,
		};

		find_function(out, &frames, i + 1, &call);
	}
	return frames;
}

/* An inlined function is that of a bucket's first byte, and so is its line. */
static void put_piece(struct out *out, const struct sum_dso *dso,
		      const struct sum_piece *piece)
{
	const struct sum_bucket *bucket = &dso->buckets[piece->first];
	struct frames frames = make_frames(out, dso, piece);
	struct place place;
	size_t i;

	for (i = 0; i < piece->nr; i++, bucket++) {
		if (piece->inlines.nr)
			symbols_place(&dso->symbols, bucket->address, &place);
		else
			sum_place(dso, piece, bucket, &place);
		find_function(out, &frames, 0, &place);
		pprof_location(&out->pprof, out->mapping, bucket->address,
			       frames.lines, frames.nr);
	}
	out->locations += piece->nr;
	free(frames.list);
	free(frames.lines);
}

static bool has_lines(const struct sum_dso *dso)
{
	struct place place;
	size_t i;

	for (i = 0; i < dso->nr_buckets; i++)
		if (symbols_place(&dso->symbols,
				  dso->buckets[i].address, &place))
			return true;
	return false;
}

static void put_dso(struct out *out, const struct report *report,
		    const struct sum_dso *dso)
{
	const struct prf_dso none = { .path = dso->path, .end = 1 };
	const struct prf_dso *mapping = dso->mapping ?: &none;
	uint64_t start = symbols_address(&dso->symbols, mapping, 0);
	uint64_t end = start + (mapping->end - mapping->start);
	size_t i;

	out->first[dso - report->sum->dsos] = out->locations;
	out->mapping = pprof_mapping(&out->pprof, mapping, start, end,
				     has_lines(dso));
	for (i = 0; i < dso->nr_pieces; i++)
		put_piece(out, dso, &dso->pieces[i]);
}

/* Put the program first: pprof takes the first mapping for the program. */
static void put_dsos(struct out *out, const struct report *report)
{
	const struct prf_dso *program = prf_program(report->runs,
						    report->nr);
	const struct sum *sum = report->sum;
	const struct sum_dso *first = program ? sum_dso(sum, program) :
		NULL;
	size_t i;

	if (first)
		put_dso(out, report, first);
	else if (program)
		pprof_mapping(&out->pprof, program, 0,
			      program->end - program->start, false);
	for (i = 0; i < sum->nr_dsos; i++)
		if (&sum->dsos[i] != first)
			put_dso(out, report, &sum->dsos[i]);
}

static struct labels make_labels(struct out *out, const struct prf_exec *exec)
{
	return (struct labels){ {
		pprof_text_label(&out->pprof, "comm", base_name(exec->name)),
		pprof_number_label(&out->pprof, "pid", exec->pid),
	} };
}

/* Number of the location of a bucket */
static uint64_t location(const struct out *out, const struct sum *sum,
			 const struct sum_dso *dso, size_t bucket)
{
	return out->first[dso - sum->dsos] + bucket + 1;
}

static void add_location(struct out *out, uint64_t number)
{
	pprof_add_location(&out->pprof, number);
}

/* Put the sample with the locations that were added. */
static void end_sample(struct out *out, const struct labels *program,
		       enum prf_state state, uint64_t ticks, double ns)
{
	struct labels labels = *program;
	size_t nr = LABELS - !out->wall;

	labels.list[LABELS - 1] = out->states[state];
	if (state == PRF_ON_CPU)
		pprof_end_sample(&out->pprof, labels.list, nr, ticks, ns);
	else
		pprof_end_wait(&out->pprof, labels.list, nr, ticks, ns);
}

static void put_flat(struct out *out, const struct sum *sum,
		     const struct prf *run, const struct prf_exec *exec,
		     const struct labels *labels)
{
	const struct samples samples = samples_of(sum, run, exec);
	size_t i;

	for (i = 0; i < samples.nr; i++) {
		const struct sample *sample = &samples.list[i];

		const struct sum_dso *dso = &sum->dsos[sample->dso];

		add_location(out, location(out, sum, dso, sample->bucket));
		end_sample(out, labels, sum_state(dso->class), sample->ticks,
			   sample->ns);
	}
	free(samples.list);
}

static void put_whole(struct out *out, const struct sum *sum,
		      enum sum_class class, const struct labels *labels,
		      uint64_t ticks, double period_ns)
{
	if (!ticks)
		return;
	add_location(out, location(out, sum, sum_whole(sum, class), 0));
	end_sample(out, labels, PRF_ON_CPU, ticks, ticks * period_ns);
}

/* Location of a node, or 0 if it has none */
static uint64_t node_location(struct out *out, const struct sum *sum,
			      const struct prf *run,
			      const struct prf_exec *exec, size_t node,
			      bool calls)
{
	const struct sum_dso *dso;
	const struct sum_bucket *bucket =
		sum_node(sum, run, exec, &exec->nodes[node], calls, &dso);

	return bucket ? location(out, sum, dso, bucket - dso->buckets) : 0;
}

/* The locations of all nodes that have called something */
static uint64_t *find_locations(struct out *out, const struct sum *sum,
				const struct prf *run,
				const struct prf_exec *exec)
{
	uint64_t *locations = calloc(exec->nr_nodes, sizeof(*locations));
	bool *calling = prf_calling(exec);
	size_t i;

	if (!locations || !calling)
		err(2, NULL);
	for (i = 0; i < exec->nr_nodes; i++)
		if (calling[i])
			locations[i] = node_location(out, sum, run, exec, i,
						     true);
	free(calling);
	return locations;
}

/* Add the locations of a node's callers. */
static void add_callers(struct out *out, const struct prf_exec *exec,
			size_t node, const uint64_t *locations)
{
	uint32_t caller = exec->nodes[node].caller;

	for (; caller && caller != PRF_CUT;
	     caller = exec->nodes[caller - 1].caller)
		if (locations[caller - 1])
			add_location(out, locations[caller - 1]);
}

static enum prf_state state_of(const struct prf_exec *exec,
			       const struct prf_node *node)
{
	return node->dso == PRF_NODE_KERNEL ? PRF_ON_CPU :
		prf_state_of(&exec->dsos[node->dso]);
}

static void put_chains(struct out *out, const struct sum *sum,
		       const struct prf *run, const struct prf_exec *exec,
		       const struct labels *labels)
{
	uint64_t *locations = find_locations(out, sum, run, exec);
	double period_ns = run->period_ns;
	uint64_t below = 0;
	size_t i;

	for (i = 0; i < exec->nr_nodes; i++) {
		const struct prf_node *node = &exec->nodes[i];

		if (node->count) {
			add_location(out, node_location(out, sum, run, exec, i,
							false));
			add_callers(out, exec, i, locations);
			end_sample(out, labels, state_of(exec, node),
				   node->count, node->count * period_ns);
		}
		if (node->below) {
			add_location(out, location(out, sum,
					sum_whole(sum, SUM_OTHER), 0));
			if (locations[i])
				add_location(out, locations[i]);
			add_callers(out, exec, i, locations);
			end_sample(out, labels, PRF_ON_CPU, node->below,
				   node->below * period_ns);
		}
		below += node->below;
	}
	free(locations);
	put_whole(out, sum, SUM_KERNEL, labels,
		  prf_placed(exec, PRF_IN_KERNEL), period_ns);
	put_whole(out, sum, SUM_OTHER, labels,
		  prf_placed(exec, PRF_ELSEWHERE) - below, period_ns);
}

/* Put the samples of an exec, with the name of its program and its PID. */
static void put_exec(struct out *out, const struct report *report,
		     const struct prf *run, const struct prf_exec *exec)
{
	const struct labels labels = make_labels(out, exec);

	if (exec->nr_nodes)
		put_chains(out, report->sum, run, exec, &labels);
	else
		put_flat(out, report->sum, run, exec, &labels);
}

static void put_execs(struct out *out, const struct report *report)
{
	size_t i, j;

	for (i = 0; i < report->nr; i++)
		for (j = 0; j < report->runs[i].nr; j++)
			put_exec(out, report, &report->runs[i],
				 &report->runs[i].execs[j]);
}

static void begin_wall(struct out *out)
{
	enum prf_state state;

	pprof_add_wall(&out->pprof);
	for (state = PRF_ON_CPU; state < PRF_STATES; state++)
		out->states[state] = pprof_text_label(&out->pprof, "state",
						      prf_states[state].name);
}

static void put_profile(struct out *out, const struct report *report)
{
	const struct sum *sum = report->sum;

	if (out->wall)
		begin_wall(out);
	pprof_times(&out->pprof, sum->period_ns, report->runs->start_unix_ns,
		    sum->wall_ns);
	pprof_comment(&out->pprof, sum->command);
	put_dsos(out, report);
	put_execs(out, report);
}

/** write_pprof() - write all buckets by DSO and function */
int write_pprof(const struct report *report)
{
	FILE *file = pprof_open(STDOUT_FILENO);
	struct out out = { .wall = report->sum->wall };
	bool failed;

	out.first = calloc(report->sum->nr_dsos + 1, sizeof(*out.first));
	if (!file || !out.first)
		err(2, NULL);
	pprof_begin(&out.pprof, file);
	put_profile(&out, report);
	failed = pprof_end(&out.pprof);
	free(out.first);
	if (fclose(file) || failed) {
		warn("pprof");
		return -1;
	}
	return 0;
}
