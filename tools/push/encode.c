// SPDX-License-Identifier: GPL-2.0-only
/*
 * encode.c - write windows in pprof's format
 *
 * Each place with ticks or callers is a location, whose function code.c knows.
 * Execs of the same program in the same cgroup share labels.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pprof/pprof_message.h"
#include "profil/code.h"
#include "profil/session.h"
#include "push/config.h"
#include "push/encode.h"
#include "util/file.h"

/* Ticks that are in no file, or nobody knows in which */
#define KERNEL		"[kernel]"
#define ELSEWHERE	"[elsewhere]"

/* A cgroup that was gone before the table was read, or is out of sight */
#define UNKNOWN_CGROUP	"[unknown cgroup]"

/* First size of the table of locations; a power of two */
#define SPOTS	1024

/**
 * struct spot - a location that has been written
 * @file: its file
 * @address: its address
 * @number: its number; 0 if it is free
 */
struct spot {
	const struct code_file *file;
	uint64_t address;
	uint64_t number;
};

/**
 * struct out - a profile being written
 * @pprof: its messages
 * @failed: there was no memory
 * @nr: number of locations
 * @room: number of elements of @spots, a power of two
 * @spots: the locations, hashed by file and address
 * @labels: labels of the exec's samples
 * @nr_labels: number of labels
 * @period_ns: CPU time between ticks
 * @ticks: ticks written so far
 */
struct out {
	struct pprof pprof;
	bool failed;
	size_t nr;
	size_t room;
	struct spot *spots;
	struct proto *labels;
	size_t nr_labels;
	double period_ns;
	uint64_t ticks;
};

/**
 * struct item - an exec to be written
 * @prf: the profile that it is in
 * @exec: the exec
 * @files: the code of its DSOs
 */
struct item {
	const struct prf *prf;
	const struct prf_exec *exec;
	struct code_file **files;
};

/* Profiles so far: files and functions know by it which one has them */
static uint64_t profile;

/** encode_key() - name by which the ticks of an exec are kept apart from others */
const char *encode_key(const struct prf_exec *exec)
{
	switch (config.split) {
	case CONFIG_BY_COMM:
		return base_name(exec->name);
	case CONFIG_BY_CGROUP:
		return *exec->cgroup ? exec->cgroup : UNKNOWN_CGROUP;
	default:
		return "";
	}
}

/* ---- locations */

static struct spot *find_spot(const struct out *out,
				const struct code_file *file, uint64_t address)
{
	size_t at = ((uintptr_t)file / 64 + address) * 0x9e3779b97f4a7c15ULL >>
		20;

	for (;; at++) {
		struct spot *spot = &out->spots[at & (out->room - 1)];

		if (!spot->number ||
		    (spot->file == file && spot->address == address))
			return spot;
	}
}

/* Keep half of the table free. */
static int make_room(struct out *out)
{
	struct out old = *out;
	size_t i;

	if (out->nr < out->room / 2)
		return 0;
	out->room = out->room ? 2 * out->room : SPOTS;
	out->spots = calloc(out->room, sizeof(*out->spots));
	if (!out->spots) {
		*out = old;
		return -1;
	}
	for (i = 0; i < old.room; i++)
		if (old.spots[i].number)
			*find_spot(out, old.spots[i].file,
				    old.spots[i].address) = old.spots[i];
	free(old.spots);
	return 0;
}

static uint64_t mapping_of(struct out *out, struct code_file *file)
{
	uint64_t start = UINT64_MAX, end = 0;
	size_t i;

	if (file->profile == profile)
		return file->mapping;
	for (i = 0; i < file->nr_segments; i++) {
		const struct prf_segment *segment = &file->segments[i];

		if (segment->address < start)
			start = segment->address;
		if (segment->address + segment->size > end)
			end = segment->address + segment->size;
	}
	file->profile = profile;
	file->mapping = pprof_mapping(&out->pprof, &file->dso,
				      end ? start : 0, end ?: UINT32_MAX,
				      false);
	return file->mapping;
}

static uint64_t put_function(struct out *out, const char *name)
{
	return pprof_function(&out->pprof, pprof_string(&out->pprof, name), "");
}

