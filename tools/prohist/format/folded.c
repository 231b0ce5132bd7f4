// SPDX-License-Identifier: GPL-2.0-only
/*
 * folded.c - print folded stacks, for flame graphs
 */
#include <inttypes.h>
#include <stdio.h>

#include "prohist/report.h"
#include "prohist/tree.h"
#include "util/utf8.h"

/* Replace characters that separate frames and lines. */
static void print_frame(const char *name)
{
	int length;

	for (; *name; name += length ?: 1) {
		length = utf8_text(name);
		if (*name == ';')
			putchar(':');
		else if (length)
			fwrite(name, 1, length, stdout);
		else
			putchar('?');
	}
}

/* Print the frames of a node, the outermost first. */
static void print_chain(const struct tree *tree, uint32_t node)
{
	const struct tree_node *at = &tree->nodes[node];

	if (at->caller) {
		print_chain(tree, at->caller);
		putchar(';');
	}
	print_frame(tree->functions[at->function].name);
}

static void print_chains(const struct report *report)
{
	uint32_t node = 0;
	struct tree tree;

	tree_make(&tree, report->sum, report->runs, report->nr, true);
	while ((node = tree_next(&tree, node))) {
		if (!tree.nodes[node].ticks)
			continue;
		print_chain(&tree, node);
		printf(" %" PRIu64 "\n",
		       sum_scaled(report->sum, tree.nodes[node].ns));
	}
	tree_free(&tree);
}

static void print_functions(const struct sum *sum)
{
	size_t i;

	for (i = 0; i < sum->nr_functions; i++) {
		const struct sum_function *function = &sum->functions[i];
		const struct inlines *inlines = &function->piece->inlines;
		size_t j;

		print_frame(sum->command);
		putchar(';');
		print_frame(sum_dso_name(sum, function->dso));
		putchar(';');
		print_frame(function->piece->name);
		for (j = inlines->nr; j; j--) {
			putchar(';');
			print_frame(inlines->list[j - 1].name);
		}
		printf(" %" PRIu64 "\n", sum_scaled(sum, function->ns));
	}
}

/**
 * print_folded() - print "program;function;function... number" lines
 *
 * The number is the CPU time, in ticks of the mean period. Without chains of
 * callers, a line is "command;DSO;function;inlined... number".
 */
int print_folded(const struct report *report)
{
	if (report->sum->chains)
		print_chains(report);
	else
		print_functions(report->sum);
	return 0;
}
