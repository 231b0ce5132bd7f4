// SPDX-License-Identifier: GPL-2.0-only
/*
 * json.c - write JSON (RFC 8259), for other programs
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prohist/format/json.h"
#include "prohist/report.h"
#include "prohist/tree.h"
#include "util/utf8.h"

/**
 * json_string() - print a string of any bytes
 *
 * Invalid UTF-8 becomes U+FFFD, and control characters, including C1 and those of
 * direction, are escaped.
 */
void json_string(const char *string)
{
	int length;

	putchar('"');
	for (; *string; string += length ?: 1) {
		length = utf8_length(string);
		if (length && (!utf8_text(string) || strchr("\"\\", *string)))
			printf("\\u%04x", utf8_point(string));
		else if (length)
			fwrite(string, 1, length, stdout);
		else
			printf("\\ufffd");
	}
	putchar('"');
}

static void print_member(const char *name, uint64_t number)
{
	printf("    \"%s\": %" PRIu64 ",\n", name, number);
}

static void print_amount(uint64_t ticks, double ns)
{
	printf(", \"ticks\": %" PRIu64 ", \"ns\": %.0f", ticks, ns);
}

/* All of them, and those of which nothing below has any */
static void print_waits(const struct sum *sum)
{
	enum prf_state state;

	for (state = PRF_RUNNABLE; state < PRF_STATES; state++)
		print_member(prf_states[state].name,
			     sum->numbers.waits[state]);
	for (state = PRF_RUNNABLE; state < PRF_STATES; state++)
		printf("    \"%s_unselected\": %" PRIu64 ",\n",
		       prf_states[state].name, sum->numbers.hidden[state]);
	print_member("unfollowed_threads", sum->unfollowed_threads);
}

static void print_numbers(const struct sum *sum)
{
	const struct prf_exec *numbers = &sum->numbers;
	int i;

	printf("  \"summary\": {\n");
	print_member("cpu_ns", numbers->cpu_ns);
	print_member("covered_ns", numbers->covered_ns);
	print_member("ticks", numbers->ticks);
	for (i = 0; i < PRF_OUTCOMES; i++)
		print_member(prf_outcomes[i].member,
			     prf_have(numbers, &prf_outcomes[i]));
	print_member("kernel", numbers->kernel);
	if (sum->wall)
		print_waits(sum);
	print_member("unfollowed", numbers->unfollowed);
	print_member("withheld", sum->withheld);
	printf("    \"ticks_ns\": %.0f,\n    \"wall_ns\": %.0f,\n",
	       sum->time_ns, sum->wall_ns);
	printf("    \"period_ns\": %.3f,\n    \"clock\": ", sum->period_ns);
	json_string(clock_name(sum->clock));
	printf(",\n    \"adds_up\": %s\n  },\n",
	       sum_adds_up(sum) ? "true" : "false");
}

static void print_missed(const struct sum *sum)
{
	size_t i;

	printf("  \"not_profiled\": [");
	for (i = 0; i < sum->nr_missed; i++) {
		printf("%s\n    {\"name\": ", i ? "," : "");
		json_string(sum->missed[i].name);
		printf(", \"reason\": ");
		json_string(sum->missed[i].reason);
		putchar('}');
	}
	printf("],\n");
}

/* Time by state: of a node, with that of what it called */
static void print_states(const struct sum *sum, const double *states)
{
	enum prf_state state;

	if (!sum->wall)
		return;
	printf(", \"states_ns\": {");
	for (state = PRF_ON_CPU; state < PRF_STATES; state++)
		printf("%s\"%s\": %.0f", state ? ", " : "",
		       prf_states[state].name, states[state]);
	putchar('}');
}

static void print_programs(const struct report *report)
{
	struct rows rows = rows_make(report->runs, report->nr, report->sum,
				     ROW_COMM);
	size_t i;

	printf("  \"programs\": [");
	for (i = 0; i < rows.nr; i++) {
		printf("%s\n    {\"name\": ", i ? "," : "");
		json_string(rows.list[i].comm);
		print_amount(rows.list[i].ticks, rows.list[i].ns);
		print_states(report->sum, rows.list[i].states);
		putchar('}');
	}
	printf("],\n");
	free(rows.list);
}

