/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stop.h - consume ptrace stops
 */
#ifndef STOP_H
#define STOP_H

#include <sys/types.h>

int stop_take(pid_t tid);

#endif /* STOP_H */
