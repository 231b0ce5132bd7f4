/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vdso.h - the code that the kernel gives to every program
 */
#ifndef VDSO_H
#define VDSO_H

int vdso_open(void);

#endif /* VDSO_H */
