// SPDX-License-Identifier: GPL-2.0-only
/*
 * bounds.c - bounds of the symbols of a DSO
 *
 * Code without a symbol extends as far as eh_frame.c says, but not into a
 * symbol that has no entry in .eh_frame_hdr, such as a function written in
 * assembly.
 */
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdlib.h>

#include "symbolize/bounds.h"

/* Most DSOs never need this, so the symbols are read on first use. */
struct bounds {
	Dwfl_Module *module;
	uint64_t bias;
	bool read;
	size_t nr;
	uint64_t *at;
};

/**
 * bounds_new() - prepare the bounds of a DSO
 * @module: libdwfl's module; must outlive the result
 * @bias: difference between libdwfl's addresses and link-time addresses
 *
 * Return: the bounds, for bounds_free(), or NULL if out of memory.
 */
struct bounds *bounds_new(Dwfl_Module *module, uint64_t bias)
{
	struct bounds *bounds = calloc(1, sizeof(*bounds));

	if (bounds) {
		bounds->module = module;
		bounds->bias = bias;
	}
	return bounds;
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void add(struct bounds *bounds, int i)
{
	GElf_Addr address;
	GElf_Sym sym;

	if (!dwfl_module_getsym_info(bounds->module, i, &sym, &address, NULL,
				     NULL, NULL) || !sym.st_size ||
	    GELF_ST_TYPE(sym.st_info) == STT_TLS)
		return;
	bounds->at[bounds->nr++] = address - bounds->bias;
	bounds->at[bounds->nr++] = address - bounds->bias + sym.st_size;
}

static int read_symbols(struct bounds *bounds)
{
	int nr = dwfl_module_getsymtab(bounds->module), i;

	bounds->read = true;
	if (nr <= 0)
		return 0;
	bounds->at = calloc(nr, 2 * sizeof(*bounds->at));
	if (!bounds->at)
		return -1;
	for (i = 0; i < nr; i++)
		add(bounds, i);
	qsort(bounds->at, bounds->nr, sizeof(*bounds->at), compare);
	return 0;
}

/**
 * bounds_clip() - clip a range of code without a symbol at the next symbols
 * @bounds: bounds of the DSO
 * @address: link-time address in the range, in no symbol
 * @start: first address of the range
 * @end: first address after the range
 *
 * Return: 0, or -1 if out of memory.
 */
int bounds_clip(struct bounds *bounds, uint64_t address, uint64_t *start,
		uint64_t *end)
{
	size_t low = 0, high;

	if (!bounds->read && read_symbols(bounds))
		return -1;
	high = bounds->nr;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (bounds->at[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && bounds->at[low - 1] > *start)
		*start = bounds->at[low - 1];
	if (low < bounds->nr && bounds->at[low] < *end)
		*end = bounds->at[low];
	return 0;
}

void bounds_free(struct bounds *bounds)
{
	if (bounds)
		free(bounds->at);
	free(bounds);
}
