/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * units.h - from an address to its source, by the units of compilation
 */
#ifndef UNITS_H
#define UNITS_H

#include <stdint.h>

struct Dwfl_Module;

struct units *units_new(struct Dwfl_Module *module);
const char *units_source(struct units *units, uint64_t address, int *line);
void units_free(struct units *units);

#endif /* UNITS_H */