/* Number of the function at an address */
static uint64_t function_at(struct out *out, struct code_file *file,
			    uint64_t address, uint64_t bytes)
{
	struct code_function *function = code_function(file, address, bytes);
	char room[CODE_NAME];
	uint64_t number;

	if (function && function->profile == profile)
		return function->number;
	number = put_function(out, code_name(file, function, address, room));
	if (function) {
		function->profile = profile;
		function->number = number;
	}
	return number;
}

static uint64_t location_at(struct out *out, struct code_file *file,
			    uint64_t address, uint64_t bytes)
{
	struct pprof_line line = {};
	struct spot *spot;

	if (!file || make_room(out)) {
		out->failed = true;
		return 1;
	}
	spot = find_spot(out, file, address);
	if (spot->number)
		return spot->number;
	line.function = function_at(out, file, address, bytes);
	*spot = (struct spot){
		file, address, pprof_location(&out->pprof,
					      mapping_of(out, file), address,
					      &line, 1)
	};
	out->nr++;
	return spot->number;
}

/* The location of a whole class of ticks */
static uint64_t location_of(struct out *out, char *name)
{
	const struct prf_dso dso = { .path = name, .kind = PRF_ANONYMOUS };

	return location_at(out, code_file(&dso), 0, 1);
}

/* ---- samples */

static void end_sample(struct out *out, uint64_t ticks)
{
	pprof_end_sample(&out->pprof, out->labels, out->nr_labels, ticks,
			 ticks * out->period_ns);
	out->ticks += ticks;
}

static void put_ticks(struct out *out, uint64_t location, uint64_t ticks)
{
	if (!ticks)
		return;
	pprof_add_location(&out->pprof, location);
	end_sample(out, ticks);
}

static void put_whole(struct out *out, char *name, uint64_t ticks)
{
	if (ticks)
		put_ticks(out, location_of(out, name), ticks);
}

static void put_flat(struct out *out, const struct item *item)
{
	const struct prf_exec *exec = item->exec;
	size_t i, j;

	for (i = 0; i < exec->nr; i++) {
		const struct prf_dso *dso = &exec->dsos[i];
		struct code_file *file = item->files[i];

		for (j = 0; j < dso->nr; j++)
			put_ticks(out, location_at(out, file,
					code_address(file, dso,
						      dso->buckets[j].offset),
					dso->bucket_bytes),
				  dso->buckets[j].count);
	}
	put_whole(out, KERNEL, exec->kernel_count);
}

/* @calls: of a caller, the last byte of the bucket is in the right function */
static uint64_t node_location(struct out *out, const struct item *item,
			      const struct prf_node *node, bool calls)
{
	const struct prf_dso *dso;
	struct code_file *file;
	uint64_t bytes, offset = node->offset;

	if (node->dso == PRF_NODE_KERNEL)
		return location_of(out, KERNEL);
	dso = &item->exec->dsos[node->dso];
	file = item->files[node->dso];
	bytes = dso->bucket_bytes;
	if (calls) {
		offset += bytes - 1;
		bytes = 1;
	}
	return location_at(out, file, code_address(file, dso, offset), bytes);
}

static void add_callers(struct out *out, const struct item *item,
			uint32_t caller, bool calls)
{
	while (caller && caller != PRF_CUT) {
		const struct prf_node *node = &item->exec->nodes[caller - 1];

		pprof_add_location(&out->pprof,
				   node_location(out, item, node, calls));
		caller = node->caller;
	}
}

static void put_chains(struct out *out, const struct item *item)
{
	bool calls = !(item->prf->flags & PRF_FLAG_CALL_SITES);
	const struct prf_exec *exec = item->exec;
	uint64_t location;
	size_t i;

	for (i = 0; i < exec->nr_nodes; i++) {
		const struct prf_node *node = &exec->nodes[i];

		if (node->count) {
			location = node_location(out, item, node, false);
			pprof_add_location(&out->pprof, location);
			add_callers(out, item, node->caller, calls);
			end_sample(out, node->count);
		}
		if (node->below) {
			pprof_add_location(&out->pprof,
					   location_of(out, ELSEWHERE));
			add_callers(out, item, i + 1, calls);
			end_sample(out, node->below);
		}
	}
}

static uint64_t below(const struct prf_exec *exec)
{
	uint64_t ticks = 0;
	size_t i;

	for (i = 0; i < exec->nr_nodes; i++)
		ticks += exec->nodes[i].below;
	return ticks;
}

