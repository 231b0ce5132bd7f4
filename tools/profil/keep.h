/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * keep.h - keep names in a profile
 */
#ifndef KEEP_H
#define KEEP_H

#include "profil/session.h"

void keep_names(const struct session *session, struct prf *prf);

#endif /* KEEP_H */
