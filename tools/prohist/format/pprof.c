// SPDX-License-Identifier: GPL-2.0-only
/*
 * pprof.c - write profile.proto.gz, for pprof
 *
 * The fields are those of profile.proto. Each bucket is a location, which is an
 * address in a mapping. It has a sample for each exec with ticks in it, and if
 * these have chains of callers, for each chain, whose locations begin with it.
 * Mappings are the DSOs at their link-time addresses, each in its own part of
 * the address space. All strings are in one table, and fields refer to them by
 * index.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "prohist/format/protobuf.h"
#include "prohist/report.h"
#include "prohist/samples.h"
#include "util/utf8.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
};

enum value_type_field {
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
};

enum sample_field {
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
};

enum label_field {
	LABEL_KEY = 1,
	LABEL_STRING = 2,
	LABEL_NUMBER = 3,
};

enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
};

enum location_field {
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
};

enum line_field {
	LINE_FUNCTION = 1,
	LINE_NUMBER = 2,
};

enum function_field {
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
};

/* Size of each DSO's part of the address space; the first begins at 0. */
#define PART	(1ULL << 40)

/**
 * struct out - the message being written
 * @file: output stream
 * @strings: number of strings so far
 * @mappings: number of mappings so far
 * @functions: number of functions so far
 * @locations: number of locations so far
 * @first: number of locations before those of each DSO
 * @sample: a sample in the making
 * @data: its contents
 * @size: their size
 */
struct out {
	FILE *file;
	uint64_t strings;
	uint64_t mappings;
	uint64_t functions;
	uint64_t locations;
	uint64_t *first;
	FILE *sample;
	char *data;
	size_t size;
};

/* The program of samples */
struct labels {
	struct proto comm;
	struct proto pid;
};

/**
 * struct frame - a function of a location, and the place in it
 * @name: index of its name
 * @function: its number, or 0 if it has not been written
 * @file: path of the source file, or "" if unknown
 * @line: line number, or 0
 */
struct frame {
	uint64_t name;
	uint64_t function;
	const char *file;
	int line;
};

/* Write a string, with invalid UTF-8 replaced; returns its index. */
static uint64_t put_string(struct out *out, const char *string)
{
	char *text = malloc(strlen(string) * strlen(UTF8_REPLACEMENT) + 1);
	char *end = text;
	int length;

	if (!text)
		err(2, NULL);
	for (; *string; string += length ?: 1) {
		length = utf8_length(string);
		end = length ? mempcpy(end, string, length) :
			stpcpy(end, UTF8_REPLACEMENT);
	}
	proto_put_bytes(out->file, PROFILE_STRING, text, end - text);
	free(text);
	return out->strings++;
}

static void put_value_type(struct out *out, enum profile_field field,
			   const char *type, const char *unit)
{
	struct proto message = {};

	proto_add(&message, VALUE_TYPE, put_string(out, type));
	proto_add(&message, VALUE_UNIT, put_string(out, unit));
	proto_put_message(out->file, field, &message);
}

/* Start of the last mapping's part of the address space. */
static uint64_t base(const struct out *out)
{
	return (out->mappings - 1) * PART;
}

static void put_build_id(struct out *out, struct proto *message,
			 const uint8_t *id, uint32_t length)
{
	char digits[2 * PRF_BUILD_ID + 1];
	uint32_t i;

	if (!length)
		return;
	for (i = 0; i < length; i++)
		sprintf(digits + 2 * i, "%02x", id[i]);
	proto_add(message, MAPPING_BUILD_ID, put_string(out, digits));
}

/*
 * has_functions and the like are set: names were looked up, readers need not.
 */
static void put_mapping(struct out *out, const struct prf_dso *mapping,
			uint64_t start, uint64_t end, bool lines)
{
	struct proto message = {};

	proto_add(&message, MAPPING_ID, ++out->mappings);
	proto_add(&message, MAPPING_START, base(out) + start);
	proto_add(&message, MAPPING_LIMIT, base(out) + end);
	proto_add(&message, MAPPING_OFFSET, mapping->pgoff);
	proto_add(&message, MAPPING_FILE, put_string(out, mapping->path));
	put_build_id(out, &message, mapping->build_id, mapping->build_id_len);
	proto_add(&message, MAPPING_HAS_FUNCTIONS, true);
	proto_add(&message, MAPPING_HAS_FILES, lines);
	proto_add(&message, MAPPING_HAS_LINES, lines);
	proto_put_message(out->file, PROFILE_MAPPING, &message);
}