static void put_exec(struct out *out, const struct item *item)
{
	const struct prf_exec *exec = item->exec;

	out->period_ns = item->prf->period_ns;
	if (exec->nr_nodes)
		put_chains(out, item);
	else
		put_flat(out, item);
	put_whole(out, KERNEL, prf_placed(exec, PRF_IN_KERNEL));
	put_whole(out, ELSEWHERE,
		  prf_placed(exec, PRF_ELSEWHERE) - below(exec));
}

/* ---- the profile */

static int by_label(const void *a, const void *b)
{
	const struct item *i = a, *j = b;

	return strcmp(base_name(i->exec->name), base_name(j->exec->name)) ?:
		strcmp(i->exec->cgroup, j->exec->cgroup);
}

/* The execs of a window that are wanted, those with the same labels together */
static struct item *list_items(const struct encode *encode, size_t *nr)
{
	const struct window *window = encode->window;
	struct item *list;
	size_t i, j;

	*nr = 0;
	for (i = 0; i < window->nr; i++)
		*nr += window->list[i]->prf.nr;
	list = calloc(*nr + 1, sizeof(*list));
	*nr = 0;
	for (i = 0; list && i < window->nr; i++) {
		const struct prf *prf = &window->list[i]->prf;
		struct code_file **files = window->list[i]->files;

		for (j = 0; j < prf->nr; files += prf->execs[j++].nr)
			if (!encode->key || !strcmp(encode->key,
					encode_key(&prf->execs[j])))
				list[(*nr)++] = (struct item){
					prf, &prf->execs[j], files
				};
	}
	if (list)
		qsort(list, *nr, sizeof(*list), by_label);
	return list;
}

/* Labels that all samples have; room is left for those of the exec */
static size_t put_labels(struct out *out, const struct encode *encode)
{
	size_t nr = 0, i;

	if (!encode->labelled)
		return 0;
	out->labels[nr++] = pprof_text_label(&out->pprof, "service_name",
					     encode->service);
	for (i = 0; i < config.nr_labels; i++)
		out->labels[nr++] = pprof_text_label(&out->pprof,
						     config.labels[i].name,
						     config.labels[i].value);
	return nr;
}

static void put_exec_labels(struct out *out, size_t nr,
			    const struct prf_exec *exec)
{
	out->labels[nr++] = pprof_text_label(&out->pprof, "comm",
					     base_name(exec->name));
	if (*exec->cgroup)
		out->labels[nr++] = pprof_text_label(&out->pprof, "cgroup",
						     exec->cgroup);
	out->nr_labels = nr;
}

static void put_items(struct out *out, const struct encode *encode,
		      const struct item *list, size_t nr)
{
	size_t first = put_labels(out, encode), i;

	for (i = 0; i < nr; i++) {
		if (!i || by_label(&list[i - 1], &list[i]))
			put_exec_labels(out, first, list[i].exec);
		put_exec(out, &list[i]);
	}
}

static int put_window(struct out *out, const struct encode *encode)
{
	const struct window *window = encode->window;
	struct item *list;
	size_t nr;

	list = list_items(encode, &nr);
	out->labels = calloc(config.nr_labels + 3, sizeof(*out->labels));
	if (!list || !out->labels) {
		free(list);
		return -1;
	}
	pprof_times(&out->pprof, nr ? list->prf->period_ns : 0,
		    moment_unix_ns(&window->start),
		    window->end.ns - window->start.ns);
	if (encode->comment)
		pprof_comment(&out->pprof, encode->comment);
	put_items(out, encode, list, nr);
	free(list);
	return 0;
}

/**
 * encode_window() - write ticks of a window, compressed
 * @encode: which
 * @fd: where to
 * @ticks: receives their number
 *
 * Return: 0, or -1 with errno.
 */
int encode_window(const struct encode *encode, int fd, uint64_t *ticks)
{
	FILE *file = pprof_open(fd);
	struct out out = {};
	int failed = 0;

	if (!file)
		return -1;
	profile++;
	errno = ENOMEM;
	pprof_begin(&out.pprof, file);
	if (put_window(&out, encode) || out.failed)
		failed = -1;
	if (pprof_end(&out.pprof))
		failed = -1;
	if (fclose(file))
		failed = -1;
	free(out.labels);
	free(out.spots);
	*ticks = out.ticks;
	return failed;
}
