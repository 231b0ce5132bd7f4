/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * listen.h - serve profiles and metrics by HTTP
 *
 * GET /debug/pprof/profile?seconds=N has a window of its own, which push.c opens
 * and closes when it reads the table. GET /metrics is answered at once.
 */
#ifndef LISTEN_H
#define LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "push/window.h"

/* listen_patience(): nobody waits */
#define LISTEN_NOBODY	UINT64_MAX

int listen_open(void);
int listen_descriptor(void);
int listen_until(int most_ms);
void listen_work(void);
bool listen_wants(uint64_t now_ns);
uint64_t listen_patience(uint64_t now_ns);
int listen_add(struct segment *segment, const struct moment *now);
void listen_refresh(const struct moment *now, bool is_last);
void listen_close(void);

#endif /* LISTEN_H */
