/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record.h - make a profile of the table of a watch
 */
#ifndef RECORD_H
#define RECORD_H

#include <profil.h>

#include "profil/session.h"

struct record *record_new(const struct session *session,
			  const struct profil_watch_table *table);
int record_add(struct record *record, struct prf *prf);
void record_free(struct record *record);
int record_table(struct session *session,
		 const struct profil_watch_table *table);

#endif /* RECORD_H */