static uint64_t put_function(struct out *out, uint64_t name, const char *file)
{
	struct proto message = {};

	proto_add(&message, FUNCTION_ID, ++out->functions);
	proto_add(&message, FUNCTION_NAME, name);
	proto_add(&message, FUNCTION_SYSTEM_NAME, name);
	proto_add(&message, FUNCTION_FILE, put_string(out, file));
	proto_put_message(out->file, PROFILE_FUNCTION, &message);
	return out->functions;
}

/*
 * Add a function, of which @place is a line. A function of which lines come from
 * several files is one function for each.
 */
static void find_function(struct out *out, struct frame *frame,
			  const struct place *place)
{
	const char *file = place->file ?: "";

	if (!frame->function || strcmp(file, frame->file))
		frame->function = put_function(out, frame->name, file);
	frame->file = file;
	frame->line = place->line;
}

static void put_line(FILE *file, const struct frame *frame)
{
	struct proto line = {};

	proto_add(&line, LINE_FUNCTION, frame->function);
	proto_add(&line, LINE_NUMBER, frame->line);
	proto_put_message(file, LOCATION_LINE, &line);
}

/* The first line is that of the innermost of several inlined functions. */
static void put_location(struct out *out, uint64_t address,
			 const struct frame *frames, size_t nr)
{
	char *data = NULL;
	size_t size, i;
	FILE *file = open_memstream(&data, &size);

	if (!file)
		err(2, NULL);
	proto_put(file, LOCATION_ID, ++out->locations);
	proto_put(file, LOCATION_MAPPING, out->mappings);
	proto_put(file, LOCATION_ADDRESS, base(out) + address);
	for (i = 0; i < nr; i++)
		put_line(file, &frames[i]);
	if (fclose(file))
		err(2, NULL);
	proto_put_bytes(out->file, PROFILE_LOCATION, data, size);
	free(data);
}

/* The period comes from a file, and may be any number. */
static uint64_t whole(double number)
{
	return number < (double)INT64_MAX ? number + 0.5 : INT64_MAX;
}

/* The function of a piece, and the functions inlined there, innermost first. */
static struct frame *make_frames(struct out *out, const struct sum_piece *piece)
{
	const struct inlines *inlines = &piece->inlines;
	struct frame *frames = calloc(inlines->nr + 1, sizeof(*frames));
	size_t i;

	if (!frames)
		err(2, NULL);
	for (i = 0; i < inlines->nr; i++)
		frames[i].name = put_string(out, inlines->list[i].name);
	frames[i].name = put_string(out, piece->name);
	for (i = 0; i < inlines->nr; i++) {
		const struct place call = {
			.file = inlines->list[i].file,
			.line = inlines->list[i].line,
		};

		find_function(out, &frames[i + 1], &call);
	}
	return frames;
}

/* An inlined function is that of a bucket's first byte, and so is its line. */
static void put_piece(struct out *out, const struct sum_dso *dso,
		      const struct sum_piece *piece)
{
	const struct sum_bucket *bucket = &dso->buckets[piece->first];
	struct frame *frames = make_frames(out, piece);
	struct place place;
	size_t i;

	for (i = 0; i < piece->nr; i++, bucket++) {
		if (piece->inlines.nr)
			symbols_place(&dso->symbols, bucket->address, &place);
		else
			sum_place(dso, piece, bucket, &place);
		find_function(out, frames, &place);
		put_location(out, bucket->address, frames,
			     piece->inlines.nr + 1);
	}
	free(frames);
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
	put_mapping(out, mapping, start, end, has_lines(dso));
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
		put_mapping(out, program, 0, program->end - program->start,
			    false);
	for (i = 0; i < sum->nr_dsos; i++)
		if (&sum->dsos[i] != first)
			put_dso(out, report, &sum->dsos[i]);
}

static struct labels make_labels(struct out *out, const struct prf_exec *exec)
{
	struct labels labels = {};

