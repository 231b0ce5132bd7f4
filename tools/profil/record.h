/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record.h - make a profile of the table of a watch
 */
#ifndef RECORD_H
#define RECORD_H

#include "profil/session.h"
#include "profil/watch.h"

struct record *record_new(const struct session *session,
			  const struct watch *watch);
int record_add(struct record *record, struct prf *prf);
void record_free(struct record *record);

#endif /* RECORD_H */
