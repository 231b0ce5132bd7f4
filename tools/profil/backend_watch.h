/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * backend_watch.h - the watches of a session
 */
#ifndef BACKEND_WATCH_H
#define BACKEND_WATCH_H

#include "profil/backend.h"
#include "profil/watch.h"

size_t backend_watches(const struct session *session,
		       const struct watch **watches);
uint64_t backend_stop_watches(struct session *session);
void backend_report_watches(const struct session *session);
void backend_end_watches(struct session *session);

#endif /* BACKEND_WATCH_H */
