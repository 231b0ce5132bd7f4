/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * remedy.h - what to do when the device cannot be used, or forbids a watch
 */
#ifndef REMEDY_H
#define REMEDY_H

const char *device_remedy(int error);
const char *scope_remedy(void);

#endif /* REMEDY_H */
