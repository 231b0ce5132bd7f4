// SPDX-License-Identifier: GPL-2.0-only
/*
 * pprof_message.c - write the messages of profile.proto, for pprof
 *
 * The fields are those of profile.proto. Mappings are DSOs at their link-time
 * addresses, each in its own part of the address space. All strings are in one
 * table, and fields refer to them by index.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "pprof/pprof_message.h"
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

static ssize_t compress_some(void *file, const char *data, size_t size)
{
	return gzfwrite(data, 1, size, file);
}

static int compress_rest(void *file)
{
	return gzclose(file) ? EOF : 0;
}

/**
 * pprof_open() - open a stream that writes compressed data
 * @fd: where to; stays open when the stream is closed
 *
 * Return: the stream, or NULL.
 */
FILE *pprof_open(int fd)
{
	const cookie_io_functions_t functions = {
		.write = compress_some,
		.close = compress_rest,
	};
	/* The default, 6, takes twice the time for some 2 percent less */
	gzFile file = gzdopen(dup(fd), "wb5");

	return file ? fopencookie(file, "w", functions) : NULL;
}

static void put_value_type(struct pprof *pprof, enum profile_field field,
			   const char *type, const char *unit)
{
	struct proto message = {};

	proto_add(&message, VALUE_TYPE, pprof_string(pprof, type));
	proto_add(&message, VALUE_UNIT, pprof_string(pprof, unit));
	proto_put_message(pprof->file, field, &message);
}

static void begin_nested(struct pprof *pprof, struct pprof_nested *nested)
{
	nested->file = open_memstream(&nested->data, &nested->size);
	pprof->failed |= !nested->file;
}

static void put_nested(struct pprof *pprof, enum profile_field field,
		       struct pprof_nested *nested)
{
	if (fflush(nested->file)) {
		pprof->failed = true;
		return;
	}
	proto_put_bytes(pprof->file, field, nested->data,
			ftello(nested->file));
	rewind(nested->file);
}

static void end_nested(struct pprof_nested *nested)
{
	if (nested->file)
		fclose(nested->file);
	free(nested->data);
}

/**
 * pprof_begin() - begin a profile of ticks and of their CPU time
 * @pprof: receives it, for pprof_end()
 * @file: where to write; closing it is up to the caller
 */
