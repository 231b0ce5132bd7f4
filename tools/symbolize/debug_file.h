/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * debug_file.h - find separate debug files
 */
#ifndef DEBUG_FILE_H
#define DEBUG_FILE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

#include "prf/prf.h"

extern const Dwfl_Callbacks debug_file_callbacks;

void debug_file_look_in(char *path);
const char *debug_file_fetch(bool allow);
char *debug_file_by_id(const struct prf_dso *dso);

#endif /* DEBUG_FILE_H */
