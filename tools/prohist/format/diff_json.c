// SPDX-License-Identifier: GPL-2.0-only
/*
 * diff_json.c - write the comparison of runs as JSON
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "prohist/diff.h"
#include "prohist/format/json.h"
#include "prohist/report.h"

static void print_side(const char *name, const struct diff *diff, int side)
{
	size_t first = side ? diff->nr[0] : 0, i;
	double cpu_ns = 0, covered_ns = 0;

	for (i = first; i < first + diff->nr[side]; i++) {
		cpu_ns += diff->sums[i].numbers.cpu_ns;
		covered_ns += diff->sums[i].numbers.covered_ns;
	}
	printf("  \"%s\": {\n    \"file\": ", name);
	json_string(diff->paths[side]);
	printf(",\n    \"command\": ");
	json_string(diff->sums[first].command);
	printf(",\n    \"runs\": %zu,\n    \"cpu_ns\": %.0f,\n    \"covered_ns\": %.0f,\n    \"ticks\": %" PRIu64 "\n  },\n",
	       diff->nr[side], cpu_ns, covered_ns, diff->placed[side]);
}

static void print_percent(const char *name, double value)
{
	printf(", \"%s\": %.3f", name, 100 * value);
}

static void print_judged(const struct diff *diff)
{
	const struct verdict *verdict = &diff->verdict;

	printf("  \"gate\": {\"verdict\": ");
	json_string(verdict_name(verdict));
	print_percent("threshold_percent", diff->threshold);
	if (verdict->problem) {
		printf(", \"problem\": ");
		json_string(verdict->problem);
	} else {
		print_percent("growth_percent", verdict->whole.growth);
		if (verdict->whole.error > 0)
			print_percent("error_percent", verdict->whole.error);
		print_percent("finds_percent", verdict->finds);
	}
	if (verdict->path) {
		printf(", \"file\": ");
		json_string(verdict->path);
	}
	if (verdict->needed > 0 && verdict->needed <= PRF_MOST)
		printf(", \"ticks_needed\": %.0f", verdict->needed);
	printf("},\n");
}

static void print_item(const struct diff *diff, const struct diff_item *item)
{
	printf("\n    {\"name\": ");
	json_string(item->name);
	printf(", \"dso\": ");
	json_string(item->dso);
	printf(", \"ticks\": [%" PRIu64 ", %" PRIu64 "]", item->ticks[0],
	       item->ticks[1]);
	if (item->whole) {
		printf(", \"whole\": ");
		json_string(item->whole);
	}
	if (diff->threshold <= 0) {
		printf(", \"changed\": %s", item->changed ? "true" : "false");
	} else if (!diff->verdict.problem) {
		print_percent("growth_percent", item->growth.growth);
		print_percent("error_percent", item->growth.error);
		printf(", \"verdict\": ");
		json_string(gate_verdict_name(item->growth.verdict));
	}
	putchar('}');
}

static void print_list(const struct diff *diff, const struct diff_list *list)
{
	size_t i;

	putchar('[');
	for (i = 0; i < list->nr; i++) {
		if (i)
			putchar(',');
		print_item(diff, &list->items[i]);
	}
	putchar(']');
}

/** diff_json() - print a comparison as one JSON object */
int diff_json(const struct diff *diff)
{
	printf("{\n");
	print_side("before", diff, 0);
	print_side("after", diff, 1);
	if (diff->threshold > 0) {
		print_judged(diff);
		printf("  \"dsos\": ");
		print_list(diff, &diff->dsos);
		printf(",\n");
	}
	printf("  \"functions\": ");
	print_list(diff, &diff->functions);
	printf("\n}\n");
	return 0;
}
