// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf.c - write perf.data, for perf(1) and other readers of its files
 *
 * Each exec becomes a process that calls exec, maps its DSOs, has one sample
 * for each bucket, or each node of its chains, and exits. The period of a sample is
 * its CPU time: its ticks times the period of the run. Numbers are in host byte
 * order, as perf writes them.
 */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/format/perf_feature.h"
#include "prohist/format/perf_record.h"
#include "prohist/report.h"
#include "util/array.h"
#include "util/xalloc.h"

/* "PERFILE2", little-endian */
#define MAGIC		0x32454c4946524550ULL

/*
 * Addresses for ticks without one: the lowest of the kernel, below the text of
 * any kernel, so that perf does not print a symbol of the running one; and an
 * address above all mappings of a program.
 */
#define KERNEL		0xffff800000000000ULL
#define ELSEWHERE	0x7ffffffff000ULL
#define PAGE		4096

struct file_header {
	uint64_t magic;
	uint64_t size;
	uint64_t attr_size;
	struct perf_section attrs;
	struct perf_section data;
	struct perf_section event_types;
	uint64_t features[4];
};

struct file_attr {
	uint8_t attr[PERF_ATTR_SIZE_VER0];
	struct perf_section ids;
};

/* Everything in front of the records. */
struct front {
	struct file_header header;
	struct file_attr attr;
	uint64_t id;
};

static void put_dso(struct perf_out *out, const struct prf_dso *dso)
{
	size_t i;

	perf_put_mapping(out, dso);
	for (i = 0; i < dso->nr; i++)
		perf_put_sample(out,
				dso->start + dso->buckets[i].offset,
				dso->buckets[i].count);
}

/* The symbol of a wait, or NULL */
static const char *wait_name(const struct prf_dso *dso, uint64_t offset)
{
	size_t i = array_until(dso->symbols, dso->nr_symbols,
			       sizeof(*dso->symbols), offset);

	return i && offset < dso->symbols[i - 1].end ?
		dso->symbols[i - 1].name : NULL;
}

/* Map each wait as a DSO: perf.data has no other place for their names. */
static void put_waits(struct perf_out *out, const struct prf_dso *dso)
{
	size_t i;

	for (i = 0; i < dso->nr; i++) {
		uint64_t offset = dso->buckets[i].offset;
		const char *name = wait_name(dso, offset);
		struct prf_dso wait = {
			.start = dso->start + offset,
			.end = dso->start + offset + 1,
		};

		if (!name || !strcmp(name, dso->path))
			wait.path = copy(dso->path);
		else if (asprintf(&wait.path, "%s %s", dso->path, name) < 0)
			err(2, NULL);
		perf_put_mapping(out, &wait);
		free(wait.path);
	}
}

static void put_waiting(struct perf_out *out, const struct prf_dso *dso)
{
	size_t i;

	put_waits(out, dso);
	for (i = 0; i < dso->nr; i++)
		perf_put_sample(out, dso->start + dso->buckets[i].offset,
				dso->buckets[i].count);
}

/* Put ticks without an address into a mapping with a name that says so. */
static void put_place(struct perf_out *out, uint64_t start, char *name,
		      uint64_t ticks)
{
	struct prf_bucket bucket = { .count = ticks };
	const struct prf_dso place = {
		.start = start,
		.end = start + PAGE,
		.path = name,
		.buckets = &bucket,
		.nr = 1,
	};

	if (ticks)
		put_dso(out, &place);
}

static void put_kernel(struct perf_out *out, uint64_t ticks)
{
	out->mode = PERF_RECORD_MISC_KERNEL;
	put_place(out, KERNEL, "[kernel]", ticks);
	out->mode = PERF_RECORD_MISC_USER;
}

/*
 * A DSO that starts at 0 is the bucket of ticks outside all DSOs. Functions of
 * the kernel would get the names that the running one has at their addresses.
 */
