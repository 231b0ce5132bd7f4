/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * device.h - requests to the device; internal to the library
 */
#ifndef PROFIL_DEVICE_H
#define PROFIL_DEVICE_H

#include <stdbool.h>

#include "profil.h"

/* Exported; the library is compiled with hidden visibility. */
#define PROFIL_PUBLIC	__attribute__((visibility("default")))

int profil_open(void);
void profil_close(int fd);
int profil_device(unsigned long request, void *argument);
int profil_start(struct profil_set *set);
int profil_end(struct profil_status *last);
int profil_ask(unsigned long request, void *argument, bool user,
	       int (*fallback)(void *argument));

#endif /* PROFIL_DEVICE_H */
