/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * output.h - write the profiles of a session
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "profil/session.h"

int save_check(struct session *session);
void save_nothing(const struct session *session);
int save_run(struct session *session);

#endif /* OUTPUT_H */
