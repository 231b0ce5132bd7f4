// SPDX-License-Identifier: GPL-2.0-only
/*
 * units.c - from an address to its source, by the units of compilation
 *
 * libdwfl finds the unit by .debug_aranges, a table that gcc writes; clang and
 * Go do not. Each unit tells itself which addresses it has.
 */
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdlib.h>

#include "units.h"

/* Addresses that a unit has, as DWARF counts them. */
struct range {
	Dwarf_Addr start;
	Dwarf_Addr end;
	Dwarf_Die unit;
};

/* Read when it is first asked. The bias is that of libdwfl's addresses. */
struct units {
	Dwfl_Module *module;
	Dwarf_Addr bias;
	bool read;
	size_t nr;
	size_t room;
	struct range *ranges;
};

/**
 * units_new() - of an object
 * @module: libdwfl's, must stay
 *
 * Return: what units_free() frees, or NULL if there is no memory.
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
	if (units->nr == units->room) {
		size_t room = 2 * units->room + 16;
		struct range *ranges = realloc(units->ranges,
					       room * sizeof(*ranges));

		if (!ranges)
			return false;
		units->ranges = ranges;
		units->room = room;
	}
	units->ranges[units->nr++] = *range;
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

/* What does not fit into memory has no lines. */
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
 * units_source() - the source of an instruction
 * @units: of its object
 * @address: as libdwfl counts
 * @line: receives its line, 0 if the compiler does not tell
 *
 * Return: its path as the compiler was told, or NULL if it is not known.
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
