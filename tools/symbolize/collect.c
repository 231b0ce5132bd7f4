// SPDX-License-Identifier: GPL-2.0-only
/*
 * collect.c - collect the names of a profile's code
 *
 * Asks the files of the DSOs all that prohist will ask, and keeps the answers for
 * a NAMES record.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/collect.h"
#include "symbolize/symbols.h"
#include "util/array.h"

/* A mapping, its file elsewhere, its position in the run, and the callers in it */
struct mapping {
	const struct prf_dso *dso;
	const char *file;
	uint32_t position;
	const struct prf_site *callers;
	size_t nr_callers;
};

/*
 * A bucket with ticks, or of a caller; @start is its link-time address. Where the
 * function of a caller begins, @bytes is 0, and @start the last byte, as in struct
 * sum_bucket.
 */
struct bucket {
	uint64_t start;
	uint64_t bytes;
};

/* An inlined call of the DSO; of two with the same @entry, one is kept. */
struct call {
	const void *entry;
	struct prf_frame frame;
	uint32_t number;
};

/*
 * Mappings of one DSO, their buckets, and what was found. @sites: callers are told
 * apart by where they call. @functions_only: no inlined calls, and no lines.
 */
struct collector {
	bool sites;
	bool functions_only;
	struct symbols symbols;
	size_t nr_buckets;
	struct bucket *buckets;
	void *calls;
	struct prf_names names;
};

static int by_dso(const void *a, const void *b)
{
	const struct mapping *left = a, *right = b;
	int order = prf_compare_files(left->dso, right->dso);

	if (order)
		return order;
	return left->position < right->position ? -1 :
		left->position > right->position;
}

/* Mappings in the making. */
struct mappings {
	size_t nr;
	struct mapping *list;
};

/* List those of an exec that are chosen, and have ticks or callers. */
static int list_exec(struct mappings *mappings, const struct prf_exec *exec,
		     const bool *chosen, const char *const *files,
		     uint32_t position)
{
	struct prf_site *callers;
	struct mapping *more;
	size_t nr, first, end = 0, i;

	callers = prf_callers(exec, &nr);
	if (!callers)
		return -1;
	for (i = 0; i < exec->nr; i++) {
		for (first = end; end < nr && callers[end].dso == i; end++)
			;
		if (!chosen[position + i] ||
		    (!exec->dsos[i].nr && end == first))
			continue;
		more = array_grow(mappings->list, mappings->nr, sizeof(*more));
		if (!more)
			return -1;
		mappings->list = more;
		more[mappings->nr++] = (struct mapping){
			&exec->dsos[i], files[position + i], position + i,
			callers + first, end - first
		};
	}
	return 0;
}

/* List the mappings of all execs, each DSO's together. */
static int list_mappings(struct mappings *mappings, const struct prf *prf,
			 const bool *chosen, const char *const *files)
{
	uint32_t position = 0;
	size_t i;

	for (i = 0; i < prf->nr; position += prf->execs[i++].nr)
		if (list_exec(mappings, &prf->execs[i], chosen, files,
			      position))
			return -1;
	if (mappings->nr)
		qsort(mappings->list, mappings->nr, sizeof(*mappings->list),
		      by_dso);
	return 0;
}

/* Make room for one more element of an array of @names. */
#define GROW(array, nr) ({ \
	void *_more = array_grow(array, nr, sizeof(*(array))); \
	if (_more) \
		(array) = _more; \
	_more; })

static int add_bucket(struct collector *collector, const struct prf_dso *dso,
		      uint64_t offset, uint64_t bytes)
{
	if (!GROW(collector->buckets, collector->nr_buckets))
		return -1;
	collector->buckets[collector->nr_buckets++] = (struct bucket){
		symbols_address(&collector->symbols, dso, offset), bytes
	};
	return 0;
}

static int add_caller(struct collector *collector, const struct prf_dso *dso,
		      uint64_t offset)
{
	return collector->sites ?
		add_bucket(collector, dso, offset, dso->bucket_bytes) :
		add_bucket(collector, dso, offset + dso->bucket_bytes - 1, 0);
}

static int add_mapping(struct collector *collector,
		       const struct mapping *mapping)
{
	struct prf_names *names = &collector->names;
	const struct prf_dso *dso = mapping->dso;
	size_t i;

	if (!GROW(names->dsos, names->nr_dsos))
		return -1;
	names->dsos[names->nr_dsos++] = mapping->position;
	for (i = 0; i < dso->nr; i++)
		if (add_bucket(collector, dso, dso->buckets[i].offset,
			       dso->bucket_bytes))
			return -1;
	for (i = 0; i < mapping->nr_callers; i++)
		if (add_caller(collector, dso, mapping->callers[i].offset))
			return -1;
	return 0;
}

