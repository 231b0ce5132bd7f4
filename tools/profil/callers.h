/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * callers.h - load tables of callers into watches
 */
#ifndef CALLERS_H
#define CALLERS_H

#include <stdbool.h>

#include "profil/watch.h"

void callers_begin(struct watch *watch, const struct session *session,
		   pid_t pid);
bool callers_add(struct watch *watch, const struct session *session,
		 uint64_t until_ns);
void callers_keep(const struct watch *watch, const struct prf *prf);
void callers_end(struct watch *watch);

#endif /* CALLERS_H */
