// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf.c - write perf.data, for perf(1) and other readers of its files
 *
 * Each exec becomes a process that calls exec, maps its DSOs, has one sample
 * for each bucket, and exits. The period of a sample is the CPU time of the
 * bucket: its ticks times the period of the run. Numbers are in host byte
 * order, as perf writes them.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/format/perf_record.h"
#include "prohist/report.h"

/* "PERFILE2", little-endian */
#define MAGIC		0x32454c4946524550ULL

/* Numbers of the features that follow the records. */
#define CMDLINE		11
#define EVENT_DESC	12
#define FEATURES	2

/*
 * Addresses for ticks without one, above all mappings of a program. Profiles
 * have no kernel addresses: for an invented one, perf would print a symbol of
 * the running kernel.
 */
#define KERNEL		0x7fffffffe000ULL
#define ELSEWHERE	0x7ffffffff000ULL
#define PAGE		4096

struct section {
	uint64_t offset;
	uint64_t size;
};

struct file_header {
	uint64_t magic;
	uint64_t size;
	uint64_t attr_size;
	struct section attrs;
	struct section data;
	struct section event_types;
	uint64_t features[4];
};

struct file_attr {
	uint8_t attr[PERF_ATTR_SIZE_VER0];
	struct section ids;
};

/* Everything in front of the records. */
struct front {
	struct file_header header;
	struct file_attr attr;
	uint64_t id;
};

/* The feature with the name of the event. */
struct event_desc {
	uint32_t nr;
	uint32_t attr_size;
	uint8_t attr[PERF_ATTR_SIZE_VER0];
	uint32_t nr_ids;
	uint32_t length;
	char name[16];
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

/* A DSO that starts at 0 is the bucket of ticks outside all DSOs. */
static void put_exec(struct perf_out *out, const struct prf_exec *exec)
{
	uint64_t elsewhere = exec->outside;
	size_t i;

	out->pid = exec->pid;
	perf_put_comm(out, exec->name);
	for (i = 0; i < exec->nr; i++) {
		const struct prf_dso *dso = &exec->dsos[i];

		if (!dso->start)
			elsewhere += prf_dso_ticks(dso);
		else if (dso->nr)
			put_dso(out, dso);
	}
	put_place(out, ELSEWHERE, "[elsewhere]", elsewhere);
	put_place(out, KERNEL, "[kernel]",
		  exec->kernel_count + exec->left_out);
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
		put_exec(out, exec);
	}
}

/* Returns all records, in memory to be freed, or NULL. */
static char *make_records(const struct report *report, size_t *size)
{
	char *data = NULL;
	struct perf_out out = { .file = open_memstream(&data, size) };
	uint64_t begin = 0;
	size_t i;

	if (!out.file)
		return NULL;
	for (i = 0; i < report->nr; i++) {
		put_run(&out, &report->runs[i], begin);
		begin += report->runs[i].wall_ns;
	}
	if (!fclose(out.file))
		return data;
	free(data);
	return NULL;
}

/*
 * exclude_kernel: without kernel addresses, perf need not load kernel symbols.
 */
static struct perf_event_attr event(const struct prf *run)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER0,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = run->period_ns,
		.sample_type = PERF_OUT_FORMAT,
		.exclude_kernel = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
	};
}

static void put_front(const struct perf_event_attr *attr, size_t size)
{
	struct front front = {
		.header = {
			.magic = MAGIC,
			.size = sizeof(front.header),
			.attr_size = sizeof(front.attr),
			.attrs = { offsetof(struct front, attr),
				   sizeof(front.attr) },
			.data = { sizeof(front), size },
			.features = { 1 << CMDLINE | 1 << EVENT_DESC },
		},
		.attr.ids = { offsetof(struct front, id), sizeof(front.id) },
		.id = PERF_OUT_ID,
	};

	memcpy(front.attr.attr, attr, sizeof(front.attr.attr));
	fwrite(&front, sizeof(front), 1, stdout);
}

/* @at: offset in the file. */
static void put_features(const struct perf_event_attr *attr,
			 const char *command, uint64_t at)
{
	struct event_desc event = {
		.nr = 1,
		.attr_size = sizeof(event.attr),
		.nr_ids = 1,
		.length = sizeof(event.name),
		.name = "cpu-clock",
		.id = PERF_OUT_ID,
	};
	const uint32_t cmdline[2] = { 1, strlen(command) + 1 };
	const uint64_t first = at + FEATURES * sizeof(struct section);
	const uint64_t size = sizeof(cmdline) + cmdline[1];
	const struct section sections[FEATURES] = {
		{ first, size },
		{ first + size, sizeof(event) },
	};

	memcpy(event.attr, attr, sizeof(event.attr));
	fwrite(sections, sizeof(sections), 1, stdout);
	fwrite(cmdline, sizeof(cmdline), 1, stdout);
	fwrite(command, cmdline[1], 1, stdout);
	fwrite(&event, sizeof(event), 1, stdout);
}

/** write_perf() - write all execs of all runs, one after the other */
int write_perf(const struct report *report)
{
	const struct perf_event_attr attr = event(report->runs);
	size_t size;
	char *records = make_records(report, &size);

	if (!records) {
		warn("perf.data");
		return -1;
	}
	put_front(&attr, size);
	fwrite(records, 1, size, stdout);
	put_features(&attr, report->runs->command,
		     sizeof(struct front) + size);
	free(records);
	return 0;
}