static void put_flat(struct perf_out *out, const struct prf_exec *exec)
{
	uint64_t kernel = exec->kernel_count + exec->left_out;
	uint64_t elsewhere = prf_placed(exec, PRF_ELSEWHERE);
	size_t i;

	for (i = 0; i < exec->nr; i++) {
		const struct prf_dso *dso = &exec->dsos[i];

		if (!dso->start)
			elsewhere += prf_dso_ticks(dso);
		else if (dso->kind == PRF_KERNEL_TEXT)
			kernel += prf_dso_ticks(dso);
		else if (prf_state_of(dso) != PRF_ON_CPU)
			put_waiting(out, dso);
		else if (dso->nr)
			put_dso(out, dso);
	}
	put_place(out, ELSEWHERE, "[elsewhere]", elsewhere);
	put_kernel(out, kernel);
}

static bool in_kernel(const struct prf_exec *exec, const struct prf_node *node)
{
	return node->dso == PRF_NODE_KERNEL ||
		exec->dsos[node->dso].kind == PRF_KERNEL_TEXT;
}

/* @start: of the function of a caller, whose last byte is in it for sure */
static uint64_t address_of(const struct prf_exec *exec,
			   const struct prf_node *node, bool start)
{
	const struct prf_dso *dso;
	uint64_t address = ELSEWHERE;

	if (in_kernel(exec, node))
		return KERNEL;
	dso = &exec->dsos[node->dso];
	if (dso->start)
		address = dso->start + node->offset +
			(start ? dso->bucket_bytes - 1 : 0);
	return address;
}

/* Add the frames of a node and its callers; of itself, as @start says. */
static void add_chain(struct perf_out *out, const struct prf_exec *exec,
		      const struct prf_node *node, bool start, bool sites)
{
	for (;; node = &exec->nodes[node->caller - 1], start = !sites) {
		perf_add_frame(out, address_of(exec, node, start),
			       in_kernel(exec, node));
		if (!node->caller || node->caller == PRF_CUT)
			return;
	}
}

static void put_node(struct perf_out *out, const struct prf_exec *exec,
		     const struct prf_node *node, bool sites)
{
	if (node->count) {
		add_chain(out, exec, node, false, sites);
		out->mode = in_kernel(exec, node) ? PERF_RECORD_MISC_KERNEL :
						    PERF_RECORD_MISC_USER;
		perf_put_sample(out, address_of(exec, node, false),
				node->count);
		out->mode = PERF_RECORD_MISC_USER;
	}
	if (node->below) {
		perf_add_frame(out, ELSEWHERE, false);
		add_chain(out, exec, node, !sites, sites);
		perf_put_sample(out, ELSEWHERE, node->below);
	}
}

/* Map all that a chain may be in. */
static void put_mappings(struct perf_out *out, const struct prf_exec *exec)
{
	const struct prf_dso elsewhere = {
		.start = ELSEWHERE, .end = ELSEWHERE + PAGE,
		.path = "[elsewhere]",
	};
	const struct prf_dso kernel = {
		.start = KERNEL, .end = KERNEL + PAGE, .path = "[kernel]",
	};
	size_t i;

	for (i = 0; i < exec->nr; i++)
		if (prf_state_of(&exec->dsos[i]) != PRF_ON_CPU)
			put_waits(out, &exec->dsos[i]);
		else if (exec->dsos[i].start &&
			 exec->dsos[i].kind != PRF_KERNEL_TEXT)
			perf_put_mapping(out, &exec->dsos[i]);
	perf_put_mapping(out, &elsewhere);
	out->mode = PERF_RECORD_MISC_KERNEL;
	perf_put_mapping(out, &kernel);
	out->mode = PERF_RECORD_MISC_USER;
}

static void put_chains(struct perf_out *out, const struct prf_exec *exec,
		       bool sites)
{
	uint64_t rest = prf_placed(exec, PRF_ELSEWHERE);
	size_t i;

	put_mappings(out, exec);
	for (i = 0; i < exec->nr_nodes; i++) {
		put_node(out, exec, &exec->nodes[i], sites);
		rest -= exec->nodes[i].below;
	}
	if (rest)
		perf_put_sample(out, ELSEWHERE, rest);
	out->mode = PERF_RECORD_MISC_KERNEL;
	if (exec->left_out)
		perf_put_sample(out, KERNEL, exec->left_out);
	out->mode = PERF_RECORD_MISC_USER;
}

