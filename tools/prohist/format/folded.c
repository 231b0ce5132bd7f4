// SPDX-License-Identifier: GPL-2.0-only
/*
 * folded.c - print folded stacks, for flame graphs
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "prohist/report.h"
#include "prohist/tree.h"
#include "util/utf8.h"

/* Replace characters that separate frames and lines. */
static void put_frame(FILE *stream, const char *name)
{
	int length;

	for (; *name; name += length ?: 1) {
		length = utf8_text(name);
		if (*name == ';')
			putc(':', stream);
		else if (length)
			fwrite(name, 1, length, stream);
		else
			putc('?', stream);
	}
}

static void print_frame(const char *name)
{
	put_frame(stdout, name);
}

static const struct sum_dso *dso_of(const struct tree *tree,
				    const struct tree_function *function)
{
	return function->dso == TREE_NO_DSO ? NULL :
		&tree->sum->dsos[function->dso];
}

/* The names of all functions: each may be in many chains. */
static char **make_names(const struct tree *tree)
{
	char **names = calloc(tree->nr_functions + 1, sizeof(*names)), *label;
	FILE *stream;
	size_t i, size;

	if (!names)
		err(2, NULL);
	for (i = 0; i < tree->nr_functions; i++) {
		stream = open_memstream(&names[i], &size);
		if (!stream)
			err(2, NULL);
		label = sum_label(dso_of(tree, &tree->functions[i]),
				  tree->functions[i].name);
		put_frame(stream, label);
		free(label);
		if (fclose(stream))
			err(2, NULL);
	}
	return names;
}

/* Print the frames of a node, the outermost first. */
static void print_chain(const struct tree *tree, uint32_t node,
			char *const *names)
{
	const struct tree_node *at = &tree->nodes[node];

	if (at->caller) {
		print_chain(tree, at->caller, names);
		putchar(';');
	}
	fputs(names[at->function], stdout);
}

static void print_chains(const struct report *report)
{
	uint32_t node = 0;
	struct tree tree;
	double rest = 0;
	char **names;
	size_t i;

	tree_make(&tree, report->sum, report->runs, report->nr, true);
	names = make_names(&tree);
	while ((node = tree_next(&tree, node))) {
		if (!tree.nodes[node].ticks)
			continue;
		print_chain(&tree, node, names);
		printf(" %" PRIu64 "\n",
		       sum_scaled(report->sum, tree.nodes[node].ns, &rest));
	}
	for (i = 0; i < tree.nr_functions; i++)
		free(names[i]);
	free(names);
	tree_free(&tree);
}

static void print_functions(const struct sum *sum)
{
	double rest = 0;
	size_t i;

	for (i = 0; i < sum->nr_functions; i++) {
		const struct sum_function *function = &sum->functions[i];
		const struct inlines *inlines = &function->piece->inlines;
		char *label = sum_label(&sum->dsos[function->dso],
					function->piece->name);
		size_t j;

		print_frame(sum->command);
		putchar(';');
		print_frame(sum_dso_name(sum, function->dso));
		putchar(';');
		print_frame(label);
		free(label);
		for (j = inlines->nr; j; j--) {
			putchar(';');
			print_frame(inlines->list[j - 1].name);
		}
		printf(" %" PRIu64 "\n", sum_scaled(sum, function->ns, &rest));
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
