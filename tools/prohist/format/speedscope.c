// SPDX-License-Identifier: GPL-2.0-only
/*
 * speedscope.c - write the file format of speedscope
 *
 * One profile: its stacks are program, DSO and function, and each exec has a
 * sample for each function, whose weight is its CPU time. With chains of callers,
 * stacks are these, below the program, and each has one sample. A frame is known by
 * its index, so each program, DSO and function has one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/format/json.h"
#include "prohist/report.h"
#include "prohist/samples.h"
#include "prohist/tree.h"
#include "util/xalloc.h"

/**
 * struct programs - names of the programs; their frames are before those of the
 * DSOs, and those of the functions are last
 * @nr: number of programs
 * @names: the names, sorted, each once
 */
struct programs {
	size_t nr;
	const char **names;
};

static int compare(const void *a, const void *b)
{
	const char * const *left = a, * const *right = b;

	return strcmp(*left, *right);
}

static size_t find_program(const struct programs *programs, const char *name)
{
	const char **found = bsearch(&name, programs->names, programs->nr,
				     sizeof(name), compare);

	return found - programs->names;
}

static void add_programs(struct programs *programs, const struct prf *run)
{
	size_t i;

	for (i = 0; i < run->nr; i++) {
		programs->names = one_more(programs->names, programs->nr,
					   sizeof(*programs->names));
		programs->names[programs->nr++] =
			base_name(run->execs[i].name);
	}
}

static void sort_programs(struct programs *programs)
{
	const char **names = programs->names;
	size_t i, nr = 0;

	if (programs->nr)
		qsort(names, programs->nr, sizeof(*names), compare);
	for (i = 0; i < programs->nr; i++)
		if (!nr || strcmp(names[nr - 1], names[i]))
			names[nr++] = names[i];
	programs->nr = nr;
}

/* Put a frame; @piece: of the function, or NULL */
static void put_frame(const char *name, const struct sum_dso *dso,
		      const struct sum_piece *piece)
{
	struct place place;

	printf("\n{\"name\": ");
	json_string(name);
	if (piece && symbols_place(&dso->symbols, piece->start, &place)) {
		printf(", \"file\": ");
		json_string(place.file);
		printf(", \"line\": %d", place.line);
	}
	putchar('}');
}

static void put_wait(const struct sum_dso *dso, const char *name)
{
	char *label = sum_label(dso, name);

	put_frame(label, NULL, NULL);
	free(label);
}

static void put_functions(const struct sum_dso *dso)
{
	size_t i;

	for (i = 0; i < dso->nr_pieces; i++) {
		putchar(',');
		if (sum_state(dso->class) != PRF_ON_CPU)
			put_wait(dso, dso->pieces[i].name);
		else
			put_frame(dso->pieces[i].name, dso, &dso->pieces[i]);
	}
}

static void put_frames(const struct programs *programs, const struct sum *sum)
{
	size_t i;

	printf("\"shared\": {\"frames\": [");
	for (i = 0; i < programs->nr + sum->nr_dsos; i++) {
		if (i)
			putchar(',');
		put_frame(i < programs->nr ? programs->names[i] :
			  sum_dso_name(sum, i - programs->nr), NULL, NULL);
	}
	for (i = 0; i < sum->nr_dsos; i++)
		put_functions(&sum->dsos[i]);
	printf("\n]},\n");
}

static void put_sample(const struct programs *programs, const struct sum *sum,
		       const struct prf_exec *exec,
		       const struct sample *sample)
{
	size_t function = sum->dsos[sample->dso].before + sample->piece;

	printf("[%zu,%zu,%zu]",
	       find_program(programs, base_name(exec->name)),
	       programs->nr + sample->dso,
	       programs->nr + sum->nr_dsos + function);
}

