// SPDX-License-Identifier: GPL-2.0-only
/*
 * units.c - find source lines and inlined functions by compilation unit
 *
 * libdwfl finds the compilation unit of an address by .debug_aranges, a table
 * that gcc writes, but not clang and Go. This file uses the address ranges of
 * the units themselves.
 */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>

#include "symbolize/units.h"
#include "util/array.h"

/* A range of addresses of a unit or a function, as in DWARF. */
struct range {
	Dwarf_Addr start;
	Dwarf_Addr end;
	Dwarf_Die die;
};

/* Ranges, sorted by address. */
struct ranges {
	size_t nr;
	struct range *list;
};

/*
 * The units of a DSO, read on first use, and the functions of the unit that was
 * last asked for them. @bias is the difference between libdwfl's addresses and
 * those in DWARF.
 */
struct units {
	Dwfl_Module *module;
	Dwarf_Addr bias;
	bool read;
	struct ranges ranges;
	const void *unit;
	struct ranges functions;
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

static bool add(struct ranges *ranges, const struct range *range)
{
	struct range *list = array_grow(ranges->list, ranges->nr,
					sizeof(*list));

	if (!list)
		return false;
	ranges->list = list;
	list[ranges->nr++] = *range;
	return true;
}

static bool add_die(struct ranges *ranges, Dwarf_Die *die)
{
	struct range range = { .die = *die };
	Dwarf_Addr base;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(die, next, &base, &range.start,
				    &range.end)) > 0)
		if (range.start < range.end && !add(ranges, &range))
			return false;
	return true;
}

static void sort(struct ranges *ranges)
{
	if (ranges->nr)
		qsort(ranges->list, ranges->nr, sizeof(*ranges->list),
		      compare);
}

static struct range *find(const struct ranges *ranges, Dwarf_Addr address)
{
	size_t nr = array_until(ranges->list, ranges->nr,
				sizeof(*ranges->list), address);

	return nr && address < ranges->list[nr - 1].end ?
		&ranges->list[nr - 1] : NULL;
}

/* If out of memory, the remaining units have no lines. */
static Dwarf_Die *find_unit(struct units *units, uint64_t address)
{
	Dwarf_Die *unit = NULL;
	struct range *range;

	while (!units->read) {
		unit = dwfl_module_nextcu(units->module, unit, &units->bias);
		if (unit && add_die(&units->ranges, unit))
			continue;
		sort(&units->ranges);
		units->read = true;
	}
	range = find(&units->ranges, address - units->bias);
	return range ? &range->die : NULL;
}

/**
 * units_line() - find the source line of an instruction
 * @units: units of its DSO
 * @address: libdwfl's address
 *
 * Return: the line, or NULL if unknown.
 */
Dwarf_Line *units_line(struct units *units, uint64_t address)
{
	Dwarf_Die *unit = find_unit(units, address);

	return unit ? dwarf_getsrc_die(unit, address - units->bias) : NULL;
}

/**
 * units_next_line() - find the instruction at which the next line begins
 * @units: units of the DSO
 * @address: libdwfl's address
 *
 * Return: an address after @address, UINT64_MAX if there is none in its unit.
 */
uint64_t units_next_line(struct units *units, uint64_t address)
{
	Dwarf_Die *unit = find_unit(units, address);
	Dwarf_Addr found, next = UINT64_MAX;
	size_t low = 0, high;
	Dwarf_Lines *lines;

	if (!unit || dwarf_getsrclines(unit, &lines, &high))
		return UINT64_MAX;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dwarf_lineaddr(dwarf_onesrcline(lines, middle), &found))
			return UINT64_MAX;
		if (found + units->bias > address) {
			next = found + units->bias;
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return next;
}

static int add_function(Dwarf_Die *function, void *data)
{
	struct units *units = data;

	return add_die(&units->functions, function) ? DWARF_CB_OK :
		DWARF_CB_ABORT;
}

/* With gcc -gsplit-dwarf, the functions of a unit are in its .dwo file. */
static void read_functions(struct units *units, Dwarf_Die *unit)
{
	Dwarf_Die split;

	units->unit = unit->addr;
	units->functions.nr = 0;
	if (!dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL,
			   NULL) && split.addr)
		unit = &split;
	dwarf_getfuncs(unit, add_function, units, 0);
	sort(&units->functions);
}

/**
 * units_function() - find the function of an instruction
 * @units: units of its DSO
 * @address: libdwfl's address
 * @function: receives its DW_TAG_subprogram entry
 *
 * If out of memory, some functions are unknown.
 *
 * Return: whether it is known.
 */
bool units_function(struct units *units, uint64_t address,
		    Dwarf_Die *function)
{
	Dwarf_Die *unit = find_unit(units, address);
	struct range *range;

	if (!unit)
		return false;
	if (unit->addr != units->unit)
		read_functions(units, unit);
	range = find(&units->functions, address - units->bias);
	if (range)
		*function = range->die;
	return range;
}

/* Replace a block by the one in it that has an address. */
static bool descend(Dwarf_Die *block, Dwarf_Addr address)
{
	Dwarf_Die child;
	int end;

	for (end = dwarf_child(block, &child); !end;
	     end = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);

		if ((tag == DW_TAG_inlined_subroutine ||
		     tag == DW_TAG_lexical_block) &&
		    dwarf_haspc(&child, address) > 0) {
			*block = child;
			return true;
		}
	}
	return false;
}

/**
 * units_inlined() - find the inlined functions of an instruction
 * @units: units of its DSO
 * @address: libdwfl's address
 * @function: its function, from units_function()
 * @nr: receives their number
 *
 * Return: the DW_TAG_inlined_subroutine entries, the outermost first, to be
 * freed; NULL if there is none or no memory.
 */
Dwarf_Die *units_inlined(const struct units *units, uint64_t address,
			 const Dwarf_Die *function, size_t *nr)
{
	Dwarf_Die block = *function, *list = NULL, *more;

	*nr = 0;
	while (descend(&block, address - units->bias)) {
		if (dwarf_tag(&block) != DW_TAG_inlined_subroutine)
			continue;
		more = array_grow(list, *nr, sizeof(*list));
		if (!more)
			break;
		list = more;
		list[(*nr)++] = block;
	}
	return list;
}

void units_free(struct units *units)
{
	if (units) {
		free(units->ranges.list);
		free(units->functions.list);
	}
	free(units);
}