	proto_add(&labels.comm, LABEL_KEY, put_string(out, "comm"));
	proto_add(&labels.comm, LABEL_STRING,
		  put_string(out, base_name(exec->name)));
	proto_add(&labels.pid, LABEL_KEY, put_string(out, "pid"));
	proto_add(&labels.pid, LABEL_NUMBER, exec->pid);
	return labels;
}

/* Number of the location of a bucket */
static uint64_t location(const struct out *out, const struct sum *sum,
			 const struct sum_dso *dso, size_t bucket)
{
	return out->first[dso - sum->dsos] + bucket + 1;
}

/* Add a location to the sample: the innermost one first. */
static void add_location(struct out *out, uint64_t number)
{
	proto_put(out->sample, SAMPLE_LOCATION, number);
}

/* Put the sample with the locations that were added. */
static void end_sample(struct out *out, const struct labels *labels,
		       uint64_t ticks, double ns)
{
	proto_put(out->sample, SAMPLE_VALUE, ticks);
	proto_put(out->sample, SAMPLE_VALUE, whole(ns));
	proto_put_message(out->sample, SAMPLE_LABEL, &labels->comm);
	proto_put_message(out->sample, SAMPLE_LABEL, &labels->pid);
	if (fflush(out->sample))
		err(2, NULL);
	proto_put_bytes(out->file, PROFILE_SAMPLE, out->data,
			ftello(out->sample));
	rewind(out->sample);
}

static void put_flat(struct out *out, const struct sum *sum,
		     const struct prf *run, const struct prf_exec *exec,
		     const struct labels *labels)
{
	const struct samples samples = samples_of(sum, run, exec);
	size_t i;

	for (i = 0; i < samples.nr; i++) {
		const struct sample *sample = &samples.list[i];

		add_location(out, location(out, sum, &sum->dsos[sample->dso],
					   sample->bucket));
		end_sample(out, labels, sample->ticks, sample->ns);
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
	end_sample(out, labels, ticks, ticks * period_ns);
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
			end_sample(out, labels, node->count,
				   node->count * period_ns);
		}
		if (node->below) {
			add_location(out, location(out, sum,
					sum_whole(sum, SUM_OTHER), 0));
			if (locations[i])
				add_location(out, locations[i]);
			add_callers(out, exec, i, locations);
			end_sample(out, labels, node->below,
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

static void put_profile(struct out *out, const struct report *report)
{
	/* The first string must be empty */
	put_string(out, "");
	put_value_type(out, PROFILE_SAMPLE_TYPE, "samples", "count");
	put_value_type(out, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
	put_value_type(out, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
	proto_put(out->file, PROFILE_PERIOD, whole(report->sum->period_ns));
	proto_put(out->file, PROFILE_TIME_NS, report->runs->start_unix_ns);
	proto_put(out->file, PROFILE_DURATION_NS, whole(report->sum->wall_ns));
	proto_put(out->file, PROFILE_COMMENT,
		  put_string(out, report->sum->command));
	put_dsos(out, report);
	put_execs(out, report);
}

static ssize_t compress_some(void *file, const char *data, size_t size)
{
	return gzfwrite(data, 1, size, file);
}

static int compress_rest(void *file)
{
	return gzclose(file) ? EOF : 0;
}

/* Open a stream that writes compressed data to standard output. */
static FILE *open_gzip(void)
{
	const cookie_io_functions_t functions = {
		.write = compress_some,
		.close = compress_rest,
	};
	gzFile file = gzdopen(dup(STDOUT_FILENO), "wb");

	return file ? fopencookie(file, "w", functions) : NULL;
}

/** write_pprof() - write all buckets by DSO and function */
int write_pprof(const struct report *report)
{
	struct out out = { .file = open_gzip() };
	bool failed;

	if (!out.file)
		err(2, NULL);
	out.first = calloc(report->sum->nr_dsos + 1, sizeof(*out.first));
	out.sample = open_memstream(&out.data, &out.size);
	if (!out.first || !out.sample)
		err(2, NULL);
	put_profile(&out, report);
	fclose(out.sample);
	free(out.data);
	free(out.first);
	failed = ferror(out.file);
	if (fclose(out.file) || failed) {
		warn("pprof");
		return -1;
	}
	return 0;
}