static void print_dsos(const struct sum *sum)
{
	size_t i, nr = 0;

	printf("  \"dsos\": [");
	for (i = 0; i < sum->nr_dsos; i++) {
		const struct sum_dso *dso = &sum->dsos[i];

		if (!dso->shown_ticks)
			continue;
		printf("%s\n    {\"path\": ", nr++ ? "," : "");
		json_string(dso->path);
		printf(", \"class\": ");
		json_string(sum_class_name(dso->class));
		print_amount(dso->shown_ticks, dso->shown_ns);
		if (dso->symbols.problem) {
			printf(", \"problem\": ");
			json_string(dso->symbols.problem);
		}
		putchar('}');
	}
	printf("],\n");
}

/* What a function is inlined in, the innermost first. */
static void print_inlined_in(const struct sum_piece *piece)
{
	const struct inlines *inlines = &piece->inlines;
	size_t i;

	printf(", \"inlined_in\": [");
	for (i = 1; i < inlines->nr; i++) {
		json_string(inlines->list[i].name);
		printf(", ");
	}
	json_string(piece->name);
	putchar(']');
}

static void print_functions(const struct sum *sum)
{
	size_t i, nr = 0;

	printf("  \"functions\": [");
	for (i = 0; i < sum->nr_functions; i++) {
		const struct sum_function *function = &sum->functions[i];
		const struct sum_piece *piece = function->piece;

		if (!function->ticks)
			continue;
		printf("%s\n    {\"name\": ", nr++ ? "," : "");
		if (piece->inlines.nr) {
			json_string(piece->inlines.list[0].name);
			print_inlined_in(piece);
		} else {
			json_string(piece->name);
		}
		printf(", \"dso\": ");
		json_string(sum->dsos[function->dso].path);
		print_amount(function->ticks, function->ns);
		putchar('}');
	}
	putchar(']');
}

static void print_ends(const struct sum *sum)
{
	size_t i;

	printf("    \"ends\": {");
	for (i = 0; i < PRF_CHAIN_ENDS; i++)
		printf("%s\"%s\": %" PRIu64, i ? ", " : "",
		       prf_endings[i].member, sum->ends[i]);
	printf("},\n");
}

static void print_tree_functions(const struct tree *tree)
{
	size_t i;

	printf("    \"functions\": [");
	for (i = 0; i < tree->nr_functions; i++) {
		const struct tree_function *function = &tree->functions[i];

		printf("%s\n      {\"name\": ", i ? "," : "");
		json_string(function->name);
		printf(", \"dso\": ");
		if (function->dso == TREE_NO_DSO)
			printf("null");
		else
			json_string(tree->sum->dsos[function->dso].path);
		print_amount(function->ticks, function->ns);
		printf(", \"total_ticks\": %" PRIu64 ", \"total_ns\": %.0f}",
		       function->total, function->total_ns);
	}
	printf("],\n");
}

/* The root is left out: what it calls has no caller. */
static void print_nodes(const struct tree *tree)
{
	size_t i;

	printf("    \"nodes\": [");
	for (i = 1; i < tree->nr; i++) {
		const struct tree_node *node = &tree->nodes[i];

		printf("%s\n      {\"caller\": ", i > 1 ? "," : "");
		if (node->caller)
			printf("%" PRIu32, node->caller - 1);
		else
			printf("null");
		printf(", \"function\": %" PRIu32, node->function);
		print_amount(node->ticks, node->ns);
		print_states(tree->sum, node->states);
		putchar('}');
	}
	putchar(']');
}

static void print_chains(const struct report *report)
{
	struct tree tree;

	tree_make(&tree, report->sum, report->runs, report->nr, false);
	printf(",\n  \"chains\": {\n");
	print_ends(report->sum);
	print_tree_functions(&tree);
	print_nodes(&tree);
	printf("\n  }");
	tree_free(&tree);
}

/** print_json() - print the sum as one JSON object */
int print_json(const struct report *report)
{
	const struct sum *sum = report->sum;

	printf("{\n  \"command\": ");
	json_string(sum->command);
	printf(",\n  \"files\": %u,\n", sum->files);
	print_numbers(sum);
	print_missed(sum);
	print_programs(report);
	print_dsos(sum);
	print_functions(sum);
	if (sum->chains)
		print_chains(report);
	printf("\n}\n");
	return 0;
}
