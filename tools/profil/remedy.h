/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * remedy.h - what to do when the device cannot be used
 */
#ifndef REMEDY_H
#define REMEDY_H

const char *device_remedy(int error);

#endif /* REMEDY_H */
