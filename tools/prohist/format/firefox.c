// SPDX-License-Identifier: GPL-2.0-only
/*
 * firefox.c - write the processed profile format of the Firefox Profiler
 *
 * Its version is the first in which threads share the tables of functions, and
 * each later one still opens it. Each exec is a thread, in which each function
 * has one sample, whose weight is its CPU time in milliseconds. Histograms have
 * no times: the samples of a thread follow one another. Functions, frames and,
 * without chains of callers, stacks have the same index; with chains, stacks are the
 * nodes of the tree of calls, but for its root. DSOs, libraries and resources have
 * the same index, too.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "prohist/format/json.h"
#include "prohist/report.h"
#include "prohist/samples.h"
#include "prohist/tree.h"
#include "util/xalloc.h"

#define FORMAT_VERSION	60

/* Version of the format of Firefox itself at that time; the profiler wants it. */
#define GECKO_VERSION	31

/* Type of a resource. */
#define RESOURCE_LIBRARY	"1"

#define MS	1e6

/**
 * struct tables - what threads share
 * @sum: the sum of all runs
 * @tree: the tree of calls; without nodes if there are no chains of callers
 * @nr: number of functions
 * @functions: functions: their names and DSOs
 */
struct tables {
	const struct sum *sum;
	struct tree tree;
	size_t nr;
	struct tree_function *functions;
};

/* Put a column of a table, in which all values are the same. */
static void put_same(const char *name, const char *value, size_t nr)
{
	size_t i;

	printf("\"%s\": [", name);
	for (i = 0; i < nr; i++)
		printf("%s%s", i ? "," : "", value);
	printf("],\n");
}

/* Put a column of a table, in which each value is one more than the last. */
static void put_count(const char *name, size_t first, size_t nr)
{
	size_t i;

	printf("\"%s\": [", name);
	for (i = 0; i < nr; i++)
		printf("%s%zu", i ? "," : "", first + i);
	printf("],\n");
}

/* Put a column of a table, in which each function has the DSO or its class. */
static void put_dso_of_each(const char *name, const struct tables *tables,
			    bool class)
{
	size_t i;

	printf("\"%s\": [", name);
	for (i = 0; i < tables->nr; i++) {
		uint32_t dso = tables->functions[i].dso;

		if (i)
			putchar(',');
		if (dso == TREE_NO_DSO)
			printf("%d", class ? SUM_OTHER : -1);
		else
			printf("%" PRIu32, class ?
			       tables->sum->dsos[dso].class : dso);
	}
	printf("],\n");
}

static void put_length(size_t nr)
{
	printf("\"length\": %zu}", nr);
}

static void put_functions(const struct tables *tables)
{
	printf("\"funcTable\": {\n");
	put_count("name", 0, tables->nr);
	put_same("isJS", "false", tables->nr);
	put_same("relevantForJS", "false", tables->nr);
	put_dso_of_each("resource", tables, false);
	put_same("source", "null", tables->nr);
	put_same("lineNumber", "null", tables->nr);
	put_same("columnNumber", "null", tables->nr);
	put_length(tables->nr);
}

static void put_frames(const struct tables *tables)
{
	printf(",\n\"frameTable\": {\n");
	put_same("address", "-1", tables->nr);
	put_same("inlineDepth", "0", tables->nr);
	put_dso_of_each("category", tables, true);
	put_same("subcategory", "0", tables->nr);
	put_count("func", 0, tables->nr);
	put_same("nativeSymbol", "null", tables->nr);
	put_same("innerWindowID", "null", tables->nr);
	put_same("line", "null", tables->nr);
	put_same("column", "null", tables->nr);
	put_length(tables->nr);
}

/* The stack of a node ends with its function, after the stack of its caller. */
static void put_nodes(const struct tree *tree)
{
	size_t i;

	printf("\"frame\": [");
	for (i = 1; i < tree->nr; i++)
		printf("%s%" PRIu32, i > 1 ? "," : "",
		       tree->nodes[i].function);
	printf("],\n\"prefix\": [");
	for (i = 1; i < tree->nr; i++) {
		if (i > 1)
			putchar(',');
		if (tree->nodes[i].caller)
			printf("%" PRIu32, tree->nodes[i].caller - 1);
		else
			printf("null");
	}
	printf("],\n");
	put_length(tree->nr - 1);
}

