/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stop.h - take what a followed thread has stopped for
 */
#ifndef STOP_H
#define STOP_H

#include <sys/types.h>

int stop_take(pid_t tid);

#endif /* STOP_H */
