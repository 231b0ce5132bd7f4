/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file.h - the table of callers of a file, from the cache or made anew
 */
#ifndef UNWIND_FILE_H
#define UNWIND_FILE_H

#include <stdbool.h>
#include <stddef.h>

void *unwind_file(int fd, bool is_ours, size_t *bytes);
char *unwind_files(int fd);
void unwind_keep_files(int fd, const char *files);

#endif /* UNWIND_FILE_H */
