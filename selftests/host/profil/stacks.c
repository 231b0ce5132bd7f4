// SPDX-License-Identifier: GPL-2.0-only
/*
 * stacks.c - print the call chains of a profile
 *
 *	stacks FILE
 *
 * A line for each frame with ticks: their number, the program, and its chain,
 * separated by ";", from the outermost function on, or from "[cut]" if that is not
 * known.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prf/prf.h"
#include "symbolize/symbols.h"
#include "util/file.h"

/* Symbols of the DSOs of an exec, opened when needed */
static struct symbols *opened;

static const struct symbols *symbols_of(const struct prf_exec *exec,
					uint32_t dso)
{
	if (!opened[dso].label &&
	    (symbols_open(&opened[dso], exec->dsos[dso].path,
			  &exec->dsos[dso]) ||
	     symbols_add(&opened[dso], &exec->dsos[dso]) ||
	     symbols_sort(&opened[dso])))
		exit(1);
	return &opened[dso];
}

/* Callers are known by their functions, not by where they call from. */
static bool by_function;

/*
 * The bucket where a function begins may have the end of another one. Its last
 * byte is in this one, which has a call, of more bytes than a bucket.
 */
static void print_frame(const struct prf_exec *exec,
			const struct prf_node *node, bool is_begin)
{
	const struct symbols *symbols;
	const struct prf_dso *dso;
	struct symbol symbol;
	uint64_t address;

	if (node->dso == PRF_NODE_KERNEL) {
		printf(";[kernel]");
		return;
	}
	dso = &exec->dsos[node->dso];
	symbols = symbols_of(exec, node->dso);
	address = symbols_address(symbols, dso, node->offset);
	if (is_begin)
		address += dso->bucket_bytes - 1;
	if (symbols_find(symbols, address, is_begin ? 1 : dso->bucket_bytes,
			 &symbol))
		exit(1);
	printf(";%s", symbol.name);
	free(symbol.name);
}

static void print_callers(const struct prf_exec *exec, uint32_t caller)
{
	const struct prf_node *node;

	if (caller == PRF_CUT)
		printf(";[cut]");
	if (!caller || caller == PRF_CUT)
		return;
	node = &exec->nodes[caller - 1];
	print_callers(exec, node->caller);
	print_frame(exec, node, by_function);
}

static void print_exec(const struct prf_exec *exec)
{
	size_t i;

	opened = calloc(exec->nr + 1, sizeof(*opened));
	for (i = 0; i < exec->nr_nodes; i++) {
		if (!exec->nodes[i].count)
			continue;
		printf("%" PRIu64 " %s", exec->nodes[i].count,
		       base_name(exec->name));
		print_callers(exec, exec->nodes[i].caller);
		print_frame(exec, &exec->nodes[i], false);
		putchar('\n');
	}
	for (i = 0; i < exec->nr; i++)
		if (opened[i].label)
			symbols_close(&opened[i]);
	free(opened);
}

int main(int argc, char **argv)
{
	struct prf_error error;
	struct prf prf;
	size_t size, i;
	void *data;

	if (argc != 2)
		return 2;
	data = file_read(argv[1], &size);
	if (!data || prf_read(data, size, &prf, &error)) {
		fprintf(stderr, "stacks: cannot read %s\n", argv[1]);
		return 1;
	}
	by_function = !(prf.flags & PRF_FLAG_CALL_SITES);
	for (i = 0; i < prf.nr; i++)
		print_exec(&prf.execs[i]);
	prf_free(&prf);
	free(data);
	return 0;
}
