/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file.h - read files given by the user, open files named in other files; names
 */
#ifndef FILE_H
#define FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

const char *base_name(const char *path);
int file_open_found(int place, struct stat *stat_buffer);
int file_open_plain(const char *path, struct stat *stat_buffer);
void *file_read(const char *path, size_t *size);
uint64_t file_changed_ns(const struct stat *stat_buffer);
void file_raise_limit(void);
void file_survive_cuts(void);

#endif /* FILE_H */
