/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * collect.h - collect the names of a profile's code
 */
#ifndef COLLECT_H
#define COLLECT_H

#include <stdbool.h>

#include "prf/prf.h"

void *collect_names(const struct prf *prf, const bool *chosen,
		    const char *const *files, bool functions_only, size_t most, size_t *size);

#endif /* COLLECT_H */