void pprof_begin(struct pprof *pprof, FILE *file)
{
	*pprof = (struct pprof){ .file = file };
	begin_nested(pprof, &pprof->sample);
	begin_nested(pprof, &pprof->location);
	/* The first string must be empty */
	pprof_string(pprof, "");
	put_value_type(pprof, PROFILE_SAMPLE_TYPE, "samples", "count");
	put_value_type(pprof, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
	put_value_type(pprof, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
}

/**
 * pprof_add_wall() - have samples of wall time, too, for pprof_end_wait()
 *
 * To be called before the first sample. Readers show the last type by default.
 */
void pprof_add_wall(struct pprof *pprof)
{
	pprof->wall = true;
	put_value_type(pprof, PROFILE_SAMPLE_TYPE, "wall", "nanoseconds");
	put_value_type(pprof, PROFILE_PERIOD_TYPE, "wall", "nanoseconds");
}

/**
 * pprof_end() - end a profile
 *
 * Return: 0, or -1 if out of memory, or if the file has an error.
 */
int pprof_end(struct pprof *pprof)
{
	end_nested(&pprof->sample);
	end_nested(&pprof->location);
	return pprof->failed || ferror(pprof->file) ? -1 : 0;
}

/** pprof_string() - write a string, with invalid UTF-8 replaced; returns its index */
uint64_t pprof_string(struct pprof *pprof, const char *string)
{
	char *text, *end;
	int length;

	if (!*string && pprof->strings)
		return 0;
	text = malloc(strlen(string) * strlen(UTF8_REPLACEMENT) + 1);
	end = text;
	if (!text) {
		pprof->failed = true;
		return 0;
	}
	for (; *string; string += length ?: 1) {
		length = utf8_length(string);
		end = length ? mempcpy(end, string, length) :
			stpcpy(end, UTF8_REPLACEMENT);
	}
	proto_put_bytes(pprof->file, PROFILE_STRING, text, end - text);
	free(text);
	return pprof->strings++;
}

/* The period comes from a file, and may be any number. */
static uint64_t whole(double number)
{
	return number < (double)INT64_MAX ? number + 0.5 : INT64_MAX;
}

/**
 * pprof_times() - write when and how often ticks were taken
 * @pprof: the profile
 * @period_ns: mean CPU time between ticks
 * @start_unix_ns: start, in nanoseconds since the epoch
 * @wall_ns: duration
 */
void pprof_times(struct pprof *pprof, double period_ns, uint64_t start_unix_ns,
		 double wall_ns)
{
	proto_put(pprof->file, PROFILE_PERIOD, whole(period_ns));
	proto_put(pprof->file, PROFILE_TIME_NS, start_unix_ns);
	proto_put(pprof->file, PROFILE_DURATION_NS, whole(wall_ns));
}

/** pprof_comment() - write a comment on the whole profile */
void pprof_comment(struct pprof *pprof, const char *comment)
{
	proto_put(pprof->file, PROFILE_COMMENT, pprof_string(pprof, comment));
}

/* Start of a mapping's part of the address space */
static uint64_t base(uint64_t mapping)
{
	return (mapping - 1) * PART;
}

static void put_build_id(struct pprof *pprof, struct proto *message,
			 const struct prf_dso *dso)
{
	char digits[2 * PRF_BUILD_ID + 1];
	uint32_t i;

	if (!dso->build_id_len)
		return;
	for (i = 0; i < dso->build_id_len; i++)
		sprintf(digits + 2 * i, "%02x", dso->build_id[i]);
	proto_add(message, MAPPING_BUILD_ID, pprof_string(pprof, digits));
}

/**
 * pprof_mapping() - write a mapping
 * @pprof: the profile
 * @dso: its file, offset and build ID
 * @start: its first link-time address
 * @end: first address after it
 * @lines: locations in it have source lines
 *
 * has_functions and the like are set: names were looked up, readers need not.
 */
uint64_t pprof_mapping(struct pprof *pprof, const struct prf_dso *dso,
		       uint64_t start, uint64_t end, bool lines)
{
	uint64_t number = ++pprof->mappings;
	struct proto message = {};

	proto_add(&message, MAPPING_ID, number);
	proto_add(&message, MAPPING_START, base(number) + start);
	proto_add(&message, MAPPING_LIMIT, base(number) + end);
	proto_add(&message, MAPPING_OFFSET, dso->pgoff);
	proto_add(&message, MAPPING_FILE, pprof_string(pprof, dso->path));
	put_build_id(pprof, &message, dso);
	proto_add(&message, MAPPING_HAS_FUNCTIONS, true);
	proto_add(&message, MAPPING_HAS_FILES, lines);
	proto_add(&message, MAPPING_HAS_LINES, lines);
	proto_put_message(pprof->file, PROFILE_MAPPING, &message);
	return number;
}

/**
 * pprof_function() - write a function
 * @pprof: the profile
 * @name: index of its name
 * @file: path of its source file, or "" if unknown
 */
uint64_t pprof_function(struct pprof *pprof, uint64_t name, const char *file)
{
	uint64_t number = ++pprof->functions;
	struct proto message = {};

	proto_add(&message, FUNCTION_ID, number);
	proto_add(&message, FUNCTION_NAME, name);
	proto_add(&message, FUNCTION_SYSTEM_NAME, name);
	proto_add(&message, FUNCTION_FILE, pprof_string(pprof, file));
	proto_put_message(pprof->file, PROFILE_FUNCTION, &message);
	return number;
}

static void put_line(FILE *file, const struct pprof_line *line)
{
	struct proto message = {};

	proto_add(&message, LINE_FUNCTION, line->function);
	proto_add(&message, LINE_NUMBER, line->line);
	proto_put_message(file, LOCATION_LINE, &message);
}

/**
 * pprof_location() - write a location
 * @pprof: the profile
 * @mapping: its mapping
 * @address: its link-time address
 * @lines: its functions; that which is inlined in the others comes first
 * @nr: number of functions
 */
uint64_t pprof_location(struct pprof *pprof, uint64_t mapping,
			uint64_t address, const struct pprof_line *lines,
			size_t nr)
{
	uint64_t number = ++pprof->locations;
	FILE *file = pprof->location.file;
	size_t i;

	if (pprof->failed)
		return number;
	proto_put(file, LOCATION_ID, number);
	proto_put(file, LOCATION_MAPPING, mapping);
	proto_put(file, LOCATION_ADDRESS, base(mapping) + address);
	for (i = 0; i < nr; i++)
		put_line(file, &lines[i]);
	put_nested(pprof, PROFILE_LOCATION, &pprof->location);
	return number;
}

/** pprof_text_label() - make a label of samples whose value is a string */
struct proto pprof_text_label(struct pprof *pprof, const char *key,
			      const char *value)
{
	struct proto label = {};

	proto_add(&label, LABEL_KEY, pprof_string(pprof, key));
	proto_add(&label, LABEL_STRING, pprof_string(pprof, value));
	return label;
}

/** pprof_number_label() - make a label of samples whose value is a number */
struct proto pprof_number_label(struct pprof *pprof, const char *key,
				uint64_t value)
{
	struct proto label = {};

	proto_add(&label, LABEL_KEY, pprof_string(pprof, key));
	proto_add(&label, LABEL_NUMBER, value);
	return label;
}

/** pprof_add_location() - add a location to the next sample: innermost first */
void pprof_add_location(struct pprof *pprof, uint64_t location)
{
	if (!pprof->failed)
		proto_put(pprof->sample.file, SAMPLE_LOCATION, location);
}

static void end_sample(struct pprof *pprof, const struct proto *labels,
		       size_t nr, uint64_t ticks, double cpu_ns, double wall_ns)
{
	FILE *file = pprof->sample.file;
	size_t i;

	if (pprof->failed)
		return;
	proto_put(file, SAMPLE_VALUE, ticks);
	proto_put(file, SAMPLE_VALUE, whole(cpu_ns));
	if (pprof->wall)
		proto_put(file, SAMPLE_VALUE, whole(wall_ns));
	for (i = 0; i < nr; i++)
		proto_put_message(file, SAMPLE_LABEL, &labels[i]);
	put_nested(pprof, PROFILE_SAMPLE, &pprof->sample);
}

/**
 * pprof_end_sample() - write the sample with the locations that were added
 * @pprof: the profile
 * @labels: its labels
 * @nr: number of labels
 * @ticks: its ticks
 * @ns: their CPU time
 */
void pprof_end_sample(struct pprof *pprof, const struct proto *labels,
		      size_t nr, uint64_t ticks, double ns)
{
	end_sample(pprof, labels, nr, ticks, ns, ns);
}

/**
 * pprof_end_wait() - write the sample of a wait, which has no CPU time
 * @pprof: the profile, with wall time
 * @labels: its labels
 * @nr: number of labels
 * @ticks: its ticks
 * @ns: their time
 */
void pprof_end_wait(struct pprof *pprof, const struct proto *labels,
		    size_t nr, uint64_t ticks, double ns)
{
	end_sample(pprof, labels, nr, ticks, 0, ns);
}
