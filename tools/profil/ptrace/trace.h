/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - trace a program through exec, fork and exit
 */
#ifndef TRACE_H
#define TRACE_H

#include "profil/session.h"

int trace_attach(pid_t pid);
void trace_follow(struct session *session, int signals);

#endif /* TRACE_H */