static int add_segments(struct collector *collector)
{
	const struct symbols *symbols = &collector->symbols;
	struct prf_names *names = &collector->names;
	struct prf_segment segment;

	while (names->nr_segments < PRF_NAMES_SEGMENTS &&
	       symbols_segment(symbols, names->nr_segments, &segment)) {
		if (!GROW(names->segments, names->nr_segments))
			return -1;
		names->segments[names->nr_segments++] = segment;
	}
	return 0;
}

static int add_line(struct collector *collector, uint64_t address)
{
	struct prf_names *names = &collector->names;
	struct place place;

	if (collector->functions_only ||
	    !symbols_place(&collector->symbols, address, &place))
		return 0;
	if (!GROW(names->lines, names->nr_lines))
		return -1;
	names->lines[names->nr_lines++] = (struct prf_line){
		address, place.file, place.line
	};
	return 0;
}

/* Add the function of a bucket, unless it is the last one. */
static int add_function(struct collector *collector,
			const struct bucket *bucket)
{
	struct prf_names *names = &collector->names;
	struct prf_function *last = names->functions + names->nr_functions;
	struct symbol symbol;

	if (symbols_look_up(&collector->symbols, bucket->start,
			    bucket->bytes ?: 1, &symbol))
		return -1;
	if (!symbol.name)
		symbol.name = strdup("");
	if (!symbol.name)
		return -1;
	if (names->nr_functions && last[-1].start == symbol.start &&
	    last[-1].end == symbol.end && !strcmp(last[-1].name, symbol.name)) {
		free(symbol.name);
		return 0;
	}
	if (!GROW(names->functions, names->nr_functions))
		return -1;
	names->functions[names->nr_functions++] = (struct prf_function){
		symbol.start, symbol.end, symbol.name
	};
	return add_line(collector, symbol.start);
}

static int by_call(const void *a, const void *b)
{
	const struct call *left = a, *right = b;
	const struct prf_frame *f = &left->frame, *g = &right->frame;
	int order;

	if (left->entry != right->entry)
		return left->entry < right->entry ? -1 : 1;
	if (f->parent != g->parent)
		return f->parent < g->parent ? -1 : 1;
	if (f->line != g->line)
		return f->line < g->line ? -1 : 1;
	order = strcmp(f->name, g->name);
	return order ?: strcmp(f->file, g->file);
}

/* Number of a call, from 1, which is added if it is new; 0 if out of memory */
static uint32_t call_number(struct collector *collector,
			    const struct call *wanted)
{
	struct prf_names *names = &collector->names;
	struct call *call = malloc(sizeof(*call)), **found;

	if (!call)
		return 0;
	*call = *wanted;
	found = tsearch(call, &collector->calls, by_call);
	if (!found || *found != call) {
		free(call);
		return found ? (*found)->number : 0;
	}
	call->frame.name = strdup(wanted->frame.name);
	if (!call->frame.name || !GROW(names->frames, names->nr_frames))
		return 0;
	names->frames[names->nr_frames++] = call->frame;
	call->number = names->nr_frames;
	return call->number;
}

/* Calls are listed from the innermost; frames need the outermost first. */
static int add_calls(struct collector *collector, const struct inlines *inlines,
		     uint32_t *frame)
{
	size_t i = inlines->nr;

	for (*frame = 0; i--;) {
		const struct inlined *inlined = &inlines->list[i];
		const struct call call = {
			.entry = i ? NULL : inlines->entry,
			.frame = {
				.parent = *frame,
				.line = inlined->line,
				.name = inlined->name,
				.file = inlined->file ?: "",
			},
		};

		*frame = call_number(collector, &call);
		if (!*frame)
			return -1;
	}
	return 0;
}

static int add_frame(struct collector *collector, uint64_t address,
		     uint32_t *frame)
{
	struct inlines inlines;
	int failed = symbols_inlines(&collector->symbols, address, &inlines) ||
		add_calls(collector, &inlines, frame);

	inlines_free(&inlines);
	return failed ? -1 : 0;
}

/* The lines are those that sum_place() and the formats ask for. */
static int add_spot(struct collector *collector, const struct bucket *bucket)
{
	struct prf_names *names = &collector->names;
	uint64_t end = bucket->start + (bucket->bytes ?: 1), limit;
	uint32_t frame = 0;

	if (add_function(collector, bucket) ||
	    (bucket->bytes && !collector->functions_only &&
	     add_frame(collector, bucket->start, &frame)))
		return -1;
	if (!GROW(names->spots, names->nr_spots))
		return -1;
	names->spots[names->nr_spots++] = (struct prf_spot){
		bucket->start, names->nr_functions - 1, frame
	};
	limit = names->functions[names->nr_functions - 1].end;
	return add_line(collector, bucket->start) ||
		add_line(collector, (end < limit ? end : limit) - 1) ? -1 : 0;
}

