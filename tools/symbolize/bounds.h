/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bounds.h - bounds of the symbols of a DSO
 */
#ifndef BOUNDS_H
#define BOUNDS_H

#include <stdint.h>

struct Dwfl_Module;

struct bounds *bounds_new(struct Dwfl_Module *module, uint64_t bias);
int bounds_clip(struct bounds *bounds, uint64_t address, uint64_t *start,
		uint64_t *end);
void bounds_free(struct bounds *bounds);

#endif /* BOUNDS_H */
