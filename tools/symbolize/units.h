/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * units.h - find source lines and inlined functions by compilation unit
 */
#ifndef UNITS_H
#define UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct Dwfl_Module;

struct units *units_new(struct Dwfl_Module *module);
Dwarf_Line *units_line(struct units *units, uint64_t address);
uint64_t units_next_line(struct units *units, uint64_t address);
bool units_function(struct units *units, uint64_t address,
		    Dwarf_Die *function);
Dwarf_Die *units_inlined(const struct units *units, uint64_t address,
			 const Dwarf_Die *function, size_t *nr);
void units_free(struct units *units);

#endif /* UNITS_H */
