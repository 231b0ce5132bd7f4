/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * push.h - send profiles of what runs to a store, again and again
 */
#ifndef PUSH_H
#define PUSH_H

#include <stdbool.h>

#include "profil/session.h"

bool push_option(int option, const char *argument);
bool push_wanted(void);
int push_main(struct session *session, char **argv);

#endif /* PUSH_H */