/* Put a stack, or a weight, for each function of the execs of a run. */
static void put_run(const struct programs *programs, const struct sum *sum,
		    const struct prf *run, bool weights, size_t *nr)
{
	size_t i, j;

	for (i = 0; i < run->nr; i++) {
		const struct samples samples =
			samples_by_function(sum, run, &run->execs[i]);

		for (j = 0; j < samples.nr; j++) {
			if ((*nr)++)
				printf(",\n");
			if (weights)
				printf("%.0f", samples.list[j].ns);
			else
				put_sample(programs, sum, &run->execs[i],
					   &samples.list[j]);
		}
		free(samples.list);
	}
}

/* What is before the stacks, after the table of frames */
static void put_profile(const struct sum *sum)
{
	printf("\"profiles\": [{\"type\": \"sampled\", \"unit\": \"nanoseconds\",\n"
	       "\"startValue\": 0, \"endValue\": %.0f, \"name\": ",
	       sum->placed_ns);
	json_string(sum->command);
}

static void put_runs(const struct programs *programs,
		     const struct report *report, bool weights)
{
	size_t i, nr = 0;

	printf(",\n\"%s\": [\n", weights ? "weights" : "samples");
	for (i = 0; i < report->nr; i++)
		put_run(programs, report->sum, &report->runs[i], weights, &nr);
	putchar(']');
}

static void put_flat(const struct report *report)
{
	struct programs programs = {};
	size_t i;

	for (i = 0; i < report->nr; i++)
		add_programs(&programs, &report->runs[i]);
	sort_programs(&programs);
	put_frames(&programs, report->sum);
	put_profile(report->sum);
	put_runs(&programs, report, false);
	put_runs(&programs, report, true);
	free(programs.names);
}

static void put_tree_frames(const struct tree *tree)
{
	size_t i;

	printf("\"shared\": {\"frames\": [");
	for (i = 0; i < tree->nr_functions; i++) {
		const struct tree_function *function = &tree->functions[i];

		if (i)
			putchar(',');
		/* The piece of an inlined function is that of another one */
		if (tree_state(tree, function) != PRF_ON_CPU)
			put_wait(&tree->sum->dsos[function->dso],
				 function->name);
		else if (function->piece &&
			 function->name == function->piece->name)
			put_frame(function->name,
				  &tree->sum->dsos[function->dso],
				  function->piece);
		else
			put_frame(function->name, NULL, NULL);
	}
	printf("\n]},\n");
}

static void put_stack(const struct tree *tree, uint32_t node)
{
	const struct tree_node *at = &tree->nodes[node];

	if (at->caller) {
		put_stack(tree, at->caller);
		putchar(',');
	}
	printf("%" PRIu32, at->function);
}

/* Put a stack, or a weight, for each node with ticks. */
static void put_nodes(const struct tree *tree, bool weights)
{
	const char *before = "";
	uint32_t node = 0;

	printf(",\n\"%s\": [\n", weights ? "weights" : "samples");
	while ((node = tree_next(tree, node))) {
		if (!tree->nodes[node].ticks)
			continue;
		printf("%s", before);
		before = ",\n";
		if (weights) {
			printf("%.0f", tree->nodes[node].ns);
			continue;
		}
		putchar('[');
		put_stack(tree, node);
		putchar(']');
	}
	putchar(']');
}

static void put_chains(const struct report *report)
{
	struct tree tree;

	tree_make(&tree, report->sum, report->runs, report->nr, true);
	put_tree_frames(&tree);
	put_profile(report->sum);
	put_nodes(&tree, false);
	put_nodes(&tree, true);
	tree_free(&tree);
}

/** print_speedscope() - print the ticks as a profile of samples */
int print_speedscope(const struct report *report)
{
	printf("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
	       "\"exporter\": \"prohist " VERSION "\",\n\"name\": ");
	json_string(report->sum->command);
	printf(",\n");
	if (report->sum->chains)
		put_chains(report);
	else
		put_flat(report);
	printf("}]}\n");
	return 0;
}