static void put_stacks(const struct tables *tables)
{
	printf(",\n\"stackTable\": {\n");
	if (tables->tree.nr) {
		put_nodes(&tables->tree);
		return;
	}
	put_count("frame", 0, tables->nr);
	put_same("prefix", "null", tables->nr);
	put_length(tables->nr);
}

static void put_resources(const struct tables *tables)
{
	size_t nr = tables->sum->nr_dsos;

	printf(",\n\"resourceTable\": {\n");
	put_count("lib", 0, nr);
	put_count("name", tables->nr, nr);
	put_same("host", "null", nr);
	put_same("type", RESOURCE_LIBRARY, nr);
	put_length(nr);
}

/* Names of functions, then of DSOs. */
static void put_strings(const struct tables *tables)
{
	size_t i, nr = 0;

	printf(",\n\"stringArray\": [");
	for (i = 0; i < tables->nr; i++) {
		printf("%s\n", nr++ ? "," : "");
		json_string(tables->functions[i].name);
	}
	for (i = 0; i < tables->sum->nr_dsos; i++) {
		printf("%s\n", nr++ ? "," : "");
		json_string(sum_dso_name(tables->sum, i));
	}
	putchar(']');
}

/* The tables that threads share; those that stay empty are required. */
static void put_shared(const struct tables *tables)
{
	printf(",\n\"shared\": {");
	put_functions(tables);
	put_frames(tables);
	put_stacks(tables);
	put_resources(tables);
	printf(",\n\"nativeSymbols\": {\"libIndex\": [], \"address\": [], \"name\": [], \"functionSize\": [], \"length\": 0}"
	       ",\n\"sources\": {\"id\": [], \"filename\": [], \"length\": 0}");
	put_strings(tables);
	putchar('}');
}

static void put_libraries(const struct sum *sum)
{
	size_t i;
	uint32_t j;

	printf(",\n\"libs\": [");
	for (i = 0; i < sum->nr_dsos; i++) {
		const struct sum_dso *dso = &sum->dsos[i];

		printf("%s\n{\"arch\": \"\", \"breakpadId\": \"\", \"codeId\": \"",
		       i ? "," : "");
		for (j = 0; j < dso->build_id_len; j++)
			printf("%02x", dso->build_id[j]);
		printf("\", \"name\": ");
		json_string(base_name(dso->path));
		printf(", \"path\": ");
		json_string(dso->path);
		printf(", \"debugName\": ");
		json_string(base_name(dso->path));
		printf(", \"debugPath\": ");
		json_string(dso->path);
		putchar('}');
	}
	putchar(']');
}

static void put_meta(const struct report *report)
{
	static const char * const colours[SUM_CLASSES] = {
		[SUM_PROGRAM] = "blue",
		[SUM_LIBRARIES] = "green",
		[SUM_KERNEL] = "orange",
		[SUM_OTHER] = "grey",
		[SUM_RUNNABLE] = "yellow",
		[SUM_BLOCKED] = "purple",
		[SUM_IDLE] = "transparent",
	};
	size_t i;

	printf("\"meta\": {\"preprocessedProfileVersion\": %d, \"version\": %d,\n"
	       "\"importedFrom\": \"prohist " VERSION "\", \"product\": ",
	       FORMAT_VERSION, GECKO_VERSION);
	json_string(report->sum->command);
	printf(",\n\"interval\": %.6f, \"startTime\": %.3f,\n",
	       report->sum->period_ns / MS, report->runs->start_unix_ns / MS);
	printf("\"processType\": 0, \"stackwalk\": 0, \"symbolicated\": true,\n"
	       "\"usesOnlyOneStackType\": true, \"sourceCodeIsNotOnSearchfox\": true,\n"
	       "\"markerSchema\": [], \"categories\": [");
	for (i = 0; i < sum_classes(report->sum); i++)
		printf("%s\n{\"name\": \"%s\", \"color\": \"%s\", \"subcategories\": [\"Other\"]}",
		       i ? "," : "", sum_class_name(i), colours[i]);
	printf("]}");
}

