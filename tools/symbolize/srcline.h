/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * srcline.h - find source lines and inlined functions by compilation unit
 */
#ifndef SRCLINE_H
#define SRCLINE_H

#include <elfutils/libdw.h>
#include <stdint.h>

struct Dwfl_Module;

struct units *units_new(struct Dwfl_Module *module);
const char *units_source(struct units *units, uint64_t address, int *line);
Dwarf_Die *units_inlined(struct units *units, uint64_t address, size_t *nr);
void units_free(struct units *units);

#endif /* SRCLINE_H */
