// SPDX-License-Identifier: GPL-2.0-only
/*
 * srcline.c - find source lines by compilation unit
 *
 * libdwfl finds the compilation unit of an address by .debug_aranges, a table
 * that gcc writes, but not clang and Go. This file uses the address ranges of
 * the units themselves.
 */
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdlib.h>

#include "symbolize/srcline.h"
#include "util/array.h"

/* A range of addresses of a unit, as in DWARF. */
struct range {
	Dwarf_Addr start;
	Dwarf_Addr end;
	Dwarf_Die unit;
};

/*
 * The ranges of a DSO, read on first use. @bias is the difference between
 * libdwfl's addresses and those in DWARF.
 */
struct units {
	Dwfl_Module *module;
	Dwarf_Addr bias;
	bool read;
	size_t nr;
	struct range *ranges;
};

/**
 * units_new() - prepare the compilation units of a DSO
 * @module: libdwfl's module; must outlive the result
 *
 * Return: the units, for units_free(), or NULL if out of memory.
 */
struct units *units_new(Dwfl_Module *module)
{
	struct units *units = calloc(1, sizeof(*units));

	if (units)
		units->module = module;
	return units;
}

static int compare(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static bool add(struct units *units, const struct range *range)
{
	struct range *ranges = array_grow(units->ranges, units->nr,
					  sizeof(*ranges));

	if (!ranges)
		return false;
	units->ranges = ranges;
	ranges[units->nr++] = *range;
	return true;
}

static bool add_unit(struct units *units, Dwarf_Die *unit)
{
	struct range range = { .unit = *unit };
	Dwarf_Addr base;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(unit, next, &base, &range.start,
				    &range.end)) > 0)
		if (range.start < range.end && !add(units, &range))
			return false;
	return true;
}

/* If out of memory, the remaining units have no lines. */
static void read_units(struct units *units)
{
	Dwarf_Die *unit = NULL;

	units->read = true;
	while ((unit = dwfl_module_nextcu(units->module, unit, &units->bias)))
		if (!add_unit(units, unit))
			break;
	if (units->nr)
		qsort(units->ranges, units->nr, sizeof(*units->ranges),
		      compare);
}

static struct range *find(const struct units *units, Dwarf_Addr address)
{
	size_t low = 0, high = units->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (units->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < units->ranges[low - 1].end ?
		&units->ranges[low - 1] : NULL;
}

/**
 * units_source() - find the source line of an instruction
 * @units: units of its DSO
 * @address: libdwfl's address
 * @line: receives the line number; 0 if the compiler gave none
 *
 * Return: path of the source file as given to the compiler, or NULL if unknown.
 */
const char *units_source(struct units *units, uint64_t address, int *line)
{
	struct range *range;
	Dwarf_Line *place;

	if (!units->read)
		read_units(units);
	range = find(units, address - units->bias);
	place = range ? dwarf_getsrc_die(&range->unit, address - units->bias) :
			NULL;
	if (!place || dwarf_lineno(place, line))
		return NULL;
	return dwarf_linesrc(place, NULL, NULL);
}

void units_free(struct units *units)
{
	if (units)
		free(units->ranges);
	free(units);
}
