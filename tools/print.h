/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * print.h - the forms in which prohist prints
 */
#ifndef PRINT_H
#define PRINT_H

#include "dos_prf.h"
#include "sum.h"
#include "term.h"

void print_reckoning(const struct term *term, const struct sum *sum);
void print_text(const struct term *term, const struct sum *sum, size_t top);
void print_json(const struct sum *sum);
void print_folded(const struct sum *sum);
void print_diff(const struct term *term, const struct sum *before,
		const struct sum *after);
void print_buckets(const struct term *term, const struct prf *prf);
int print_dos(const struct term *term, const struct dos_prf *dos);

#endif /* PRINT_H */
