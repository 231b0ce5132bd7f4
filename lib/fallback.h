/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * fallback.h - profiles that are counted in user space; internal to the library
 *
 * Used where the device cannot be opened. fallback.c starts and stops a
 * profile, fallback_count.c counts a tick, fallback_clock.c has the ticks come.
 *
 * Every function here may be called from a signal handler.
 */
#ifndef PROFIL_FALLBACK_H
#define PROFIL_FALLBACK_H

#include <stdbool.h>

#include "profil.h"

/**
 * enum fallback_mode - value of PROFIL_FALLBACK
 * @FALLBACK_UNREAD: it has not been read
 * @FALLBACK_AUTO: count in user space if the device cannot be opened
 * @FALLBACK_NONE: never
 * @FALLBACK_ALWAYS: even if there is a device
 */
enum fallback_mode {
	FALLBACK_UNREAD,
	FALLBACK_AUTO,
	FALLBACK_NONE,
	FALLBACK_ALWAYS
};

enum fallback_mode fallback_mode(void);
int fallback_set(struct profil_set *set);
bool fallback_is_on(void);
void fallback_off(void);
int fallback_stop(struct profil_status *last);
int fallback_status(void *status);
int fallback_info(void *info);

#endif /* PROFIL_FALLBACK_H */
