// SPDX-License-Identifier: GPL-2.0-only
/*
 * write_perf.c - perf.data, for perf(1) and what else reads its files
 *
 * Each image becomes a process that begins by exec, maps its objects, has a
 * sample in each bucket, and exits. The period of a sample is the CPU time of
 * the bucket: its ticks by the period of the run. Numbers are in the byte order
 * of this host, as perf has them.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "perf_record.h"
#include "print.h"

/* "PERFILE2" */
#define MAGIC		0x32454c4946524550ULL

/* Bits of the features that follow the records. */
#define CMDLINE		11
#define EVENT_DESC	12
#define FEATURES	2

/*
 * Above what a program can map. No address of the kernel is known: one that was
 * made up would get the name of what this host's kernel has there.
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

/* Everything that is in front of the records. */
struct front {
	struct file_header header;
	struct file_attr attr;
	uint64_t id;
};

/* The feature that gives the event its name. */
struct event_desc {
	uint32_t nr;
	uint32_t attr_size;
	uint8_t attr[PERF_ATTR_SIZE_VER0];
	uint32_t nr_ids;
	uint32_t length;
	char name[16];
	uint64_t id;
};

static void put_object(struct perf_out *out, const struct prf_object *object)
{
	size_t i;

	perf_put_mapping(out, object);
	for (i = 0; i < object->nr; i++)
		perf_put_sample(out,
				object->start + object->buckets[i].offset,
				object->buckets[i].count);
}

/* What has no place gets one, of a name that says so. */
static void put_place(struct perf_out *out, uint64_t start, char *name,
		      uint64_t ticks)
{
	struct prf_bucket bucket = { .count = ticks };
	const struct prf_object place = {
		.start = start,
		.end = start + PAGE,
		.path = name,
		.buckets = &bucket,
		.nr = 1,
	};

	if (ticks)
		put_object(out, &place);
}

/* Nothing can be mapped at 0: what profil has there is from all over. */
static void put_image(struct perf_out *out, const struct prf_image *image)
{
	uint64_t elsewhere = image->outside;
	size_t i;

	out->pid = image->pid;
	perf_put_comm(out, image->name);
	for (i = 0; i < image->nr; i++) {
		const struct prf_object *object = &image->objects[i];

		if (!object->start)
			elsewhere += prf_object_ticks(object);
		else if (object->nr)
			put_object(out, object);
	}
	put_place(out, ELSEWHERE, "[elsewhere]", elsewhere);
	put_place(out, KERNEL, "[kernel]",
		  image->kernel_count + image->left_out);
	perf_put_exit(out, image->ppid);
}

/* @begin: when the run began, on the clock of the records. */
static void put_run(struct perf_out *out, const struct prf *run, uint64_t begin)
{
	size_t i;

	out->period_ns = run->period_ns;
	for (i = 0; i < run->nr; i++) {
		const struct prf_image *image = &run->images[i];

		if (image->reach == PRF_NOT_REACHED)
			continue;
		if (begin + image->start_ns > out->time)
			out->time = begin + image->start_ns;
		put_image(out, image);
	}
}

/* Return: all records, in memory to be freed, or NULL. */
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

/* No address of the kernel is there, and perf need not look for its symbols. */
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

/* @at: where in the file it is. */
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

/** write_perf() - all images of all runs, one after the other */
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
