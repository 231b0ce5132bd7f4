/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - follow a program through exec, fork and its end
 */
#ifndef TRACE_H
#define TRACE_H

#include "run.h"

int trace_attach(pid_t pid);
void trace_follow(struct run *run, int signals);

#endif /* TRACE_H */
