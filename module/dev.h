/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dev.h - /dev/profil
 */
#ifndef PROFIL_DEV_H
#define PROFIL_DEV_H

int profil_dev_init(void);
void profil_dev_exit(void);

#endif /* PROFIL_DEV_H */