/* The samples of an exec: their stacks are those of nodes, or of functions. */
static struct tree_samples find_samples(const struct tables *tables,
					const struct prf *run,
					const struct prf_exec *exec)
{
	struct tree_samples samples = {};
	struct samples flat;
	size_t i;

	if (tables->tree.nr) {
		samples = tree_samples_of(&tables->tree, run, exec);
		for (i = 0; i < samples.nr; i++)
			samples.list[i].node--;
		return samples;
	}
	flat = samples_by_function(tables->sum, run, exec);
	for (i = 0; i < flat.nr; i++) {
		const struct sample *sample = &flat.list[i];

		samples.list = one_more(samples.list, samples.nr,
					sizeof(*samples.list));
		samples.list[samples.nr++] = (struct tree_sample){
			.node = tables->sum->dsos[sample->dso].before +
				sample->piece,
			.ns = sample->ns,
		};
	}
	free(flat.list);
	return samples;
}

/* Put the samples of a thread; returns the time at its end. */
static double put_samples(const struct tree_samples *samples, double begin_ms)
{
	size_t i;

	printf("\"samples\": {\"weightType\": \"tracing-ms\",\n\"stack\": [");
	for (i = 0; i < samples->nr; i++)
		printf("%s%" PRIu32, i ? "," : "", samples->list[i].node);
	printf("],\n\"weight\": [");
	for (i = 0; i < samples->nr; i++)
		printf("%s%.6f", i ? "," : "", samples->list[i].ns / MS);
	printf("],\n\"time\": [");
	for (i = 0; i < samples->nr; i++) {
		printf("%s%.6f", i ? "," : "", begin_ms);
		begin_ms += samples->list[i].ns / MS;
	}
	printf("],\n");
	put_length(samples->nr);
	return begin_ms;
}

static void put_thread(const struct tables *tables, const struct prf *run,
		       const struct prf_exec *exec, double begin_ms)
{
	const struct tree_samples samples = find_samples(tables, run, exec);
	double end_ms;

	printf("\n{\"processType\": \"default\", \"isMainThread\": true, \"name\": ");
	json_string(base_name(exec->name));
	printf(", \"processName\": ");
	json_string(base_name(exec->name));
	printf(",\n\"pid\": \"%" PRIu32 "\", \"tid\": %" PRIu32 ", \"pausedRanges\": [],\n",
	       exec->pid, exec->pid);
	printf("\"markers\": {\"data\": [], \"name\": [], \"startTime\": [], \"endTime\": [], \"phase\": [], \"category\": [], \"length\": 0},\n");
	end_ms = put_samples(&samples, begin_ms);
	printf(",\n\"processStartupTime\": %.6f, \"registerTime\": %.6f,\n"
	       "\"processShutdownTime\": %.6f, \"unregisterTime\": %.6f}",
	       begin_ms, begin_ms, end_ms, end_ms);
	free(samples.list);
}

/* Runs follow one another. */
static void put_threads(const struct tables *tables,
			const struct report *report)
{
	double begin_ns = 0;
	size_t i, j, nr = 0;

	printf(",\n\"threads\": [");
	for (i = 0; i < report->nr; i++) {
		const struct prf *run = &report->runs[i];

		for (j = 0; j < run->nr; j++) {
			if (run->execs[j].reach == PRF_NOT_REACHED)
				continue;
			if (nr++)
				putchar(',');
			put_thread(tables, run, &run->execs[j],
				   (begin_ns + run->execs[j].start_ns) / MS);
		}
		begin_ns += run->wall_ns;
	}
	putchar(']');
}

/* Without chains, a function for each piece */
static void make_tables(struct tables *tables, const struct report *report)
{
	const struct sum *sum = report->sum;
	size_t i, j;

	*tables = (struct tables){ .sum = sum };
	if (sum->chains) {
		tree_make(&tables->tree, sum, report->runs, report->nr, false);
		tables->functions = tables->tree.functions;
		tables->nr = tables->tree.nr_functions;
		return;
	}
	tables->functions = calloc(sum->nr_pieces + 1,
				   sizeof(*tables->functions));
	if (!tables->functions)
		err(2, NULL);
	for (i = 0; i < sum->nr_dsos; i++)
		for (j = 0; j < sum->dsos[i].nr_pieces; j++)
			tables->functions[tables->nr++] =
				(struct tree_function){
					.name = sum->dsos[i].pieces[j].name,
					.dso = i,
				};
}

/** print_firefox() - print each exec as a thread */
int print_firefox(const struct report *report)
{
	struct tables tables;

	make_tables(&tables, report);
	putchar('{');
	put_meta(report);
	put_libraries(report->sum);
	put_shared(&tables);
	put_threads(&tables, report);
	printf("}\n");
	if (tables.tree.nr)
		tree_free(&tables.tree);
	else
		free(tables.functions);
	return 0;
}
