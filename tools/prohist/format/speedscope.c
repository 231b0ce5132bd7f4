// SPDX-License-Identifier: GPL-2.0-only
/*
 * speedscope.c - write the file format of speedscope
 *
 * One profile: its stacks are program, DSO and function, and each exec has a
 * sample for each function, whose weight is its CPU time. A frame is known by
 * its index, so each program, DSO and function has one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/format/json.h"
#include "prohist/report.h"
#include "prohist/samples.h"
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

static void put_functions(const struct sum_dso *dso)
{
	struct place place;
	size_t i;

	for (i = 0; i < dso->nr_pieces; i++) {
		printf(",\n{\"name\": ");
		json_string(dso->pieces[i].name);
		if (symbols_place(&dso->symbols, dso->pieces[i].start,
				  &place)) {
			printf(", \"file\": ");
			json_string(place.file);
			printf(", \"line\": %d", place.line);
		}
		putchar('}');
	}
}

static void put_frames(const struct programs *programs, const struct sum *sum)
{
	size_t i;

	printf("\"shared\": {\"frames\": [");
	for (i = 0; i < programs->nr + sum->nr_dsos; i++) {
		printf("%s\n{\"name\": ", i ? "," : "");
		json_string(i < programs->nr ? programs->names[i] :
			    sum_dso_name(sum, i - programs->nr));
		putchar('}');
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

static void put_runs(const struct programs *programs,
		     const struct report *report, bool weights)
{
	size_t i, nr = 0;

	printf(",\n\"%s\": [\n", weights ? "weights" : "samples");
	for (i = 0; i < report->nr; i++)
		put_run(programs, report->sum, &report->runs[i], weights, &nr);
	putchar(']');
}

/** print_speedscope() - print the ticks as a profile of samples */
int print_speedscope(const struct report *report)
{
	const struct sum *sum = report->sum;
	struct programs programs = {};
	size_t i;

	for (i = 0; i < report->nr; i++)
		add_programs(&programs, &report->runs[i]);
	sort_programs(&programs);
	printf("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
	       "\"exporter\": \"prohist " VERSION "\",\n\"name\": ");
	json_string(sum->command);
	printf(",\n");
	put_frames(&programs, sum);
	printf("\"profiles\": [{\"type\": \"sampled\", \"unit\": \"nanoseconds\",\n"
	       "\"startValue\": 0, \"endValue\": %.0f, \"name\": ",
	       sum->placed_ns);
	json_string(sum->command);
	put_runs(&programs, report, false);
	put_runs(&programs, report, true);
	printf("}]}\n");
	free(programs.names);
	return 0;
}
