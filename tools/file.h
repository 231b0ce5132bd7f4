/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file.h - a whole file in memory
 */
#ifndef FILE_H
#define FILE_H

#include <stddef.h>

void *file_read(const char *path, size_t *size);

#endif /* FILE_H */
