/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gzip.h - compressed output
 */
#ifndef GZIP_H
#define GZIP_H

#include <stddef.h>
#include <stdio.h>

int gzip_write(FILE *file, void *data, size_t size);

#endif /* GZIP_H */
