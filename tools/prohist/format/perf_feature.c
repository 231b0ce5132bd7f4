// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_feature.c - write the header features of perf.data
 *
 * A feature has a number, and a section of the file; the sections are in the
 * order of the numbers.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/format/perf_feature.h"
#include "prohist/format/perf_record.h"
#include "util/array.h"

enum feature {
	BUILD_IDS = 2,
	HOST_NAME = 3,
	OS_RELEASE = 4,
	ARCHITECTURE = 6,
	CPUS = 7,
	COMMAND = 11,
	EVENTS = 12,
};

/* Flag of a build-id record, which linux/perf_event.h lacks: it has a size. */
#define MISC_SIZE	(1 << 15)

/* Names in build-id records end at a multiple of this. */
#define NAME_ALIGN	64

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

struct build_id {
	struct perf_event_header header;
	uint32_t pid;
	uint8_t id[PERF_BUILD_ID];
	uint8_t size;
	uint8_t reserved[3];
};

static void begin(struct perf_features *features, enum feature feature)
{
	features->mask |= 1 << feature;
	features->sections[features->nr].offset = ftell(features->file);
}

static void end(struct perf_features *features)
{
	struct perf_section *section = &features->sections[features->nr++];

	section->size = ftell(features->file) - section->offset;
}

static void put(struct perf_features *features, const void *data, size_t size)
{
	fwrite(data, 1, size, features->file);
}

static void put_string(struct perf_features *features, const char *string)
{
	const uint32_t length = strlen(string) + 1;

	put(features, &length, sizeof(length));
	put(features, string, length);
}

static void put_name(struct perf_features *features, enum feature feature,
		     const char *name)
{
	begin(features, feature);
	put_string(features, name);
	end(features);
}

static int compare_dsos(const void *a, const void *b)
{
	const struct prf_dso *x = *(const struct prf_dso **)a;
	const struct prf_dso *y = *(const struct prf_dso **)b;

	return strcmp(x->path, y->path) ?:
		memcmp(x->build_id, y->build_id, PRF_BUILD_ID);
}

static void put_build_id(struct perf_features *features,
			 const struct prf_dso *dso)
{
	static const char zeros[NAME_ALIGN];
	size_t length = strnlen(dso->path, PATH_MAX - 1);
	size_t padding = NAME_ALIGN - length % NAME_ALIGN;
	struct build_id record = {
		.header = {
			.misc = PERF_RECORD_MISC_USER |
				MISC_SIZE,
			.size = sizeof(record) + length + padding,
		},
		.pid = -1,
		.size = dso->build_id_len,
	};

	memcpy(record.id, dso->build_id, dso->build_id_len);
	put(features, &record, sizeof(record));
	put(features, dso->path, length);
	put(features, zeros, padding);
}

/* Put each build ID once. 0, or -1 with errno. */
static int put_build_ids(struct perf_features *features,
			 const struct report *report)
{
	const struct prf_dso **list = NULL, **more, *dso;
	struct prf_at at = {};
	size_t nr = 0, i;

	while ((dso = prf_next(report->runs, report->nr, &at))) {
		if (!dso->nr || !dso->build_id_len ||
		    dso->build_id_len > PERF_BUILD_ID)
			continue;
		more = array_grow(list, nr, sizeof(*list));
		if (!more) {
			free(list);
			return -1;
		}
		list = more;
		list[nr++] = dso;
	}
	begin(features, BUILD_IDS);
	if (nr)
		qsort(list, nr, sizeof(*list), compare_dsos);
	for (i = 0; i < nr; i++)
		if (!i || compare_dsos(&list[i - 1], &list[i]))
			put_build_id(features, list[i]);
	end(features);
	free(list);
	return 0;
}

static void put_host(struct perf_features *features,
		     const struct prf_host *host)
{
	put_name(features, HOST_NAME, host->name);
	put_name(features, OS_RELEASE, host->release);
	put_name(features, ARCHITECTURE, host->machine);
	begin(features, CPUS);
	put(features, &host->cpus, sizeof(host->cpus));
	put(features, &host->online, sizeof(host->online));
	end(features);
}

static void put_command(struct perf_features *features, const char *command)
{
	const uint32_t nr = 1;

	begin(features, COMMAND);
	put(features, &nr, sizeof(nr));
	put_string(features, command);
	end(features);
}

static void put_event(struct perf_features *features,
		      const struct perf_event_attr *attr)
{
	struct event_desc event = {
		.nr = 1,
		.attr_size = sizeof(event.attr),
		.nr_ids = 1,
		.length = sizeof(event.name),
		.name = "cpu-clock",
		.id = PERF_OUT_ID,
	};

	memcpy(event.attr, attr, sizeof(event.attr));
	begin(features, EVENTS);
	put(features, &event, sizeof(event));
	end(features);
}

/**
 * perf_features_make() - make the features in memory
 * @features: receives them; free @features->data
 * @report: the runs; the first one has the host and the command
 * @attr: the event
 *
 * Return: 0, or -1 with errno.
 */
int perf_features_make(struct perf_features *features,
		       const struct report *report,
		       const struct perf_event_attr *attr)
{
	int result;

	*features = (struct perf_features){};
	features->file = open_memstream(&features->data, &features->size);
	if (!features->file)
		return -1;
	result = put_build_ids(features, report);
	if (report->runs->host.name)
		put_host(features, &report->runs->host);
	put_command(features, report->runs->command);
	put_event(features, attr);
	if (!fclose(features->file) && !result)
		return 0;
	free(features->data);
	return -1;
}

/** perf_features_write() - write the features to standard output */
void perf_features_write(struct perf_features *features, uint64_t at)
{
	size_t i;

	at += features->nr * sizeof(*features->sections);
	for (i = 0; i < features->nr; i++)
		features->sections[i].offset += at;
	fwrite(features->sections, sizeof(*features->sections), features->nr,
	       stdout);
	fwrite(features->data, 1, features->size, stdout);
}