static void remove_repeated_lines(struct prf_names *names)
{
	size_t i, nr = 0;

	if (names->nr_lines)
		qsort(names->lines, names->nr_lines, sizeof(*names->lines),
		      array_by_start);
	for (i = 0; i < names->nr_lines; i++)
		if (!nr || names->lines[nr - 1].address !=
			   names->lines[i].address)
			names->lines[nr++] = names->lines[i];
	names->nr_lines = nr;
}

/* Of two at an address, the one that has inlined functions comes first. */
static int by_address(const void *a, const void *b)
{
	const struct bucket *left = a, *right = b;

	return array_by_start(a, b) ?: (left->bytes < right->bytes) -
				       (left->bytes > right->bytes);
}

static int collect(struct collector *collector)
{
	const struct bucket *buckets = collector->buckets;
	size_t i;

	if (add_segments(collector))
		return -1;
	qsort(collector->buckets, collector->nr_buckets, sizeof(*buckets),
	      by_address);
	for (i = 0; i < collector->nr_buckets; i++)
		if ((!i || buckets[i].start != buckets[i - 1].start) &&
		    add_spot(collector, &buckets[i]))
			return -1;
	remove_repeated_lines(&collector->names);
	return 0;
}

/* Open the file at the path of a DSO; or, if that is another one, its own. */
static int open_symbols(struct symbols *symbols, const struct prf *prf,
			const struct mapping *list, size_t nr)
{
	const struct prf_dso *dso = list->dso;
	size_t i;

	if (symbols_open(symbols, dso->path, dso))
		return -1;
	/* Where one process has ended, another one may still be */
	for (i = 0; i < nr && !prf_compare_files(list[i].dso, dso); i++) {
		if (!list[i].file ||
		    symbols_certain(symbols, dso, prf->start_unix_ns))
			continue;
		symbols_close(symbols);
		if (symbols_open(symbols, list[i].file, dso))
			return -1;
	}
	return 0;
}

/*
 * Collect the names of the DSO at the head of the list. Returns the number of its
 * mappings, 0 if out of memory.
 */
static size_t collect_dso(struct collector *collector, const struct prf *prf,
			  const struct mapping *list, size_t nr)
{
	const struct prf_dso *dso = list->dso;
	size_t i;

	collector->sites = prf->flags & PRF_FLAG_CALL_SITES;
	if (open_symbols(&collector->symbols, prf, list, nr))
		return 0;
	/* Those of a system's libraries take longer to unpack than most programs run */
	if (collector->symbols.module &&
	    !symbols_describe(&collector->symbols))
		collector->functions_only = true;
	for (i = 0; i < nr && !prf_compare_files(list[i].dso, dso); i++)
		if (symbols_certain(&collector->symbols, dso, prf->start_unix_ns) &&
		    add_mapping(collector, &list[i]))
			return 0;
	return collector->nr_buckets && collect(collector) ? 0 : i;
}

/* Pack the names of all DSOs; without source lines if they are too large. */
static void *pack(struct collector *collectors, size_t nr, size_t most,
		  size_t *size)
{
	struct prf_names *names = calloc(nr + 1, sizeof(*names));
	size_t i, j, used = 0;
	void *data;

	if (!names)
		return NULL;
	for (i = 0; i < nr; i++)
		if (collectors[i].nr_buckets)
			names[used++] = collectors[i].names;
	data = prf_names_pack(names, used, size);
	if (data && *size > most) {
		free(data);
		for (i = 0; i < used; i++) {
			names[i].nr_lines = names[i].nr_frames = 0;
			for (j = 0; j < names[i].nr_spots; j++)
				names[i].spots[j].frame = 0;
		}
		data = prf_names_pack(names, used, size);
	}
	free(names);
	return data;
}

/**
 * collect_names() - collect the names of a profile's code from files
 * @prf: the profile
 * @chosen: for each DSO of all execs, whether to collect its names
 * @files: for each DSO, another path of its file, if it is not at its own; or NULL
 * @functions_only: collect neither inlined calls nor source lines
 * @most: size in bytes beyond which these are left out, too; the rest may be larger
 * @size: receives the size of the names, in bytes
 *
 * For a process that then ends: much memory is not freed.
 *
 * Return: the contents of a NAMES record, for prf_add_names(), or NULL if out of
 * memory.
 */
void *collect_names(const struct prf *prf, const bool *chosen,
		    const char *const *files, bool functions_only, size_t most, size_t *size)
{
	struct mappings mappings = {};
	struct collector *collectors;
	size_t at, used = 0, taken;

	if (list_mappings(&mappings, prf, chosen, files))
		return NULL;
	collectors = calloc(mappings.nr + 1, sizeof(*collectors));
	if (!collectors)
		return NULL;
	for (at = 0; at < mappings.nr; at += taken) {
		collectors[used].functions_only = functions_only;
		taken = collect_dso(&collectors[used++], prf,
				    mappings.list + at, mappings.nr - at);
		if (!taken)
			return NULL;
	}
	return pack(collectors, used, most, size);
}