static void put_exec(struct perf_out *out, const struct prf_exec *exec,
		     bool sites)
{
	out->pid = exec->pid;
	perf_put_comm(out, exec->name);
	if (exec->nr_nodes)
		put_chains(out, exec, sites);
	else
		put_flat(out, exec);
	perf_put_exit(out, exec->ppid);
}

/* @begin: start of the run, on the clock of the records. */
static void put_run(struct perf_out *out, const struct prf *run, uint64_t begin)
{
	size_t i;

	out->period_ns = run->period_ns;
	for (i = 0; i < run->nr; i++) {
		const struct prf_exec *exec = &run->execs[i];

		if (exec->reach == PRF_NOT_REACHED)
			continue;
		if (begin + exec->start_ns > out->time)
			out->time = begin + exec->start_ns;
		put_exec(out, exec, run->flags & PRF_FLAG_CALL_SITES);
	}
}

/* Put all records; returns their size in bytes. @file: NULL for only that */
static size_t put_records(const struct report *report, FILE *file)
{
	struct perf_out out = {
		.file = file,
		.mode = PERF_RECORD_MISC_USER,
		.has_chains = report->sum->chains,
	};
	uint64_t begin = 0;
	size_t i;

	for (i = 0; i < report->nr; i++) {
		put_run(&out, &report->runs[i], begin);
		begin += report->runs[i].wall_ns;
	}
	return out.size;
}

/*
 * exclude_kernel: ticks in the kernel have no address, so perf need not load
 * kernel symbols.
 */
static struct perf_event_attr event(const struct prf *run, bool chains)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER0,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = run->period_ns,
		.sample_type = PERF_OUT_FORMAT |
			(chains ? PERF_SAMPLE_CALLCHAIN : 0),
		.exclude_kernel = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
	};
}

static void put_front(const struct perf_event_attr *attr, size_t size,
		      const struct perf_features *features)
{
	struct front front = {
		.header = {
			.magic = MAGIC,
			.size = sizeof(front.header),
			.attr_size = sizeof(front.attr),
			.attrs = { offsetof(struct front, attr),
				   sizeof(front.attr) },
			.data = { sizeof(front), size },
			.features = { features->mask },
		},
		.attr.ids = { offsetof(struct front, id), sizeof(front.id) },
		.id = PERF_OUT_ID,
	};

	memcpy(front.attr.attr, attr, sizeof(front.attr.attr));
	fwrite(&front, sizeof(front), 1, stdout);
}

/* Does the profile alone have the names of the DSO's functions? */
static bool has_own_names(const struct report *report,
			  const struct prf_dso *mapping)
{
	const struct sum_dso *dso = sum_dso(report->sum, mapping);

	return mapping->nr_symbols ||
		(mapping->names && dso && !symbols_have_file(&dso->symbols));
}

static void say_dropped(const struct report *report)
{
	const struct prf_dso *dso;
	struct prf_at at = {};
	uint64_t ticks = 0;

	while ((dso = prf_next(report->runs, report->nr, &at)))
		if (dso->nr && prf_state_of(dso) == PRF_ON_CPU &&
		    has_own_names(report, dso))
			ticks += prf_dso_ticks(dso);
	if (ticks)
		term_warn("%" PRIu64 " ticks have functions whose names only the profile has, and perf.data has no place for; --format=text prints them",
			  ticks);
	if (report->sum->wall)
		term_warn("perf.data has no states: what threads waited in is in DSOs such as '[blocked] read', with samples of cpu-clock");
}

/** write_perf() - write all execs of all runs, one after the other */
int write_perf(const struct report *report)
{
	const struct perf_event_attr attr = event(report->runs,
						  report->sum->chains);
	size_t size = put_records(report, NULL);
	struct perf_features features = {};

	if (perf_features_make(&features, report, &attr)) {
		warn("perf.data");
		return -1;
	}
	put_front(&attr, size, &features);
	put_records(report, stdout);
	perf_features_write(&features, sizeof(struct front) + size);
	say_dropped(report);
	free(features.data);
	return 0;
}
