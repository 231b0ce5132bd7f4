/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * alike.h - which DSOs can be compared by function?
 */
#ifndef ALIKE_H
#define ALIKE_H

#include "prohist/sum.h"

/**
 * struct alike_dso - a DSO in any of several runs
 * @name: its name
 * @whole: why it can be compared only as a whole, or NULL
 */
struct alike_dso {
	const char *name;
	const char *whole;
};

/**
 * struct alike - all DSOs of several runs
 * @nr: number of DSOs
 * @list: the DSOs, sorted by name
 */
struct alike {
	size_t nr;
	struct alike_dso *list;
};

void alike_find(struct alike *alike, const struct sum *sums, size_t nr);
const char *alike_whole(const struct alike *alike, const char *name);
const char *alike_name(const struct sum *sum, size_t dso);
int alike_order(const char *a, const char *b);
bool alike_has_name(const char *function, const char *dso);

#endif /* ALIKE_H */
