/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * report.h - output of the demo
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>

#include "functions.h"
#include "text.h"

void report_objects(const struct text *text);
void report_functions(const struct functions *functions, uint64_t ticks,
		      size_t most);
bool report_status(const char *who, const struct profil_status *status,
		   double cpu_seconds);

#endif /* REPORT_H */
