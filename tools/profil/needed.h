/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * needed.h - files that a program maps when it starts
 */
#ifndef NEEDED_H
#define NEEDED_H

/* Called with each file, which is closed after that */
typedef void (*needed_take)(void *context, int fd);

void needed_files(const char *program, needed_take take, void *context);

#endif /* NEEDED_H */
