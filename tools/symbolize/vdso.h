/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vdso.h - get the vDSO as a file
 */
#ifndef VDSO_H
#define VDSO_H

int vdso_open(void);

#endif /* VDSO_H */
