/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * save.h - write the profiles of a session
 */
#ifndef SAVE_H
#define SAVE_H

#include "profil/session.h"

int save_check(struct session *session);
void save_nothing(const struct session *session);
int save_run(struct session *session);

#endif /* SAVE_H */
