// SPDX-License-Identifier: GPL-2.0-only
/*
 * firefox.c - write the processed profile format of the Firefox Profiler
 *
 * Its version is the first in which threads share the tables of functions, and
 * each later one still opens it. Each exec is a thread, in which each function
 * has one sample, whose weight is its CPU time in milliseconds. Histograms have
 * no times: the samples of a thread follow one another. Functions, frames and
 * stacks have the same index, and so have DSOs, libraries and resources.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "prohist/format/json.h"
#include "prohist/report.h"
#include "prohist/samples.h"

#define FORMAT_VERSION	60

/* Version of the format of Firefox itself at that time; the profiler wants it. */
#define GECKO_VERSION	31

/* Type of a resource. */
#define RESOURCE_LIBRARY	"1"

#define MS	1e6

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
static void put_dso_of_each(const char *name, const struct sum *sum,
			    bool class)
{
	size_t i, j, nr = 0;

	printf("\"%s\": [", name);
	for (i = 0; i < sum->nr_dsos; i++)
		for (j = 0; j < sum->dsos[i].nr_pieces; j++)
			printf("%s%zu", nr++ ? "," : "",
			       class ? sum->dsos[i].class : i);
	printf("],\n");
}

static void put_length(size_t nr)
{
	printf("\"length\": %zu}", nr);
}

static void put_functions(const struct sum *sum)
{
	printf("\"funcTable\": {\n");
	put_count("name", 0, sum->nr_pieces);
	put_same("isJS", "false", sum->nr_pieces);
	put_same("relevantForJS", "false", sum->nr_pieces);
	put_dso_of_each("resource", sum, false);
	put_same("source", "null", sum->nr_pieces);
	put_same("lineNumber", "null", sum->nr_pieces);
	put_same("columnNumber", "null", sum->nr_pieces);
	put_length(sum->nr_pieces);
}

static void put_frames(const struct sum *sum)
{
	printf(",\n\"frameTable\": {\n");
	put_same("address", "-1", sum->nr_pieces);
	put_same("inlineDepth", "0", sum->nr_pieces);
	put_dso_of_each("category", sum, true);
	put_same("subcategory", "0", sum->nr_pieces);
	put_count("func", 0, sum->nr_pieces);
	put_same("nativeSymbol", "null", sum->nr_pieces);
	put_same("innerWindowID", "null", sum->nr_pieces);
	put_same("line", "null", sum->nr_pieces);
	put_same("column", "null", sum->nr_pieces);
	put_length(sum->nr_pieces);
}

static void put_stacks(const struct sum *sum)
{
	printf(",\n\"stackTable\": {\n");
	put_count("frame", 0, sum->nr_pieces);
	put_same("prefix", "null", sum->nr_pieces);
	put_length(sum->nr_pieces);
}

static void put_resources(const struct sum *sum)
{
	printf(",\n\"resourceTable\": {\n");
	put_count("lib", 0, sum->nr_dsos);
	put_count("name", sum->nr_pieces, sum->nr_dsos);
	put_same("host", "null", sum->nr_dsos);
	put_same("type", RESOURCE_LIBRARY, sum->nr_dsos);
	put_length(sum->nr_dsos);
}

/* Names of functions, then of DSOs. */
static void put_strings(const struct sum *sum)
{
	size_t i, j, nr = 0;

	printf(",\n\"stringArray\": [");
	for (i = 0; i < sum->nr_dsos; i++)
		for (j = 0; j < sum->dsos[i].nr_pieces; j++) {
			printf("%s\n", nr++ ? "," : "");
			json_string(sum->dsos[i].pieces[j].name);
		}
	for (i = 0; i < sum->nr_dsos; i++) {
		printf("%s\n", nr++ ? "," : "");
		json_string(sum_dso_name(sum, i));
	}
	putchar(']');
}

/* The tables that threads share; those that stay empty are required. */
static void put_shared(const struct sum *sum)
{
	printf(",\n\"shared\": {");
	put_functions(sum);
	put_frames(sum);
	put_stacks(sum);
	put_resources(sum);
	printf(",\n\"nativeSymbols\": {\"libIndex\": [], \"address\": [], \"name\": [], \"functionSize\": [], \"length\": 0}"
	       ",\n\"sources\": {\"id\": [], \"filename\": [], \"length\": 0}");
	put_strings(sum);
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
	for (i = 0; i < SUM_CLASSES; i++)
		printf("%s\n{\"name\": \"%s\", \"color\": \"%s\", \"subcategories\": [\"Other\"]}",
		       i ? "," : "", sum_class_name(i), colours[i]);
	printf("]}");
}

/* Put the samples of a thread; returns the time at its end. */
static double put_samples(const struct sum *sum, const struct samples *samples,
			  double begin_ms)
{
	size_t i;

	printf("\"samples\": {\"weightType\": \"tracing-ms\",\n\"stack\": [");
	for (i = 0; i < samples->nr; i++)
		printf("%s%zu", i ? "," : "",
		       sum->dsos[samples->list[i].dso].before +
		       samples->list[i].piece);
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

static void put_thread(const struct sum *sum, const struct prf *run,
		       const struct prf_exec *exec, double begin_ms)
{
	const struct samples samples = samples_by_function(sum, run, exec);
	double end_ms;

	printf("\n{\"processType\": \"default\", \"isMainThread\": true, \"name\": ");
	json_string(base_name(exec->name));
	printf(", \"processName\": ");
	json_string(base_name(exec->name));
	printf(",\n\"pid\": \"%" PRIu32 "\", \"tid\": %" PRIu32 ", \"pausedRanges\": [],\n",
	       exec->pid, exec->pid);
	printf("\"markers\": {\"data\": [], \"name\": [], \"startTime\": [], \"endTime\": [], \"phase\": [], \"category\": [], \"length\": 0},\n");
	end_ms = put_samples(sum, &samples, begin_ms);
	printf(",\n\"processStartupTime\": %.6f, \"registerTime\": %.6f,\n"
	       "\"processShutdownTime\": %.6f, \"unregisterTime\": %.6f}",
	       begin_ms, begin_ms, end_ms, end_ms);
	free(samples.list);
}

/* Runs follow one another. */
static void put_threads(const struct report *report)
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
			put_thread(report->sum, run, &run->execs[j],
				   (begin_ns + run->execs[j].start_ns) / MS);
		}
		begin_ns += run->wall_ns;
	}
	putchar(']');
}

/** print_firefox() - print each exec as a thread */
int print_firefox(const struct report *report)
{
	putchar('{');
	put_meta(report);
	put_libraries(report->sum);
	put_shared(report->sum);
	put_threads(report);
	printf("}\n");
	return 0;
}
